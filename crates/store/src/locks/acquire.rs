//! Takes the locks of a plan, and waits for locks with growing pauses.

use crate::disk::Processes;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{IdSource, LockSpec};
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::{AgentFlock, Locks, MkdirLock, MkdirOwner, OsLock, Wait};
use crate::disk::Disk;
use crate::runner::place;

/// The process that takes a lock, for the error message of other processes. Never trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Name of the program.
    pub program: String,
}

impl Owner {
    /// Returns this process under the name `program`.
    pub fn this(program: impl Into<String>) -> Self {
        Owner {
            pid: std::process::id(),
            program: program.into(),
        }
    }
}

/// A held lock of a plan. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) enum HeldLock {
    Os(#[expect(dead_code, reason = "held for what dropping it does")] OsLock),
    Mkdir(MkdirLock),
    Flock(AgentFlock),
}

impl HeldLock {
    /// Fails if the lock was lost: agents break locks that they consider stale. Boswell's own locks
    /// cannot be lost.
    pub(crate) fn still_ours(&self, disk: &dyn Disk) -> Result<()> {
        match self {
            HeldLock::Os(_) => Ok(()),
            HeldLock::Mkdir(lock) => lock.still_ours(),
            HeldLock::Flock(lock) if lock.is_ours(disk)? => Ok(()),
            HeldLock::Flock(_) => Err(Error::new(
                ErrorKind::Conflict,
                "a lock was lost during the change",
            )
            .because("the agent removed its lock file, and may be writing")
            .advising(Advice::Retry)),
        }
    }
}

/// What is needed to take the locks of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker<'a> {
    pub(crate) disk: &'a Arc<dyn Disk>,
    pub(crate) locks: &'a Locks,
    pub(crate) processes: &'a dyn Processes,
    pub(crate) id_source: &'a dyn IdSource,
    pub(crate) wait: Wait,
}

impl Taker<'_> {
    /// Takes the locks in the order of the plan; on failure the ones already taken are released.
    pub(crate) fn take(&self, root: &Path, specs: &[LockSpec]) -> Result<Vec<HeldLock>> {
        specs
            .iter()
            .map(|spec| match spec {
                LockSpec::Os { name } => self.locks.exclusive(name, self.wait).map(HeldLock::Os),
                LockSpec::Append { name } => self.locks.append(name, self.wait).map(HeldLock::Os),
                LockSpec::AgentMkdir { key } => {
                    let owner = MkdirOwner {
                        pid: self.locks.owner().pid,
                        started: None,
                    };
                    let path = place(root, key)?;
                    MkdirLock::take(
                        self.disk,
                        &path,
                        owner,
                        self.processes,
                        self.id_source,
                        self.wait,
                    )
                    .map(HeldLock::Mkdir)
                }
                LockSpec::AgentFlock { key } => {
                    AgentFlock::take(self.disk.as_ref(), &place(root, key)?, self.wait)
                        .map(HeldLock::Flock)
                }
                other => Err(Error::new(
                    ErrorKind::Unsupported,
                    format!("this version does not know how to {other}"),
                )),
            })
            .collect()
    }
}

/// The first pause between two attempts, and the longest.
pub(super) const PAUSES: (Duration, Duration) =
    (Duration::from_millis(5), Duration::from_millis(50));

/// Calls `attempt` until it returns true or the time is up; returns whether it did. Pauses grow
/// from 5 to 50 milliseconds.
///
/// Elapsed time is the sum of the pauses: the clock may jump, a pause does not.
pub(crate) fn try_until(
    disk: &dyn Disk,
    wait: Wait,
    attempt: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    try_every(disk, wait, PAUSES, attempt)
}

/// As [`try_until`], with other pauses: the first one, and the longest.
pub(crate) fn try_every(
    disk: &dyn Disk,
    wait: Wait,
    (first, longest): (Duration, Duration),
    mut attempt: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    let mut pause = first;
    let mut waited = Duration::ZERO;
    loop {
        if attempt()? {
            return Ok(true);
        }
        let left = match wait {
            Wait::No => return Ok(false),
            Wait::For(limit) if waited >= limit => return Ok(false),
            Wait::For(limit) => limit - waited,
            Wait::Forever => Duration::MAX,
        };
        let now = pause.min(left);
        disk.sleep(now);
        waited += now;
        pause = (pause * 2).min(longest);
    }
}
