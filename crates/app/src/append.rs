//! Appends entries to a session; each is acknowledged when it has the requested durability.
//!
//! Input becomes drafts in `append/draft.rs`; the store's `writer/` appends them, and `settle`
//! waits until they are durable and hands out their receipts. Agents that store more than a
//! log (MyAgents) append by a plan.
//!
//! Of a conversation in two stores the fuller side is used: see `request_context.rs`.

mod draft;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use boswell_dialect::{Body, Draft, Parent};
use boswell_dialect::{Capability, EditRequest, Expected, SessionLocation};
pub use boswell_model::Part;
use boswell_model::{EntryId, Result, SessionRef};
use boswell_store::Receipt;
use boswell_store::operations::Runner;
use boswell_store::store::Resolved;
pub use boswell_store::{Durability, Expect, Wait};
use boswell_store::{SessionWriter, Store, Ticket, WritableStore};

use crate::acknowledgement::ReceiptShape;
use crate::agent_history::AgentHistory;
use crate::planned_change;
use crate::{Answer, App, AppResult, Refusal, RequestContext};
pub use draft::{AttachedFile, draft_of_line, draft_of_user};

/// A request to append to a session.
#[derive(Debug, Clone, Default)]
pub struct AppendRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// The parent of the first new entry; `None` for the leaf.
    pub parent: Option<String>,
    /// The expected state of the session before the first entry is written.
    pub expect: Expect,
    /// What an acknowledged entry must survive.
    pub durability: Durability,
    /// How long to wait for a session that another process has open.
    pub wait: Wait,
}

impl App {
    /// Opens a session for appending. Until the appender is closed or dropped, no other process can
    /// append to a log; if an agent stores more than a log, each batch is a separate change.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Unsupported if its format cannot be written, Busy if
    /// another process writes it, Denied if nothing may be written.
    pub fn append(&self, request: &AppendRequest) -> AppResult<Appender> {
        let cx = Arc::new(self.request()?);
        let opened = Appender::open(&cx, request);
        noticed(&cx, opened)
    }
}

/// Receives receipts, oldest first, a batch at a time.
pub type ReceiptSink<'s> = &'s mut dyn FnMut(Vec<ReceiptShape>) -> Result<()>;

/// A session opened for appending: drafts are submitted, then acknowledged together.
///
/// A face that gets entries one by one submits the available ones and settles; the entries of one
/// batch share an `fsync`. An appender can be moved to another thread.
#[derive(Debug)]
pub struct Appender {
    cx: Arc<RequestContext>,
    parent: Option<Parent>,
    to: Destination,
    models: Models,
}

/// Gives answers without a model the one in use, where the agent would take the answer's for it.
#[derive(Debug)]
struct Models {
    store: Store,
    location: SessionLocation,
    /// The model in use, once it was looked for.
    in_use: Option<Option<String>>,
}

