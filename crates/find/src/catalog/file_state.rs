//! What tells whether a log is still what it was.

use boswell_dialect::SessionLocation;
use boswell_model::{Framing, Instant, Result};
use boswell_store::backend::Backend;

/// A file that changed less than this long ago can change again without its times telling.
const YOUNG: i128 = 2_000_000_000;
/// How much is compared at each end.
const WINDOW: u64 = 4 << 10;

/// What a listing says of a log, as the catalog keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    pub(super) dev: i64,
    pub(super) ino: i64,
    pub(super) size: i64,
    pub(super) mtime: i64,
    pub(super) ctime: i64,
    /// Of what an index says of the session.
    pub(super) digest: i64,
}

impl State {
    /// As it is written down in the columns behind the first.
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

    /// A sum of what an index says of the session. Most stand in none, and no bytes have the sum 0.
    pub(super) fn digest(location: &SessionLocation) -> i64 {
        if location.row.is_none() && location.hidden.is_none() {
            return 0;
        }
        let mut both = crc32fast::Hasher::new();
        both.update(location.row.as_deref().unwrap_or(b""));
        both.update(location.hidden.unwrap_or("").as_bytes());
        i64::from(both.finalize())
    }

    /// Whether it changed so lately that it may change again within the same tick of the clock.
    pub(super) fn is_young(&self, now: Instant) -> bool {
        let now = i128::from(now.millis()) * 1_000_000;
        now - i128::from(self.mtime.max(self.ctime)) < YOUNG
    }

    /// The same but for what an index says.
    fn same_file(&self, other: &State) -> bool {
        State { digest: 0, ..*self }
            == State {
                digest: 0,
                ..*other
            }
    }
}

/// What became of a log since it was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// Nothing that shows; it was too young to trust, or an index says something else of it.
    Look,
    /// It grew, if its windows are still the same.
    Grown,
    /// Anything else.
    Other,
}

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
    let same_inode = location.identity.is_some() && (before.dev, before.ino) == (now.dev, now.ino);
    if same_inode && now.size > before.size && location.framing == Framing::Lines {
        return Change::Grown;
    }
    Change::Other
}

/// Checksums of the beginning of a log and of what stands before `end`.
pub(super) fn windows(
    backend: &dyn Backend,
    location: &SessionLocation,
    end: i64,
) -> Result<(i64, i64)> {
    let Some(key) = &location.key else {
        return Ok((0, 0));
    };
    let end = u64::try_from(end).unwrap_or(0);
    let object = backend.open(key)?;
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
