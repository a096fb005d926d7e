//! An entry of a session.

use std::borrow::Cow;

use boswell_model::json::Json;
use boswell_model::{EntryKind, Flags, Instant, MediaSource, Part, SessionRef, Slot, View};
use boswell_store::Session;
use boswell_store::session::NewEntry;

use super::{Maybe, TokensShape, shape};

shape! {
    /// An entry of a session.
    EntryShape: "entry" {
        /// the session that it belongs to
        session: String,
        /// its id, or `#LINE` if it has none
        id: Option<String>,
        /// the entry that it follows
        parent: Option<String>,
        /// the agent's own type of the record
        kind: String,
        /// role: `user`, `assistant` and others
        role: Option<&'static str>,
        /// when it was written
        at: Option<Instant>,
        /// its line in the log
        line: Option<u64>,
        /// its text, or a description of it
        text: Option<String>,
        /// parts: `text`, `thinking`, `tool_call`, `tool_result`, `media`, `other`
        content: Vec<Json>,
        /// the model that answered
        model: Option<String>,
        /// tokens of the message
        usage: Option<TokensShape>,
        /// why the model stopped, as the agent calls it
        stop_reason: Option<String>,
        /// the first tool call or result in it
        tool: Option<ToolShape>,
        /// whether it is on the current branch
        on_branch: bool,
        /// whether it is the current leaf
        leaf: bool,
        /// whether the agent hides it
        hidden: bool,
        /// from the server: position in the view, from 0
        position: Maybe<usize>,
        /// from the server: how many bytes `text` has, if only its beginning is here
        text_bytes: Maybe<usize>,
        /// from the server: bytes before it in the log that are not a record
        gaps: Maybe<Vec<GapPlace>>,
        /// from the server: the same after it, if it is the last entry
        gaps_after: Maybe<Vec<GapPlace>>,
        /// from the server: other branches that continue it
        branches: Maybe<BranchesPlace>,
        /// from the server: subagents that were started by its calls
        subagents: Maybe<Vec<StartedSubagent>>,
        /// with `--raw`: the record
        raw: Maybe<String>,
        /// with `--raw`: the record, where it is not UTF-8
        raw_base64: Maybe<String>,
    }

    /// Bytes of a log that are not a record.
    GapPlace {
        /// number of the line, from 1
        line: u64,
        /// length in bytes
        bytes: u64,
    }

    /// An entry that several branches continue.
    BranchesPlace {
        /// the last entry of each branch, in the order in which they begin in the log
        ends: Vec<String>,
        /// index of the branch that is shown
        shown: usize,
    }

    /// A subagent that a call started.
    StartedSubagent {
        /// its id
        id: String,
        /// its task, in a few words
        task: Option<String>,
    }

    /// A tool call or its result.
    ToolShape {
        /// the tool
        name: Option<String>,
        /// id of the call
        call: Option<String>,
        /// whether it failed; `null` for a call
        is_error: Option<bool>,
    }
}

/// Returns the parts of a message in a form that all dialects share.
pub fn content(view: &View) -> Vec<Json> {
    view.parts.iter().map(part).collect()
}

fn part(part: &Part) -> Json {
    let typed = |word: &str| Json::object().with("type", word);
    match part {
        Part::Text(text) => typed("text").with("text", text),
        Part::Thinking { text, .. } => typed("thinking").with("text", text),
        Part::Call { id, name, input } => {
            let parsed = input.json().map(Json::from);
            typed("tool_call")
                .with("call", id)
                .with("name", name)
                .with("input", parsed.unwrap_or_else(|| Json::from(input.text())))
        }
        Part::Result {
            call,
            text,
            is_error,
        } => typed("tool_result")
            .with("call", call)
            .with("text", text)
            .with("is_error", *is_error),
        Part::Media { mime, source } => {
            let (bytes, reference) = match source {
                MediaSource::Inline(base64) => (Some(base64.len() / 4 * 3), None),
                MediaSource::Reference(name) => (None, Some(name.as_str())),
            };
            typed("media")
                .with("mime", mime.as_deref())
                .with("bytes", bytes)
                .with("reference", reference)
        }
        Part::Other { word, json } => {
            let parsed = boswell_model::json::Raw::parse(json.as_bytes()).map(Json::from);
            typed("other")
                .with("word", word)
                .with("json", parsed.unwrap_or_else(|_| Json::from(json)))
        }
        _ => typed("other"),
    }
}

/// Data of the `entry` shape that is not in the record.
#[derive(Debug)]
pub struct EntryPlace {
    /// Whether it is on the current branch.
    pub on_branch: bool,
    /// Whether it is the current leaf.
    pub leaf: bool,
}

/// An entry, from a session that was read or from a follower.
#[derive(Debug)]
pub struct EntryParts<'e> {
    /// The session of the entry.
    pub session: &'e SessionRef,
    /// The label that users refer to.
    pub label: Option<Cow<'e, str>>,
    parent: Option<Cow<'e, str>>,
    /// The kind, shared by all dialects.
    pub kind: EntryKind,
    /// The type that its agent wrote.
    pub word: &'e str,
    /// Time of the entry.
    pub time: Option<Instant>,
    line: Option<u64>,
    hidden: bool,
    on_branch: bool,
    leaf: bool,
    /// The record.
    pub bytes: &'e [u8],
    /// The readable view; `None` if the record changed while it was read.
    pub view: Option<&'e View>,
}

