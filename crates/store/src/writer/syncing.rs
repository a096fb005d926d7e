//! Waiting for the disk: one thread syncs, the others are told.

use std::sync::MutexGuard;

use boswell_model::Result;

use super::Inner;
use super::state::State;
use super::waiting::Woken;

impl Inner {
    /// Returns when the append of that number is durable, and all before it. The first who waits syncs for all.
    pub(super) fn sync_to(&self, number: u64) -> Result<()> {
        let mut led = false;
        loop {
            let mut state = self.lock();
            let settled = state.synced >= number;
            let outcome = if settled { Ok(()) } else { state.usable_for_sync() };
            if settled || outcome.is_err() {
                // Who has just synced told the others already.
                return if led { outcome } else { pass_on(state, outcome) };
            }
            if !state.syncing {
                self.sync(state);
                led = true;
                continue;
            }
            led = false;
            let sleeper = state.waiting.join(number);
            drop(state);
            if sleeper.sleep() {
                return Ok(());
            }
        }
    }

    /// Syncs what was written until now, writes what was queued meanwhile, and tells those who wait.
    fn sync<'s>(&'s self, mut state: MutexGuard<'s, State>) {
        state.syncing = true;
        let (target, work) = ((state.written, state.end), state.log.sync());
        drop(state);
        let outcome = work.map_or(Ok(()), |work| work());
        let mut state = self.lock();
        match state.log.synced(outcome) {
            Ok(covers_all) => {
                // If not, something changed meanwhile, and one more is needed.
                if covers_all {
                    state.settled(target);
                }
                // Its entries are told if it fails.
                let _ = self.write_queue(&mut state);
            }
            Err(error) => {
                state.latch(&error);
                state.give_up_queue(&error);
            }
        }
        state.syncing = false;
        let woken = state.tell_waiting();
        drop(state);
        woken.wake();
    }
}

/// Leaves the queue of those who wait for a sync. Somebody must always be syncing for those who still wait.
fn pass_on(mut state: MutexGuard<'_, State>, outcome: Result<()>) -> Result<()> {
    let woken = if state.syncing { Woken::default() } else { state.tell_waiting() };
    drop(state);
    woken.wake();
    outcome
}
