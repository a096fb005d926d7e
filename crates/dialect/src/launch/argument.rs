//! Validated ids that are safe as command-line arguments and in file names.

use std::fmt;

use boswell_model::{Advice, Error, ErrorKind, Result};

const LONGEST: usize = 128;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks an id: at most 128 letters, digits, `-` and `_`, without a leading `-`. UUIDs
            /// are such ids.
            pub fn parse(text: &str) -> Result<Self> {
                checked(text, $what).map(|()| $name(text.to_owned()))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// The id of a session, checked.
    SessionArgument,
    "session"
);
id!(
    /// The id of an entry, checked.
    EntryArgument,
    "entry"
);

fn checked(text: &str, what: &str) -> Result<()> {
    let fault = if text.is_empty() {
        "it is empty"
    } else if text.len() > LONGEST {
        "it is longer than 128 characters"
    } else if text.starts_with('-') {
        "it starts with `-`, as an option does"
    } else if !text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    {
        "it holds something other than letters, digits, `-` and `_`"
    } else {
        return Ok(());
    };
    let shown: String = text.chars().take(40).collect();
    Err(Error::new(
        ErrorKind::Invalid,
        format!("`{}` is not a valid {what} id", shown.escape_debug()),
    )
    .because(fault)
    .advising(Advice::UseListedId))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_era_are_read() {
        for text in [
            "7924d439-b04f-4c1e-9d3b-2f6a1c8e5d70",
            "session-1738800000-abc123",
            "a1b2c3d4",
            "x_y",
        ] {
            assert_eq!(SessionArgument::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn text_that_could_be_an_option_or_a_path_is_no_id() {
        let long = "a".repeat(300);
        for bad in [
            "",
            "-p",
            "--dangerously-skip-permissions",
            "../x",
            "a/b",
            "a\0b",
            "a b",
            "$(x)",
            "é",
            &long,
        ] {
            assert_eq!(
                SessionArgument::parse(bad).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{bad}"
            );
            assert!(EntryArgument::parse(bad).is_err(), "{bad}");
        }
    }
}
