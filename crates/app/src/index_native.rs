//! Agents' own index files, rebuilt from their logs and from the summaries that boswell keeps.

use std::collections::BTreeMap;

use boswell_dialect::StoreRequest;
use boswell_model::Result;
use boswell_store::Store;

use crate::store_change::{self, ChangeMode, OnStoreError, StoreChangeSink, StoreChanges};
use crate::{App, AppResult, RequestContext};

impl App {
    /// Plans what is out of date in agents' own indexes, or brings it up to date. A store that
    /// fails does not keep the others from being changed: see [`StoreChanges::unread`].
    ///
    /// # Errors
    ///
    /// Denied if it is to be carried out and nothing may be written, and what `sink` returns.
    pub fn index_native(
        &self,
        mode: ChangeMode,
        sink: &mut StoreChangeSink<'_>,
    ) -> AppResult<StoreChanges> {
        self.answer(|cx| index_native(cx, mode, sink))
    }
}

fn index_native(
    cx: &RequestContext,
    mode: ChangeMode,
    sink: &mut StoreChangeSink<'_>,
) -> Result<StoreChanges> {
    if mode == ChangeMode::Apply {
        cx.may_write()?;
    }
    let summaries = summaries(cx)?;
    let wanted = |store: &Store| {
        let of_store = summaries.get(store.dialect().name());
        StoreRequest::IndexWith {
            summaries: of_store.cloned().unwrap_or_default(),
        }
    };
    store_change::each(cx, &wanted, mode, OnStoreError::GoOn, sink)
}

/// Summaries of sessions in notes: by dialect, then by id.
fn summaries(cx: &RequestContext) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let mut summaries: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    if cx.home.is_none() {
        return Ok(summaries);
    }
    for (session, notes) in cx.notes()?.all() {
        if let Some(summary) = notes.summary {
            let of_dialect = summaries.entry(session.dialect).or_default();
            of_dialect.insert(session.id, summary);
        }
    }
    Ok(summaries)
}
