//! Who waits for the disk.
//!
//! One thread syncs for all that was written until then; the others sleep, each on a signal of its own, so that a sync
//! wakes exactly those whose entries it covered and none of them has to queue for the writer's mutex to learn that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::Thread;

/// Nothing was said yet.
const SILENT: u8 = 0;
/// What was waited for is durable.
const DURABLE: u8 = 1;
/// Look again: somebody has to sync, or the writer failed.
const LOOK: u8 = 2;

/// A thread that sleeps until it is told something.
#[derive(Debug)]
pub(super) struct Sleeper {
    said: AtomicU8,
    thread: Thread,
}

impl Sleeper {
    /// The thread that calls this.
    fn this() -> Arc<Sleeper> {
        Arc::new(Sleeper { said: AtomicU8::new(SILENT), thread: std::thread::current() })
    }

    /// Sleeps until it is told something; true if that is that its entries are durable.
    pub(super) fn sleep(&self) -> bool {
        loop {
            match self.said.load(Ordering::Acquire) {
                SILENT => std::thread::park(),
                said => return said == DURABLE,
            }
        }
    }

    fn tell(&self, what: u8) {
        self.said.store(what, Ordering::Release);
    }
}

/// The threads that sleep, each with the position that must be durable.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    sleepers: Vec<(u64, Arc<Sleeper>)>,
}

impl Waiting {
    /// Adds the thread that calls this. Another one must be syncing, or this one would sleep for good.
    pub(super) fn join(&mut self, end: u64) -> Arc<Sleeper> {
        let sleeper = Sleeper::this();
        self.sleepers.push((end, Arc::clone(&sleeper)));
        sleeper
    }

    /// Tells all whose entries end up to `durable`, and the first of the others to look: it has to sync next.
    pub(super) fn synced(&mut self, durable: u64) -> Woken {
        let (done, rest) =
            std::mem::take(&mut self.sleepers).into_iter().partition::<Vec<_>, _>(|(end, _)| *end <= durable);
        self.sleepers = rest;
        let mut woken = self.next();
        woken.0.extend(done.into_iter().map(|(_, sleeper)| {
            sleeper.tell(DURABLE);
            sleeper
        }));
        woken
    }

    /// Tells the first to look. It may find its entries durable; then it passes the word on.
    pub(super) fn next(&mut self) -> Woken {
        Woken(if self.sleepers.is_empty() { Vec::new() } else { vec![self.told_to_look(0)] })
    }

    /// Tells all to look.
    pub(super) fn all(&mut self) -> Woken {
        Woken((0..self.sleepers.len()).rev().map(|at| self.told_to_look(at)).collect())
    }

    fn told_to_look(&mut self, at: usize) -> Arc<Sleeper> {
        let (_, sleeper) = self.sleepers.remove(at);
        sleeper.tell(LOOK);
        sleeper
    }
}

/// Threads that were told something and are to be woken once no lock is held that they would run into.
#[derive(Debug, Default)]
#[must_use = "who is not woken sleeps on"]
pub(super) struct Woken(Vec<Arc<Sleeper>>);

impl Woken {
    /// Wakes them, the one that has to sync first.
    pub(super) fn wake(self) {
        for sleeper in self.0 {
            sleeper.thread.unpark();
        }
    }
}
