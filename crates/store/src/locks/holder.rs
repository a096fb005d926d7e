//! Who holds a lock of ours, for the error text of others; nobody decides by it.
//!
//! Where the system tells who holds an OS lock, it is asked. Elsewhere the holder leaves
//! word in the lock file.

use std::path::Path;

use boswell_model::Instant;
use boswell_model::json::{Json, Raw};

use super::Owner;
use crate::disk::{Disk, DiskFile, durable};

/// Leaves word in a lock file that was just taken, unless the system would tell anyway.
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
        // Best effort: a lock without word of its holder is still a lock.
        let _ = lock
            .truncate(0)
            .and_then(|()| durable::append_all(lock, &record.to_bytes()));
    }
}

/// The holder of the lock at a path as a sentence without its end: `boswell (pid 7) holds`,
/// where anything is known.
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
