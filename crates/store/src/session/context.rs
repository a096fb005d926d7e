//! The leaf of a session, its branch, and the context that a model would be sent.

use boswell_model::json::{Object, Scanned};
use boswell_model::{Context, ContextItem, Result, Slot, Tip};

use super::{RenderedMessage, Session};

impl Session {
    /// Where the conversation stands.
    ///
    /// # Errors
    ///
    /// An I/O error if the records that decide on it cannot be read.
    pub fn tip(&self) -> Result<Tip> {
        self.dialect.tip(&self.view())
    }

    /// The entry that the user means by "where it stands".
    ///
    /// # Errors
    ///
    /// Those of [`tip`](Session::tip).
    pub fn leaf(&self) -> Result<Option<Slot>> {
        let view = self.view();
        let tip = self.dialect.tip(&view)?;
        Ok(self.dialect.leaf(&view, tip))
    }

    /// The entries of the branch that ends at `tip`, in reading order.
    ///
    /// # Errors
    ///
    /// Those of [`tip`](Session::tip).
    pub fn branch(&self, tip: Tip) -> Result<Vec<Slot>> {
        self.dialect.branch(&self.view(), tip)
    }

    /// What a model would be sent at `tip`.
    ///
    /// # Errors
    ///
    /// Those of [`tip`](Session::tip).
    pub fn context(&self, tip: Tip) -> Result<Context> {
        let mut context = self.dialect.context(&self.view(), tip)?;
        let refine = self.dialect.powers().refine;
        refine.side_settings(&self.location, &mut context.settings);
        Ok(context)
    }

    /// Renders one message of a context.
    ///
    /// # Errors
    ///
    /// `Conflict` if the log was rewritten since it was read; an I/O error if it cannot be read.
    pub fn render(&self, item: &ContextItem) -> Result<RenderedMessage> {
        let view = self.view();
        let payloads = item
            .slots()
            .map(|slot| Ok(self.whole(view.payload(slot)?)))
            .collect::<Result<Vec<_>>>()?;
        let mut scanned = self
            .scratch
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if scanned.len() < payloads.len() {
            scanned.resize_with(payloads.len(), Scanned::default);
        }
        for (payload, record) in payloads.iter().zip(&mut *scanned) {
            record.scan(payload).map_err(|_| self.changed())?;
        }
        let objects: Vec<Object<'_>> = payloads
            .iter()
            .zip(&*scanned)
            .map(|(bytes, record)| record.object(bytes))
            .collect();
        Ok(RenderedMessage {
            item: item.clone(),
            message: self.dialect.render(item, &objects),
        })
    }
}
