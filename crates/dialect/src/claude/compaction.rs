//! Finds the messages from before a compaction that the client still sends after it.

use boswell_model::json::Raw;
use boswell_model::{Flags, Log, Result, SessionView, Slot, Symbol};

use super::chain::{self, Chain};
use super::lines::CountedLines;

/// Messages from before a compaction that the client still sends, after the summary.
#[derive(Debug, Clone)]
pub(super) struct PreservedSegment {
    /// The compaction's line.
    pub boundary: Slot,
    /// The entry that the preserved messages follow now: the summary.
    pub anchor: Option<Symbol>,
    /// The preserved messages in the order in which they are sent. Never empty.
    pub slots: Vec<Slot>,
}

/// Returns the last compaction of the main chain by position in the file.
pub(super) fn last_boundary(log: &Log) -> Option<Slot> {
    log.entries()
        .rev()
        .find(|(_, h)| is_boundary(h))
        .map(|(slot, _)| slot)
}

fn is_boundary(head: &boswell_model::Head) -> bool {
    head.flags.has(Flags::CUT) && chain::counts(head) && !head.flags.has(Flags::SIDECHAIN)
}

/// Returns the messages that the compaction at `boundary` preserves; `None` if there are none.
///
/// If one of the messages that it names is missing, or is not among the lines that count for a
/// client, that preserves none of them.
pub(super) fn kept(
    view: &SessionView<'_>,
    boundary: Slot,
    lines: &CountedLines,
) -> Result<Option<PreservedSegment>> {
    let named = view.with_object(boundary, |object| named(object.get("compactMetadata")?))?;
    let Some(Some(named)) = named else {
        return Ok(None);
    };
    let slots = slots_of(view, boundary, &named.what, lines).unwrap_or_default();
    if slots.is_empty() {
        return Ok(None);
    }
    Ok(Some(PreservedSegment {
        boundary,
        anchor: view.log.names.find(&named.anchor),
        slots,
    }))
}

/// Returns the lines that a compaction names; `None` if one of them is not before it.
fn slots_of(
    view: &SessionView<'_>,
    boundary: Slot,
    what: &What,
    lines: &CountedLines,
) -> Option<Vec<Slot>> {
    let places = chain::places(view.log, lines);
    let find = |id: &str| {
        let name = view.log.names.find(id)?;
        chain::some(places.get(name.index())).filter(|slot| *slot < boundary)
    };
    match what {
        What::List(ids) => ids.iter().map(|id| find(id)).collect(),
        What::Segment { head, tail } => {
            let (head, tail) = (find(head)?, find(tail)?);
            let path = Chain::of(view.log, None).path(tail);
            let start = path.iter().position(|slot| *slot == head)?;
            path.get(start..).map(<[Slot]>::to_vec)
        }
    }
}

struct Named {
    anchor: String,
    what: What,
}

enum What {
    List(Vec<String>),
    Segment { head: String, tail: String },
}

fn named(meta: Raw<'_>) -> Option<Named> {
    let text = |raw: &Raw<'_>, key: &str| {
        raw.get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    if let Some(list) = meta.get("preservedMessages") {
        let ids = list
            .get("uuids")?
            .items()
            .filter_map(|id| id.text())
            .map(|id| id.into_owned())
            .collect();
        return Some(Named {
            anchor: text(&list, "anchorUuid").unwrap_or_default(),
            what: What::List(ids),
        });
    }
    let segment = meta.get("preservedSegment")?;
    let what = What::Segment {
        head: text(&segment, "headUuid")?,
        tail: text(&segment, "tailUuid")?,
    };
    Some(Named {
        anchor: text(&segment, "anchorUuid").unwrap_or_default(),
        what,
    })
}
