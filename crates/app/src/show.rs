//! The transcript of a session, one entry at a time.
//!
//! It chooses the entries: the current branch, `--records` (every record in file order), `--entry`,
//! `--around`, `--before` and `--limit` (pages from the end), `after`, `--subagents` (below the
//! call that started them). It also puts back output that the agent wrote to a separate file
//! (`--tools=full`), and replaces credentials in records as they are in the file (`--raw`). How an
//! entry reads is decided by the `view` of its dialect.

mod entries;
mod places;
mod selection;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use boswell_dialect::{Depth, Subagent};
use boswell_model::{Instant, Part, Result, Revision, SessionRef, Slot, View};
use boswell_store::store::Resolved;
use boswell_store::{Session, Store};

pub use self::entries::EntrySink;
use self::places::Places;
pub(crate) use self::places::branches_after;
pub(crate) use self::selection::view;
use self::selection::{Chosen, chosen};
use crate::gaps::{require_known_format, warn_about_gaps};
use crate::open_sessions::{Extent, OpenBranch, OpenSession};
use crate::sessions::linked_transcript;
use crate::shape::{EntryParts, EntryPlace};
use crate::{App, AppResult, RequestContext, stats};

/// A request for a transcript.
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Every record in file order, including metadata and unknown kinds.
    pub records: bool,
    /// Only this entry.
    pub entry: Option<String>,
    /// This entry, and some before and after it.
    pub around: Option<String>,
    /// How many entries before and after `around`; `None` for three.
    pub nearby: Option<usize>,
    /// Maximum number of entries; the last ones are shown, with `after` the first ones.
    pub limit: Option<usize>,
    /// Only entries before this one.
    pub before: Option<String>,
    /// Only entries after this one.
    pub after: Option<String>,
    /// Only entries from this position on, counted from 0 in the order of the view; with `limit`
    /// the first ones of these.
    pub from: Option<usize>,
    /// Only prompts of the user. Positions count all entries.
    pub prompts: bool,
    /// Only entries whose text, input or output contains this, in upper or lower case. Every entry
    /// is read for it.
    pub matching: Option<String>,
    /// Records as stored, except for credentials that an agent writes into them.
    pub raw: bool,
    /// Whether the complete output of tools is read from the agent's side files.
    pub full_output: bool,
    /// Include the entries of subagents, below the calls that started them.
    pub subagents: bool,
    /// Whether the sink gets a header first, for which the whole log is read.
    pub header: bool,
    /// The branch that ends at this entry, instead of the current one.
    pub branch: Option<String>,
    /// Whether the sink also gets gaps of the log and other branches, where they are.
    pub places: bool,
}

/// Which entries of a session were passed on.
#[derive(Debug, Clone)]
pub struct ShownRange {
    /// The session whose entries they are.
    pub session: SessionRef,
    /// Revision of the log that was read.
    pub revision: Revision,
    /// Position of the first and of the last entry in the view; `None` if there was none.
    pub range: Option<(usize, usize)>,
    /// How many entries the view has.
    pub total: usize,
    /// The last entry of the branch that they are on, if it is not the requested one.
    pub branch: Option<String>,
}

