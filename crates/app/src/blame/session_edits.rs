//! Finds what sessions did to a file, under every name that it had.
//!
//! The search index names the calls that contain a name of the file; only these are read. A call
//! counts if it names the file as an argument and succeeded.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use boswell_dialect::Depth;
use boswell_model::json::Raw;
use boswell_model::{Instant, Part, Result, Slot, ToolInput};
use boswell_store::Session;
use boswell_store::store::StoreId;

use super::call_result::{CallResult, head_time, prompt_of};
use super::file_edit::{EditKind, FileEdit, file_edits, folder};
use super::former_text::FormerText;
use super::plain_path::plain;
use super::recorded_text::RecordedText;
use super::replay::{Act, Event, SeenExtent};
use crate::RequestContext;
use crate::search::{self, HitShape, Order, QueryForm, SearchRequest};
use crate::sessions::filter::SessionFilter;

/// Calls that are looked at for one name of the file.
const MOST_CALLS: usize = 4_000;
/// With more calls than this, only those of the project and those with the whole path are read.
const MANY_CALLS: usize = 400;

/// What orders events of the same time: session, entry, and place in it.
type EventOrder = (usize, Slot, usize);

/// An edit of a file by a session.
#[derive(Debug, Clone)]
pub(super) struct SessionEdit {
    /// Number of the session.
    pub(super) session: usize,
    /// The entry with the call.
    pub(super) entry: String,
    /// The entry with the prompt before it.
    pub(super) prompt: Option<String>,
    /// When the call was made.
    pub(super) at: Option<Instant>,
}

impl SessionEdit {
    fn of(session: &Session, call: &Call<'_>, prompt: Option<Slot>) -> SessionEdit {
        SessionEdit {
            session: call.number,
            entry: session.log().label(call.slot).into_owned(),
            prompt: prompt.map(|slot| session.log().label(slot).into_owned()),
            at: None,
        }
    }
}

/// A session that edited the file.
#[derive(Debug)]
pub(super) struct EditingSession {
    pub(super) reference: String,
    pub(super) agent: String,
    pub(super) name: String,
    project: Option<String>,
    session: Option<Session>,
    store: Option<StoreId>,
    /// A fork repeats calls, and a copy that was made later too: the smallest is the original.
    rank: (bool, Option<Instant>),
    /// Whether its log has results of calls.
    has_results: Option<bool>,
}

impl EditingSession {
    /// The time and the text of a prompt.
    pub(super) fn prompt(&self, entry: &str) -> Option<(Option<Instant>, String)> {
        let session = self.session.as_ref()?;
        let slot = session.find(entry).ok()?;
        let text = session.entry(slot).ok()?.view?.text();
        Some((head_time(session, slot), text.trim().to_owned()))
    }
}

/// What sessions did to a file.
#[derive(Debug)]
pub(super) struct SessionEdits<'c> {
    cx: &'c RequestContext,
    filter: &'c SessionFilter,
    /// The folder that paths of its project are below.
    root: &'c Path,
    /// Every name that the file had: absolute paths.
    paths: HashSet<String>,
    pub(super) sessions: Vec<EditingSession>,
    by_reference: HashMap<String, usize>,
    pub(super) edits: Vec<SessionEdit>,
    events: Vec<(EventOrder, Event)>,
    /// Entries and calls that were read: a fork repeats those of the session it began as.
    read: HashSet<(usize, Slot)>,
    calls: HashMap<String, Vec<usize>>,
    /// Copies of the file from before a prompt, by session, prompt and path: with the first edit of
    /// the prompt.
    copies: HashMap<(usize, Slot, String), (EventOrder, i64)>,
    real: HashMap<PathBuf, PathBuf>,
    /// Every file is looked at once for all searches.
    look: Option<search::Look>,
    /// Whether every call was looked at.
    pub(super) is_complete: bool,
}

