//! The transcript of a session, one entry at a time.
//!
//! It chooses the entries: the current branch, `--records` (every record in file order), `--entry`,
//! `--around`, `--before` and `--limit` (pages from the end), `after`, `--subagents` (below the
//! call that started them). It also puts back output that the agent wrote to a separate file
//! (`--tools=full`), and replaces credentials in records as they are in the file (`--raw`). How an
//! entry reads is decided by the `view` of its dialect.

use std::borrow::Cow;
use std::collections::HashSet;

use boswell_dialect::{Depth, Subagent};
use boswell_model::{Advice, Error, ErrorKind, Instant, Part, Result, Slot, View};
use boswell_store::store::Resolved;
use boswell_store::{Session, Store};

use crate::gaps::{remark_on_other_branches, require_known_format, warn_about_gaps};
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
    /// Records as stored, except for credentials that an agent writes into them.
    pub raw: bool,
    /// Whether the complete output of tools is read from the agent's side files.
    pub full_output: bool,
    /// Include the entries of subagents, below the calls that started them.
    pub subagents: bool,
    /// Whether the sink gets a header first, for which the whole log is read.
    pub header: bool,
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
    pub fn show(&self, request: &ShowRequest, sink: ShowSink<'_>) -> AppResult<()> {
        self.answer(|cx| show(cx, request, sink))
    }
}

fn show(cx: &RequestContext, request: &ShowRequest, sink: ShowSink<'_>) -> Result<()> {
    let found = cx.resolve(&request.session)?;
    // Records and entries are those of the named file; the conversation may be elsewhere.
    let of_file = request.records || request.raw || request.entry.is_some();
    let found = if of_file {
        found
    } else {
        linked_transcript::followed(cx, found)?
    };
    // The records of a file are its own; a conversation may begin in the log of another session.
    let session = if request.records {
        found.store.read(&found.location, Depth::Heads)?
    } else {
        found
            .store
            .read_conversation(&found.location, Depth::Heads)?
    };
    if !of_file || session.log().heads.is_empty() {
        require_known_format(&session)?;
    }
    if request.header && !of_file {
        let header = header(cx, &found)?;
        if !sink(ShownItem::Header(&header))? {
            return Ok(());
        }
    }
    let subagents = if request.raw || request.records {
        Vec::new()
    } else {
        found.store.subagents(&session)?
    };
    let branch = session.branch(session.tip()?)?;
    let slots = chosen(&session, &branch, request)?;
    let mut walk = Walk {
        store: &found.store,
        request,
        subagents,
        shown: HashSet::new(),
        sink,
        is_ended: false,
    };
    walk.log(&session, (&branch, &slots), 0)?;
    if request.subagents && request.entry.is_none() && request.around.is_none() {
        // Subagents that no shown call started.
        walk.started(|_| true, 0)?;
    }
    if !of_file {
        remark_on_other_branches(cx, &session, &branch);
    }
    warn_about_gaps(cx, &session);
    Ok(())
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
}

impl Walk<'_> {
    fn log(
        &mut self,
        session: &Session,
        (branch, slots): (&[Slot], &[Slot]),
        depth: usize,
    ) -> Result<()> {
        let on_branch: HashSet<Slot> = branch.iter().copied().collect();
        let leaf = session.leaf()?;
        for slot in slots.iter().copied() {
            if self.is_ended {
                break;
            }
            let place = EntryPlace {
                on_branch: on_branch.contains(&slot),
                leaf: leaf == Some(slot),
            };
            for call in self.entry(session, slot, &place, depth)? {
                self.started(|it| it.call.as_ref() == Some(&call), depth)?;
            }
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
            self.is_ended = !(self.sink)(ShownItem::Entry { entry, depth })?;
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
        let branch = session.branch(session.tip()?)?;
        self.log(&session, (&branch, &branch), depth + 1)
    }
}

fn chosen(session: &Session, branch: &[Slot], request: &ShowRequest) -> Result<Vec<Slot>> {
    if let Some(name) = &request.entry {
        return Ok(vec![session.find(name)?]);
    }
    let all: Vec<Slot> = if request.records {
        let header = session.header();
        let slots = session.log().slots();
        slots.filter(|slot| header != Some(*slot)).collect()
    } else {
        branch.to_vec()
    };
    match &request.around {
        Some(name) => around(session, &all, name, request.nearby.unwrap_or(3)),
        None => page(session, all, request),
    }
}

fn around(session: &Session, all: &[Slot], name: &str, nearby: usize) -> Result<Vec<Slot>> {
    let middle = session.find(name)?;
    let place = all.iter().position(|slot| *slot == middle).ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!(
                "the entry `{}` is not on the current branch",
                name.escape_debug()
            ),
        )
        .advising(Advice::ShowRecords {
            session: Some(session.reference().to_string()),
            around: Some(name.to_owned()),
        })
    })?;
    let near = place.saturating_sub(nearby)..(place + nearby + 1).min(all.len());
    Ok(all.get(near).unwrap_or_default().to_vec())
}

/// Returns the last entries, those before one, or those after one: a long session is read page by
/// page in both directions.
fn page(session: &Session, mut all: Vec<Slot>, request: &ShowRequest) -> Result<Vec<Slot>> {
    if let Some(name) = &request.before {
        let end = session.find(name)?;
        all.truncate(all.iter().position(|slot| *slot == end).unwrap_or(0));
    }
    let limit = request.limit.unwrap_or(usize::MAX);
    if let Some(name) = &request.after {
        let start = session.find(name)?;
        let start = all.iter().position(|slot| *slot == start);
        let after = start.map_or(all.len(), |start| start + 1);
        all.drain(..after);
        all.truncate(limit);
        return Ok(all);
    }
    Ok(all.split_off(all.len().saturating_sub(limit)))
}
