//! The file state of a log (identity, size, times), which shows whether the log changed since the
//! catalog recorded it.
//!
//! Timestamps have a finite resolution: a file that changed within the last two seconds can change
//! again without a new timestamp. Such a state is called young, and the log is compared by the
//! checksums of its first and last 4 KB ([`windows`]) instead.

use boswell_dialect::SessionLocation;
use boswell_model::{Framing, Instant, Result};
use boswell_store::backend::Backend;

/// A file that changed less than this many nanoseconds ago can change again with the same
/// timestamp.
const YOUNG: i128 = 2_000_000_000;
/// Number of bytes that are compared at each end of a log.
const WINDOW: u64 = 4 << 10;

/// The state of a log in a directory listing, in the types of the database columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) dev: i64,
    pub(super) ino: i64,
    pub(super) size: i64,
    pub(super) mtime: i64,
    pub(super) ctime: i64,
    /// Checksum of what an index of the agent contains about the session; see [`State::digest`].
    pub(super) digest: i64,
}

impl State {
    /// Reads a state from the columns 1 to 6 of `row`.
    pub(super) fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<State> {
        Ok(State {
            dev: row.get(1)?,
            ino: row.get(2)?,
            size: row.get(3)?,
            mtime: row.get(4)?,
            ctime: row.get(5)?,
            digest: row.get(6)?,
        })
    }

    pub(super) fn of(location: &SessionLocation) -> State {
        let identity = location.identity;
        let nanos = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
        State {
            dev: identity.map_or(0, |it| it.file.0.cast_signed()),
            ino: identity.map_or(0, |it| it.file.1.cast_signed()),
            size: i64::try_from(location.size).unwrap_or(i64::MAX),
            mtime: identity.map_or_else(
                || {
                    location
                        .modified
                        .map_or(0, |at| at.millis().saturating_mul(1_000_000))
                },
                |it| nanos(it.modified),
            ),
            ctime: identity.map_or(0, |it| nanos(it.changed)),
            digest: State::digest(location),
        }
    }

    /// Returns a checksum of the index row and of the reason why the session is hidden. Most
    /// sessions have neither, which gives 0; that is also the CRC-32 of no bytes.
    pub(super) fn digest(location: &SessionLocation) -> i64 {
        if location.row.is_none() && location.hidden.is_none() {
            return 0;
        }
        let mut both = crc32fast::Hasher::new();
        both.update(location.row.as_deref().unwrap_or(b""));
        both.update(location.hidden.unwrap_or("").as_bytes());
        i64::from(both.finalize())
    }

    /// Returns whether the file changed so recently that it may change again within the same clock
    /// tick.
    pub(super) fn is_young(&self, now: Instant) -> bool {
        let now = i128::from(now.millis()) * 1_000_000;
        now - i128::from(self.mtime.max(self.ctime)) < YOUNG
    }

    /// Compares all fields except `digest`.
    fn same_file(&self, other: &State) -> bool {
        State { digest: 0, ..*self }
            == State {
                digest: 0,
                ..*other
            }
    }
}

/// How a log differs from its recorded state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The state is equal and old enough to be trusted.
    None,
    /// The file state is equal, but it was young when it was recorded, or the index contains
    /// something else about the session: the contents must be compared.
    Look,
    /// The same file is longer; it only grew if the checksums of [`windows`] are still equal.
    Grown,
    /// The log was replaced, cut or rewritten.
    Other,
}

/// Compares the recorded state (`before`) with the state in the listing (`now`).
pub(super) fn change(
    before: &State,
    was_young: bool,
    now: &State,
    location: &SessionLocation,
) -> Change {
    if before == now {
        return if was_young {
            Change::Look
        } else {
            Change::None
        };
    }
    if before.same_file(now) {
        return Change::Look;
    }
    // Only logs of lines are appended to; a document that is longer was rewritten.
    let same_inode = location.identity.is_some() && (before.dev, before.ino) == (now.dev, now.ino);
    if same_inode && now.size > before.size && location.framing == Framing::Lines {
        return Change::Grown;
    }
    Change::Other
}

/// Returns the checksums of the first bytes of a log and of the bytes before `end`.
pub(super) fn windows(
    backend: &dyn Backend,
    location: &SessionLocation,
    end: i64,
) -> Result<(i64, i64)> {
    let Some(key) = &location.key else {
        return Ok((0, 0));
    };
    let end = u64::try_from(end).unwrap_or(0);
    let object = backend.open_stored(key)?;
    let head = object.read(0, WINDOW.min(end))?;
    let from = end.saturating_sub(WINDOW);
    let tail = if from == 0 {
        head.clone()
    } else {
        object.read(from, end - from)?
    };
    Ok((
        i64::from(crc32fast::hash(&head)),
        i64::from(crc32fast::hash(&tail)),
    ))
}
