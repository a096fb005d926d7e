//! Finds the holder of one of boswell's own locks, for error messages only; no decision depends on
//! it.
//!
//! Where the system reports the holder of an OS lock, it is asked. Elsewhere the holder writes its
//! name into the lock file.

use std::path::Path;

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, ErrorDetails, Instant, LockHolder};

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

/// Adds the holder of the lock at a path to an error, as data and as a clause such as
/// `boswell (pid 7) holds it`. Leaves the error as it is if nothing is known.
pub(crate) fn with_holder(disk: &dyn Disk, lock: &Path, what: &str, error: Error) -> Error {
    let Some(holder) = holder(disk, lock) else {
        return error;
    };
    let program = holder.program.as_deref().unwrap_or_default();
    let pid = holder.pid.unwrap_or_default();
    let clause = match holder.since {
        Some(since) => format!(
            "{} (pid {pid}) has held {what} since {}",
            program.escape_debug(),
            since.to_rfc3339()
        ),
        None => format!("{} (pid {pid}) holds {what}", program.escape_debug()),
    };
    error
        .because(clause)
        .detailing(ErrorDetails::Held { holder })
}

fn holder(disk: &dyn Disk, lock: &Path) -> Option<LockHolder> {
    let system = disk
        .stat(lock)
        .ok()
        .flatten()
        .and_then(|stat| disk.lock_holder(stat.identity));
    if let Some((pid, program)) = system {
        return Some(LockHolder {
            pid: Some(pid),
            program: Some(program),
            ..LockHolder::default()
        });
    }
    let record = durable::read(disk, lock).ok().flatten()?;
    let record = Raw::parse(&record).ok()?;
    let pid = record.get("pid")?.i64()?;
    Some(LockHolder {
        pid: u32::try_from(pid).ok(),
        program: Some(record.get("program")?.text()?.into_owned()),
        since: Instant::parse(&record.get("since")?.text()?),
        host: None,
    })
}
