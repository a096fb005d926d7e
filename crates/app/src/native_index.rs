//! Rebuilds agents' own index files from their logs and from boswell's summaries.

use std::collections::BTreeMap;

use boswell_dialect::StoreRequest;
use boswell_model::Result;
use boswell_store::Store;

use crate::store_change::{self, ChangeMode, OnStoreError, StoreChangeSink, StoreChanges};
use crate::{App, AppResult, RequestContext};

impl App {
    /// Plans or executes the correction of agents' own indexes, in every store that has one. An
    /// unreadable store does not prevent the others.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, and every error of `sink`.
    pub fn rebuild_native_indexes(
        &self,
        mode: ChangeMode,
        sink: &mut StoreChangeSink<'_>,
    ) -> AppResult<StoreChanges> {
        self.answer(|cx| rebuild(cx, mode, sink))
    }
}

fn rebuild(
    cx: &RequestContext,
    mode: ChangeMode,
    sink: &mut StoreChangeSink<'_>,
) -> Result<StoreChanges> {
    if mode == ChangeMode::Apply {
        cx.may_write()?;
    }
    let summaries = summaries(cx)?;
    let wanted = |store: &Store| StoreRequest::IndexWith {
        summaries: summaries
            .get(store.dialect().name())
            .cloned()
            .unwrap_or_default(),
    };
    store_change::each(cx, &wanted, mode, OnStoreError::GoOn, sink)
}

/// Returns the summaries in notes: by dialect, then by id.
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
