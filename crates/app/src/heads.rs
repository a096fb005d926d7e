//! The table of a session's entries as columns: kind, marks, time, parent and size of each.
//!
//! A page draws its map and its scroll bar from it, and reads only the entries that are visible:
//! 14 bytes an entry instead of its text.

use boswell_model::{EntryKind, Flags, Head, Result, SessionRef, Slot};
use boswell_store::Session;
use boswell_store::store::Resolved;

use crate::gaps::require_known_format;
use crate::open_sessions::{Extent, OpenBranch, OpenSession};
use crate::sessions::linked_transcript;
use crate::shape::shape;
use crate::{App, AppResult, RequestContext, base64, show};

/// A request for the table of a session's entries.
#[derive(Debug, Clone, Default)]
pub struct HeadsRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Every record in file order, including metadata and unknown kinds.
    pub records: bool,
    /// The branch that ends at this entry, instead of the current one.
    pub branch: Option<String>,
    /// Position of the first entry, from 0.
    pub from: usize,
    /// Maximum number of entries; `None` for all.
    pub count: Option<usize>,
    /// Only kinds and marks, which is what a map needs: the other columns are empty.
    pub marks_only: bool,
}

shape! {
    /// From the server: the table of a session's entries, one value per entry in each column.
    /// Columns are base64 of little-endian numbers.
    HeadsShape: "heads" {
        /// the session
        session: String,
        /// opaque string: revision of the log
        revision: String,
        /// position of the first entry
        from: usize,
        /// how many entries the columns have
        count: usize,
        /// how many entries the view has
        total: usize,
        /// the words of `kind`, by number; each answer has its own
        kinds: Vec<&'static str>,
        /// number of the kind, one byte
        kind: String,
        /// marks, one byte: 1 hidden, 2 error, 4 on the current branch, 8 leaf, 16 of a subagent,
        /// 32 damaged, 64 nothing before it is sent any more, 128 other branches continue it
        flags: String,
        /// seconds since 1970, four bytes; 4294967295 if unknown
        at: String,
        /// position of the parent, four bytes; 4294967295 if it has none in this view
        parent: String,
        /// size of the record in bytes, four bytes; 4294967295 stands for that and more
        bytes: String,
    }
}

/// The marks of an entry, one bit each.
const HIDDEN: u8 = 1;
const ERROR: u8 = 2;
const ON_BRANCH: u8 = 4;
const LEAF: u8 = 8;
const SUBAGENT: u8 = 16;
const DAMAGED: u8 = 32;
const CUT: u8 = 64;
const BRANCHED: u8 = 128;

impl App {
    /// Returns the table of a session's entries.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session.
    pub fn heads(&self, request: &HeadsRequest) -> AppResult<HeadsShape> {
        self.answer(|cx| heads(cx, request))
    }
}

fn heads(cx: &RequestContext, request: &HeadsRequest) -> Result<HeadsShape> {
    let found = cx.resolve(&request.session)?;
    let (found, extent) = if request.records {
        (found, Extent::File)
    } else {
        (
            linked_transcript::followed(cx, found)?,
            Extent::Conversation,
        )
    };
    table(cx, request, &found, extent)
}

fn table(
    cx: &RequestContext,
    request: &HeadsRequest,
    found: &Resolved,
    extent: Extent,
) -> Result<HeadsShape> {
    let session = cx.open_sessions.read(found, extent)?;
    require_known_format(&session)?;
    let branch = session.open_branch(request.branch.as_deref())?;
    let view = show::view(&session, &branch.slots, request.records);
    let places = Places::new(&session, &branch, &view);
    let end = request
        .count
        .map_or(view.len(), |count| request.from.saturating_add(count));
    let slots = view.get(request.from.min(view.len())..end.min(view.len()));
    let mut columns = Columns::default();
    for slot in slots.unwrap_or_default() {
        columns.add(&session, &places, *slot, request.marks_only);
    }
    Ok(columns.shape(
        session.reference(),
        session.revision().to_string(),
        (request.from, view.len()),
    ))
}

