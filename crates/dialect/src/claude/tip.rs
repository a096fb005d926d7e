//! The tip from which the newest client continues when it resumes a session.

use boswell_model::{EntryKind, Flags, Log, Result, SessionView, Slot, Tip};

use super::chain::{Chain, is_message};
use super::compaction;

/// Builds the client's chain from the whole file.
pub(super) fn chain_of<'a>(view: &SessionView<'a>) -> Result<Chain<'a>> {
    let kept = match compaction::last_boundary(view.log) {
        Some(boundary) => compaction::kept(view, boundary)?,
        None => None,
    };
    Ok(Chain::of(view.log, kept.as_ref()))
}

/// Returns the tip: the last explicit statement, else the end of the branch that was written last.
pub(super) fn tip(view: &SessionView<'_>) -> Result<Tip> {
    let chain = chain_of(view)?;
    if let Some(tip) = stated(view, &chain)? {
        return Ok(tip);
    }
    Ok(last_written(view.log, &chain).map_or(Tip::Root, Tip::At))
}

/// Returns the leaf that a `last-prompt` line states explicitly, if no message follows it.
///
/// An explicit null is a reset. A leaf that does not exist, such as the all-zero one, does not
/// count.
fn stated(view: &SessionView<'_>, chain: &Chain<'_>) -> Result<Option<Tip>> {
    for (slot, head) in view.log.entries().rev() {
        if chain.is_alive(slot) && chain.is_main(head) {
            return Ok(None);
        }
        if head.kind == EntryKind::Leaf {
            let said = view.with_object(slot, |object| {
                let leaf = object.get("leafUuid")?;
                let explicit = object.get("explicit").and_then(|e| e.bool()) == Some(true);
                explicit.then(|| leaf.text().map(|text| text.into_owned()))
            })?;
            return Ok(said.flatten().and_then(|leaf| match leaf {
                None => Some(Tip::Root),
                Some(id) => view
                    .log
                    .names
                    .find(&id)
                    .and_then(|name| chain.line(name))
                    .filter(|slot| chain.is_alive(*slot))
                    .map(Tip::At),
            }));
        }
    }
    Ok(None)
}

/// Returns the last line of the file without children, if it or an ancestor is a message.
fn last_written(log: &Log, chain: &Chain<'_>) -> Option<Slot> {
    let has_child = chain.has_child();
    let childless = |slot: &Slot| !has_child.get(slot.index()).copied().unwrap_or(true);
    let end = chain
        .in_order()
        .rev()
        .filter(childless)
        .find(|slot| chain.message(*slot).is_some());
    // In a file without messages the tip is the last line.
    end.or_else(|| {
        chain
            .in_order()
            .rev()
            .find(|slot| is_message(log.kind(*slot)))
    })
    .or(chain.in_order().next_back())
}

/// Returns the message that the user sees as current: the nearest visible one among the tip and its
/// ancestors, else any.
pub(super) fn leaf(view: &SessionView<'_>, tip: Tip) -> Option<Slot> {
    let path = chain_of(view).ok()?.path(tip.slot()?);
    let said = |slot: &&Slot| is_message(view.log.kind(**slot));
    let shown = |slot: &&Slot| {
        view.log
            .head(**slot)
            .is_some_and(|h| !h.flags.has(Flags::HIDDEN))
    };
    let found = path.iter().rev().filter(said).find(shown);
    found.or_else(|| path.iter().rev().find(said)).copied()
}
