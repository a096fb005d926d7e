//! How many sessions of each store a list shows: the one count that every command prints.

use std::collections::HashMap;

use boswell_model::Result;
use boswell_store::store::StoreId;

use crate::RequestContext;

/// The number of sessions that a list shows, by store.
#[derive(Debug, Default)]
pub(crate) struct SessionCounts(HashMap<StoreId, usize>);

impl SessionCounts {
    /// Counts the sessions of all stores. A conversation in two stores counts in both, as in a list
    /// of one agent's sessions.
    ///
    /// # Errors
    ///
    /// Any error of reading notes or catalog.
    pub(crate) fn of(cx: &RequestContext) -> Result<SessionCounts> {
        let mut counts = SessionCounts::default();
        let (conversations, _) = cx.conversations()?;
        let shown = conversations
            .iter()
            .filter(|conversation| conversation.front.1.hidden().is_none());
        for (store, _) in shown.flat_map(|it| std::iter::once(&it.front).chain(&it.linked)) {
            *counts.0.entry(*store).or_default() += 1;
        }
        Ok(counts)
    }

    /// Returns how many of the sessions in a store are shown and how many are hidden, `all`
    /// together.
    pub(crate) fn split(&self, store: StoreId, all: usize) -> (usize, usize) {
        let shown = self.0.get(&store).copied().unwrap_or(0).min(all);
        (shown, all - shown)
    }
}
