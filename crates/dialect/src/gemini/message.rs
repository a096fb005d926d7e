//! A message, as it is on its own line, in a document and inside a `$set`.

use boswell_model::json::{Object, Raw, RawKind};
use boswell_model::{EntryKind, Part, Usage};

use crate::google_parts::{is_results, parts, said_text};
use crate::members::{list, lossy, plain, text};

/// A message of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a>(pub(super) Raw<'a>);

/// Beginnings of user messages that Gemini CLI itself adds, or does not send.
pub(super) const INJECTED: [&str; 4] = ["<session_context>", "<hook_context>", "/", "?"];

/// Types of messages of the model: of Gemini CLI, of its older versions, and of its forks.
const MODEL: [&str; 4] = ["gemini", "model", "tabnine", "qwen"];

/// Whether a type is one that a message of this format has.
pub(super) fn is_type(word: Raw<'_>) -> bool {
    let others = ["user", "info", "error", "warning"];
    MODEL.iter().chain(&others).any(|known| word.is(known))
}

impl<'a> Message<'a> {
    /// Returns the messages that a record contains: those of a `$set` or a document, else itself.
    pub(super) fn all(record: &Object<'a>) -> Vec<Message<'a>> {
        match contained(record) {
            Some(list) => list.items().map(Message).collect(),
            None => vec![Message(record.raw())],
        }
    }

    pub(super) fn content(self) -> Option<Raw<'a>> {
        self.0.get("content").or_else(|| self.0.get("parts"))
    }

    pub(super) fn kind(self) -> EntryKind {
        let Some(word) = self.0.get("type") else {
            return EntryKind::Unknown;
        };
        if MODEL.iter().any(|known| word.is(known)) {
            return EntryKind::Assistant;
        }
        if word.is("user") {
            return match is_results(self.content()) {
                true => EntryKind::ToolResult,
                false => EntryKind::User,
            };
        }
        match is_type(word) {
            true => EntryKind::System,
            false => EntryKind::Unknown,
        }
    }

    /// Whether Gemini CLI added the message itself, or does not send it.
    pub(super) fn is_injected(self) -> bool {
        if self.kind() != EntryKind::User {
            return false;
        }
        let said = said_text(self.content());
        let said = said.trim();
        let has_files = self.content().is_some_and(|content| {
            content.kind() == RawKind::Array
                && content.items().any(|part| part.get("inlineData").is_some())
        });
        (said.is_empty() && !has_files) || INJECTED.iter().any(|begin| said.starts_with(begin))
    }

    /// Calls of tools that are recorded beside the content.
    pub(super) fn calls(self) -> impl Iterator<Item = Raw<'a>> {
        self.0
            .get("toolCalls")
            .into_iter()
            .flat_map(|calls| calls.items())
    }

    /// Whether the content is in the form of the API already: it is sent as it is.
    pub(super) fn is_complete(self) -> bool {
        let content = self.content().filter(|it| it.kind() == RawKind::Array);
        let is_own = |part: Raw<'_>| {
            part.get("functionCall").is_some()
                || part.get("thought").and_then(|it| it.bool()) == Some(true)
        };
        content.is_some_and(|content| content.items().any(is_own))
    }

    /// Whether a message of the model sends nothing.
    pub(super) fn is_silent(self) -> bool {
        let has_thoughts = list(self.0, "thoughts").is_some();
        !has_thoughts && self.calls().next().is_none() && parts(self.content()).is_empty()
    }

    /// Returns the parts that a person reads.
    pub(super) fn parts(self) -> Vec<Part> {
        let mut found = Vec::new();
        let content = parts(self.content());
        let thinks = |part: &Part| matches!(part, Part::Thinking { .. });
        if !content.iter().any(thinks) {
            found.extend(self.thoughts().map(Part::thinking));
        }
        found.extend(content);
        if let Some(display) = self.0.get("displayContent") {
            let shown = |part: &Part| !found.contains(part);
            let display: Vec<Part> = parts(Some(display)).into_iter().filter(shown).collect();
            found.extend(display);
        }
        for call in self.calls() {
            add_call(call, &mut found);
        }
        found
    }

    /// Returns the texts of thoughts, as they are sent.
    pub(super) fn thoughts(self) -> impl Iterator<Item = String> {
        let thoughts = self.0.get("thoughts").into_iter();
        thoughts.flat_map(|list| list.items()).map(|thought| {
            let said = text(thought, "description").unwrap_or_default();
            match text(thought, "subject") {
                Some(subject) => format!("**{subject}** {said}"),
                None => said,
            }
        })
    }

    /// Returns tokens. Cached ones are contained in the input; here they are apart.
    pub(super) fn usage(self) -> Option<Usage> {
        let tokens = self.0.get("tokens")?;
        let count = |key: &str| tokens.get(key).and_then(|n| n.u64());
        let cached = count("cached");
        let usage = Usage {
            input: count("input").map(|n| n.saturating_sub(cached.unwrap_or(0))),
            output: count("output"),
            cache_read: cached,
            reasoning: count("thoughts"),
            ..Usage::default()
        };
        (!usage.is_unknown()).then_some(usage)
    }
}

/// Returns the messages inside a `$set`, or inside a document on one line.
pub(super) fn contained<'a>(record: &Object<'a>) -> Option<Raw<'a>> {
    let set = record.get("$set").and_then(|set| set.get("messages"));
    let whole = || {
        let has_id = record.get("sessionId").is_some();
        record.get("messages").filter(|_| has_id)
    };
    set.or_else(whole).filter(|it| it.kind() == RawKind::Array)
}

/// Returns the id of a recorded call; its name if it has none.
pub(super) fn call_id(call: Raw<'_>) -> String {
    text(call, "id")
        .or_else(|| text(call, "name"))
        .unwrap_or_default()
}

/// Adds a call that the content does not contain, and its result.
fn add_call(call: Raw<'_>, found: &mut Vec<Part>) {
    let id = call_id(call);
    let is_it = |part: &Part| matches!(part, Part::Call { id: known, .. } if *known == id);
    if !found.iter().any(is_it) {
        found.push(Part::Call {
            id: id.clone(),
            name: text(call, "name").unwrap_or_default(),
            input: call.get("args").map(lossy).unwrap_or_default().into(),
        });
    }
    let Some(result) = call.get("result").filter(|it| !it.is_null()) else {
        return;
    };
    let failed = call
        .get("status")
        .is_some_and(|it| it.is("error") || it.is("cancelled"));
    if let Some(said) = result.text() {
        found.push(Part::Result {
            call: id,
            text: said.into_owned(),
            is_error: failed,
        });
        return;
    }
    found.extend(parts(Some(result)).into_iter().map(|part| match part {
        Part::Result {
            call,
            text,
            is_error,
        } => Part::Result {
            call,
            text,
            is_error: is_error || failed,
        },
        other => other,
    }));
    display(call, found);
}

/// Adds what the screen showed of a result, where the result itself does not contain it.
fn display(call: Raw<'_>, found: &mut Vec<Part>) {
    let Some(shown) = call.get("resultDisplay").filter(|it| !it.is_null()) else {
        return;
    };
    let shown = match shown.kind() {
        RawKind::Object => text(shown, "fileDiff").unwrap_or_else(|| lossy(shown)),
        _ => plain(shown),
    };
    let is_said = |part: &Part| match part {
        Part::Result { text, .. } => text.contains(shown.trim()),
        _ => false,
    };
    if !shown.trim().is_empty() && !found.iter().any(is_said) {
        found.push(Part::Text(shown));
    }
}