impl<'c> SessionEdits<'c> {
    pub(super) fn new(
        cx: &'c RequestContext,
        filter: &'c SessionFilter,
        root: &'c Path,
    ) -> SessionEdits<'c> {
        SessionEdits {
            cx,
            filter,
            root,
            paths: HashSet::new(),
            sessions: Vec::new(),
            by_reference: HashMap::new(),
            edits: Vec::new(),
            events: Vec::new(),
            read: HashSet::new(),
            calls: HashMap::new(),
            copies: HashMap::new(),
            real: HashMap::new(),
            look: None,
            is_complete: true,
        }
    }

    /// Adds names of the file, and what sessions did to it under these; returns further names that
    /// sessions changed to one of them.
    pub(super) fn add_names(&mut self, names: Vec<String>) -> Result<Vec<String>> {
        let known = self.paths.len();
        self.paths.extend(names.iter().cloned());
        if self.paths.len() > known {
            // A call that was not about the file may be about a name that is new.
            self.read.clear();
            let mut asked: HashSet<&str> = HashSet::new();
            for path in &names {
                let name = path.rsplit('/').next().unwrap_or_default();
                if !asked.contains(name) && self.search(name, path)? {
                    asked.insert(name);
                }
            }
        }
        Ok(self.former_names())
    }

    /// Names that a session changed to one of the file's.
    fn former_names(&self) -> Vec<String> {
        let former = |event: &Event| match &event.act {
            Act::Edit {
                kind: EditKind::Rename(to),
                ..
            } if self.paths.contains(to) && !self.paths.contains(&event.path) => {
                Some(event.path.clone())
            }
            _ => None,
        };
        self.events
            .iter()
            .filter_map(|(_, event)| former(event))
            .collect()
    }

    /// Returns the events of the file, sorted.
    pub(super) fn events(&mut self) -> Vec<Event> {
        self.add_copies();
        let paths = &self.paths;
        self.events.retain(|(_, event)| paths.contains(&event.path));
        self.events.sort_by_key(|(order, event)| (event.at, *order));
        self.events.iter().map(|(_, event)| event.clone()).collect()
    }

    /// Adds the copies that agents made of the file before the first edit of a prompt.
    fn add_copies(&mut self) {
        for ((number, prompt, path), (order, at)) in std::mem::take(&mut self.copies) {
            let Some(it) = self
                .sessions
                .get(number)
                .filter(|_| self.paths.contains(&path))
            else {
                continue;
            };
            let (Some(session), Some(store)) = (&it.session, it.store) else {
                continue;
            };
            let project = it.project.as_deref().unwrap_or_default();
            let former = FormerText::new(self.cx, session, store, project);
            if let Some(text) = former.at(prompt, &path) {
                let act = Act::Seen {
                    text,
                    extent: SeenExtent::Whole,
                };
                let order = (order.0, order.1, 0);
                self.events.push((order, Event { at, path, act }));
            }
        }
    }

    /// Reads the calls that name the file; whether those with its name alone are all read.
    fn search(&mut self, name: &str, path: &str) -> Result<bool> {
        let all = SearchRequest {
            query: name.to_owned(),
            form: QueryForm::Substring,
            fields: vec!["calls".to_owned()],
            filter: self.filter.clone(),
            order: Order::Newest,
            limit: MANY_CALLS,
            ..SearchRequest::default()
        };
        if self.read_hits(&all)? {
            return Ok(true);
        }
        let whole = SearchRequest {
            query: path.to_owned(),
            limit: MOST_CALLS,
            ..all.clone()
        };
        let mut is_complete = self.read_hits(&whole)?;
        if self.filter.project.is_none() && !self.filter.here {
            let mut here = whole;
            here.query = name.to_owned();
            here.filter.project = Some(self.root.display().to_string());
            is_complete &= self.read_hits(&here)?;
        }
        self.is_complete &= is_complete;
        Ok(false)
    }

    /// Reads the calls that a search finds; whether it found all.
    fn read_hits(&mut self, request: &SearchRequest) -> Result<bool> {
        let look = match &mut self.look {
            Some(look) => look,
            none => none.insert(search::Look::new(self.cx)?),
        };
        let found = look.search(self.cx, request)?;
        let is_complete = found.page.complete && found.page.cursor.is_none();
        if !is_complete && request.limit == MANY_CALLS {
            return Ok(false);
        }
        for hit in &found.hits {
            if self.cx.cancel.is_cancelled() {
                return Ok(false);
            }
            let number = match self.by_reference.get(&hit.session) {
                Some(number) => *number,
                None => self.open(&found, hit),
            };
            self.read_entry(number, hit);
        }
        if let Some(look) = &self.look {
            look.index_a_little(&|| true);
        }
        Ok(is_complete)
    }

    fn open(&mut self, found: &search::Found, hit: &HitShape) -> usize {
        let place = found.places.get(&hit.session);
        let session = place.and_then(|(store, summary)| {
            let store = self.cx.stores.get(*store)?;
            store.read(&summary.location, Depth::Heads).ok()
        });
        let meta = place.map(|(_, summary)| &summary.meta);
        let number = self.sessions.len();
        self.by_reference.insert(hit.session.clone(), number);
        self.sessions.push(EditingSession {
            reference: hit.session.clone(),
            agent: hit.agent.clone(),
            name: hit.name.clone(),
            project: hit.project.clone(),
            session,
            store: place.map(|(store, _)| *store),
            rank: (
                meta.is_some_and(|meta| meta.parent.is_some()),
                meta.and_then(|meta| meta.created),
            ),
            has_results: None,
        });
        number
    }

    /// Reads the calls of an entry.
    fn read_entry(&mut self, number: usize, hit: &HitShape) {
        let Some(session) = self
            .sessions
            .get_mut(number)
            .and_then(|it| it.session.take())
        else {
            return;
        };
        let slot = hit
            .entry
            .as_ref()
            .and_then(|entry| session.find(entry.as_str()).ok());
        if let Some(slot) = slot.filter(|slot| self.read.insert((number, *slot)))
            && let Ok(entry) = session.entry(slot)
        {
            let view = entry.view.unwrap_or_default();
            let cwd = Raw::parse(&entry.bytes).ok().and_then(|raw| {
                let cwd = raw.get("cwd")?.text()?.into_owned();
                Some(cwd).filter(|cwd| !cwd.is_empty())
            });
            for (place, part) in view.parts.iter().enumerate() {
                if let Part::Call { id, name, input } = part {
                    let call = Call {
                        number,
                        slot,
                        place,
                        id,
                        cwd: cwd.clone(),
                        hit,
                    };
                    self.read_call(&session, &call, name, input);
                }
            }
        }
        if let Some(it) = self.sessions.get_mut(number) {
            it.session = Some(session);
        }
    }

    fn read_call(&mut self, session: &Session, call: &Call<'_>, tool: &str, input: &ToolInput) {
        let found = self.own_edits(call, tool, input);
        let known = self.sessions.get_mut(call.number);
        let has_results = known.map(|it| &mut it.has_results);
        let Some(has_results) = has_results.filter(|_| !found.is_empty()) else {
            return;
        };
        let Some(result) = CallResult::of(session, call.slot, call.id, has_results) else {
            return;
        };
        let at = head_time(session, call.slot).or(call.hit.at);
        let key = match call.id.is_empty() {
            true => format!("{at:?} {tool} {}", input.text()),
            false => format!("{} {}", call.id, input.text()),
        };
        if let Some(known) = self.calls.get(&key).cloned() {
            return self.attribute(session, call, &known);
        }
        let first = self.edits.len();
        self.add_all(session, call, (at, &result), found);
        self.calls.insert(key, (first..self.edits.len()).collect());
    }

    /// What a call does to files, if one of them is ours.
    fn own_edits(&mut self, call: &Call<'_>, tool: &str, input: &ToolInput) -> Vec<FileEdit> {
        let found = file_edits(tool, input);
        let session = self.sessions.get(call.number);
        let project = session.and_then(|it| it.project.clone());
        let mut cwd = PathBuf::from(call.cwd.clone().or(project).unwrap_or_default());
        if let Some(folder) = folder(input) {
            cwd.push(folder);
        }
        let found = found.into_iter().filter_map(|it| self.resolved(&cwd, it));
        let mut found: Vec<FileEdit> = found.collect();
        let is_ours = |it: &FileEdit| match &it.kind {
            EditKind::Rename(to) => self.paths.contains(&it.path) || self.paths.contains(to),
            _ => self.paths.contains(&it.path),
        };
        if !found.iter().any(is_ours) {
            found.clear();
        }
        found
    }

    /// Adds what a call did to each of its files.
    fn add_all(
        &mut self,
        session: &Session,
        call: &Call<'_>,
        (at, result): (Option<Instant>, &CallResult),
        found: Vec<FileEdit>,
    ) {
        let recorded = match result.slot.map(|slot| session.entry(slot)) {
            Some(Ok(entry)) => RecordedText::of(&entry.bytes, call.id),
            _ => RecordedText::default(),
        };
        let done = result.slot.and_then(|slot| head_time(session, slot));
        let when = done.max(at).unwrap_or(Instant::from_millis(0)).millis();
        let is_alone = found.len() == 1;
        for (nth, it) in found.into_iter().enumerate() {
            let order = (call.number, call.slot, call.place * 1_000 + nth + 1);
            let text = (is_alone, &recorded, result.text.as_str());
            self.add(session, call, (order, when, at), it, text);
        }
    }

    /// Attributes edits to the session that made them, if this one is the original.
    fn attribute(&mut self, session: &Session, call: &Call<'_>, edits: &[usize]) {
        let rank = |number: usize| self.sessions.get(number).map(|it| it.rank);
        let own = rank(call.number);
        let earlier = edits.iter().copied().filter(|edit| {
            let known = self.edits.get(*edit);
            known.is_some_and(|known| own < rank(known.session))
        });
        for edit in earlier.collect::<Vec<_>>() {
            if let Some(edit) = self.edits.get_mut(edit) {
                *edit = SessionEdit {
                    at: edit.at,
                    ..SessionEdit::of(session, call, prompt_of(session, call.slot))
                };
            }
        }
    }

    /// Adds what a call did to one file.
    fn add(
        &mut self,
        session: &Session,
        call: &Call<'_>,
        (order, when, at): (EventOrder, i64, Option<Instant>),
        it: FileEdit,
        (is_alone, recorded, shown): (bool, &RecordedText, &str),
    ) {
        let FileEdit { path, kind } = it;
        let event = |at: i64, act: Act| Event {
            at,
            path: path.clone(),
            act,
        };
        if matches!(kind, EditKind::Read | EditKind::ReadPart) {
            let (text, extent) = recorded.shown(shown, kind == EditKind::Read);
            let act = Act::Seen { text, extent };
            self.events.push((order, event(when, act)));
            return;
        }
        let before = recorded.before.clone().filter(|_| is_alone);
        let prompt = prompt_of(session, call.slot);
        if let (None, Some(prompt)) = (&before, prompt) {
            let first = self.copies.entry((call.number, prompt, path.clone()));
            let first = first.or_insert((order, when));
            *first = (*first).min((order, when));
        }
        let edit = self.edits.len();
        self.edits.push(SessionEdit {
            at,
            ..SessionEdit::of(session, call, prompt)
        });
        let act = Act::Edit { edit, kind, before };
        self.events.push((order, event(when, act)));
    }

    /// Makes the paths of a file edit absolute; `None` if that is not possible.
    fn resolved(&mut self, cwd: &Path, it: FileEdit) -> Option<FileEdit> {
        let path = self.absolute(cwd, &it.path)?;
        let kind = match it.kind {
            EditKind::Rename(to) => {
                let mut target = self.absolute(cwd, &to)?;
                if to.ends_with('/') || Path::new(&target).is_dir() {
                    let name = path.rsplit('/').next().unwrap_or_default();
                    target = format!("{}/{name}", target.trim_end_matches('/'));
                }
                EditKind::Rename(target)
            }
            kind => kind,
        };
        Some(FileEdit { path, kind })
    }

    /// The real path of a file that a call names.
    fn absolute(&mut self, cwd: &Path, path: &str) -> Option<String> {
        let path = match (path.strip_prefix("~/"), &self.cx.env.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => cwd.join(path),
        };
        if !path.is_absolute() {
            return None;
        }
        let path = plain(&path);
        let (parent, name) = (path.parent()?.to_owned(), path.file_name()?);
        let real = self.real.entry(parent.clone());
        let real = real.or_insert_with(|| parent.canonicalize().unwrap_or(parent));
        Some(real.join(name).display().to_string())
    }
}

/// A call in the entry of a session.
struct Call<'h> {
    number: usize,
    slot: Slot,
    /// Its place among the parts of the entry.
    place: usize,
    id: &'h str,
    cwd: Option<String>,
    hit: &'h HitShape,
}
