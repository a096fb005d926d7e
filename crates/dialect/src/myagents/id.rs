//! Which session ids MyAgents accepts.

/// Whether `id` is a session id: 1 to 99 of `a-z A-Z 0-9 -`.
///
/// MyAgents accepts a leading `-`; we do not, because ids become arguments of commands.
pub fn is_valid(id: &str) -> bool {
    (1..100).contains(&id.len())
        && !id.starts_with('-')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Returns the name of the lock folder for a session's transcript.
pub fn lock_folder(id: &str) -> String {
    let safe: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    format!("session-locks/{safe}.jsonl.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_era_are_accepted() {
        for id in [
            "session-1738800000000-abc123",
            "7924d439-b04f-4c1c-9a52-08f5c0a0f001",
            "pending-tab3",
            "cron-standalone-7924d439-b04f-4c1c-9a52-08f5c0a0f001",
            "a",
        ] {
            assert!(is_valid(id), "{id}");
        }
        assert!(is_valid(&"x".repeat(99)));
    }

    #[test]
    fn ids_that_leave_the_folder_or_look_like_options_are_refused() {
        for id in [
            "", "../etc", "a/b", "a\\b", "a.b", "a_b", "-rf", "--help", "é", "a b", "a\n",
        ] {
            assert!(!is_valid(id), "{id}");
        }
        assert!(!is_valid(&"x".repeat(100)));
    }

    #[test]
    fn lock_folders_hold_no_foreign_characters() {
        assert_eq!(lock_folder("a.b/c-1"), "session-locks/a_b_c-1.jsonl.lock");
    }
}