/// Where entries are in the view, and which are on the branch.
struct Places<'s> {
    position: Vec<u32>,
    branch: &'s OpenBranch,
    /// For each entry the last one of the conversation at or below it.
    ends: &'s [Option<Slot>],
}

/// A number that stands for "none" or "unknown".
const NONE: u32 = u32::MAX;

impl<'s> Places<'s> {
    fn new(session: &'s OpenSession, branch: &'s OpenBranch, view: &[Slot]) -> Places<'s> {
        let mut position = vec![NONE; session.log().heads.len()];
        for (place, slot) in view.iter().enumerate() {
            if let Some(it) = position.get_mut(slot.index()) {
                *it = u32::try_from(place).unwrap_or(NONE);
            }
        }
        Places {
            position,
            branch,
            ends: session.ends(),
        }
    }

    fn marks(&self, session: &Session, slot: Slot, head: &Head) -> u8 {
        let flags = head.flags;
        let is_on_branch = |slot: Slot| self.branch.has(slot);
        let is_alive = |slot: Slot| self.ends.get(slot.index()).is_some_and(Option::is_some);
        let is_damaged = [
            Flags::SALVAGED,
            Flags::GLUED,
            Flags::MALFORMED,
            Flags::BAD_UTF8,
        ];
        let marks = [
            (HIDDEN, flags.has(Flags::HIDDEN)),
            (ERROR, flags.has(Flags::ERROR)),
            (ON_BRANCH, is_on_branch(slot)),
            (LEAF, self.branch.leaf == Some(slot)),
            (SUBAGENT, flags.has(Flags::SIDECHAIN)),
            (DAMAGED, is_damaged.iter().any(|it| flags.has(*it))),
            (CUT, flags.has(Flags::CUT)),
            (
                BRANCHED,
                show::branches_after(session, is_alive, slot, is_on_branch).is_some(),
            ),
        ];
        let set = marks.iter().filter(|(_, is_set)| *is_set);
        set.fold(0, |all, (mark, _)| all | mark)
    }
}

#[derive(Default)]
struct Columns {
    /// The kinds that occur, in the order of their numbers.
    kinds: Vec<EntryKind>,
    kind: Vec<u8>,
    flags: Vec<u8>,
    at: Vec<u8>,
    parent: Vec<u8>,
    bytes: Vec<u8>,
}

impl Columns {
    fn add(&mut self, session: &Session, places: &Places<'_>, slot: Slot, marks_only: bool) {
        let Some(head) = session.log().head(slot) else {
            return;
        };
        let number = self.number(head.kind);
        self.kind.push(number);
        self.flags.push(places.marks(session, slot, head));
        if marks_only {
            return;
        }
        let seconds = head.instant().map(|at| at.millis().div_euclid(1000));
        let parent = session.tree().parent(slot);
        let parent = parent.and_then(|it| places.position.get(it.index()).copied());
        let four = |number: u32| number.to_le_bytes();
        let seconds = seconds.and_then(|it| u32::try_from(it).ok());
        self.at.extend(four(seconds.unwrap_or(NONE)));
        self.parent.extend(four(parent.unwrap_or(NONE)));
        self.bytes
            .extend(four(u32::try_from(head.len).unwrap_or(NONE)));
    }

    fn number(&mut self, kind: EntryKind) -> u8 {
        let known = self.kinds.iter().position(|it| *it == kind);
        let number = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        // There are far fewer kinds than that.
        u8::try_from(number).unwrap_or(u8::MAX)
    }

    fn shape(
        self,
        session: SessionRef,
        revision: String,
        (from, total): (usize, usize),
    ) -> HeadsShape {
        HeadsShape {
            session: session.to_string(),
            revision,
            from,
            count: self.kind.len(),
            total,
            kinds: self.kinds.iter().map(|it| it.word()).collect(),
            kind: base64::encode(&self.kind),
            flags: base64::encode(&self.flags),
            at: base64::encode(&self.at),
            parent: base64::encode(&self.parent),
            bytes: base64::encode(&self.bytes),
        }
    }
}
