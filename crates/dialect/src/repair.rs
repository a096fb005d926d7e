//! Repairs as data: fixes for a damaged session, and the patch that they add up to.
//!
//! A [`Fix`] contains the problem that it solves, how certain it is, which readers it helps and
//! which bytes it changes. Nothing is written here: the store combines the chosen fixes into a
//! [`Patch`], reads the patched session to check the result, and the runner writes it. See
//! `docs/adr/0008`.

use std::collections::HashSet;

use boswell_model::{
    Log, Problem, ProblemKind, Repair, SessionMeta, SessionView, Slot, Symbol, ToolLink,
};

use crate::{IdSource, SessionLocation};

/// How the title of a repaired fork ends.
pub const REPAIRED_TITLE: &str = "(repaired)";

/// How certain it is that a fix restores what the agent would have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// There is only one candidate.
    Certain,
    /// There are several candidates, and one is clearly better.
    Likely,
    /// Only the user can choose.
    Guess,
}

impl Confidence {
    /// The word for it in output.
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Certain => "certain",
            Confidence::Likely => "likely",
            Confidence::Guess => "guess",
        }
    }
}

/// A replacement of a range of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Position of the first byte to replace.
    pub at: u64,
    /// Number of bytes to replace; 0 inserts.
    pub len: u64,
    /// The new bytes.
    pub with: Vec<u8>,
}

impl Splice {
    /// Creates a splice that inserts bytes before position `at`.
    pub fn insert(at: u64, with: impl Into<Vec<u8>>) -> Self {
        Splice {
            at,
            len: 0,
            with: with.into(),
        }
    }

    /// Returns the position after the replaced bytes.
    pub fn end(&self) -> u64 {
        self.at + self.len
    }
}

/// One possible fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The kind of problem that it solves.
    pub problem: ProblemKind,
    /// Line of the problem, if it is at a line.
    pub line: Option<u64>,
    /// Entry of the problem, if it is at an entry.
    pub slot: Option<Slot>,
    /// The kind of repair: append, rewrite or fork.
    pub repair: Repair,
    /// How certain the fix is.
    pub confidence: Confidence,
    /// A description of the change, in one clause.
    pub does: String,
    /// Names of the readers that it helps; empty means all.
    pub helps: &'static [&'static str],
    /// Fixes of a lower stage are applied first: those of a higher one may be others afterwards.
    pub stage: u8,
    /// The bytes that it changes.
    pub splices: Vec<Splice>,
}

impl Fix {
    /// Creates a fix of one record, without splices yet, that helps every reader.
    pub fn of_record(
        log: &Log,
        problem: ProblemKind,
        slot: Slot,
        confidence: Confidence,
        does: String,
    ) -> Self {
        let line = log.head(slot).map(|head| u64::from(head.line));
        let (repair, helps, splices) = (Repair::Fork, &[][..], Vec::new());
        Fix {
            problem,
            line,
            slot: Some(slot),
            repair,
            confidence,
            does,
            helps,
            stage: 0,
            splices,
        }
    }
}

/// What a dialect gets to compute fixes for a session.
#[derive(Clone, Copy)]
pub struct RepairInput<'a> {
    /// Store, id and key of the session.
    pub location: &'a SessionLocation,
    /// The session's log, tree and payloads.
    pub view: SessionView<'a>,
    /// The session's metadata.
    pub meta: &'a SessionMeta,
    /// Tool calls and results in file order.
    pub pairs: &'a [(Slot, ToolLink)],
    /// The source of new ids.
    pub id_source: &'a dyn IdSource,
}

impl std::fmt::Debug for RepairInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mending")
            .field("located", self.location)
            .finish_non_exhaustive()
    }
}

/// A program that reads sessions of a dialect, and what it loses because of which problem.
#[derive(Debug, Clone, Copy)]
pub struct KnownReader {
    /// Name on the command line: a version or a short word.
    pub name: &'static str,
    /// Name for display.
    pub title: &'static str,
    /// Version, for readers that are versions of the agent itself; these are sorted, oldest first.
    pub version: Option<[u32; 3]>,
    /// For each problem what the reader can lose because of it.
    pub loses: &'static [(ProblemKind, &'static str)],
    /// The reader whose losses decide, for a file, whether this one loses something: itself if its
    /// behaviour is predicted, else one that reads alike; `None` if the kind of a problem decides.
    pub measured_as: Option<&'static str>,
}

/// What a known reader loses of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderLoss {
    /// Name of the reader.
    pub reader: &'static str,
    /// Entries of the conversation that it does not send, or with which the provider refuses its
    /// request; sorted.
    pub entries: Vec<Slot>,
    /// The ids of these entries.
    pub ids: HashSet<Symbol>,
    /// Why it sends nothing, or nothing after some line: a clause with the reader as subject.
    pub whole: Option<String>,
}

