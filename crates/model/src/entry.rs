//! Entries: records as the model sees them.

use crate::{Instant, Span, SpanKind, Symbol};

/// An entry's place in its log, from 0, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// The slot as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an entry is, in the words that all agents share. Its own type word is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// The line that describes the session itself.
    Header,
    /// Something the user said.
    User,
    /// Something the model said, thought or called.
    Assistant,
    /// What a tool answered.
    ToolResult,
    /// A command the user ran beside the conversation.
    Shell,
    /// A word of the agent to the user or the model.
    System,
    /// Text that an extension put into the conversation.
    CustomMessage,
    /// A file, reminder or listing that the agent attached for the model.
    Attachment,
    /// The point where older messages were replaced by a summary.
    Compaction,
    /// A summary of a branch that was left.
    BranchSummary,
    /// A change of model, thinking level, mode or the like.
    Setting,
    /// A name for another entry.
    Label,
    /// A name for the session.
    Title,
    /// A tag of the session.
    Tag,
    /// A statement of where the conversation stands.
    Leaf,
    /// A record of files before or after an edit.
    FileSnapshot,
    /// News of work under way.
    Progress,
    /// State of an extension, not seen by the model.
    Custom,
    /// Any other bookkeeping that the dialect knows.
    Meta,
    /// A type that the dialect does not know.
    Unknown,
}

impl EntryKind {
    /// Whether a reader of the conversation means this entry when pointing at "the last thing".
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

    /// Its name, in the words of the command line.
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

    /// Who speaks, in the words of the command line.
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

/// Facts about an entry that fit in a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// It belongs to a subagent's side chain.
    pub const SIDECHAIN: Flags = Flags(1);
    /// The agent does not show it to people.
    pub const HIDDEN: Flags = Flags(1 << 1);
    /// Some of its bytes are not UTF-8.
    pub const BAD_UTF8: Flags = Flags(1 << 2);
    /// It stands behind NULs or garbage on its line.
    pub const SALVAGED: Flags = Flags(1 << 3);
    /// It shares its line with a record before it.
    pub const GLUED: Flags = Flags(1 << 4);
    /// Older entries do not reach the model through it.
    pub const CUT: Flags = Flags(1 << 5);
    /// It has a parent field, even if that is null.
    pub const LINKED: Flags = Flags(1 << 6);
    /// It is part of the conversation's chain: it can be a parent, a tip, a leaf.
    pub const CHAIN: Flags = Flags(1 << 7);
    /// It is the text that stands for what compaction left out.
    pub const SUMMARY: Flags = Flags(1 << 8);
    /// The conversation failed here.
    pub const ERROR: Flags = Flags(1 << 9);
    /// No newline follows it.
    pub const UNENDED: Flags = Flags(1 << 10);
    /// It may hold what no provider takes. Known only where calls were asked for.
    pub const REFUSED: Flags = Flags(1 << 11);
    /// Free for the dialect.
    pub const OWN: Flags = Flags(1 << 15);

    /// Whether all of `other` is set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets `other`.
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    /// Sets `other` if `on`.
    pub fn set_if(&mut self, on: bool, other: Flags) {
        if on {
            self.set(other);
        }
    }
}

/// What is kept in memory of each record: enough for tree, leaf and listing; the
/// payload is read on demand.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Position in the log.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// Its time, if it states one.
    pub time: Option<Millis>,
    /// Line, from 1; the largest value stands for all beyond four thousand million.
    pub line: u32,
    /// Which record of its line it is, from 0.
    pub nth: u16,
    /// Facts that fit in a bit.
    pub flags: Flags,
    /// Its id, if it has one.
    pub id: Option<Symbol>,
    /// The id of its parent, if it names one.
    pub parent: Option<Symbol>,
    /// What it belongs to: the API message of which it is a part, or another
    /// group of the dialect's.
    pub group: Option<Symbol>,
    /// Its own type word.
    pub word: Option<Symbol>,
    /// What it is.
    pub kind: EntryKind,
}

/// A time in a head: an instant in six bytes would do, but eight with a niche are simpler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(std::num::NonZeroI64);

impl From<Instant> for Millis {
    fn from(instant: Instant) -> Self {
        // Zero has no place here, so the smallest value stands for it; no clock shows that one.
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
    /// The head of the record at `span`, nothing known yet.
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

    /// Its time, if it states one.
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
