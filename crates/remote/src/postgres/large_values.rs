//! [`TenantBlobs`]: the large values of a tenant's sessions, as objects.

use std::time::Duration;

use boswell_model::Result;
use boswell_store::blobs::{BlobId, RemoteBlobs};
use uuid::Uuid;

use super::backend::{PostgresBackend, get};
use super::link::Arguments;
use super::statements::CLAIM_BLOB;
use crate::objects::blob_key;
use crate::{Objects, PutOutcome, Tenant};

/// How often a value is claimed while a sweep deletes it, and the pause between.
const CLAIMS: (u32, Duration) = (5, Duration::from_millis(100));

#[derive(Debug)]
pub(super) struct TenantBlobs {
    backend: PostgresBackend,
    objects: Objects,
}

impl PostgresBackend {
    /// Stores values of more than 128 KB as objects from now on, and reads them from there. Without
    /// it they stay in their lines.
    #[must_use]
    pub fn with_objects(mut self, objects: Objects) -> PostgresBackend {
        self.objects = Some(objects);
        self
    }

    pub(super) fn tenant(&self) -> &Tenant {
        &self.link.tenant
    }
}

impl TenantBlobs {
    pub(super) fn new(backend: PostgresBackend, objects: Objects) -> TenantBlobs {
        TenantBlobs { backend, objects }
    }

    /// Claims a value, so that no sweep deletes it. `None` if one does so now.
    fn claim(&self, id: &BlobId) -> Result<Option<Uuid>> {
        for turn in 0..CLAIMS.0 {
            if turn > 0 {
                std::thread::sleep(CLAIMS.1);
            }
            let claim = Uuid::new_v4();
            let arguments: Arguments = vec![Box::new(id.bytes().to_vec()), Box::new(claim)];
            let answer = self.backend.ask(&CLAIM_BLOB, arguments)?;
            if answer.rows.first().map_or(Ok(false), |row| get(row, 0))? {
                return Ok(Some(claim));
            }
        }
        Ok(None)
    }
}

impl RemoteBlobs for TenantBlobs {
    fn put(&self, id: &BlobId, bytes: &[u8]) -> Result<bool> {
        let Some(claim) = self.claim(id)? else {
            return Ok(false);
        };
        let key = blob_key(self.backend.tenant(), id);
        if self.objects.put_if_absent(&key, bytes)? == PutOutcome::Existed {
            // A line is about to rely on what somebody else stored.
            let found = self.objects.get_checked(&key, id);
            if !matches!(found, Ok(Some(_))) {
                self.objects.replace(&key, bytes)?;
            }
        }
        self.backend.claims.note(*id, claim);
        Ok(true)
    }

    fn get(&self, id: &BlobId) -> Result<Option<Vec<u8>>> {
        let key = blob_key(self.backend.tenant(), id);
        self.objects.get_checked(&key, id)
    }
}
