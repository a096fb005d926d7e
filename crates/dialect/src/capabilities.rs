//! What a dialect can express.

/// Something one may want to do with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Read it.
    Read,
    /// Say what a model would be sent.
    Context,
    /// Add entries.
    Append,
    /// Go on from an earlier entry.
    Branch,
    /// Stand as before an earlier prompt.
    Rewind,
    /// Make a new session from a branch.
    Fork,
    /// Give it a title.
    Title,
    /// Tag it.
    Tag,
    /// Name an entry.
    Label,
    /// Set its status.
    Status,
    /// Remove it.
    Delete,
    /// Start its agent where it stopped.
    Resume,
}

impl Capability {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Capability; 12] = [
        Capability::Read,
        Capability::Context,
        Capability::Append,
        Capability::Branch,
        Capability::Rewind,
        Capability::Fork,
        Capability::Title,
        Capability::Tag,
        Capability::Label,
        Capability::Status,
        Capability::Delete,
        Capability::Resume,
    ];

    /// Its name in output.
    pub fn word(self) -> &'static str {
        match self {
            Capability::Read => "read",
            Capability::Context => "context",
            Capability::Append => "append",
            Capability::Branch => "branch",
            Capability::Rewind => "rewind",
            Capability::Fork => "fork",
            Capability::Title => "title",
            Capability::Tag => "tag",
            Capability::Label => "label",
            Capability::Status => "status",
            Capability::Delete => "delete",
            Capability::Resume => "resume",
        }
    }
}

/// How well a dialect supports an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Its own format has a place for it.
    Native,
    /// By truncating or rewriting what is there.
    Rewrites,
    /// Kept as a note beside it: the format has no place for it.
    Note,
    /// Not at all.
    No,
}

impl Support {
    /// Its name in output.
    pub fn word(self) -> &'static str {
        match self {
            Support::Native => "native",
            Support::Rewrites => "rewrites",
            Support::Note => "note",
            Support::No => "no",
        }
    }
}

/// The table of what a dialect can.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    table: &'static [(Capability, Support)],
}

impl Capabilities {
    /// A table; what it does not name is [`Support::No`].
    pub const fn new(table: &'static [(Capability, Support)]) -> Self {
        Capabilities { table }
    }

    /// How well `operation` is supported.
    pub fn support(&self, operation: Capability) -> Support {
        self.table
            .iter()
            .find(|(o, _)| *o == operation)
            .map_or(Support::No, |(_, s)| *s)
    }
}
