//! The kinds of damage that a check of a session can report.
//!
//! The words are stable output: scripts and `--json` readers compare them.

use crate::{Advice, Error, Slot};

/// A kind of damage. Its word is part of the command-line contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The last line has no newline and is not a complete record.
    TornTail,
    /// A line, or a part of one, is not a JSON object.
    NotJson,
    /// Several records are on one line.
    GluedRecords,
    /// The file contains NUL bytes.
    NulBytes,
    /// Some bytes are not UTF-8.
    InvalidUtf8,
    /// An entry names a parent that does not exist.
    MissingParent,
    /// Parents form a cycle.
    ParentCycle,
    /// Two entries with different content have the same id.
    DuplicateId,
    /// The same record occurs twice.
    DuplicateRecord,
    /// A tool call has no result.
    MissingResult,
    /// A tool result has no call.
    OrphanResult,
    /// Two tool calls have the same id.
    DuplicateCall,
    /// The agent cannot reach a branch that contains messages.
    LostBranch,
    /// The agent's own index disagrees with the files.
    StaleIndex,
    /// The first line does not describe a session.
    BadHeader,
    /// The file is empty.
    Empty,
    /// The file was written by a newer version than this program knows.
    NewerVersion,
    /// The two sessions of one conversation disagree.
    Drift,
    /// A file that the session refers to is missing.
    MissingFile,
    /// The path is not a regular file, or cannot be read.
    Unreadable,
    /// A symbolic link leads out of the store and was not followed.
    OutsideLink,
    /// An entry has no id, although its format requires one.
    MissingId,
    /// The file is one JSON document instead of one record per line.
    NotLines,
    /// A change was started and neither finished nor rolled back.
    PendingChange,
    /// An agent wrote to the old file after that was replaced.
    LateLines,
    /// A file belongs to a session that does not exist any more.
    OrphanedFile,
    /// A lock exists whose owner is gone.
    StaleLock,
    /// The agent will soon delete the session.
    LostSoon,
    /// A block that providers reject: every request that contains it fails.
    RefusedBlock,
    /// A title is stored at a place where its agent no longer reads it.
    LostTitle,
    /// The log that contains the beginning of the conversation is missing or was shortened.
    MissingHistory,
    /// Parallel tool calls, which some readers follow only in part. Not damage: the agent writes
    /// its file this way.
    ParallelCalls,
    /// A known reader sends nothing of the session, or nothing after some line.
    Unsent,
    /// The agent hides the session, because it belongs to another model provider than the current.
    OtherProvider,
}

impl ProblemKind {
    /// The word for the kind in output.
    pub fn word(self) -> &'static str {
        match self {
            ProblemKind::TornTail => "torn_tail",
            ProblemKind::NotJson => "not_json",
            ProblemKind::GluedRecords => "glued_records",
            ProblemKind::NulBytes => "nul_bytes",
            ProblemKind::InvalidUtf8 => "invalid_utf8",
            ProblemKind::MissingParent => "missing_parent",
            ProblemKind::ParentCycle => "parent_cycle",
            ProblemKind::DuplicateId => "duplicate_id",
            ProblemKind::DuplicateRecord => "duplicate_record",
            ProblemKind::MissingResult => "missing_result",
            ProblemKind::OrphanResult => "orphan_result",
            ProblemKind::DuplicateCall => "duplicate_call",
            ProblemKind::LostBranch => "lost_branch",
            ProblemKind::StaleIndex => "stale_index",
            ProblemKind::BadHeader => "bad_header",
            ProblemKind::Empty => "empty",
            ProblemKind::NewerVersion => "newer_version",
            ProblemKind::Drift => "drift",
            ProblemKind::MissingFile => "missing_file",
            ProblemKind::Unreadable => "unreadable",
            ProblemKind::OutsideLink => "outside_link",
            ProblemKind::MissingId => "missing_id",
            ProblemKind::NotLines => "not_lines",
            ProblemKind::PendingChange => "pending_change",
            ProblemKind::LateLines => "late_lines",
            ProblemKind::OrphanedFile => "orphaned_file",
            ProblemKind::StaleLock => "stale_lock",
            ProblemKind::LostSoon => "lost_soon",
            ProblemKind::RefusedBlock => "refused_block",
            ProblemKind::LostTitle => "lost_title",
            ProblemKind::MissingHistory => "missing_history",
            ProblemKind::ParallelCalls => "parallel_calls",
            ProblemKind::Unsent => "unsent",
            ProblemKind::OtherProvider => "other_provider",
        }
    }

    /// Whether something is broken. A kind that is not damage is changed only for readers that the
    /// user names.
    pub fn is_damage(self) -> bool {
        self != ProblemKind::ParallelCalls
    }

    /// Returns the kind of repair that helps.
    pub fn repair(self) -> Repair {
        match self {
            ProblemKind::LostBranch
            | ProblemKind::StaleIndex
            | ProblemKind::PendingChange
            | ProblemKind::LateLines
            | ProblemKind::LostTitle => Repair::Append,
            ProblemKind::TornTail
            | ProblemKind::NotJson
            | ProblemKind::GluedRecords
            | ProblemKind::NulBytes
            | ProblemKind::DuplicateRecord => Repair::Rewrite,
            ProblemKind::MissingParent
            | ProblemKind::ParentCycle
            | ProblemKind::DuplicateId
            | ProblemKind::MissingResult
            | ProblemKind::OrphanResult
            | ProblemKind::DuplicateCall
            | ProblemKind::RefusedBlock
            | ProblemKind::ParallelCalls
            | ProblemKind::BadHeader
            | ProblemKind::MissingId
            | ProblemKind::Unsent
            | ProblemKind::InvalidUtf8 => Repair::Fork,
            _ => Repair::None,
        }
    }
}

/// The kind of repair that helps against a problem, from the least to the most invasive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Lines are appended; no existing byte changes.
    Append,
    /// Bytes move or are removed; no record changes.
    Rewrite,
    /// Records change, so the repaired session is written as a fork.
    Fork,
    /// No repair is known.
    None,
}

impl Repair {
    /// The word for the repair in output.
    pub fn word(self) -> &'static str {
        match self {
            Repair::Append => "append",
            Repair::Rewrite => "rewrite",
            Repair::Fork => "fork",
            Repair::None => "none",
        }
    }
}

/// One problem found in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The line number, if the problem is at a line.
    pub line: Option<u64>,
    /// The entry, if the problem is at an entry.
    pub slot: Option<Slot>,
    /// One sentence with the details.
    pub detail: String,
    /// The next step, where the kind of the problem does not already decide it.
    pub advice: Option<Advice>,
}

impl Problem {
    /// Creates a problem of the file as a whole.
    pub fn of_file(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            line: None,
            slot: None,
            advice: None,
            detail: detail.into(),
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn advising(mut self, advice: impl Into<Advice>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Creates a problem for a file or folder that cannot be read, with the reason.
    pub fn unreadable(error: &Error) -> Self {
        let cause = std::error::Error::source(error)
            .map(|cause| format!(": {cause}"))
            .unwrap_or_default();
        Problem::of_file(ProblemKind::Unreadable, format!("{error}{cause}"))
    }

    /// Creates a problem at a line.
    pub fn at_line(kind: ProblemKind, line: u64, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            line: Some(line),
            slot: None,
            advice: None,
            detail: detail.into(),
        }
    }
}
