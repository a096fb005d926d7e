//! Counters of calls, and when calls fail.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

/// Counters and injected failures.
#[derive(Clone, Debug, Default)]
pub(super) struct Switches {
    /// Calls that change or sync something.
    pub(super) calls: u64,
    /// All calls.
    pub(super) all_calls: u64,
    /// Calls that sync something.
    pub(super) syncs: u64,
    pub(super) crash_at: Option<u64>,
    pub(super) dead: bool,
    /// How many bytes of the append that is running at the crash are written.
    pub(super) tear: usize,
    /// Length of the append that was running at the crash.
    pub(super) torn: Option<usize>,
    pub(super) fail: BTreeMap<u64, ErrorKind>,
    pub(super) lie_after: Option<u64>,
    pub(super) limit: Option<u64>,
}

impl Switches {
    /// Admits a call that changes nothing.
    pub(super) fn look(&mut self) -> io::Result<()> {
        self.all_calls += 1;
        if self.dead { Err(dead()) } else { Ok(()) }
    }

    /// Admits a call that changes or syncs something.
    pub(super) fn change(&mut self) -> io::Result<()> {
        self.look()?;
        self.calls += 1;
        if self.crash_at.is_some_and(|at| self.calls >= at) {
            self.dead = true;
            return Err(dead());
        }
        match self.fail.remove(&self.calls) {
            Some(kind) => Err(io::Error::new(kind, "the disk was told to fail here")),
            None => Ok(()),
        }
    }
}

fn dead() -> io::Error {
    io::Error::other("the machine is off")
}