impl ReaderLoss {
    /// Whether a problem can be the reason of the loss.
    fn follows_from(&self, log: &Log, problem: &Problem) -> bool {
        let id = |slot: Slot| log.head(slot).and_then(|head| head.id);
        let Some(slot) = problem.slot else {
            return true;
        };
        match problem.kind {
            ProblemKind::MissingResult
            | ProblemKind::OrphanResult
            | ProblemKind::DuplicateCall
            | ProblemKind::RefusedBlock
            | ProblemKind::LostBranch => self.entries.binary_search(&slot).is_ok(),
            ProblemKind::DuplicateId => id(slot).is_some_and(|id| self.ids.contains(&id)),
            _ => true,
        }
    }
}

/// What a known reader makes of a session when it resumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// It sends these records, in this order.
    Sent(Vec<Slot>),
    /// It finds no conversation in the file.
    Refused,
    /// It ends with an error.
    Failed,
}

/// Why a known reader does not send a record that is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnsentReason {
    /// It finds no conversation in the file.
    NoConversation,
    /// It ends with an error when it resumes the file.
    ReaderFails,
    /// It does not read the line: the record shares it with other bytes, or comes after a line at
    /// which the reader stops.
    NotRead,
    /// The message has no content that it understands.
    NoContent,
    /// The record has no id, or another record has the same one.
    SameId,
    /// A parent between the record and the tip is missing.
    BehindGap,
    /// It follows only one of several calls that were made at the same time.
    ParallelCall,
    /// The call has no result.
    NoResult,
    /// The result has no call, or comes before it.
    NoCall,
    /// Another call has the same id.
    RepeatedCall,
    /// The record is not on the branch that it resumes.
    OtherBranch,
    /// It sends the summary of a compaction instead.
    BeforeCompaction,
    /// The record belongs to a subagent.
    SideChain,
    /// An error of the client or provider, which is shown to the user only.
    ClientError,
    /// The message consists of blank text, or of thinking alone.
    NothingToSend,
}

impl UnsentReason {
    /// The word for it in output.
    pub fn word(self) -> &'static str {
        match self {
            UnsentReason::NoConversation => "no_conversation",
            UnsentReason::ReaderFails => "reader_fails",
            UnsentReason::NotRead => "not_read",
            UnsentReason::NoContent => "no_content",
            UnsentReason::SameId => "same_id",
            UnsentReason::BehindGap => "behind_gap",
            UnsentReason::ParallelCall => "parallel_call",
            UnsentReason::NoResult => "no_result",
            UnsentReason::NoCall => "no_call",
            UnsentReason::RepeatedCall => "repeated_call",
            UnsentReason::OtherBranch => "other_branch",
            UnsentReason::BeforeCompaction => "before_compaction",
            UnsentReason::SideChain => "side_chain",
            UnsentReason::ClientError => "client_error",
            UnsentReason::NothingToSend => "nothing_to_send",
        }
    }

    /// Whether the reader leaves such records out of sound sessions too.
    pub fn is_intended(self) -> bool {
        self >= UnsentReason::OtherBranch
    }
}

impl KnownReader {
    /// Whether a problem of a session costs this reader something, given the losses of all readers
    /// whose behaviour is predicted.
    pub(crate) fn is_hurt(&self, log: &Log, losses: &[ReaderLoss], problem: &Problem) -> bool {
        let of = |name: &str| losses.iter().find(|it| it.reader == name);
        if problem.kind == ProblemKind::Unsent {
            return of(self.name).is_some();
        }
        if self.loss(problem.kind).is_none() {
            return false;
        }
        // What is lost later, or is no entry, does not show in what is sent now.
        let shows = !matches!(
            problem.kind,
            ProblemKind::TornTail
                | ProblemKind::BadHeader
                | ProblemKind::InvalidUtf8
                | ProblemKind::LostTitle
        );
        match self.measured_as.filter(|_| shows) {
            Some(name) => of(name).is_some_and(|it| it.follows_from(log, problem)),
            None => true,
        }
    }

    /// Returns what the reader can lose because of a problem, if anything.
    pub fn loss(&self, problem: ProblemKind) -> Option<&'static str> {
        self.loses
            .iter()
            .find(|(kind, _)| *kind == problem)
            .map(|(_, loss)| *loss)
    }
}

/// The location of a repaired fork, and the changes that make it a session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPlace {
    /// Id of the new session.
    pub id: String,
    /// Key of its log.
    pub key: String,
    /// Changes that write the new id and the origin into the records.
    pub splices: Vec<Splice>,
}

/// A piece of a patched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchPiece {
    /// A range of bytes of the old file.
    Old {
        /// Position of the first byte.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// New bytes.
    New(Vec<u8>),
}

