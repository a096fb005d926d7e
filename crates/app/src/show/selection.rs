//! Which entries of a session a request selects, with their positions in the view.

use boswell_model::{Advice, EntryKind, Error, ErrorKind, Flags, Part, Result, Slot, Tip};
use boswell_store::Session;

use super::ShowRequest;
use crate::RequestContext;

/// Returns the requested entries with their positions in the view, and how many the view has.
pub(super) fn chosen(
    cx: &RequestContext,
    session: &Session,
    branch: &[Slot],
    request: &ShowRequest,
) -> Result<(Vec<(usize, Slot)>, usize)> {
    let all: Vec<Slot> = view(session, branch, request.records);
    let total = all.len();
    if let Some(name) = &request.entry {
        let slot = session.find(name)?;
        // An entry of another branch, or the header, has no position in the view.
        let position = all.iter().position(|it| *it == slot).unwrap_or(total);
        return Ok((vec![(position, slot)], total));
    }
    let mut all: Vec<(usize, Slot)> = all.into_iter().enumerate().collect();
    if request.prompts {
        all.retain(|(_, slot)| is_prompt(session, *slot));
    }
    if let Some(text) = &request.matching {
        let text = text.to_lowercase();
        all.retain(|(_, slot)| has_text(session, *slot, &text));
    }
    let slots = match &request.around {
        Some(name) => around(cx, session, all, (name, request.nearby.unwrap_or(3)))?,
        None => page(session, all, request)?,
    };
    Ok((slots, total))
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

/// Returns the entries around one: on the current branch, else on the one that leads to it.
fn around(
    cx: &RequestContext,
    session: &Session,
    mut all: Vec<(usize, Slot)>,
    (name, nearby): (&str, usize),
) -> Result<Vec<(usize, Slot)>> {
    let middle = session.find(name)?;
    if !all.iter().any(|(_, slot)| *slot == middle) {
        let other = session.branch(Tip::At(middle))?;
        if other.last() == Some(&middle) {
            cx.remark("this is on another branch than the current one");
            all = other.into_iter().enumerate().collect();
        }
    }
    let place = all.iter().position(|(_, slot)| *slot == middle);
    let place = place.ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!(
                "the entry `{}` is not on the current branch",
                name.escape_debug()
            ),
        )
        .advising(Advice::ShowRecords {
            session: Some(session.reference().to_string()),
            around: Some(name.to_owned()),
        })
    })?;
    let near = place.saturating_sub(nearby)..(place + nearby + 1).min(all.len());
    Ok(all.get(near).unwrap_or_default().to_vec())
}

/// Returns the last entries, those before one, those after one, or those from a position on: a long
/// session is read page by page in both directions.
fn page(
    session: &Session,
    mut all: Vec<(usize, Slot)>,
    request: &ShowRequest,
) -> Result<Vec<(usize, Slot)>> {
    let place = |all: &[(usize, Slot)], name: &str| {
        let wanted = session.find(name)?;
        Ok::<_, Error>(all.iter().position(|(_, slot)| *slot == wanted))
    };
    if let Some(name) = &request.before {
        let end = place(&all, name)?;
        all.truncate(end.unwrap_or(0));
    }
    let limit = request.limit.unwrap_or(usize::MAX);
    let start = match (&request.after, request.from) {
        (Some(name), _) => Some(place(&all, name)?.map_or(all.len(), |start| start + 1)),
        (None, Some(from)) => Some(all.partition_point(|(position, _)| *position < from)),
        (None, None) => None,
    };
    if let Some(start) = start {
        all.drain(..start);
        all.truncate(limit);
        return Ok(all);
    }
    Ok(all.split_off(all.len().saturating_sub(limit)))
}
