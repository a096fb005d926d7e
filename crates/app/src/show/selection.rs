//! Which entries of a session a request selects, with their positions in the view.

use boswell_model::{EntryKind, Error, Flags, Part, Result, Slot, Tip};
use boswell_store::Session;

use super::ShowRequest;
use crate::RequestContext;
use crate::open_sessions::OpenSession;

/// The entries that a request selects.
pub(super) struct Chosen {
    /// The entries with their positions in the view.
    pub(super) slots: Vec<(usize, Slot)>,
    /// How many entries the view has.
    pub(super) total: usize,
    /// The end of the branch that they are on, if it is not the requested one.
    pub(super) end: Option<Slot>,
}

/// Returns the requested entries.
pub(super) fn chosen(
    cx: &RequestContext,
    session: &OpenSession,
    branch: &[Slot],
    request: &ShowRequest,
) -> Result<Chosen> {
    let all: Vec<Slot> = view(session, branch, request.records);
    let total = all.len();
    if let Some(name) = &request.entry {
        let slot = session.find(name)?;
        // An entry of another branch, or the header, has no position in the view.
        let position = all.iter().position(|it| *it == slot).unwrap_or(total);
        return Ok(Chosen {
            slots: vec![(position, slot)],
            total,
            end: None,
        });
    }
    let mut all: Vec<(usize, Slot)> = all.into_iter().enumerate().collect();
    // Bounds are positions in the view: the entries that they name may be none of the chosen ones.
    let bounds = Bounds::of(session, &all, request)?;
    if request.prompts {
        all.retain(|(_, slot)| is_prompt(session, *slot));
    }
    if let Some(text) = &request.matching {
        let text = text.to_lowercase();
        all.retain(|(_, slot)| has_text(session, *slot, &text));
    }
    let (slots, end) = match &request.around {
        Some(name) => around(cx, session, all, (name, request.nearby.unwrap_or(3)))?,
        None => (page(all, &bounds, request.limit), None),
    };
    Ok(Chosen { slots, total, end })
}

/// Returns the entries of the current branch, or every record but the header.
pub(crate) fn view(session: &Session, branch: &[Slot], records: bool) -> Vec<Slot> {
    if !records {
        return branch.to_vec();
    }
    let header = session.header();
    let slots = session.log().slots();
    slots.filter(|slot| header != Some(*slot)).collect()
}

/// Whether the user wrote the entry, as far as its head shows.
fn is_prompt(session: &Session, slot: Slot) -> bool {
    session
        .log()
        .head(slot)
        .is_some_and(|head| head.kind == EntryKind::User && !head.flags.has(Flags::HIDDEN))
}

/// Whether a part of an entry contains a text, which is in lower case.
fn has_text(session: &Session, slot: Slot, text: &str) -> bool {
    let view = session.entry(slot).ok().and_then(|it| it.view);
    let parts = view.iter().flat_map(|view| &view.parts);
    let mut texts = parts.filter_map(|part| match part {
        Part::Text(text) | Part::Thinking { text, .. } | Part::Result { text, .. } => {
            Some(text.as_str())
        }
        Part::Call { input, .. } => Some(input.text()),
        _ => None,
    });
    texts.any(|it| it.to_lowercase().contains(text))
}

/// Entries with their positions on a branch.
type Placed = Vec<(usize, Slot)>;

/// Returns the entries around one: on the current branch, else on the one that it belongs to, whose
/// end is returned too. An entry that no branch shows, such as an attachment, follows the last
/// message before it.
fn around(
    cx: &RequestContext,
    session: &OpenSession,
    mut all: Placed,
    (name, nearby): (&str, usize),
) -> Result<(Placed, Option<Slot>)> {
    let middle = session.find(name)?;
    let place = |all: &[(usize, Slot)], wanted: Slot| all.iter().position(|it| it.1 == wanted);
    let mut anchor = middle;
    let mut end = None;
    if place(&all, middle).is_none() {
        anchor = message_before(session, middle);
        if place(&all, anchor).is_none() {
            let last = session.ends().get(anchor.index()).copied().flatten();
            let other = session.branch(Tip::At(last.unwrap_or(anchor)))?;
            if other.contains(&anchor) {
                cx.remark("this is on another branch than the current one");
                all = other.into_iter().enumerate().collect();
                end = last;
            }
        }
    }
    let Some(at) = place(&all, anchor) else {
        cx.remark("this is on no branch: its neighbours in the file are shown");
        let records: Vec<(usize, Slot)> =
            view(session, &[], true).into_iter().enumerate().collect();
        // Only the header is none of the records, and it is before all of them.
        let at = place(&records, middle).unwrap_or(0);
        return Ok((near(&records, at, nearby), None));
    };
    let mut near = near(&all, at, nearby);
    if anchor != middle
        && let Some(place) = place(&near, anchor)
    {
        near.insert(place + 1, (at, middle));
    }
    Ok((near, end))
}

/// Returns the message that an entry belongs to: the nearest one above it in the tree, else the
/// last one before it in the file. The entry itself if there is none.
fn message_before(session: &Session, entry: Slot) -> Slot {
    let is_message = |slot: &Slot| session.log().kind(*slot).is_conversation();
    let above = session.tree().ancestors(entry).find(is_message);
    let before = || (0..entry.0).rev().map(Slot).find(is_message);
    above.or_else(before).unwrap_or(entry)
}

fn near(all: &[(usize, Slot)], place: usize, nearby: usize) -> Vec<(usize, Slot)> {
    let near = place.saturating_sub(nearby)..(place + nearby + 1).min(all.len());
    all.get(near).unwrap_or_default().to_vec()
}

/// The part of the view that a page is taken from, as positions.
struct Bounds {
    /// The first entry; `None` takes the last ones of the part.
    start: Option<usize>,
    end: usize,
}

impl Bounds {
    fn of(session: &Session, all: &[(usize, Slot)], request: &ShowRequest) -> Result<Bounds> {
        let place = |name: &String| {
            let wanted = session.find(name)?;
            Ok::<_, Error>(all.iter().position(|(_, slot)| *slot == wanted))
        };
        let before = request.before.as_ref().map(place).transpose()?;
        let after = request.after.as_ref().map(place).transpose()?;
        Ok(Bounds {
            start: match after {
                Some(place) => Some(place.map_or(all.len(), |place| place + 1)),
                None => request.from,
            },
            end: before.map_or(all.len(), |place| place.unwrap_or(0)),
        })
    }
}

/// Returns the last entries, those before one, those after one, or those from a position on: a long
/// session is read page by page in both directions.
fn page(mut all: Vec<(usize, Slot)>, bounds: &Bounds, limit: Option<usize>) -> Vec<(usize, Slot)> {
    let limit = limit.unwrap_or(usize::MAX);
    let count_before = |all: &[(usize, Slot)], end: usize| all.partition_point(|it| it.0 < end);
    all.truncate(count_before(&all, bounds.end));
    if let Some(start) = bounds.start {
        all.drain(..count_before(&all, start));
        all.truncate(limit);
        return all;
    }
    all.split_off(all.len().saturating_sub(limit))
}
