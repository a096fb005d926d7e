//! The bytes of records, read on demand from the open log.

use std::borrow::Cow;
use std::sync::Mutex;

use boswell_model::{Payloads, Result};

use crate::backend::ObjectReader;

/// The records of an open log. The lock is held for one read at a time.
#[derive(Debug)]
pub(super) struct Records(pub(super) Mutex<Option<Box<dyn ObjectReader>>>);

impl Records {
    pub(super) fn with<T>(
        &self,
        ask: impl FnOnce(&dyn ObjectReader) -> Result<T>,
    ) -> Result<Option<T>> {
        let guard = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        guard.as_deref().map(ask).transpose()
    }
}

impl Payloads for Records {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.with(|object| object.read(at, len))
            .map(|bytes| Cow::Owned(bytes.unwrap_or_default()))
    }
}
