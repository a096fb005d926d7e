//! The bytes of records, read on demand from the open log.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use boswell_model::{Payloads, Result};

use super::inherited::{INHERITED, Inherited};
use crate::backend::ObjectReader;

/// The records of an open log, and of the logs that it continues. A lock is held for one read at a
/// time.
#[derive(Debug)]
pub(super) struct Records {
    own: Mutex<Option<Box<dyn ObjectReader>>>,
    inherited: Option<Arc<Mutex<Inherited>>>,
}

impl Records {
    /// The records of one log.
    pub(super) fn of(object: Option<Box<dyn ObjectReader>>) -> Records {
        Records {
            own: Mutex::new(object),
            inherited: None,
        }
    }

    /// Adds the records of the logs that it continues.
    pub(super) fn continuing(mut self, inherited: Inherited) -> Records {
        self.inherited = Some(Arc::new(Mutex::new(inherited)));
        self
    }

    /// The records of the same log, which was opened again, and of the same inherited ones.
    pub(super) fn reopened(&self, object: Box<dyn ObjectReader>) -> Records {
        Records {
            inherited: self.inherited.clone(),
            ..Records::of(Some(object))
        }
    }

    pub(super) fn with<T>(
        &self,
        ask: impl FnOnce(&dyn ObjectReader) -> Result<T>,
    ) -> Result<Option<T>> {
        let guard = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        guard.as_deref().map(ask).transpose()
    }
}

impl Payloads for Records {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        let bytes = match &self.inherited {
            Some(inherited) if at >= INHERITED => {
                let guard = inherited.lock().unwrap_or_else(PoisonError::into_inner);
                guard.read(at, len)?
            }
            _ => self
                .with(|object| object.read(at, len))?
                .unwrap_or_default(),
        };
        Ok(Cow::Owned(bytes))
    }
}
