//! Notes: facts about a session that its own format has no place for.
//!
//! `notes.jsonl` is append-only; the current facts of a session result from applying its lines in
//! order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::json::{Json, Raw};
use boswell_model::{Instant, Result, SessionRef};

use crate::disk::Disk;
use crate::journal::{self, DamagedLine, LineAction, LineChange};
use crate::locks::{Locks, Wait};
use crate::vault::{names_one, session_ref};

/// One fact about a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The session that the note is about.
    pub session: SessionRef,
    /// When the note was made.
    pub at: Instant,
    /// The content of the note.
    pub kind: NoteKind,
}

/// The content of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// Adds this tag.
    Tag(String),
    /// Removes this tag.
    Untag(String),
    /// Sets the status, with a message if it is an error.
    Status {
        /// `active`, `paused`, `completed` or `error`.
        status: String,
        /// Error message.
        message: Option<String>,
    },
    /// Sets the label of an entry; `None` removes it.
    Label {
        /// The entry.
        entry: String,
        /// New label of the entry.
        label: Option<String>,
    },
    /// Sets the summary.
    Summary(String),
    /// Sets the title; `None` removes it.
    Title(Option<String>),
    /// Records that the session was repaired into the session with this id, in the same store.
    RepairedAs(String),
    /// Records that the conversation was carried over into this session of another agent.
    ConvertedTo(SessionRef),
    /// Records that the session was made from this session of another agent.
    ConvertedFrom {
        /// The source.
        source: SessionRef,
        /// The last entry that was carried over.
        entry: String,
    },
    /// Takes back that the session was carried over into another one, or made from it.
    NotConverted(SessionRef),
    /// Proposes a title, for as long as neither the log nor the user sets one.
    Proposed(String),
}

/// The current facts about a session, from its notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionNotes {
    /// Tags, in the order in which they were added.
    pub tags: Vec<String>,
    /// Status, with its message.
    pub status: Option<(String, Option<String>)>,
    /// Labels by entry id.
    pub labels: BTreeMap<String, String>,
    /// Summary of the session.
    pub summary: Option<String>,
    /// Title of the session.
    pub title: Option<String>,
    /// Id of the session that this one was repaired into.
    pub repaired_as: Option<String>,
    /// Sessions of other agents that were made from this one.
    pub converted_to: Vec<SessionRef>,
    /// The session of another agent that this one was made from, and the last entry of it.
    pub converted_from: Option<(SessionRef, String)>,
    /// Proposed title, if there is no other.
    pub proposed: Option<String>,
    /// When the last note was made.
    pub at: Option<Instant>,
}

/// The notes of a home.
#[derive(Debug)]
pub struct Notes {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    locks: Locks,
    notes: Vec<Note>,
    damaged: Vec<DamagedLine>,
}

impl Notes {
    /// Reads the notes of a home. Lines that cannot be read are kept, skipped and reported.
    pub fn load(disk: Arc<dyn Disk>, home: &Path, locks: Locks) -> Result<Self> {
        let path = home.join("notes.jsonl");
        let loaded = journal::load(disk.as_ref(), &path, Note::from_json)?;
        Ok(Notes {
            disk,
            path,
            locks,
            notes: loaded.items,
            damaged: loaded.damaged,
        })
    }

    /// Adds a note, durably.
    pub fn add(&mut self, session: &SessionRef, at: Instant, kind: NoteKind) -> Result<()> {
        self.add_all(vec![Note {
            session: session.clone(),
            at,
            kind,
        }])
    }

    /// Adds notes, durably, in one write.
    pub fn add_all(&mut self, notes: Vec<Note>) -> Result<()> {
        let _lock = self
            .locks
            .exclusive("notes", Wait::For(Duration::from_secs(5)))?;
        let lines: Vec<Json> = notes.iter().map(Note::to_json).collect();
        journal::append(self.disk.as_ref(), &self.path, &lines)?;
        self.notes.extend(notes);
        Ok(())
    }

    /// Removes every note of these sessions, and the summaries and proposed titles that boswell
    /// made for sessions of the same conversations. An unreadable line is removed if it names one
    /// of the sessions.
    ///
    /// # Errors
    ///
    /// `Busy` if another process changes the notes for too long; an I/O error if they
    /// cannot be read or written.
    pub fn forget(&mut self, sessions: &[SessionRef], linked: &[SessionRef]) -> Result<usize> {
        let _lock = self
            .locks
            .exclusive("notes", Wait::For(Duration::from_secs(5)))?;
        let goes = |note: &Note| {
            let derived = matches!(note.kind, NoteKind::Summary(_) | NoteKind::Proposed(_));
            sessions.contains(&note.session) || (derived && linked.contains(&note.session))
        };
        let unique = self.locks.unique();
        let gone = journal::rewrite(self.disk.as_ref(), &self.path, &unique, &|line| {
            let note = Raw::parse(line).ok().and_then(Note::from_json);
            let is_gone = note
                .as_ref()
                .map_or_else(|| names_one(line, sessions), goes);
            if is_gone {
                LineAction::Goes
            } else {
                LineAction::Stays
            }
        })?;
        self.notes.retain(|note| !goes(note));
        Ok(gone)
    }

