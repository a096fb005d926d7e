//! Items of the model's history: messages, tool calls, results, reasoning.

use std::borrow::Cow;

use boswell_model::EntryKind;
use boswell_model::json::Raw;

use super::injected;

/// Whether an item is a tool call or its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// A call.
    Call,
    /// A result.
    Answer,
}

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A prompt of the user.
    Prompt,
    /// A text that Codex sends with the role `user`: environment, instructions, notifications.
    Fragment,
    /// Instructions of Codex for the model.
    Developer,
    /// A system message: stored in the file, never sent from there.
    System,
    /// A message of the model.
    Answer,
    /// Reasoning of the model.
    Reasoning,
    /// A call that needs a result, or the result.
    Tool(Side),
    /// A call that the provider runs itself.
    Hosted,
    /// A message from another agent.
    Relay,
    /// Older items, compacted by the provider.
    Packed,
    /// Tools that were added during the session.
    Tools,
    /// A commit with the state of the files.
    Snapshot,
    /// An unknown type. Codex does not send items that it does not know either.
    Unknown,
}

/// The members of an item, collected in one pass: this runs for every record, and payloads may be
/// long.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item<'a> {
    word: Option<Raw<'a>>,
    role: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    call_id: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    /// What newer versions say about the item besides its content.
    passed: Option<Raw<'a>>,
}

impl<'a> Item<'a> {
    /// Reads an item; of duplicate keys the last one counts.
    pub(super) fn of(item: Raw<'a>) -> Self {
        let mut found = Item::default();
        for (name, value) in item.members() {
            match name.to_text().as_ref() {
                "type" => found.word = Some(value),
                "role" => found.role = Some(value),
                "id" => found.id = Some(value),
                "call_id" => found.call_id = Some(value),
                "content" => found.content = Some(value),
                "internal_chat_message_metadata_passthrough" => found.passed = Some(value),
                _ => {}
            }
        }
        found
    }

    /// Returns the kind of the item.
    pub(super) fn shape(&self) -> Shape {
        match self.word.and_then(|w| w.text()).as_deref() {
            Some("message") => self.message_shape(),
            Some(word) => by_word(word),
            None if self.role.is_some() => self.message_shape(),
            None => Shape::Unknown,
        }
    }

    fn message_shape(&self) -> Shape {
        match self.role.and_then(|r| r.text()).as_deref() {
            Some("user") => match self.is_from_user() {
                Some(true) => Shape::Prompt,
                Some(false) => Shape::Fragment,
                None if self.texts().any(|text| injected::is_fragment(&text)) => Shape::Fragment,
                None => Shape::Prompt,
            },
            Some("assistant") => Shape::Answer,
            Some("developer") => Shape::Developer,
            Some("system") => Shape::System,
            _ => Shape::Unknown,
        }
    }

    /// Whether the user wrote a part of the message, where Codex states what the parts are.
    fn is_from_user(&self) -> Option<bool> {
        let kinds = self.passed?.get("content_item_kinds")?;
        let mut stated = None;
        for kind in kinds.items().filter_map(|kind| kind.text()) {
            if kind.starts_with("user.") {
                return Some(true);
            }
            stated = stated.or((kind != "unknown").then_some(false));
        }
        stated
    }

    /// Returns the id that a call and its result share. Old local shell calls had only an `id`.
    pub(super) fn call_id(&self) -> Option<Cow<'a, str>> {
        let id = self.call_id.and_then(|id| id.text());
        match self.word {
            Some(word) if word.is("local_shell_call") => id.or_else(|| self.id?.text()),
            _ => id,
        }
    }

    /// Iterates over the texts of a message, in order. Its content may be a list of parts or, in
    /// files of other tools, one string.
    pub(super) fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
        let whole = self.content.and_then(|c| c.text());
        let parts = self
            .content
            .into_iter()
            .flat_map(|c| c.items())
            .filter_map(|part| part.get("text")?.text());
        whole.into_iter().chain(parts)
    }

    /// Returns the content of a message.
    pub(super) fn content(&self) -> Option<Raw<'a>> {
        self.content
    }
}

/// Whether `word` is the type of an item, so that a line without an envelope can be one.
pub(super) fn is_known(word: &str) -> bool {
    word == "message" || by_word(word) != Shape::Unknown
}

fn by_word(word: &str) -> Shape {
    match word {
        "reasoning" => Shape::Reasoning,
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
            Shape::Tool(Side::Call)
        }
        "function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "tool_search_output" => Shape::Tool(Side::Answer),
        "web_search_call" | "image_generation_call" => Shape::Hosted,
        "agent_message" => Shape::Relay,
        "compaction" | "compaction_summary" | "context_compaction" => Shape::Packed,
        "additional_tools" => Shape::Tools,
        "ghost_snapshot" => Shape::Snapshot,
        _ => Shape::Unknown,
    }
}

impl Shape {
    /// Returns the entry kind that all agents share.
    pub(super) fn kind(self) -> EntryKind {
        match self {
            Shape::Prompt => EntryKind::User,
            Shape::Fragment | Shape::Tools => EntryKind::Attachment,
            Shape::Developer | Shape::System => EntryKind::System,
            Shape::Answer | Shape::Reasoning | Shape::Tool(Side::Call) | Shape::Hosted => {
                EntryKind::Assistant
            }
            Shape::Tool(Side::Answer) => EntryKind::ToolResult,
            Shape::Relay => EntryKind::CustomMessage,
            Shape::Packed => EntryKind::Compaction,
            Shape::Snapshot => EntryKind::FileSnapshot,
            Shape::Unknown => EntryKind::Unknown,
        }
    }

    /// Whether Codex sends items of this kind to the model.
    pub(super) fn is_sent(self) -> bool {
        !matches!(self, Shape::System | Shape::Snapshot | Shape::Unknown)
    }

    /// Whether Codex hides items of this kind from the user.
    pub(super) fn is_hidden(self) -> bool {
        matches!(
            self,
            Shape::Fragment | Shape::Developer | Shape::System | Shape::Packed | Shape::Tools
        )
    }

    /// Returns the role in a context.
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