/// The items of a transcript, in the order in which the sink receives them.
#[derive(Debug)]
pub enum ShownItem<'e> {
    /// What the session is, before its entries.
    Header(&'e TranscriptHeader),
    /// An entry.
    Entry {
        /// The entry. Its view is missing if the record changed while it was read.
        entry: EntryParts<'e>,
        /// Nesting depth of subagents.
        depth: usize,
        /// Position in the view, from 0; in a subagent that of the entry that started it.
        position: usize,
    },
    /// A subagent that was started here. Its entries follow if they were requested.
    Subagent {
        /// Id of the subagent.
        id: &'e str,
        /// Task of the subagent, in a few words.
        task: Option<&'e str>,
        /// Nesting depth of the call that started it.
        depth: usize,
    },
    /// Bytes that are not a record, before the next entry or after the last one. Only if places
    /// were requested.
    Gap {
        /// Number of the line, from 1.
        line: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// After the last entry the conversation was continued more than once. Only if places were
    /// requested.
    Branches(&'e BranchPoint),
}

/// An entry that several branches continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPoint {
    /// The last entry of each branch, in the order in which they begin in the log.
    pub ends: Vec<String>,
    /// Index of the branch that is shown.
    pub shown: usize,
}

/// What a session is, in a few lines.
#[derive(Debug, Clone)]
pub struct TranscriptHeader {
    /// DIALECT:ID.
    pub session: String,
    /// Title, summary or first prompt.
    pub name: String,
    /// The agent that wrote it.
    pub agent: String,
    /// The models that it used.
    pub models: Vec<String>,
    /// Its project folder.
    pub project: Option<String>,
    /// When it began.
    pub created: Option<Instant>,
    /// When it was last active.
    pub last_active: Option<Instant>,
    /// Prompts of the user.
    pub turns: u64,
    /// Tokens that the model read, without the cache.
    pub input: Option<u64>,
    /// Tokens that the model wrote.
    pub output: Option<u64>,
    /// What the session cost in dollars, without its subagents, if it is known.
    pub cost: Option<f64>,
}

/// Receives a transcript item by item; returns false to stop.
pub type ShowSink<'s> = &'s mut dyn FnMut(ShownItem<'_>) -> Result<bool>;

impl App {
    /// Passes the entries of a session's current branch, or the requested ones, to the sink. Each
    /// entry is read just before it is passed on, so that memory does not grow with the session.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry; and every error of the sink.
    pub fn show(&self, request: &ShowRequest, sink: ShowSink<'_>) -> AppResult<ShownRange> {
        self.answer(|cx| show(cx, request, sink))
    }

    /// Passes the last entries of a long log to the sink, as far as its end alone shows them, and
    /// returns whether it did: a short log, and one that is damaged near its end, is left to
    /// [`show`](App::show).
    ///
    /// For a first look that does not wait for a log of a gigabyte. Entries without an id have no
    /// label here, and a statement before the end may name another branch.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session; and every error of the sink.
    pub fn show_end(&self, session: &str, count: usize, sink: ShowSink<'_>) -> AppResult<bool> {
        self.answer(|cx| show_end(cx, session, count, sink))
    }
}

fn show_end(cx: &RequestContext, name: &str, count: usize, sink: ShowSink<'_>) -> Result<bool> {
    let found = linked_transcript::followed(cx, cx.resolve(name)?)?;
    let Some((session, tip)) = found.store.read_end(&found.location, count)? else {
        return Ok(false);
    };
    let branch = OpenBranch::of(&session, tip)?;
    let from = branch.slots.len().saturating_sub(count);
    // Positions are those in the part that was read: the whole log is not known here.
    let all = branch.slots.iter().copied().enumerate();
    let slots: Vec<(usize, Slot)> = all.skip(from).collect();
    let request = ShowRequest::default();
    let mut walk = Walk {
        store: &found.store,
        request: &request,
        subagents: Vec::new(),
        shown: HashSet::new(),
        sink,
        is_ended: false,
        position: 0,
        ends: None,
        other: None,
    };
    walk.log(&session, (&branch, &slots), 0)?;
    Ok(true)
}

fn show(cx: &RequestContext, request: &ShowRequest, sink: ShowSink<'_>) -> Result<ShownRange> {
    // Records and entries are those of the named file; the conversation may be elsewhere.
    let of_file = request.records || request.raw || request.entry.is_some();
    let (found, session) = opened(cx, request, of_file)?;
    if request.header && !of_file {
        let header = header(cx, &found)?;
        if !sink(ShownItem::Header(&header))? {
            return Ok(range(&session, &[], 0));
        }
    }
    let subagents = if request.raw || request.records {
        Vec::new()
    } else {
        found.store.subagents(&session)?
    };
    let branch = session.open_branch(request.branch.as_deref())?;
    let Chosen { slots, total, end } = chosen(cx, &session, &branch.slots, request)?;
    let end = end.map(|end| session.log().label(end).into_owned());
    let other = match &end {
        Some(end) => Some(session.open_branch(Some(end))?),
        None => None,
    };
    let mut walk = Walk {
        store: &found.store,
        request,
        subagents,
        shown: HashSet::new(),
        sink,
        is_ended: false,
        position: 0,
        ends: request.places.then(|| session.ends()),
        other: other.as_deref(),
    };
    walk.log(&session, (&branch, &slots), 0)?;
    if request.subagents && request.entry.is_none() && request.around.is_none() {
        // Subagents that no shown call started.
        walk.started(|_| true, 0)?;
    }
    if !of_file
        && request.branch.is_none()
        && let Some(remark) = branch.remark(&session)
    {
        cx.remark(remark.clone());
    }
    warn_about_gaps(cx, &session);
    Ok(ShownRange {
        branch: end,
        ..range(&session, &slots, total)
    })
}

/// Returns the session to read, with its table of entries.
fn opened(
    cx: &RequestContext,
    request: &ShowRequest,
    of_file: bool,
) -> Result<(Resolved, Arc<OpenSession>)> {
    let found = cx.resolve(&request.session)?;
    let found = if of_file {
        found
    } else {
        linked_transcript::followed(cx, found)?
    };
    // The records of a file are its own; a conversation may begin in the log of another session.
    let extent = if request.records {
        Extent::File
    } else {
        Extent::Conversation
    };
    let session = cx.open_sessions.read(&found, extent)?;
    if !of_file || session.log().heads.is_empty() {
        require_known_format(&session)?;
    }
    Ok((found, session))
}

fn range(session: &Session, slots: &[(usize, Slot)], total: usize) -> ShownRange {
    let ends = slots.first().zip(slots.last());
    ShownRange {
        session: session.reference(),
        revision: session.revision(),
        range: ends.map(|((first, _), (last, _))| (*first, *last)),
        total,
        branch: None,
    }
}

fn header(cx: &RequestContext, found: &Resolved) -> Result<TranscriptHeader> {
    let mut summary = found.store.summary(&found.location)?;
    cx.add_notes(std::iter::once(&mut summary))?;
    let meta = &summary.meta;
    let usage = meta.usage.total();
    let agent = found.store.dialect().facts().agent;
    Ok(TranscriptHeader {
        session: found.reference().to_string(),
        name: summary.name(),
        agent: meta.agent.clone().unwrap_or_else(|| agent.to_owned()),
        models: meta.models.iter().map(ToString::to_string).collect(),
        project: meta.project.clone().filter(|project| !project.is_empty()),
        created: meta.created,
        last_active: summary.last_active(),
        turns: meta.turns,
        input: usage.input,
        output: usage.output,
        cost: stats::cost_of(cx, &meta.models, &usage)?,
    })
}

/// Walks through a session, and its subagents where they were started.
struct Walk<'a> {
    store: &'a Store,
    request: &'a ShowRequest,
    subagents: Vec<Subagent>,
    /// Subagents that were already passed on.
    shown: HashSet<usize>,
    sink: ShowSink<'a>,
    /// Whether the sink wants no more.
    is_ended: bool,
    /// Position of the last entry of the session itself.
    position: usize,
    /// For each entry the last one below it, if places were requested.
    ends: Option<&'a [Option<Slot>]>,
    /// The branch that the entries are on, if it is not the requested one.
    other: Option<&'a OpenBranch>,
}

impl Walk<'_> {
    fn log(
        &mut self,
        session: &Session,
        (branch, slots): (&OpenBranch, &[(usize, Slot)]),
        depth: usize,
    ) -> Result<()> {
        let ends = self.ends.filter(|_| depth == 0);
        let mut places = ends.map(|ends| {
            let slots: Vec<Slot> = slots.iter().map(|(_, slot)| *slot).collect();
            Places::of(session, ends, &slots)
        });
        for (position, slot) in slots.iter().copied() {
            if self.is_ended {
                break;
            }
            if depth == 0 {
                self.position = position;
            }
            if let Some(places) = &mut places {
                places.before(slot, self.sink)?;
            }
            let place = EntryPlace {
                on_branch: branch.has(slot),
                leaf: branch.leaf == Some(slot),
            };
            for call in self.entry(session, slot, &place, depth)? {
                self.started(|it| it.call.as_ref() == Some(&call), depth)?;
            }
            if let Some(places) = &mut places {
                places.after(slot, self.other.unwrap_or(branch), self.sink)?;
            }
        }
        let is_end = slots.last().map(|(_, slot)| slot) == branch.slots.last();
        if let Some(places) = places.filter(|_| is_end && !self.is_ended) {
            places.rest(self.sink)?;
        }
        Ok(())
    }

    /// Passes on an entry, and returns the ids of the calls in it.
    fn entry(
        &mut self,
        session: &Session,
        slot: Slot,
        place: &EntryPlace,
        depth: usize,
    ) -> Result<Vec<String>> {
        let mut it = session.entry(slot)?;
        if self.request.raw
            && let Cow::Owned(redacted) = session.dialect().powers().refine.redact(&it.bytes)
        {
            it.bytes = redacted;
        }
        if self.request.full_output
            && let Some(view) = &mut it.view
        {
            self.put_back_output(session, slot, view)?;
        }
        let (reference, view) = (session.reference(), it.view.as_ref());
        if let Some(entry) = EntryParts::of_slot(session, &reference, slot, &it.bytes, view, place)
        {
            let position = self.position;
            self.is_ended = !(self.sink)(ShownItem::Entry {
                entry,
                depth,
                position,
            })?;
        }
        let calls = it.view.iter().flat_map(View::calls);
        Ok(calls.map(|(id, ..)| id.to_owned()).collect())
    }

    /// Replaces the truncated output of a tool by the complete one.
    fn put_back_output(&self, session: &Session, slot: Slot, view: &mut View) -> Result<()> {
        let Some(whole) = self.store.full_output(session, slot)? else {
            return Ok(());
        };
        for part in &mut view.parts {
            if let Part::Result { text, .. } = part {
                *text = String::from_utf8_lossy(&whole).into_owned();
            }
        }
        Ok(())
    }

    /// Passes on the subagents that match, below the last entry.
    fn started(&mut self, fits: impl Fn(&Subagent) -> bool, depth: usize) -> Result<()> {
        let all = self.subagents.iter().enumerate();
        let fitting: Vec<(usize, Subagent)> = all
            .filter(|(at, it)| !self.shown.contains(at) && fits(it))
            .map(|(at, it)| (at, it.clone()))
            .collect();
        for (at, subagent) in fitting {
            // A subagent that was found inside another one is not passed on again.
            if !self.is_ended && self.shown.insert(at) {
                self.subagent(&subagent, depth)?;
            }
        }
        Ok(())
    }

    fn subagent(&mut self, subagent: &Subagent, depth: usize) -> Result<()> {
        self.is_ended = !(self.sink)(ShownItem::Subagent {
            id: &subagent.location.id,
            task: subagent.task.as_deref(),
            depth,
        })?;
        if !self.request.subagents || self.is_ended {
            return Ok(());
        }
        let session = self
            .store
            .read_conversation(&subagent.location, Depth::Heads)?;
        let branch = OpenBranch::of(&session, session.tip()?)?;
        let slots: Vec<(usize, Slot)> = branch.slots.iter().copied().enumerate().collect();
        self.log(&session, (&branch, &slots), depth + 1)
    }
}

#[cfg(test)]
mod tests;
