//! Which large values lines name, and claims of those that are stored and not named yet.
//!
//! A value is claimed in the database before its object is stored, and named in the transaction
//! that adds its line. So at every moment either a row speaks for an object or nothing names it,
//! and a sweep can ask the database alone (`sql/functions.sql`).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use boswell_store::blobs::{BlobId, references};
use uuid::Uuid;

use super::link::Arguments;

/// The claims of this process.
#[derive(Debug, Default)]
pub(super) struct Claims(Mutex<HashMap<BlobId, Uuid>>);

impl Claims {
    fn all(&self) -> MutexGuard<'_, HashMap<BlobId, Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a claim, to use it up with the line that names the value.
    #[cfg(feature = "objects")]
    pub(super) fn note(&self, id: BlobId, claim: Uuid) {
        self.all().insert(id, claim);
    }

    /// Forgets the claims that an append has used up.
    pub(super) fn used(&self, names: &BlobNames) {
        let mut all = self.all();
        for (id, claim) in names.ids.iter().zip(&names.claims) {
            if claim.is_some() && all.get(id) == claim.as_ref() {
                all.remove(id);
            }
        }
    }
}

/// The values that some lines name, in order, with the claims of this process.
#[derive(Debug)]
pub(super) struct BlobNames {
    ids: Vec<BlobId>,
    claims: Vec<Option<Uuid>>,
}

impl BlobNames {
    pub(super) fn of(lines: &[u8], claims: &Claims) -> BlobNames {
        let ids = references(lines);
        let claims = match ids.is_empty() {
            true => Vec::new(),
            false => {
                let all = claims.all();
                ids.iter().map(|id| all.get(id).copied()).collect()
            }
        };
        BlobNames { ids, claims }
    }

    /// Adds them to the arguments of a statement.
    pub(super) fn add_to(&self, arguments: &mut Arguments) {
        let hashes: Vec<Vec<u8>> = self.ids.iter().map(|id| id.bytes().to_vec()).collect();
        arguments.push(Box::new(hashes));
        arguments.push(Box::new(self.claims.clone()));
    }
}