    /// Rewrites lines with the result of `change`, which gets the session of each line, or `None`
    /// if the line cannot be read.
    pub(crate) fn rewrite(&mut self, change: LineChange<'_>) -> Result<usize> {
        let _lock = self
            .locks
            .exclusive("notes", Wait::For(Duration::from_secs(5)))?;
        let unique = self.locks.unique();
        journal::rewrite(self.disk.as_ref(), &self.path, &unique, &|line| {
            let note = Raw::parse(line).ok().and_then(Note::from_json);
            change(note.map(|note| note.session).as_ref(), line)
                .map_or(LineAction::Stays, LineAction::Becomes)
        })
    }

    /// Returns the current facts about a session.
    pub fn of(&self, session: &SessionRef) -> SessionNotes {
        let mut folded = SessionNotes::default();
        self.notes
            .iter()
            .filter(|note| note.session == *session)
            .for_each(|note| folded.fold(note));
        folded
    }

    /// Returns every session that has notes, with its current facts.
    pub fn all(&self) -> BTreeMap<SessionRef, SessionNotes> {
        let mut all: BTreeMap<SessionRef, SessionNotes> = BTreeMap::new();
        for note in &self.notes {
            all.entry(note.session.clone()).or_default().fold(note);
        }
        all
    }

    /// Returns all notes, oldest first.
    pub fn list(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the lines that could not be read.
    pub fn damaged(&self) -> &[DamagedLine] {
        &self.damaged
    }
}

impl SessionNotes {
    fn fold(&mut self, note: &Note) {
        self.at = Some(note.at);
        match &note.kind {
            NoteKind::Tag(tag) if self.tags.contains(tag) => {}
            NoteKind::Tag(tag) => self.tags.push(tag.clone()),
            NoteKind::Untag(tag) => self.tags.retain(|known| known != tag),
            NoteKind::Status { status, message } => {
                self.status = Some((status.clone(), message.clone()))
            }
            NoteKind::Label {
                entry,
                label: Some(label),
            } => {
                self.labels.insert(entry.clone(), label.clone());
            }
            NoteKind::Label { entry, label: None } => {
                self.labels.remove(entry);
            }
            NoteKind::Summary(text) => self.summary = Some(text.clone()),
            NoteKind::Title(title) => self.title.clone_from(title),
            NoteKind::RepairedAs(id) => self.repaired_as = Some(id.clone()),
            NoteKind::ConvertedTo(target) if self.converted_to.contains(target) => {}
            NoteKind::ConvertedTo(target) => self.converted_to.push(target.clone()),
            NoteKind::ConvertedFrom { source, entry } => {
                self.converted_from = Some((source.clone(), entry.clone()));
            }
            NoteKind::NotConverted(other) => {
                self.converted_to.retain(|known| known != other);
                self.converted_from = self
                    .converted_from
                    .take()
                    .filter(|(source, _)| source != other);
            }
            NoteKind::Proposed(title) => self.proposed = Some(title.clone()),
        }
    }
}

impl Note {
    fn to_json(&self) -> Json {
        let note = |kind: &str| {
            Json::object()
                .with("ref", self.session.to_string())
                .with("at", self.at.to_rfc3339())
                .with("kind", kind)
        };
        match &self.kind {
            NoteKind::Tag(tag) => note("tag").with("tag", tag),
            NoteKind::Untag(tag) => note("untag").with("tag", tag),
            NoteKind::Status { status, message } => note("status")
                .with("status", status)
                .with_some("message", message.as_deref()),
            NoteKind::Label { entry, label } => note("label")
                .with("entry", entry)
                .with("label", label.as_deref()),
            NoteKind::Summary(text) => note("summary").with("summary", text),
            NoteKind::Title(title) => note("title").with("title", title.as_deref()),
            NoteKind::RepairedAs(id) => note("repaired_as").with("id", id),
            NoteKind::ConvertedTo(target) => note("converted_to").with("to", target.to_string()),
            NoteKind::ConvertedFrom { source, entry } => note("converted_from")
                .with("from", source.to_string())
                .with("entry", entry),
            NoteKind::NotConverted(other) => note("not_converted").with("other", other.to_string()),
            NoteKind::Proposed(title) => note("proposed").with("title", title),
        }
    }

    fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        let kind = match text("kind")?.as_str() {
            "tag" => NoteKind::Tag(text("tag")?),
            "untag" => NoteKind::Untag(text("tag")?),
            "status" => NoteKind::Status {
                status: text("status")?,
                message: text("message"),
            },
            "label" => NoteKind::Label {
                entry: text("entry")?,
                label: text("label"),
            },
            "summary" => NoteKind::Summary(text("summary")?),
            "title" => NoteKind::Title(text("title")),
            "repaired_as" => NoteKind::RepairedAs(text("id")?),
            "converted_to" => NoteKind::ConvertedTo(session_ref(&text("to")?)?),
            "converted_from" => NoteKind::ConvertedFrom {
                source: session_ref(&text("from")?)?,
                entry: text("entry").unwrap_or_default(),
            },
            "not_converted" => NoteKind::NotConverted(session_ref(&text("other")?)?),
            "proposed" => NoteKind::Proposed(text("title")?),
            _ => return None,
        };
        Some(Note {
            session: session_ref(&text("ref")?)?,
            at: Instant::parse(&text("at")?)?,
            kind,
        })
    }
}
