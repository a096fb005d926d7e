//! What can be wrong with a session, in a fixed set of words.

use crate::{Error, Slot};

/// Kinds of damage. The words are part of the command-line contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The last line breaks off.
    TornTail,
    /// A line, or a part of one, is no JSON object.
    NotJson,
    /// Several records share a line.
    GluedRecords,
    /// NUL bytes stand in the file.
    NulBytes,
    /// Some bytes are not UTF-8.
    InvalidUtf8,
    /// An entry names a parent that is not there.
    MissingParent,
    /// Parents run in a circle.
    ParentCycle,
    /// Two entries with different content bear one id.
    DuplicateId,
    /// The same record stands in the file twice.
    DuplicateRecord,
    /// A tool was called and never answered.
    MissingResult,
    /// An answer belongs to no call.
    OrphanResult,
    /// Two calls bear one id.
    DuplicateCall,
    /// A branch that holds messages is out of reach of the agent.
    LostBranch,
    /// The index that the agent keeps does not agree with the files.
    StaleIndex,
    /// The first line does not describe a session.
    BadHeader,
    /// The file holds nothing.
    Empty,
    /// The file was written by a newer version than is known.
    NewerVersion,
    /// Two sides of one conversation do not agree.
    Drift,
    /// A file that the session names is gone.
    MissingFile,
    /// Not a regular file, or one that cannot be read.
    Unreadable,
    /// A symbolic link leads out of the store, and was not followed.
    OutsideLink,
    /// An entry has no id where its format demands one.
    MissingId,
    /// The file is one JSON document, not one record a line.
    NotLines,
    /// A change was begun and neither finished nor taken back.
    PendingChange,
    /// An agent wrote into the file as it was before it was replaced.
    LateLines,
    /// Files of a session that is not there any more.
    OrphanedFile,
    /// A lock that nobody holds any more.
    StaleLock,
    /// The agent is about to delete the session.
    LostSoon,
    /// A block that no provider takes: every request that holds it fails.
    RefusedBlock,
    /// A title that stands where its agent no longer looks for it.
    LostTitle,
    /// Calls made at once, which some readers follow only in part. Not damage: the file is as
    /// its agent writes it.
    ParallelCalls,
}

impl ProblemKind {
    /// The word that stands for it in output.
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
            ProblemKind::ParallelCalls => "parallel_calls",
        }
    }

    /// Whether something is broken. What is as its agent writes it is changed only for
    /// readers that are named.
    pub fn is_damage(self) -> bool {
        self != ProblemKind::ParallelCalls
    }

    /// What kind of repair would help.
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
            | ProblemKind::InvalidUtf8 => Repair::Fork,
            _ => Repair::None,
        }
    }
}

/// What kind of repair helps against a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Adding lines is enough.
    Append,
    /// Bytes must move, no record changes.
    Rewrite,
    /// Records must change: into a fork.
    Fork,
    /// None is known.
    None,
}

impl Repair {
    /// The word that stands for it in output.
    pub fn word(self) -> &'static str {
        match self {
            Repair::Append => "append",
            Repair::Rewrite => "rewrite",
            Repair::Fork => "fork",
            Repair::None => "none",
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which kind.
    pub kind: ProblemKind,
    /// Line, where it has one.
    pub line: Option<u64>,
    /// Entry, where it has one.
    pub slot: Option<Slot>,
    /// One sentence with the particulars.
    pub detail: String,
}

impl Problem {
    /// A problem of the file as a whole.
    pub fn of_file(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            line: None,
            slot: None,
            detail: detail.into(),
        }
    }

    /// A file or folder that cannot be read, with the reason.
    pub fn unreadable(error: &Error) -> Self {
        let cause = std::error::Error::source(error)
            .map(|cause| format!(": {cause}"))
            .unwrap_or_default();
        Problem::of_file(ProblemKind::Unreadable, format!("{error}{cause}"))
    }

    /// A problem at a line.
    pub fn at_line(kind: ProblemKind, line: u64, detail: impl Into<String>) -> Self {
        Problem {
            kind,
            line: Some(line),
            slot: None,
            detail: detail.into(),
        }
    }
}
