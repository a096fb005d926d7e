//! `index --native`: agents' own index files, written anew from their logs and from the
//! summaries that boswell keeps.

use std::collections::BTreeMap;
use std::process::ExitCode;

use boswell_dialect::StoreRequest;
use boswell_model::Result;
use boswell_store::Store;

use super::store_change::{self, OnError};
use crate::app::App;
use crate::output::Output;

/// Shows what is wrong with agents' own indexes; with `apply` puts it right.
pub(crate) fn run(app: &App, apply: bool) -> Result<ExitCode> {
    if apply {
        app.may_write()?;
    }
    let mut out = Output::paged(app);
    let summaries = summaries(app)?;
    let wanted = |store: &Store| StoreRequest::IndexWith {
        summaries: summaries
            .get(store.dialect().name())
            .cloned()
            .unwrap_or_default(),
    };
    let outcome = store_change::each_with(app, &wanted, apply, OnError::GoOn, &mut out)?;
    out.finish()?;
    if outcome.changed == 0 && outcome.unread.is_empty() && !app.quiet {
        crate::error_report::say("every index that an agent keeps is as its logs say");
    }
    store_change::say_next(app, apply, &outcome);
    Ok(crate::error_report::left_out(app, &outcome.unread))
}

/// What notes say that sessions were about: by dialect, then by id.
fn summaries(app: &App) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let mut said: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    if app.home.is_none() {
        return Ok(said);
    }
    for (session, notes) in app.notes()?.all() {
        if let Some(summary) = notes.summary {
            said.entry(session.dialect)
                .or_default()
                .insert(session.id, summary);
        }
    }
    Ok(said)
}
