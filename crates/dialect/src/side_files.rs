//! Data types for side files, memory, subagents and file history.

use crate::SessionLocation;

/// A file that belongs to a session besides its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideFile {
    /// Key of the file.
    pub key: String,
    /// The kind of the file.
    pub kind: SideKind,
    /// Length in bytes.
    pub size: u64,
}

/// The kind of a side file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideKind {
    /// Transcript of a subagent.
    Subagent,
    /// Output of a tool too long for the log.
    ToolOutput,
    /// A file attached to a message.
    Attachment,
    /// A copy of a file before an edit.
    Checkpoint,
    /// Title, archive marker and other small files about the session.
    Meta,
}

impl SideKind {
    /// The name of the kind in output.
    pub fn word(self) -> &'static str {
        match self {
            SideKind::Subagent => "subagent",
            SideKind::ToolOutput => "tool_output",
            SideKind::Attachment => "attachment",
            SideKind::Checkpoint => "checkpoint",
            SideKind::Meta => "meta",
        }
    }
}

/// A memory file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Key of the file.
    pub key: String,
    /// The name under which the agent stores the project's memory.
    pub project_key: String,
    /// Whether the agent loads its beginning at the start of every session.
    pub is_index: bool,
    /// Length in bytes.
    pub size: u64,
}

/// A subagent of a session.
#[derive(Debug, Clone)]
pub struct Subagent {
    /// The location of its log.
    pub location: SessionLocation,
    /// Id of the tool call that started it.
    pub call: Option<String>,
    /// Its task, in a few words.
    pub task: Option<String>,
}

/// The files of a project at an entry, from the agent's own copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesAtEntry {
    /// The prompt that they were recorded for.
    pub prompt: String,
    /// Path (relative to the session's folder unless it is outside), and key of the copy; `None` if
    /// the file did not exist.
    pub files: Vec<(String, Option<String>)>,
    /// Path and key of every copy of each of these files: contents that equal a copy can be
    /// restored.
    pub known: Vec<(String, String)>,
    /// The contents that the agent itself wrote to each of these files, edit by edit.
    pub written: Vec<(String, String)>,
}
