//! Entries: records in the common terms of all agents (id, parent, kind, time, flags).
//!
//! A [`Head`] is small and fixed in size, because one is kept in memory for every record of a
//! session. Payloads are read from the log on demand.

use crate::{Instant, Span, SpanKind, Symbol};

/// The index of an entry in its log, from 0, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// Returns the slot as an index into vectors.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kind of an entry, in terms that all agents share. The agent's own type word is in
/// [`Head::word`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// The line that describes the session itself.
    Header,
    /// A message of the user.
    User,
    /// A message of the model: text, reasoning, tool calls.
    Assistant,
    /// The result of a tool call.
    ToolResult,
    /// A shell command that the user ran outside the conversation.
    Shell,
    /// A message of the agent itself to the user or the model.
    System,
    /// Text that an extension added to the conversation.
    CustomMessage,
    /// A file, reminder or listing that the agent attached for the model.
    Attachment,
    /// The point where older messages were replaced by a summary.
    Compaction,
    /// A summary of a branch that was abandoned.
    BranchSummary,
    /// A change of model, thinking level, mode or a similar setting.
    Setting,
    /// A label of another entry.
    Label,
    /// A title of the session.
    Title,
    /// A tag of the session.
    Tag,
    /// A record that states which entry is the leaf.
    Leaf,
    /// A record of files before or after an edit.
    FileSnapshot,
    /// Progress of work that is not finished.
    Progress,
    /// State of an extension, which the model does not see.
    Custom,
    /// Other bookkeeping that the dialect knows.
    Meta,
    /// A type that the dialect does not know.
    Unknown,
}

impl EntryKind {
    /// Whether the entry is part of the visible conversation, so that it can be "the last message".
    pub fn is_conversation(self) -> bool {
        matches!(
            self,
            EntryKind::User
                | EntryKind::Assistant
                | EntryKind::ToolResult
                | EntryKind::Shell
                | EntryKind::CustomMessage
                | EntryKind::Compaction
                | EntryKind::BranchSummary
        )
    }

    /// The name of the kind on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            EntryKind::Header => "header",
            EntryKind::User => "user",
            EntryKind::Assistant => "assistant",
            EntryKind::ToolResult => "tool_result",
            EntryKind::Shell => "shell",
            EntryKind::System => "system",
            EntryKind::CustomMessage => "custom_message",
            EntryKind::Attachment => "attachment",
            EntryKind::Compaction => "compaction",
            EntryKind::BranchSummary => "branch_summary",
            EntryKind::Setting => "setting",
            EntryKind::Label => "label",
            EntryKind::Title => "title",
            EntryKind::Tag => "tag",
            EntryKind::Leaf => "leaf",
            EntryKind::FileSnapshot => "file_snapshot",
            EntryKind::Progress => "progress",
            EntryKind::Custom => "custom",
            EntryKind::Meta => "meta",
            EntryKind::Unknown => "unknown",
        }
    }

    /// The role of the entry on the command line; `None` for bookkeeping.
    pub fn role(self) -> Option<&'static str> {
        match self {
            EntryKind::User => Some("user"),
            EntryKind::Assistant => Some("assistant"),
            EntryKind::ToolResult => Some("tool"),
            EntryKind::Shell => Some("shell"),
            EntryKind::System | EntryKind::Compaction | EntryKind::BranchSummary => Some("system"),
            EntryKind::CustomMessage | EntryKind::Attachment => Some("context"),
            _ => None,
        }
    }
}

