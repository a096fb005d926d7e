//! Rewinds a session to before a prompt.
//!
//! Where a log is a tree, the leaf is moved; where it must be truncated (MyAgents), the dialect
//! plans it, and without `--apply` only the plan is shown. `--files` restores files first, as
//! `checkout` does.
//!
//! Of a conversation in two stores the fuller side is used: see `request_context.rs`.

use boswell_dialect::{Capability, Depth, EditRequest, Support};
use boswell_model::{Result, Tip};
use boswell_store::store::Resolved;
use boswell_store::{Session, Wait, WritableStore};

use crate::files::{FormerFiles, RestoreStep};
use crate::planned_change::{self, PlanPreview};
use crate::shape::shape;
use crate::{App, AppResult, RequestContext};

/// A request to rewind a session.
#[derive(Debug, Clone, Default)]
pub struct RewindRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Id of the prompt.
    pub entry: String,
    /// Also restore files to their state at that time.
    pub files: bool,
    /// Whether the log may be truncated; otherwise only the plan is returned in that case.
    pub may_cut: bool,
}

shape! {
    /// A session that continues from before a prompt.
    RewoundShape: "rewound" {
        /// the session
        session: String,
        /// the prompt, as given on the command line
        entry: String,
        /// the current leaf; `null` if the prompt was the first entry
        leaf: Option<String>,
        /// the text of the prompt
        text: String,
    }
}

/// The result of a rewind.
#[derive(Debug, Clone)]
pub enum RewindOutcome {
    /// The log would have to be truncated, which the request does not allow: nothing was changed.
    WouldCut(PlanPreview),
    /// The conversation continues from before the prompt.
    Rewound(RewoundShape),
}

impl App {
    /// Rewinds to before a prompt. `sink` receives the restored files.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, Invalid for an entry that is not a prompt,
    /// Unsupported if the format has no rewinds or there are no copies of files, Conflict if
    /// another program changed a file, Busy if another process writes the session.
    pub fn rewind(
        &self,
        request: &RewindRequest,
        sink: &mut dyn FnMut(RestoreStep) -> Result<()>,
    ) -> AppResult<RewindOutcome> {
        self.answer(|cx| rewind(cx, request, sink))
    }
}

fn rewind(
    cx: &RequestContext,
    request: &RewindRequest,
    sink: &mut dyn FnMut(RestoreStep) -> Result<()>,
) -> Result<RewindOutcome> {
    let found = cx.resolve_for_writing(&request.session)?;
    let cuts = found.store.support(Capability::Rewind) == Support::Rewrites;
    if cuts && !request.may_cut {
        found.store.require_expected(&found.location)?;
        return plan(&found, &request.entry).map(RewindOutcome::WouldCut);
    }
    if request.files {
        // Before the leaf moves: afterwards the checkpoints are on an abandoned branch.
        let before = found.store.read(&found.location, Depth::Facts)?;
        let files = FormerFiles::at(cx, &found.reading(), &before, &request.entry, &[])?;
        files.restore(cx, (&found, &before.reference()), false, sink)?;
    }
    let (text, now) = if found.store.dialect().powers().plans(Capability::Rewind) {
        by_plan(cx, &request.entry, &found)?
    } else {
        let writer = found.store.writer(&found.location.id, Wait::No)?;
        let text = writer.rewind(&request.entry)?;
        let now = writer.session()?;
        writer.release()?;
        (text, now)
    };
    let leaf = now.leaf()?;
    Ok(RewindOutcome::Rewound(RewoundShape {
        session: now.reference().to_string(),
        entry: request.entry.clone(),
        leaf: leaf.map(|slot| now.log().label(slot).into_owned()),
        text,
    }))
}

fn plan(found: &Resolved<WritableStore>, entry: &str) -> Result<PlanPreview> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let request = EditRequest::Rewind(Tip::At(session.prompt(entry)?));
    let planned = found.store.plan(&found.location, &request)?;
    Ok(PlanPreview::from(&planned))
}

/// Returns the text of the prompt, and the session after the rewind.
fn by_plan(
    cx: &RequestContext,
    entry: &str,
    found: &Resolved<WritableStore>,
) -> Result<(String, Session)> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let slot = session.prompt(entry)?;
    let view = session.entry(slot)?.view;
    let text = view.map(|view| view.text()).unwrap_or_default();
    planned_change::execute(cx, found, &EditRequest::Rewind(Tip::At(slot)))?;
    let location = found.store.find(&found.location.id)?;
    let now = found.store.read(&location, Depth::Heads)?;
    Ok((text, now))
}
