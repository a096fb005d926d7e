//! Mending: what could be done about a damaged session, as data.
//!
//! A **mend** says which problem it is about, how sure it is, whom it helps and which bytes change.
//! Nothing is changed here: the store puts mends together to a [`Patch`], reads the result before
//! anything is written, and lets the runner write it.

use boswell_model::{Log, ProblemKind, Repair, SessionMeta, SessionView, Slot, ToolLink};

use crate::{IdSource, SessionLocation};

/// How sure it is that a mend does what the agent would have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// There is one candidate.
    Certain,
    /// There are several, and one stands out.
    Likely,
    /// A choice that only a person can make.
    Guess,
}

impl Confidence {
    /// The word that stands for it in output.
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Certain => "certain",
            Confidence::Likely => "likely",
            Confidence::Guess => "guess",
        }
    }
}

/// Bytes that take the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Where the old ones begin.
    pub at: u64,
    /// How many there are.
    pub len: u64,
    /// The new ones.
    pub with: Vec<u8>,
}

impl Splice {
    /// Adds bytes before the one at `at`.
    pub fn insert(at: u64, with: impl Into<Vec<u8>>) -> Self {
        Splice {
            at,
            len: 0,
            with: with.into(),
        }
    }

    /// Where the old bytes end.
    pub fn end(&self) -> u64 {
        self.at + self.len
    }
}

/// One thing that could be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The problem that it is about.
    pub problem: ProblemKind,
    /// Line of the problem.
    pub line: Option<u64>,
    /// Entry of the problem.
    pub slot: Option<Slot>,
    /// What kind of repair it is.
    pub repair: Repair,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it does, in one clause.
    pub does: String,
    /// Names of the readers that it helps; none named means all.
    pub helps: &'static [&'static str],
    /// What it changes.
    pub splices: Vec<Splice>,
}

impl Fix {
    /// A change of a record, with nothing in it yet, that helps every reader.
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
            splices,
        }
    }
}

/// What a dialect is told about the session to be mended.
#[derive(Clone, Copy)]
pub struct RepairInput<'a> {
    /// Where it is.
    pub location: &'a SessionLocation,
    /// Its log.
    pub view: SessionView<'a>,
    /// What is known of it.
    pub meta: &'a SessionMeta,
    /// Its calls and answers.
    pub pairs: &'a [(Slot, ToolLink)],
    /// New ids.
    pub id_source: &'a dyn IdSource,
}

impl std::fmt::Debug for RepairInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mending")
            .field("located", self.location)
            .finish_non_exhaustive()
    }
}

/// A program that reads sessions of a dialect, and what it loses to which problem.
#[derive(Debug, Clone, Copy)]
pub struct KnownReader {
    /// Its name on the command line: a version, or a short word.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its version, for those that are versions of the agent itself, oldest first.
    pub version: Option<[u32; 3]>,
    /// What it loses to a problem.
    pub loses: &'static [(ProblemKind, &'static str)],
}

impl KnownReader {
    /// What it loses to a problem.
    pub fn loss(&self, problem: ProblemKind) -> Option<&'static str> {
        self.loses
            .iter()
            .find(|(kind, _)| *kind == problem)
            .map(|(_, loss)| *loss)
    }
}

/// Where a repaired fork goes, and what makes it a session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPlace {
    /// Id of the new session.
    pub id: String,
    /// Key of its log.
    pub key: String,
    /// Its own id, and where it comes from, put into the records.
    pub splices: Vec<Splice>,
}

/// A piece of a patched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchPiece {
    /// Bytes of the file before.
    Old {
        /// Where they begin.
        at: u64,
        /// How many.
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

    /// A part of it.
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

/// A file told as pieces of the one before and new bytes between them, so that a large one
/// need not be in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pieces: Vec<PatchPiece>,
}

impl Patch {
    /// A file of that length as it is.
    pub fn whole(len: u64) -> Self {
        let mut patch = Patch::default();
        patch.push(PatchPiece::Old { at: 0, len });
        patch
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[PatchPiece] {
        &self.pieces
    }

    /// Its length.
    pub fn len(&self) -> u64 {
        self.pieces.iter().map(PatchPiece::len).sum()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether the file of that length stays as it is.
    pub fn is_unchanged(&self, len: u64) -> bool {
        *self == Patch::whole(len)
    }

    /// What is added, if bytes at the end of a file of that length are all that it adds.
    pub fn added(&self, len: u64) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [PatchPiece::Old { at: 0, len: old }, PatchPiece::New(bytes)] if *old == len => {
                Some(bytes)
            }
            _ => None,
        }
    }

    /// The same with further splices, whose places are those of this patch's result. They must not
    /// overlap; their order is that of their places, and of two at one place the first comes first.
    #[must_use]
    pub fn spliced(&self, splices: &[Splice]) -> Patch {
        let mut sorted: Vec<&Splice> = splices.iter().collect();
        sorted.sort_by_key(|splice| splice.at);
        let mut out = Patch::default();
        let mut at = 0;
        let mut reached = (0, 0);
        for splice in sorted {
            reached = self.copy(reached, at, splice.at.max(at), &mut out);
            out.push(PatchPiece::New(splice.with.clone()));
            at = at.max(splice.end());
        }
        self.copy(reached, at, u64::MAX, &mut out);
        out
    }

    /// Copies a stretch, looking from the piece of this number and place on; gives those of the
    /// piece where it ends.
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