impl<'e> EntryParts<'e> {
    /// Returns an entry of a session that was read; `None` if there is no such entry.
    pub fn of_slot(
        session: &'e Session,
        reference: &'e SessionRef,
        slot: Slot,
        bytes: &'e [u8],
        view: Option<&'e View>,
        place: &EntryPlace,
    ) -> Option<EntryParts<'e>> {
        let log = session.log();
        let head = log.head(slot)?;
        Some(EntryParts {
            session: reference,
            label: Some(log.label(slot)),
            parent: session.tree().parent(slot).map(|parent| log.label(parent)),
            kind: head.kind,
            word: log.word(slot),
            time: head.instant(),
            // A record of another log has no line here.
            line: Some(u64::from(head.line)).filter(|line| *line > 0),
            hidden: head.flags.has(Flags::HIDDEN),
            on_branch: place.on_branch,
            leaf: place.leaf,
            bytes,
            view,
        })
    }

    /// Returns a new entry, which is on the current branch.
    pub fn of_new(session: &'e SessionRef, entry: &'e NewEntry) -> EntryParts<'e> {
        EntryParts {
            session,
            label: (entry.label.as_ref()).map(|id| Cow::Borrowed(id.as_str())),
            parent: (entry.parent.as_ref()).map(|id| Cow::Borrowed(id.as_str())),
            kind: entry.kind,
            word: &entry.word,
            time: entry.time,
            line: entry.line,
            hidden: entry.hidden,
            on_branch: true,
            leaf: entry.leaf,
            bytes: &entry.bytes,
            view: Some(&entry.view),
        }
    }

    /// Whether agents hide it from their users.
    pub fn is_hidden(&self) -> bool {
        self.hidden || self.view.is_some_and(|view| view.hidden)
    }

    /// Returns the JSON shape, with the record itself if `raw` is set.
    pub fn shape(&self, raw: bool) -> EntryShape {
        let view = self.view;
        let text = view.map(View::text).filter(|text| !text.is_empty());
        let (record, base64) = match std::str::from_utf8(self.bytes) {
            _ if !raw => (Maybe::Absent, Maybe::Absent),
            Ok(record) => (Maybe::Given(record.to_owned()), Maybe::Absent),
            Err(_) => (
                Maybe::Absent,
                Maybe::Given(crate::base64::encode(self.bytes)),
            ),
        };
        EntryShape {
            session: self.session.to_string(),
            id: self.label.as_deref().map(str::to_owned),
            parent: self.parent.as_deref().map(str::to_owned),
            kind: self.word.to_owned(),
            role: self.kind.role(),
            at: self.time,
            line: self.line,
            text: text.or_else(|| view.and_then(|view| view.remark.clone())),
            content: view.map(content).unwrap_or_default(),
            model: view.and_then(|view| view.model.clone()),
            usage: view
                .and_then(|view| view.usage.as_ref())
                .map(TokensShape::from),
            stop_reason: view.and_then(|view| view.stop.clone()),
            tool: view.and_then(tool),
            on_branch: self.on_branch,
            leaf: self.leaf,
            hidden: self.is_hidden(),
            position: Maybe::Absent,
            text_bytes: Maybe::Absent,
            gaps: Maybe::Absent,
            gaps_after: Maybe::Absent,
            branches: Maybe::Absent,
            subagents: Maybe::Absent,
            raw: record,
            raw_base64: base64,
        }
    }
}

impl EntryShape {
    /// Cuts every text that is longer than so many bytes. A part that was cut gets a member `bytes`
    /// with its whole length.
    #[must_use]
    pub fn cut(mut self, limit: usize) -> EntryShape {
        if let Some(text) = &mut self.text
            && let Some(bytes) = cut_text(text, limit)
        {
            self.text_bytes = Maybe::Given(bytes);
        }
        self.content
            .iter_mut()
            .for_each(|part| cut_part(part, limit));
        self
    }
}

/// Cuts a text between two characters, and returns its whole length if it was longer.
fn cut_text(text: &mut String, limit: usize) -> Option<usize> {
    let bytes = text.len();
    if bytes <= limit {
        return None;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    Some(bytes)
}

fn cut_part(part: &mut Json, limit: usize) {
    let Json::Object(members) = part else {
        return;
    };
    let mut whole = None;
    for (key, value) in members.iter_mut() {
        match (key.as_ref(), value) {
            ("text", Json::Text(text)) => whole = cut_text(text, limit).or(whole),
            // The input of a call is a value: what is too long for it becomes text.
            ("input" | "json", value) => {
                let mut text = match &*value {
                    Json::Text(text) => text.clone(),
                    other => other.to_string(),
                };
                if let Some(bytes) = cut_text(&mut text, limit) {
                    *value = Json::from(text);
                    whole = Some(bytes);
                }
            }
            _ => {}
        }
    }
    if let Some(bytes) = whole {
        members.push(("bytes".into(), bytes.into()));
    }
}

/// Returns the first call or result of an entry.
fn tool(view: &View) -> Option<ToolShape> {
    if let Some((id, name, _)) = view.calls().next() {
        return Some(ToolShape {
            name: Some(name.to_owned()),
            call: Some(id.to_owned()),
            is_error: None,
        });
    }
    let result = view.parts.iter().find_map(|part| match part {
        Part::Result { call, is_error, .. } => Some((call, *is_error)),
        _ => None,
    });
    result.map(|(call, is_error)| ToolShape {
        name: view.tool.clone(),
        call: Some(call.clone()),
        is_error: Some(is_error),
    })
}
