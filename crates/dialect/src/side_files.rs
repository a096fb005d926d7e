//! What belongs to a session beside its log.

use crate::SessionLocation;

/// A file that belongs to a session beside its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideFile {
    /// Where it is.
    pub key: String,
    /// What it is.
    pub kind: SideKind,
    /// Its length.
    pub size: u64,
}

/// What a side file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SideKind {
    /// Transcript of a subagent.
    Subagent,
    /// Output of a tool too long for the log.
    ToolOutput,
    /// A file that was attached to a message.
    Attachment,
    /// A copy of a file before an edit.
    Checkpoint,
    /// Title, archive mark and other small files about the session.
    Meta,
}

impl SideKind {
    /// Its name in output.
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

/// A file that an agent remembers things in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Where it is.
    pub key: String,
    /// What the agent files the project's memory under.
    pub project_key: String,
    /// Whether the agent loads its beginning at the start of every session.
    pub is_index: bool,
    /// Its length.
    pub size: u64,
}

/// A subagent of a session.
#[derive(Debug, Clone)]
pub struct Subagent {
    /// Where its log is.
    pub location: SessionLocation,
    /// Id of the call that started it.
    pub call: Option<String>,
    /// What it was told to do, in a few words.
    pub task: Option<String>,
}

/// Files of a project at an entry, as an agent's own copies have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesAtEntry {
    /// The prompt that they were recorded for.
    pub prompt: String,
    /// Path, relative to the session's folder unless it lies outside, and key of its copy; none
    /// if there was no file.
    pub files: Vec<(String, Option<String>)>,
    /// Keys of every copy of each of these files: what stands in one of them can be got back.
    pub known: Vec<(String, String)>,
    /// What the agent itself left in each of these files, one edit after the other.
    pub written: Vec<(String, String)>,
}