impl PatchPiece {
    fn len(&self) -> u64 {
        match self {
            PatchPiece::Old { len, .. } => *len,
            PatchPiece::New(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the part of the piece between two offsets.
    fn part(&self, from: u64, to: u64) -> PatchPiece {
        match self {
            PatchPiece::Old { at, .. } => PatchPiece::Old {
                at: at + from,
                len: to - from,
            },
            PatchPiece::New(bytes) => {
                let cut = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                PatchPiece::New(bytes.get(cut(from)..cut(to)).unwrap_or_default().to_vec())
            }
        }
    }
}

/// A file described as ranges of the old file and new bytes between them, so that a large file does
/// not have to be in memory.
///
/// Pieces are never empty and adjacent pieces are merged, so that equal patches compare equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pieces: Vec<PatchPiece>,
}

impl Patch {
    /// Creates the patch that leaves a file of this length unchanged.
    pub fn whole(len: u64) -> Self {
        let mut patch = Patch::default();
        patch.push(PatchPiece::Old { at: 0, len });
        patch
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> &[PatchPiece] {
        &self.pieces
    }

    /// Returns the length of the patched file.
    pub fn len(&self) -> u64 {
        self.pieces.iter().map(PatchPiece::len).sum()
    }

    /// Whether the patched file is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether a file of length `len` stays unchanged.
    pub fn is_unchanged(&self, len: u64) -> bool {
        *self == Patch::whole(len)
    }

    /// Returns the appended bytes, if the patch only appends to a file of length `len`.
    pub fn added(&self, len: u64) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [PatchPiece::Old { at: 0, len: old }, PatchPiece::New(bytes)] if *old == len => {
                Some(bytes)
            }
            _ => None,
        }
    }

    /// Returns the patch with further splices, whose positions refer to the result of this patch.
    /// They must not overlap; they may be in any order, and two insertions at one position keep
    /// their order.
    #[must_use]
    pub fn spliced(&self, splices: &[Splice]) -> Patch {
        let mut sorted: Vec<&Splice> = splices.iter().collect();
        // A stable sort, so that insertions at one position keep their order.
        sorted.sort_by_key(|splice| splice.at);
        let mut out = Patch::default();
        let mut at = 0;
        // Index and start of the piece that the previous copy ended in: the pieces are walked once.
        let mut reached = (0, 0);
        for splice in sorted {
            reached = self.copy(reached, at, splice.at.max(at), &mut out);
            out.push(PatchPiece::New(splice.with.clone()));
            at = at.max(splice.end());
        }
        self.copy(reached, at, u64::MAX, &mut out);
        out
    }

    /// Copies the range `from..to` of this patch's result to `out`. `reached` is index and start of
    /// the piece to begin with; returns those of the piece in which the range ends.
    fn copy(&self, reached: (usize, u64), from: u64, to: u64, out: &mut Patch) -> (usize, u64) {
        let (mut number, mut start) = reached;
        while let Some(piece) = self.pieces.get(number).filter(|_| start < to) {
            let end = start + piece.len();
            let (low, high) = (from.max(start), to.min(end));
            if low < high {
                out.push(piece.part(low - start, high - start));
            }
            if end > to {
                break;
            }
            (number, start) = (number + 1, end);
        }
        (number, start)
    }

    /// Appends a piece and merges it with the last one if they are adjacent.
    fn push(&mut self, piece: PatchPiece) {
        match (self.pieces.last_mut(), piece) {
            (_, piece) if piece.len() == 0 => {}
            (
                Some(PatchPiece::Old { at, len }),
                PatchPiece::Old {
                    at: next,
                    len: more,
                },
            ) if *at + *len == next => *len += more,
            (Some(PatchPiece::New(bytes)), PatchPiece::New(more)) => bytes.extend_from_slice(&more),
            (_, piece) => self.pieces.push(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(patch: &Patch, old: &str) -> String {
        let part = |piece: &PatchPiece| match piece {
            PatchPiece::Old { at, len } => old[*at as usize..(*at + *len) as usize].to_owned(),
            PatchPiece::New(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        };
        patch.pieces().iter().map(part).collect()
    }

    #[test]
    fn splices_of_splices_are_splices_of_the_file() {
        let old = "one two three";
        let first = Patch::whole(13).spliced(&[
            Splice {
                at: 4,
                len: 3,
                with: b"2222".to_vec(),
            },
            Splice::insert(13, *b"!"),
            Splice::insert(0, *b"> "),
        ]);
        assert_eq!(text(&first, old), "> one 2222 three!");
        let second = first.spliced(&[
            Splice {
                at: 7,
                len: 2,
                with: b"xx".to_vec(),
            },
            Splice {
                at: 0,
                len: 2,
                with: vec![],
            },
        ]);
        assert_eq!(text(&second, old), "one 2xx2 three!");
        assert_eq!(second.len(), 15);
    }

    #[test]
    fn what_only_adds_is_told_from_what_changes() {
        let whole = Patch::whole(5);
        assert!(whole.is_unchanged(5) && whole.spliced(&[]).is_unchanged(5));
        let added = whole.spliced(&[Splice::insert(5, *b"a"), Splice::insert(5, *b"b")]);
        assert_eq!(added.added(5), Some(&b"ab"[..]));
        assert_eq!(whole.spliced(&[Splice::insert(4, *b"a")]).added(5), None);
        assert!(Patch::whole(0).is_empty());
    }
}
