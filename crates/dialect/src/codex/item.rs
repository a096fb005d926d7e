//! Items of the model's history.

use std::borrow::Cow;

use boswell_model::EntryKind;
use boswell_model::json::Raw;

use super::fragment;

/// Which side of a tool call an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It calls.
    Call,
    /// It answers.
    Answer,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Something the user said.
    Prompt,
    /// Something that Codex put into the user's mouth: environment, instructions, notifications.
    Fragment,
    /// Instructions of Codex to the model.
    Developer,
    /// A system message: kept in the file, never sent from there.
    System,
    /// Something the model said.
    Answer,
    /// What the model thought.
    Reasoning,
    /// A call that gets an answer, or the answer.
    Tool(Side),
    /// Something that the provider ran by itself.
    Hosted,
    /// A word from another agent.
    Relay,
    /// Older items, packed by the provider.
    Packed,
    /// Tools that were added on the way.
    Tools,
    /// A commit that keeps the files as they were.
    Snapshot,
    /// A type that we do not know. Codex does not send what it does not know either.
    Unknown,
}

/// Whether `word` is the type of an item, so that a line without an envelope can be one.
pub(super) fn is_known(word: &str) -> bool {
    word == "message" || by_word(word) != Shape::Unknown
}

fn by_word(word: &str) -> Shape {
    match word {
        "reasoning" => Shape::Reasoning,
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => Shape::Tool(Side::Call),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "tool_search_output" => {
            Shape::Tool(Side::Answer)
        }
        "web_search_call" | "image_generation_call" => Shape::Hosted,
        "agent_message" => Shape::Relay,
        "compaction" | "compaction_summary" | "context_compaction" => Shape::Packed,
        "additional_tools" => Shape::Tools,
        "ghost_snapshot" => Shape::Snapshot,
        _ => Shape::Unknown,
    }
}

impl Shape {
    /// What the item is.
    pub(super) fn of(item: Raw<'_>) -> Self {
        match item.get("type").and_then(|t| t.text()).as_deref() {
            Some("message") => Shape::of_message(item),
            Some(word) => by_word(word),
            None if item.get("role").is_some() => Shape::of_message(item),
            None => Shape::Unknown,
        }
    }

    fn of_message(item: Raw<'_>) -> Self {
        match item.get("role").and_then(|r| r.text()).as_deref() {
            Some("user") if fragment::is_fragment(item) => Shape::Fragment,
            Some("user") => Shape::Prompt,
            Some("assistant") => Shape::Answer,
            Some("developer") => Shape::Developer,
            Some("system") => Shape::System,
            _ => Shape::Unknown,
        }
    }

    /// What it is in the words that all agents share.
    pub(super) fn kind(self) -> EntryKind {
        match self {
            Shape::Prompt => EntryKind::User,
            Shape::Fragment | Shape::Tools => EntryKind::Attachment,
            Shape::Developer | Shape::System => EntryKind::System,
            Shape::Answer | Shape::Reasoning | Shape::Tool(Side::Call) | Shape::Hosted => EntryKind::Assistant,
            Shape::Tool(Side::Answer) => EntryKind::ToolResult,
            Shape::Relay => EntryKind::CustomMessage,
            Shape::Packed => EntryKind::Compaction,
            Shape::Snapshot => EntryKind::FileSnapshot,
            Shape::Unknown => EntryKind::Unknown,
        }
    }

    /// Whether Codex sends it to the model.
    pub(super) fn is_sent(self) -> bool {
        !matches!(self, Shape::System | Shape::Snapshot | Shape::Unknown)
    }

    /// Whether Codex keeps it from people's eyes.
    pub(super) fn is_hidden(self) -> bool {
        matches!(self, Shape::Fragment | Shape::Developer | Shape::System | Shape::Packed | Shape::Tools)
    }

    /// Which side of a call it is, if it is one.
    pub(super) fn call(self) -> Option<Side> {
        match self {
            Shape::Tool(side) => Some(side),
            _ => None,
        }
    }

    /// Who says it, in the words of a context.
    pub(super) fn role(self) -> &'static str {
        match self {
            Shape::Prompt | Shape::Fragment | Shape::Relay => "user",
            Shape::Developer | Shape::Tools => "developer",
            Shape::System => "system",
            Shape::Tool(Side::Answer) => "tool",
            _ => "assistant",
        }
    }
}

/// The id that a call and its answer share. Old local shell calls had only an `id`.
pub(super) fn call_id<'a>(item: Raw<'a>, side: Side) -> Option<Cow<'a, str>> {
    let id = item.get("call_id").and_then(|id| id.text());
    if side == Side::Call && item.get("type").is_some_and(|t| t.is("local_shell_call")) {
        return id.or_else(|| item.get("id")?.text());
    }
    id
}

/// The texts of a message, in order; its content may be a list of parts or, in files of other tools, one string.
pub(super) fn texts<'a>(item: Raw<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let content = item.get("content");
    let whole = content.and_then(|c| c.text());
    let parts = content.into_iter().flat_map(|c| c.items()).filter_map(|part| part.get("text")?.text());
    whole.into_iter().chain(parts)
}
