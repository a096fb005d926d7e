//! Waits for entries that were submitted, and acknowledges them.

use std::sync::Arc;

use boswell_model::{Error, ErrorKind, Result};

use super::receipt::Written;
use super::{Durability, Receipt, Ticket};

impl Ticket {
    /// Waits until the entries are as durable as asked, and acknowledges the last of them.
    ///
    /// # Errors
    ///
    /// An I/O error if the entries could not be made durable: then the writer stops, and
    /// [`in_doubt`](super::SessionWriter::in_doubt) names them.
    pub fn wait(mut self) -> Result<Receipt> {
        self.settle()?;
        let last = self
            .written
            .pop()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a ticket gave no receipt"))?;
        Ok(self.receipt(last))
    }

    /// Waits until the entries are as durable as asked, and acknowledges them.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Ticket::wait).
    pub fn wait_all(mut self) -> Result<Vec<Receipt>> {
        self.settle()?;
        let written = std::mem::take(&mut self.written);
        Ok(written
            .into_iter()
            .map(|entry| self.receipt(entry))
            .collect())
    }

    fn settle(&mut self) -> Result<()> {
        if self.durability == Durability::Fsync {
            self.inner.wait_until_durable(self.number)?;
        }
        if let (Some(slot), [entry]) = (&self.slot, self.written.as_mut_slice()) {
            entry.revision = slot.revision()?;
        }
        Ok(())
    }

    fn receipt(&self, written: Written) -> Receipt {
        written.of(Arc::clone(&self.inner.reference), self.durability)
    }
}
