//! Where the large values of a store's sessions are.

use std::sync::Arc;

use boswell_dialect::BlobPolicy;

use super::Store;
use crate::blobs::{Blobs, Habit};

impl Store {
    /// Returns the store of large values: boswell's own sessions have them in boswell's home, those
    /// of xcsh and oh-my-pi in the agent's folder.
    ///
    /// A backend without files may have a place of its own for those of boswell's own sessions.
    pub(crate) fn blobs(&self) -> Option<Blobs> {
        let is_own = matches!(self.dialect.facts().blobs, BlobPolicy::Own);
        if let Some(place) = self.plain.remote_blobs().filter(|_| is_own) {
            return Some(Blobs::remote(place));
        }
        let habit = match self.dialect.facts().blobs {
            BlobPolicy::Own => None,
            BlobPolicy::Xcsh => Some(Habit::Xcsh),
            BlobPolicy::Omp => Some(Habit::Omp),
            BlobPolicy::Inline => return None,
        };
        // For a file that was given by its path, the agent's folder of blobs is unknown.
        let is_there = |key| self.backend().stat(key).ok().flatten().is_some();
        if habit.is_some() && !is_there("sessions") && !is_there("blobs") {
            return None;
        }
        let disk = Arc::clone(self.disk.as_ref()?);
        let blobs = Blobs::new(disk, &self.root, &self.id_source.hex16());
        let home = self.home.as_deref();
        Some(match habit {
            Some(habit) => blobs.of_agent(habit, home),
            None => blobs,
        })
    }
}