/// Boolean facts about an entry, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// The entry belongs to a subagent's side chain.
    pub const SIDECHAIN: Flags = Flags(1);
    /// The agent does not show the entry to the user.
    pub const HIDDEN: Flags = Flags(1 << 1);
    /// Some bytes of the record are not UTF-8.
    pub const BAD_UTF8: Flags = Flags(1 << 2);
    /// NUL bytes or garbage precede the record on its line.
    pub const SALVAGED: Flags = Flags(1 << 3);
    /// Another record precedes it on the same line.
    pub const GLUED: Flags = Flags(1 << 4);
    /// Older entries are not sent to the model once this entry is on the branch.
    pub const CUT: Flags = Flags(1 << 5);
    /// The record has a parent field, even if its value is null.
    pub const LINKED: Flags = Flags(1 << 6);
    /// The entry is part of the conversation's chain: it can be a parent, a tip or a leaf.
    pub const CHAIN: Flags = Flags(1 << 7);
    /// The entry is the summary that replaces compacted entries.
    pub const SUMMARY: Flags = Flags(1 << 8);
    /// The entry records an error of the conversation.
    pub const ERROR: Flags = Flags(1 << 9);
    /// No newline follows the record.
    pub const UNENDED: Flags = Flags(1 << 10);
    /// The record may contain a block that providers reject. Known only if tool calls were read.
    pub const REFUSED: Flags = Flags(1 << 11);
    /// The record lacks content that its kind needs. Some readers skip it, others fail.
    pub const MALFORMED: Flags = Flags(1 << 12);
    /// The content is one text instead of a list of parts.
    pub const ONE_TEXT: Flags = Flags(1 << 13);
    /// Reserved for the dialect.
    pub const OWN: Flags = Flags(1 << 15);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    pub fn clear(&mut self, other: Flags) {
        self.0 &= !other.0;
    }

    /// Sets the bits of `other` if `on` is true.
    pub fn set_if(&mut self, on: bool, other: Flags) {
        if on {
            self.set(other);
        }
    }
}

/// What is kept in memory of each record: enough for tree, leaf and listing. The payload is read on
/// demand.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Position of the record in the log.
    pub at: u64,
    /// Length of the record in bytes.
    pub len: u64,
    /// Time of the entry, if the record contains one.
    pub time: Option<Millis>,
    /// Line number, from 1. `u32::MAX` means that number or any greater one.
    pub line: u32,
    /// Index of the record within its line, from 0.
    pub nth: u16,
    /// Boolean facts about the entry.
    pub flags: Flags,
    /// Id of the entry, if it has one.
    pub id: Option<Symbol>,
    /// Id of the parent, if the record names one.
    pub parent: Option<Symbol>,
    /// The group that the entry belongs to: an API message written as several records, or another
    /// group of the dialect.
    pub group: Option<Symbol>,
    /// The type word that the agent wrote.
    pub word: Option<Symbol>,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// A time in eight bytes with a niche, so that `Option<Millis>` is not larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(std::num::NonZeroI64);

impl From<Instant> for Millis {
    fn from(instant: Instant) -> Self {
        // Zero is the niche, so the smallest value, which no clock reports, is stored for it.
        Millis(std::num::NonZeroI64::new(instant.millis()).unwrap_or(std::num::NonZeroI64::MIN))
    }
}

impl From<Millis> for Instant {
    fn from(millis: Millis) -> Self {
        Instant::from_millis(if millis.0 == std::num::NonZeroI64::MIN {
            0
        } else {
            millis.0.get()
        })
    }
}

impl Head {
    /// Creates the head of the record at `span`; the dialect fills in the rest.
    pub fn of(span: &Span) -> Self {
        let mut flags = Flags::default();
        let mut place = 0;
        if let SpanKind::Record {
            nth,
            bad_utf8,
            salvaged,
        } = span.kind
        {
            place = u16::try_from(nth).unwrap_or(u16::MAX);
            flags.set_if(bad_utf8, Flags::BAD_UTF8);
            flags.set_if(salvaged, Flags::SALVAGED);
            flags.set_if(nth > 0, Flags::GLUED);
        }
        Head {
            at: span.at,
            len: span.len,
            time: None,
            line: u32::try_from(span.line).unwrap_or(u32::MAX),
            nth: place,
            flags,
            id: None,
            parent: None,
            group: None,
            word: None,
            kind: EntryKind::Unknown,
        }
    }

    /// Returns the time of the entry, if the record contains one.
    pub fn instant(&self) -> Option<Instant> {
        self.time.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_stays_small() {
        assert!(
            std::mem::size_of::<Head>() <= 56,
            "{}",
            std::mem::size_of::<Head>()
        );
    }

    #[test]
    fn times_survive_the_niche() {
        for ms in [0, 1, -1, 1_763_681_630_805] {
            let instant = Instant::from_millis(ms);
            assert_eq!(Instant::from(Millis::from(instant)), instant);
        }
    }
}
