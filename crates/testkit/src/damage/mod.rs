//! Damages a log in one named way and leaves every other byte unchanged.
//!
//! All edits are textual, so that the rest of a damaged file can be compared byte for byte. They
//! work on any JSON Lines file; if there is nothing to damage (a parent in a file without parents),
//! the bytes are returned unchanged.

mod bytes;
mod records;
mod splice;
#[cfg(test)]
mod tests;
mod tree;

pub use splice::{field, text_place};

use crate::rng::Rng;

/// One kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The last record is truncated.
    TornTail,
    /// The last record is complete, but its newline is missing.
    NoFinalNewline,
    /// Two records share a line: the newline between them is missing.
    GluedRecords,
    /// A record is truncated and the next one follows on the same line.
    CutAndGlued,
    /// NULs come before a record on its line.
    NulBeforeRecord,
    /// A line of NULs is between records.
    NulOnlyLine,
    /// NULs overwrite the middle of a record.
    NulHole,
    /// NULs follow the last newline, as after a crash.
    NulTail,
    /// Empty lines and lines of spaces are between records and at the end.
    BlankLines,
    /// Every line ends in CR LF.
    Crlf,
    /// The file begins with a byte order mark.
    Bom,
    /// A line that is not JSON is between records.
    GarbageLine,
    /// A record's text contains bytes that are not UTF-8.
    InvalidUtf8,
    /// A record's text contains the escape of a lone surrogate.
    LoneSurrogate,
    /// A record has a duplicate key; the last one is right.
    DuplicateKeys,
    /// The file is empty.
    EmptyFile,
    /// The first line is cut in half.
    HeaderTorn,
    /// The first line is missing.
    NoHeader,
    /// A line is missing.
    LineDeleted,
    /// A line is duplicated.
    LineDuplicated,
    /// Everything from a line on is duplicated.
    RunDuplicated,
    /// A record's parent is missing.
    PhantomParent,
    /// A record's parent is a line that is not part of the tree.
    ParentIsMetadata,
    /// A record's parent is its own child.
    ParentCycle,
    /// A record is its own parent.
    SelfParent,
    /// No record has a parent.
    AllParentsNull,
    /// Two tool calls have the same id.
    DuplicateToolUseId,
    /// A call's result is missing.
    ResultRemoved,
    /// A result answers a call that does not exist.
    OrphanResult,
    /// The file ends after a call, before any result.
    DanglingCall,
    /// The lines after the first are in random order.
    ShuffledLines,
    /// The lines after the first are in reverse order.
    ReversedLines,
    /// Lines that are JSON but not objects are between records.
    NonObjectLine,
    /// A record of an unknown type.
    UnknownType,
    /// A record names another session than its file.
    WrongSession,
    /// A record names no session.
    NoSession,
    /// A record has no time.
    NoTimestamp,
    /// A thinking block has no signature.
    UnsignedThinking,
    /// A text is empty.
    EmptyText,
    /// The last record belongs to a side chain.
    SidechainTail,
    /// Every record of the tree is missing.
    MetadataOnly,
    /// A record is this many megabytes long.
    LongLine(usize),
}

/// Every damage once; the long line has two megabytes.
pub const ALL: &[Damage] = &[
    Damage::TornTail,
    Damage::NoFinalNewline,
    Damage::GluedRecords,
    Damage::CutAndGlued,
    Damage::NulBeforeRecord,
    Damage::NulOnlyLine,
    Damage::NulHole,
    Damage::NulTail,
    Damage::BlankLines,
    Damage::Crlf,
    Damage::Bom,
    Damage::GarbageLine,
    Damage::InvalidUtf8,
    Damage::LoneSurrogate,
    Damage::DuplicateKeys,
    Damage::EmptyFile,
    Damage::HeaderTorn,
    Damage::NoHeader,
    Damage::LineDeleted,
    Damage::LineDuplicated,
    Damage::RunDuplicated,
    Damage::PhantomParent,
    Damage::ParentIsMetadata,
    Damage::ParentCycle,
    Damage::SelfParent,
    Damage::AllParentsNull,
    Damage::DuplicateToolUseId,
    Damage::ResultRemoved,
    Damage::OrphanResult,
    Damage::DanglingCall,
    Damage::ShuffledLines,
    Damage::ReversedLines,
    Damage::NonObjectLine,
    Damage::UnknownType,
    Damage::WrongSession,
    Damage::NoSession,
    Damage::NoTimestamp,
    Damage::UnsignedThinking,
    Damage::EmptyText,
    Damage::SidechainTail,
    Damage::MetadataOnly,
    Damage::LongLine(2),
];

/// Lines with their newlines; the last may have none.
type Log = Vec<Vec<u8>>;

/// Damages a log at a line, counted from 0; a line past the end means the last one.
pub fn apply(damage: Damage, bytes: &[u8], place: usize, rng: &mut Rng) -> Vec<u8> {
    let mut log: Log = bytes
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if log.is_empty() {
        return bytes.to_vec();
    }
    let at = place.min(log.len() - 1);
    match damage {
        Damage::TornTail
        | Damage::NoFinalNewline
        | Damage::GluedRecords
        | Damage::CutAndGlued
        | Damage::NulBeforeRecord
        | Damage::NulOnlyLine
        | Damage::NulHole
        | Damage::NulTail
        | Damage::BlankLines
        | Damage::Crlf
        | Damage::Bom
        | Damage::GarbageLine
        | Damage::EmptyFile
        | Damage::HeaderTorn
        | Damage::NoHeader
        | Damage::LineDeleted
        | Damage::LineDuplicated
        | Damage::RunDuplicated
        | Damage::ShuffledLines
        | Damage::ReversedLines
        | Damage::NonObjectLine => bytes::apply(damage, &mut log, at, rng),
        Damage::PhantomParent
        | Damage::ParentIsMetadata
        | Damage::ParentCycle
        | Damage::SelfParent
        | Damage::AllParentsNull
        | Damage::MetadataOnly => {
            tree::apply(damage, &mut log, at, rng);
        }
        _ => records::apply(damage, &mut log, at),
    }
    log.concat()
}
