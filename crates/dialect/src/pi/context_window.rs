//! Decides whether the end of a log is enough to compute a context.

use boswell_model::{EntryKind, Result, SessionView, Slot, Tip};

use super::Flavour;
use super::head::version_of;
use super::link_scheme::{Shape, agent_path, header};
use super::settings_snapshot::is_restated;
use crate::ContextCoverage;

/// Decides for a log with its first line and everything from some line to its end.
///
/// Everything after that line was read, so an id found there is the last one of its name, which is
/// the one that counts. Nothing before the line can change the path from the tip up to an entry
/// that was read.
pub(super) fn context_coverage(
    flavour: Flavour,
    view: &SessionView<'_>,
    tip: Tip,
) -> Result<ContextCoverage> {
    // Agents state a setting when it changes and never again: one that was never set is known
    // only from the whole log.
    if flavour != Flavour::Boswell || !is_sound(view)? {
        return Ok(ContextCoverage::Whole);
    }
    let path = agent_path(view, tip);
    let Some(first) = path.first().and_then(|slot| view.log.head(*slot)) else {
        return Ok(ContextCoverage::More);
    };
    // An entry without an id is named after its line, whose number is not known here.
    if path
        .iter()
        .any(|slot| view.log.head(*slot).is_none_or(|head| head.id.is_none()))
    {
        return Ok(ContextCoverage::Whole);
    }
    let complete = first.parent.is_none();
    let settled = path
        .iter()
        .any(|slot| is_restated(flavour, view.log, *slot))
        && all_kept(view, &path)?;
    Ok(if complete || settled {
        ContextCoverage::Enough
    } else {
        ContextCoverage::More
    })
}

fn is_sound(view: &SessionView<'_>) -> Result<bool> {
    let log = view.log;
    let plain = log.gaps.is_empty()
        && log.ended
        && view.tree.cycles().is_empty()
        && Shape::of(log) == Shape::Tree;
    if !plain || header(log) != Some(Slot(0)) {
        return Ok(false);
    }
    Ok(view
        .with_object(Slot(0), version_of)?
        .flatten()
        .is_some_and(|version| version >= 3.0))
}

/// Whether the last compaction and all entries that it preserves are on the path.
fn all_kept(view: &SessionView<'_>, path: &[Slot]) -> Result<bool> {
    let Some(at) = path
        .iter()
        .rposition(|slot| view.log.kind(*slot) == EntryKind::Compaction)
    else {
        return Ok(false);
    };
    let (before, from) = path.split_at(at);
    let Some(compaction) = from.first() else {
        return Ok(false);
    };
    let kept = view.with_object(*compaction, |entry| {
        entry.text("firstKeptEntryId").map(|id| id.into_owned())
    })?;
    // A compaction that names no entry preserves none.
    let Some(kept) = kept.flatten() else {
        return Ok(true);
    };
    let Some(kept) = view.log.names.find(&kept) else {
        return Ok(false);
    };
    Ok(before.iter().any(|slot| {
        view.log
            .head(*slot)
            .is_some_and(|head| head.id == Some(kept))
    }))
}
