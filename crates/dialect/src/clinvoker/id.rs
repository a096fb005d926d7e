//! Which session ids clinvoker accepts.

use boswell_model::{Unseen, unseen};

/// Whether `id` can be a session: clinvoker's own check, without ids that are not sessions or look
/// like an option.
///
/// That check examines the form only for lengths 16 and 32, so `index` passes and names the index
/// file.
pub fn is_valid(id: &str) -> bool {
    let checked = matches!(id.len(), 16 | 32);
    !id.is_empty()
        && id != "index"
        && !id.starts_with(['-', '.'])
        && !id.contains(['/', '\\', '\0'])
        && !id.contains("..")
        && !id
            .chars()
            .any(|c| unseen(c).is_some_and(|why| why != Unseen::Sign))
        && (!checked || is_hex(id))
}

/// Whether `prefix` can abbreviate a session id: any number of hex digits.
pub fn is_prefix(prefix: &str) -> bool {
    !prefix.is_empty() && is_hex(prefix)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_clinvoker_accepts_are_accepted() {
        for id in [
            "a1b2c3d4e5f67890",
            "a1b2c3d4e5f6789012345678abcdef01",
            "a1b2c3",
            "a1b2",
            "ZZZ",
        ] {
            assert!(is_valid(id), "{id}");
        }
    }

    #[test]
    fn ids_that_it_refuses_and_the_name_of_its_index_are_refused() {
        for id in [
            "",
            "../etc/passwd",
            "a1b2c3/d4e5f6",
            "a1b2c3\\d4e5f6",
            "A1B2C3D4E5F67890",
            "g1b2c3d4e5f67890",
            "b2c3d4e5f6g7890123456789abcdef12",
            "index",
            "--last",
            ".tmp-1",
        ] {
            assert!(!is_valid(id), "{id}");
        }
    }

    #[test]
    fn prefixes_are_hex_of_any_length() {
        assert!(is_prefix("a") && is_prefix("a1b2c3d4e5f6789012345678abcdef01"));
        assert!(!is_prefix("") && !is_prefix("ZZ") && !is_prefix("a1/"));
    }
}
