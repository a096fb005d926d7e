//! Finds the holder of one of boswell's own locks, for error messages only; no decision depends on
//! it.
//!
//! Where the system reports the holder of an OS lock, it is asked. Elsewhere the holder writes its
//! name into the lock file.

use std::path::Path;

use boswell_model::Instant;
use boswell_model::json::{Json, Raw};

use super::Owner;
use crate::disk::{Disk, DiskFile, durable};

/// Writes the owner into a lock file that was just taken, unless the system reports lock holders.
pub(crate) fn write_owner(
    disk: &dyn Disk,
    lock: &dyn DiskFile,
    owner: impl FnOnce() -> Owner,
    since: Instant,
) {
    if !disk.knows_lock_holders() {
        let owner = owner();
        let record = Json::object()
            .with("pid", owner.pid)
            .with("program", owner.program.as_str())
            .with("since", since.to_rfc3339());
        // Best effort: a lock without the name of its holder is still a lock.
        let _ = lock
            .truncate(0)
            .and_then(|()| durable::append_all(lock, &record.to_bytes()));
    }
}

/// Returns the holder of the lock at a path as a clause such as `boswell (pid 7) holds it`; `None`
/// if nothing is known.
pub(crate) fn holder(disk: &dyn Disk, lock: &Path, what: &str) -> Option<String> {
    let system = disk
        .stat(lock)
        .ok()
        .flatten()
        .and_then(|stat| disk.lock_holder(stat.identity));
    if let Some((pid, program)) = system {
        return Some(format!(
            "{} (pid {pid}) holds {what}",
            program.escape_debug()
        ));
    }
    let word = durable::read(disk, lock).ok().flatten()?;
    let word = Raw::parse(&word).ok()?;
    let (pid, program) = (word.get("pid")?.i64()?, word.get("program")?.text()?);
    let since = word.get("since")?.text()?;
    Some(format!(
        "{} (pid {pid}) has held {what} since {}",
        program.escape_debug(),
        since.escape_debug()
    ))
}
