//! Capabilities: which operations a dialect supports, and how.
//!
//! `stores` lists them as supported operations. What a format cannot express is `unsupported`, or a
//! note of boswell instead.

/// An operation on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Read the session.
    Read,
    /// Compute the context for the model.
    Context,
    /// Append entries.
    Append,
    /// Continue from an earlier entry.
    Branch,
    /// Go back to before an earlier prompt.
    Rewind,
    /// Create a session from a branch.
    Fork,
    /// Set the title.
    Title,
    /// Set tags.
    Tag,
    /// Label an entry.
    Label,
    /// Set the status.
    Status,
    /// Delete the session.
    Delete,
    /// Resume the session in its agent.
    Resume,
}

impl Capability {
    /// All operations, in display order.
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

    /// The name of the operation in output.
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
    /// The agent's own format has a field or record for it.
    Native,
    /// By truncating or rewriting existing files.
    Rewrites,
    /// Stored in boswell's notes, because the format has no field for it.
    Note,
    /// Not supported.
    No,
}

impl Support {
    /// The name of the level in output.
    pub fn word(self) -> &'static str {
        match self {
            Support::Native => "native",
            Support::Rewrites => "rewrites",
            Support::Note => "note",
            Support::No => "no",
        }
    }
}

/// The table of the operations that a dialect supports.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    table: &'static [(Capability, Support)],
}

impl Capabilities {
    /// Creates a table; operations that it does not list are [`Support::No`].
    pub const fn new(table: &'static [(Capability, Support)]) -> Self {
        Capabilities { table }
    }

    /// Returns how well `operation` is supported.
    pub fn support(&self, operation: Capability) -> Support {
        self.table
            .iter()
            .find(|(o, _)| *o == operation)
            .map_or(Support::No, |(_, s)| *s)
    }
}
