//! Names of sessions and entries in addresses: never a path.

use boswell_app::reach::name_fault;

use crate::problem::Problem;

/// Returns the name of a session in an address: a ref, or the beginning of an id.
pub(crate) fn session_name(text: &str) -> Result<String, Problem> {
    if let Some(why) = name_fault(text) {
        let what = format!("`{}` cannot be the name of a session: {why}", shown(text));
        return Err(
            Problem::invalid(what).hinting("name it DIALECT:ID, or by the beginning of its id")
        );
    }
    Ok(text.to_owned())
}

/// Returns the name of an entry in an address: its id or `#LINE`.
pub(crate) fn entry_name(text: &str) -> Result<String, Problem> {
    let is_name = !text.is_empty() && text.len() <= 512 && !text.chars().any(char::is_control);
    if is_name {
        return Ok(text.to_owned());
    }
    let what = format!("`{}` cannot be the name of an entry", shown(text));
    Err(Problem::invalid(what).hinting("name it by its id, or as `%23LINE`"))
}

/// The beginning of a text that a client sent, for a message.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(80).collect();
    beginning.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_never_the_name_of_a_session() {
        for wrong in [
            "",
            "..",
            "../../etc/passwd",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "claude:../x",
            "claude:/etc/passwd",
            "claude:",
            "x.jsonl",
            "claude:x.json",
            "x.jsonl.gz",
            "a\0b",
            "@last",
            "@here",
            "-rf",
            "~/x",
            ".",
        ] {
            assert!(session_name(wrong).is_err(), "{wrong:?}");
        }
        for right in ["5ac5", "claude:5ac51f07-0000", "pi:ses_1.2", "boswell:a_b"] {
            assert_eq!(session_name(right).unwrap(), right);
        }
    }
}
