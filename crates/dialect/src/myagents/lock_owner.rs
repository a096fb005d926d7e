//! Parses the owner of a MyAgents lock folder, and decides whether the lock may be broken.
//!
//! The lock is a folder; a file `owner` inside names the process. The Node and Rust parts of the
//! app judge each other by this text, so the grammar is strict: a text that does not match it names
//! no owner, and only age can release such a lock.
//!
//! This is the rule alone, for other programs; boswell takes and breaks the locks with
//! `locks/mkdir.rs` of the store, which has the same rule.

/// The part of the app that wrote the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The server.
    Node,
    /// The desktop host. Boswell uses this one too.
    Rust,
}

/// A process that holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockOwner {
    /// The part of the app.
    pub peer: Peer,
    /// Process id of the owner.
    pub pid: u32,
    /// Start time of the process in milliseconds. It never proves that the pid was reused.
    pub started: Option<u64>,
}

const LARGEST_PID: u64 = (1 << 31) - 1;
const LARGEST_SAFE: u64 = (1 << 53) - 1;

impl LockOwner {
    /// Parses the `owner` file. Only ASCII white space is allowed around the token; a byte order
    /// mark makes it malformed.
    pub fn parse(bytes: &[u8]) -> Option<LockOwner> {
        let text = std::str::from_utf8(bytes).ok()?;
        let text = text.trim_matches(|c| matches!(c, '\t' | '\n' | '\x0C' | '\r' | ' '));
        let mut parts = text.split(':');
        let peer = match parts.next()? {
            "node" => Peer::Node,
            "rust" => Peer::Rust,
            _ => return None,
        };
        let pid = number(parts.next()?).filter(|pid| (1..=LARGEST_PID).contains(pid))?;
        let started = match parts.next() {
            Some(digits) => Some(number(digits).filter(|ms| *ms <= LARGEST_SAFE)?),
            None => None,
        };
        if parts.next().is_some() {
            return None;
        }
        Some(LockOwner {
            peer,
            pid: u32::try_from(pid).ok()?,
            started,
        })
    }

    /// Returns the text of the `owner` file.
    pub fn token(&self) -> String {
        let peer = match self.peer {
            Peer::Node => "node",
            Peer::Rust => "rust",
        };
        match self.started {
            Some(started) => format!("{peer}:{}:{started}\n", self.pid),
            None => format!("{peer}:{}\n", self.pid),
        }
    }
}

fn number(digits: &str) -> Option<u64> {
    // `parse` alone would accept a plus sign.
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())?
}

/// Whether the owner of a lock is alive, as far as the operating system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerLiveness {
    /// The process is running.
    Yes,
    /// There is no such process.
    No,
    /// The process cannot be checked from here.
    Unknown,
}

/// What to do about a lock that another process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockVerdict {
    /// Wait for its release.
    Wait,
    /// Move the lock aside and try again.
    Break,
}

/// The age in milliseconds after which a lock without a valid owner counts as stale.
pub const STALE_AFTER_MS: i64 = 30_000;

/// Decides whether a held lock may be broken: immediately if its owner is dead, never because of
/// its age while its owner may be alive.
pub fn verdict(
    owner: Option<LockOwner>,
    alive: OwnerLiveness,
    age_ms: i64,
    stale_after_ms: i64,
) -> LockVerdict {
    let breakable = match owner {
        Some(_) => alive == OwnerLiveness::No,
        // After the clock was set back, the age is negative.
        None => age_ms.max(0) > stale_after_ms,
    };
    if breakable {
        LockVerdict::Break
    } else {
        LockVerdict::Wait
    }
}

/// Whether we still own the lock and may release it: the token is ours, or none could be written.
pub fn may_release(found: Option<&[u8]>, ours: &LockOwner) -> bool {
    found.is_none_or(|bytes| bytes == ours.token().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEAD: &str = "424242";

    #[test]
    fn four_forms_of_a_dead_owner_are_taken_over_at_once() {
        for token in ["node:PID", "node:PID:0", "rust:PID", "rust:PID:0"] {
            let owner = LockOwner::parse(token.replace("PID", DEAD).as_bytes());
            assert!(owner.is_some(), "{token}");
            assert_eq!(
                verdict(owner, OwnerLiveness::No, 0, 60_000),
                LockVerdict::Break,
                "{token}"
            );
            assert_eq!(
                verdict(owner, OwnerLiveness::No, -5_000, 60_000),
                LockVerdict::Break,
                "an mtime in the future, {token}"
            );
        }
    }

    #[test]
    fn two_forms_of_a_live_owner_are_kept_whatever_their_age() {
        for token in ["node:PID:1", "node:PID:9007199254740991"] {
            let owner = LockOwner::parse(token.replace("PID", DEAD).as_bytes());
            assert!(owner.and_then(|o| o.started).is_some(), "{token}");
            assert_eq!(
                verdict(owner, OwnerLiveness::Yes, 120_000, 0),
                LockVerdict::Wait,
                "{token}"
            );
            assert_eq!(
                verdict(owner, OwnerLiveness::Unknown, 120_000, 0),
                LockVerdict::Wait,
                "{token}"
            );
        }
    }

    #[test]
    fn eighteen_malformed_owners_fall_only_to_age() {
        let malformed: [Option<&str>; 18] = [
            None,
            Some("renderer:123"),
            Some("node:424242:1:extra"),
            Some("node:+424242"),
            Some("rust:+424242:1"),
            Some("rust:424242:+1"),
            Some("node:-1"),
            Some("node:0"),
            Some("node:"),
            Some("node:nope"),
            Some("node:2147483648"),
            Some("rust:424242:-1"),
            Some("rust:424242:"),
            Some("rust:424242:nope"),
            Some("node:424242:9007199254740992"),
            Some("other:424242"),
            Some("\u{FEFF}node:424242"),
            Some("\u{B}node:424242"),
        ];
        for token in malformed {
            let owner = token.and_then(|t| LockOwner::parse(t.as_bytes()));
            assert_eq!(owner, None, "{token:?}");
            assert_eq!(
                verdict(owner, OwnerLiveness::No, 1_000, STALE_AFTER_MS),
                LockVerdict::Wait,
                "{token:?}"
            );
            assert_eq!(
                verdict(owner, OwnerLiveness::Yes, 30_001, STALE_AFTER_MS),
                LockVerdict::Break,
                "{token:?}"
            );
            assert_eq!(
                verdict(owner, OwnerLiveness::No, -1, 0),
                LockVerdict::Wait,
                "{token:?}"
            );
        }
    }

    #[test]
    fn tokens_read_back_and_a_changed_owner_is_not_released() {
        let ours = LockOwner {
            peer: Peer::Rust,
            pid: 12_345,
            started: Some(0),
        };
        assert_eq!(ours.token(), "rust:12345:0\n");
        assert_eq!(LockOwner::parse(ours.token().as_bytes()), Some(ours));
        assert_eq!(
            LockOwner::parse(b" \tnode:12345:1722800000000\r\n"),
            Some(LockOwner {
                peer: Peer::Node,
                pid: 12_345,
                started: Some(1_722_800_000_000)
            })
        );
        assert!(may_release(Some(b"rust:12345:0\n"), &ours));
        assert!(may_release(None, &ours));
        assert!(!may_release(Some(b"node:9:9\n"), &ours));
    }
}
