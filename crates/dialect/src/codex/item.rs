//! Items of the model's history.

use std::borrow::Cow;

use boswell_model::EntryKind;
use boswell_model::json::Raw;

use super::injected;

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

/// An item taken apart in one walk: heads are made of every record, and payloads may be long.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item<'a> {
    word: Option<Raw<'a>>,
    role: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    call_id: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
}

impl<'a> Item<'a> {
    /// Takes an item apart; of doubled keys the last one counts.
    pub(super) fn of(item: Raw<'a>) -> Self {
        let mut found = Item::default();
        for (name, value) in item.members() {
            match name.to_text().as_ref() {
                "type" => found.word = Some(value),
                "role" => found.role = Some(value),
                "id" => found.id = Some(value),
                "call_id" => found.call_id = Some(value),
                "content" => found.content = Some(value),
                _ => {}
            }
        }
        found
    }

    /// What the item is.
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
            Some("user") if self.texts().any(|text| injected::is_fragment(&text)) => {
                Shape::Fragment
            }
            Some("user") => Shape::Prompt,
            Some("assistant") => Shape::Answer,
            Some("developer") => Shape::Developer,
            Some("system") => Shape::System,
            _ => Shape::Unknown,
        }
    }

    /// The id that a call and its answer share. Old local shell calls had only an `id`.
    pub(super) fn call_id(&self) -> Option<Cow<'a, str>> {
        let id = self.call_id.and_then(|id| id.text());
        match self.word {
            Some(word) if word.is("local_shell_call") => id.or_else(|| self.id?.text()),
            _ => id,
        }
    }

    /// The texts of a message, in order; its content may be a list of parts or, in files of
    /// other tools, one string.
    pub(super) fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
        let whole = self.content.and_then(|c| c.text());
        let parts = self
            .content
            .into_iter()
            .flat_map(|c| c.items())
            .filter_map(|part| part.get("text")?.text());
        whole.into_iter().chain(parts)
    }

    /// The content of a message.
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
    /// What it is in the words that all agents share.
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

    /// Whether Codex sends it to the model.
    pub(super) fn is_sent(self) -> bool {
        !matches!(self, Shape::System | Shape::Snapshot | Shape::Unknown)
    }

    /// Whether Codex keeps it from people's eyes.
    pub(super) fn is_hidden(self) -> bool {
        matches!(
            self,
            Shape::Fragment | Shape::Developer | Shape::System | Shape::Packed | Shape::Tools
        )
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