impl Models {
    fn fill(&mut self, draft: &mut Draft) -> Result<()> {
        if !self.store.dialect().facts().answer_sets_model {
            return Ok(());
        }
        match &mut draft.body {
            Body::Model { model, .. } => self.in_use = Some(Some(model.clone())),
            Body::Assistant(answer) => {
                if let Some(model) = &answer.model {
                    let provider = answer.provider.as_ref();
                    let stated = provider.map(|provider| format!("{provider}/{model}"));
                    self.in_use = Some(Some(stated.unwrap_or_else(|| model.clone())));
                } else {
                    let at = match &draft.parent {
                        Parent::Entry(entry) => Some(entry),
                        _ => None,
                    };
                    answer.model = self.in_use(at)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn in_use(&mut self, at: Option<&EntryId>) -> Result<Option<String>> {
        if let Some(known) = &self.in_use {
            return Ok(known.clone());
        }
        // An entry of this append is not in the log yet: then the model at the tip is used.
        let read = |at| self.store.read_for_context(&self.location, at);
        let (session, tip) = match at {
            Some(_) => read(at).or_else(|_| read(None))?,
            None => read(None)?,
        };
        let model = session.context(tip)?.settings.model;
        self.in_use = Some(model.clone());
        Ok(model)
    }
}

#[derive(Debug)]
enum Destination {
    Log(Box<LogAppender>),
    Plans(Box<PlanAppender>),
}

impl Appender {
    fn open(cx: &Arc<RequestContext>, request: &AppendRequest) -> Result<Appender> {
        let found = cx.resolve_for_writing(&request.session)?;
        let models = Models {
            store: found.reading().store,
            location: found.location.clone(),
            in_use: None,
        };
        let to = if found.store.dialect().powers().plans(Capability::Append) {
            Destination::Plans(Box::new(PlanAppender::open(cx, request, found)?))
        } else {
            Destination::Log(Box::new(LogAppender::open(request, &found)?))
        };
        Ok(Appender {
            cx: Arc::clone(cx),
            parent: (request.parent.as_deref()).map(|entry| Parent::Entry(entry.into())),
            to,
            models,
        })
    }

    /// Submits an entry. It is written now, or with its batch, and acknowledged by
    /// [`settle`](Appender::settle).
    ///
    /// # Errors
    ///
    /// Invalid for a draft that the format does not support, Conflict if the session is not in the
    /// expected state. Entries submitted before stay valid and should be settled.
    pub fn submit(&mut self, draft: Draft) -> Result<()> {
        let mut draft = match self.parent.take() {
            Some(parent) => draft.below(parent),
            None => draft,
        };
        self.models.fill(&mut draft)?;
        match &mut self.to {
            Destination::Log(log) => log.submit(draft),
            Destination::Plans(plans) => {
                plans.drafts.push(draft);
                Ok(())
            }
        }
    }

    /// Waits until all submitted entries have the requested durability, and passes a receipt for
    /// each entry to `sink`.
    ///
    /// # Errors
    ///
    /// An error of the disk or of `sink`. Acknowledged entries are written.
    pub fn settle(&mut self, sink: ReceiptSink<'_>) -> AppResult<()> {
        let settled = match &mut self.to {
            Destination::Log(log) => log.settle(&self.cx, sink),
            Destination::Plans(plans) => plans.settle(&self.cx, sink),
        };
        noticed(&self.cx, settled)
    }

    /// Closes the session.
    ///
    /// # Errors
    ///
    /// An error of the disk.
    pub fn close(self) -> Result<()> {
        match self.to {
            Destination::Log(log) => log.writer.release(),
            Destination::Plans(_) => Ok(()),
        }
    }
}

/// Appends through the session's writer.
#[derive(Debug)]
struct LogAppender {
    writer: SessionWriter,
    durability: Durability,
    expect: Expect,
    /// Entries that are written but not acknowledged yet, with the prompt of each.
    open: Vec<(Ticket, Option<String>)>,
    history: Option<AgentHistory>,
}

impl LogAppender {
    fn open(request: &AppendRequest, found: &Resolved<WritableStore>) -> Result<LogAppender> {
        let history = AgentHistory::of(&found.reading())?;
        Ok(LogAppender {
            writer: found.store.writer(&found.location.id, request.wait)?,
            durability: request.durability,
            expect: request.expect.clone(),
            open: Vec::new(),
            history,
        })
    }

    fn submit(&mut self, draft: Draft) -> Result<()> {
        let expect = std::mem::take(&mut self.expect);
        let asked = self.history.as_ref().and_then(|_| draft::prompt(&draft));
        let ticket = self
            .writer
            .submit_all(vec![draft], expect, self.durability)?;
        self.open.push((ticket, asked));
        Ok(())
    }

    /// Settles all tickets; they share the sync of the first one that waits.
    fn settle(&mut self, cx: &RequestContext, sink: ReceiptSink<'_>) -> Result<()> {
        let (mut prompts, mut receipts) = (Vec::new(), Vec::new());
        let mut waited = Ok(());
        for (ticket, asked) in self.open.drain(..) {
            match ticket.wait_all() {
                Ok(written) => {
                    for receipt in &written {
                        prompts.extend(asked.clone().filter(|_| !receipt.deduplicated));
                        receipts.push(ReceiptShape::from(receipt));
                    }
                }
                Err(error) => {
                    waited = Err(error);
                    break;
                }
            }
        }
        // Entries before a failed one are durable: their receipts come before the error.
        sink(receipts)?;
        waited?;
        if let Some(history) = self.history.as_ref().filter(|_| !prompts.is_empty())
            && let Err(error) = history.remember(&prompts)
        {
            cx.warn(error);
        }
        Ok(())
    }
}

/// Appends by plans, for agents that store more than a log: a batch is one plan.
#[derive(Debug)]
struct PlanAppender {
    runner: Runner,
    found: Resolved<WritableStore>,
    expect: Option<Expected>,
    drafts: Vec<Draft>,
}

impl PlanAppender {
    fn open(
        cx: &RequestContext,
        request: &AppendRequest,
        found: Resolved<WritableStore>,
    ) -> Result<PlanAppender> {
        let runner = cx.runner()?;
        // An agent holds its own locks briefly, so a short wait is always allowed.
        let runner = if request.wait == Wait::No {
            runner
        } else {
            runner.waiting(request.wait)
        };
        let expect = match request.expect.clone() {
            Expect::Any => None,
            Expect::Revision(revision) => Some(Expected::Revision(revision)),
            Expect::Leaf(leaf) => Some(Expected::Leaf(leaf.into())),
        };
        Ok(PlanAppender {
            runner,
            found,
            expect,
            drafts: Vec::new(),
        })
    }

    fn settle(&mut self, cx: &RequestContext, sink: ReceiptSink<'_>) -> Result<()> {
        let drafts = std::mem::take(&mut self.drafts);
        if drafts.is_empty() {
            return Ok(());
        }
        let request = match self.expect.take() {
            Some(expect) => EditRequest::AppendAfter { expect, drafts },
            None => EditRequest::Append(drafts),
        };
        let (store, location) = (&self.found.store, &self.found.location);
        let done = self.runner.execute(store, location, &request)?;
        planned_change::remark(cx, &done.planned);
        let session = SessionRef::new(store.dialect().name(), &location.id);
        self.found.location = store.find(&session.id)?;
        let session = Arc::new(session);
        let receipt = |(number, entry): (usize, &String)| {
            ReceiptShape::from(&Receipt {
                session: Arc::clone(&session),
                entry: entry.into(),
                revision: self.found.location.revision(),
                deduplicated: number < done.planned.already,
                durable: Durability::Fsync,
            })
        };
        let entries = done.planned.entries.iter().enumerate();
        sink(entries.map(receipt).collect())
    }
}

/// Returns a result with the notices since the last one.
fn noticed<T>(cx: &RequestContext, done: Result<T>) -> AppResult<T> {
    let notices = cx.take_notices();
    match done {
        Ok(value) => Ok(Answer { value, notices }),
        Err(error) => Err(Refusal { error, notices }),
    }
}
