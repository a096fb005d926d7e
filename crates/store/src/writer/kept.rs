//! A turn that is kept from one append to the next.
//!
//! Taking the append lock, looking whether the log is still there, and giving the lock up takes longer than writing an entry
//! that nobody syncs. Whoever writes many of them in a row keeps its turn. A thread that does nothing else ends it every other
//! millisecond, whether entries still come or not: so it is never held for longer, what may change behind a lock is
//! looked at again, and the thread ends soon after the last entry. Who waits for the turn asks for it, and then nothing is
//! written until it had time to take it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use boswell_model::Instant;

use super::state::State;

/// How long a turn is kept at most, and how long it is left to one who asked for it: longer than that one pauses between two tries.
const MOMENT: Duration = Duration::from_millis(2);

/// How many moments without a kept turn pass before the thread ends.
const IDLE: u32 = 50;

/// How many entries in a row make it worth a thread.
const ENTRIES: u32 = 16;

/// In a row are entries that are no more milliseconds apart.
const APART: i64 = 1;

/// Entries that nobody syncs, one after the other.
#[derive(Debug)]
pub(super) struct Burst {
    last: Instant,
    entries: u32,
    /// Whether a turn is kept now, and whether a thread will end it.
    is_kept: bool,
    is_watched: bool,
}

impl Default for Burst {
    fn default() -> Self {
        Burst { last: Instant::from_millis(0), entries: 0, is_kept: false, is_watched: false }
    }
}

impl Burst {
    /// Takes note of entries; true if more are likely to follow at once.
    fn goes_on(&mut self, now: Instant) -> bool {
        let apart = now.millis().saturating_sub(self.last.millis());
        if !(0..=APART).contains(&apart) {
            self.entries = 0;
        }
        self.last = now;
        self.entries = self.entries.saturating_add(1);
        self.entries > ENTRIES
    }
}

impl State {
    /// Keeps the turn after entries that nobody syncs, if more are likely to follow; false if it has to be ended.
    pub(super) fn keep_turn(&mut self, this: &Arc<Mutex<State>>) -> bool {
        if !self.burst.goes_on(self.now) {
            return false;
        }
        if !self.burst.is_kept {
            self.burst.is_watched = self.burst.is_watched || watch(Arc::downgrade(this));
            self.burst.is_kept = self.burst.is_watched && self.log.keep();
        }
        self.burst.is_kept
    }

    /// Ends the turn: others may have theirs.
    pub(super) fn end_turn(&mut self) {
        self.burst.is_kept = false;
        self.log.finish();
    }
}

/// Ends the turns that a writer keeps, in a thread of its own; false if there is none to be had.
fn watch(state: Weak<Mutex<State>>) -> bool {
    let watch = move || {
        let mut idle = 0;
        while idle < IDLE {
            std::thread::sleep(MOMENT);
            let Some(state) = state.upgrade() else { return };
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            idle = if state.burst.is_kept { 0 } else { idle + 1 };
            state.burst.is_watched = idle < IDLE;
            if state.burst.is_kept {
                let asked = state.log.is_asked_for();
                state.end_turn();
                if asked {
                    // With the state in hand, so that no entry of ours comes first.
                    std::thread::sleep(MOMENT);
                }
            }
        }
    };
    std::thread::Builder::new().name("boswell-turns".to_owned()).spawn(watch).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(burst: &mut Burst, times: impl IntoIterator<Item = i64>) -> Vec<bool> {
        times.into_iter().map(|at| burst.goes_on(Instant::from_millis(at))).collect()
    }

    #[test]
    fn a_turn_is_kept_once_entries_come_in_a_row() {
        let mut burst = Burst::default();
        let quick = entries(&mut burst, 1000..1020);
        assert_eq!(quick.iter().filter(|kept| **kept).count(), 20 - ENTRIES as usize);
        assert!(!entries(&mut burst, [1022]).contains(&true), "a pause ends the row");
        assert!(!entries(&mut burst, (2000..).step_by(2).take(100)).contains(&true), "pauses make none");
        assert!(!entries(&mut burst, [100; 3]).contains(&true), "nor does a clock that is set back");
    }
}
