//! Titles and summaries of sessions, stored as notes.

use boswell_find::Secrets;
use boswell_model::{Result, SessionRef};
use boswell_store::links::Conversation;
use boswell_store::notes::{Note, NoteKind};
use boswell_store::store::Resolved;

use crate::sessions::linked_transcript::{self, LinkedTranscript};
use crate::shape::shape;
use crate::summary::{ExternalProgram, SummaryInput, Summed, extract};
use crate::{App, AppResult, Cancel, RequestContext};

/// A request to summarise sessions.
#[derive(Debug, Clone, Default)]
pub struct SummarizeRequest {
    /// The sessions.
    pub which: WhichSessions,
    /// Maximum number of sessions; `None` for all.
    pub limit: Option<usize>,
}

/// Named sessions, or those without a summary.
#[derive(Debug, Clone)]
pub enum WhichSessions {
    /// These sessions as users name them: see `boswell_store::store::Selector`.
    Named(Vec<String>),
    /// All that have no summary yet, last active first.
    WithoutSummary,
}

impl Default for WhichSessions {
    fn default() -> WhichSessions {
        WhichSessions::Named(Vec::new())
    }
}

shape! {
    /// Generated title and summary of a session.
    SummaryShape: "summary" {
        /// the session
        session: String,
        /// at most 8 words
        title: String,
        /// at most 3 sentences
        summary: String,
        /// whether it was stored
        kept: bool,
    }
}

/// An event while sessions are summarised.
#[derive(Debug)]
pub enum SummarizeEvent {
    /// The next session is examined.
    Session {
        /// Number of the session, from 1.
        number: usize,
        /// Total number of sessions.
        total: usize,
    },
    /// A summary was computed.
    Summary(SummaryShape),
}

/// The totals.
#[derive(Debug, Clone, Copy)]
pub struct Summarized {
    /// Number of examined sessions; 0 if every session has a summary.
    pub sessions: usize,
    /// Number of sessions that failed. Each is a [`Notice::Failure`](crate::Notice::Failure).
    pub failed: usize,
}

impl App {
    /// Adds a title and a summary to sessions, by the program of the settings or by an extract.
    /// `sink` receives each event.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Denied if nothing may be written, and every error of
    /// `sink`. A session that fails is a notice.
    pub fn summarize(
        &self,
        request: &SummarizeRequest,
        cancel: &Cancel,
        sink: &mut dyn FnMut(SummarizeEvent) -> Result<()>,
    ) -> AppResult<Summarized> {
        self.answer_with(cancel.clone(), |cx| summarize(cx, request, sink))
    }
}

/// A conversation to summarise: the session to read, and all its sides.
struct Wanted {
    found: Resolved,
    sides: Vec<SessionRef>,
}

fn summarize(
    cx: &RequestContext,
    request: &SummarizeRequest,
    sink: &mut dyn FnMut(SummarizeEvent) -> Result<()>,
) -> Result<Summarized> {
    cx.may_write()?;
    let wanted = all_wanted(cx, request)?;
    let secrets = Secrets::new()?;
    let mut failed = 0;
    for (number, it) in wanted.iter().enumerate() {
        if cx.cancel.is_cancelled() {
            break;
        }
        sink(SummarizeEvent::Session {
            number: number + 1,
            total: wanted.len(),
        })?;
        match summed(cx, it, &secrets) {
            Ok(Some(summed)) => {
                keep(cx, it, &summed)?;
                if let Some(front) = it.sides.first() {
                    sink(SummarizeEvent::Summary(SummaryShape {
                        session: front.to_string(),
                        title: summed.title,
                        summary: summed.summary,
                        kept: true,
                    }))?;
                }
            }
            Ok(None) => {}
            Err(error) => {
                failed += 1;
                cx.fail(error);
            }
        }
    }
    Ok(Summarized {
        sessions: wanted.len(),
        failed,
    })
}

fn all_wanted(cx: &RequestContext, request: &SummarizeRequest) -> Result<Vec<Wanted>> {
    let (conversations, _) = cx.conversations()?;
    let mut all: Vec<Wanted> = match &request.which {
        WhichSessions::WithoutSummary => missing(cx, &conversations),
        WhichSessions::Named(names) => {
            let named = |session: &String| Ok(wanted(cx.resolve(session)?, &conversations));
            names.iter().map(named).collect::<Result<_>>()?
        }
    };
    all.truncate(request.limit.unwrap_or(usize::MAX));
    Ok(all)
}

/// Summarises a session that was closed, if the settings enable it. The session is closed even if
/// this fails.
pub(crate) fn at_close(cx: &RequestContext, found: &Resolved) {
    if !cx.config.is_on("summary.at_close") {
        return;
    }
    let done = || -> Result<()> {
        let (conversations, _) = cx.conversations()?;
        let it = wanted(found.clone(), &conversations);
        match summed(cx, &it, &Secrets::new()?)? {
            Some(summed) => keep(cx, &it, &summed),
            None => Ok(()),
        }
    };
    if let Err(error) = done() {
        cx.fail(error);
    }
}

fn missing(cx: &RequestContext, conversations: &[Conversation]) -> Vec<Wanted> {
    let mut bare: Vec<&Conversation> = conversations
        .iter()
        .filter(|it| it.front.1.location.hidden.is_none() && it.front.1.meta.summary.is_none())
        .collect();
    bare.sort_by_key(|it| std::cmp::Reverse(it.front.1.last_active()));
    let found = |it: &&Conversation| cx.resolve(&it.front.1.reference.to_string()).ok();
    bare.iter()
        .filter_map(found)
        .map(|found| wanted(found, conversations))
        .collect()
}

/// Returns the conversation of a session; only itself if it has no other sides.
fn wanted(found: Resolved, conversations: &[Conversation]) -> Wanted {
    let own = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let all = |it: &Conversation| -> Vec<SessionRef> {
        std::iter::once(&it.front)
            .chain(&it.linked)
            .map(|(_, summary)| summary.reference.clone())
            .collect()
    };
    let sides = conversations
        .iter()
        .map(all)
        .find(|sides| sides.contains(&own))
        .unwrap_or_else(|| vec![own]);
    Wanted { found, sides }
}

fn summed(cx: &RequestContext, it: &Wanted, secrets: &Secrets) -> Result<Option<Summed>> {
    let summary_input = match linked_transcript::of(cx, &it.found)? {
        LinkedTranscript::There(there) => SummaryInput::read(&there, secrets)?,
        _ => SummaryInput::read(&it.found, secrets)?,
    };
    if summary_input.is_empty() {
        return Ok(None);
    }
    match ExternalProgram::of(&cx.config) {
        Some(program) => program.sum_up(&summary_input).map(Some),
        None => Ok(Some(extract(&summary_input))),
    }
}

/// Stores the summary for every side of the conversation, in one write.
fn keep(cx: &RequestContext, it: &Wanted, summed: &Summed) -> Result<()> {
    let note = |session: &SessionRef, kind| Note {
        session: session.clone(),
        at: cx.now,
        kind,
    };
    let mut notes = Vec::new();
    for side in &it.sides {
        if !summed.title.is_empty() {
            notes.push(note(side, NoteKind::Proposed(summed.title.clone())));
        }
        notes.push(note(side, NoteKind::Summary(summed.summary.clone())));
    }
    cx.notes()?.add_all(notes)
}
