//! Names of people, projects and sessions: what the tables accept, checked before a statement.

use boswell_model::{Error, ErrorKind, Result};

const LONGEST: usize = 64;

/// Checks the name of a person: 1 to 64 lower-case letters, digits, `.`, `_`, `@` and `-`.
///
/// # Errors
///
/// `Invalid` if it is none.
pub fn person_name(name: &str) -> Result<&str> {
    checked(name, "a person", ". _ @ -")
}

/// Checks the name of a project: as that of a person, without `@`.
///
/// # Errors
///
/// `Invalid` if it is none.
pub fn project_name(name: &str) -> Result<&str> {
    checked(name, "a project", ". _ -")
}

fn checked<'n>(name: &'n str, what: &str, marks: &str) -> Result<&'n str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = |c: char| plain(c) || (c != ' ' && marks.contains(c));
    if name.len() <= LONGEST && name.starts_with(plain) && name.chars().all(fits) {
        return Ok(name);
    }
    let what = format!("`{}` is not the name of {what}", name.escape_debug());
    let hint = format!("use 1 to {LONGEST} lower-case letters, digits and {marks}");
    Err(Error::new(ErrorKind::Invalid, what).advising(hint))
}

/// Checks the name of a session: `DIALECT:ID`, up to 300 characters without control characters.
///
/// # Errors
///
/// `Invalid` if it is none.
pub fn shared_session_name(name: &str) -> Result<&str> {
    let (dialect, id) = name.split_once(':').unwrap_or_default();
    let is_name = !dialect.is_empty() && dialect.chars().all(|c| c.is_ascii_lowercase());
    let is_id = !id.is_empty() && !id.chars().any(char::is_control);
    if is_name && is_id && name.len() <= 300 {
        return Ok(name);
    }
    let what = format!("`{}` is not the name of a session", name.escape_debug());
    Err(Error::new(ErrorKind::Invalid, what).advising("write DIALECT:ID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_their_quotes_are_refused() {
        for good in ["a", "alice", "a.b_c@d-e", "0"] {
            assert!(person_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "*",
            "A",
            "a'b",
            "a b",
            "-a",
            "a\n",
            &"a".repeat(65),
            "ä",
        ] {
            assert!(person_name(bad).is_err(), "{bad}");
            assert!(project_name(bad).is_err(), "{bad}");
        }
        assert!(project_name("a@b").is_err());
        assert!(shared_session_name("claude:a-1").is_ok());
        for bad in ["claude", ":a", "claude:", "Claude:a", "claude:a\0"] {
            assert!(shared_session_name(bad).is_err(), "{bad}");
        }
    }
}
