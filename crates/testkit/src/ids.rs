//! A deterministic clock and deterministic ids for a store under test, from a seed.

use std::sync::{Mutex, PoisonError};

use boswell_model::Instant;
use boswell_store::disk::{Clock, IdSource};

use crate::Rng;
use crate::clock::MORNING;

/// A clock that advances by a millisecond per call, and ids from a seed.
#[derive(Debug)]
pub struct SeededIds {
    state: Mutex<(Rng, i64)>,
}

impl SeededIds {
    /// Starts the sequence of this seed.
    pub fn new(seed: u64) -> SeededIds {
        SeededIds {
            state: Mutex::new((Rng::for_part(seed, "chance"), MORNING)),
        }
    }
}

impl Clock for SeededIds {
    fn now(&self) -> Instant {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 += 1;
        Instant::from_millis(state.1)
    }
}

impl IdSource for SeededIds {
    fn random(&self) -> u64 {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .next_u64()
    }
}
