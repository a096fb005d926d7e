//! What a transcript shows between its entries: bytes that are not records, and other branches.

use boswell_model::{Gap, Result, Slot, Span, SpanKind};
use boswell_store::Session;

use super::{BranchPoint, ShowSink, ShownItem};
use crate::open_sessions::OpenBranch;
use crate::tree::in_tree;

/// The places of a session that were not passed on yet.
pub(super) struct Places<'s> {
    session: &'s Session,
    /// For each entry the last one of the conversation at or below it.
    ends: &'s [Option<Slot>],
    /// Gaps after the first entry that is shown, in file order.
    gaps: std::iter::Peekable<std::vec::IntoIter<Span>>,
}

impl<'s> Places<'s> {
    pub(super) fn of(session: &'s Session, ends: &'s [Option<Slot>], slots: &[Slot]) -> Places<'s> {
        let log = session.log();
        let place = |slot: &Slot| log.head(*slot).map(|head| head.at);
        // On a page, what is before its first entry belongs to the page before it.
        let is_start = slots.first().is_none_or(|slot| slot.index() <= 1);
        let first = slots.first().and_then(place).filter(|_| !is_start);
        let is_shown = |span: &&Span| {
            span.kind != SpanKind::Gap(Gap::Bom) && first.is_none_or(|first| span.at >= first)
        };
        let gaps: Vec<Span> = log.gaps.iter().filter(is_shown).copied().collect();
        Places {
            session,
            ends,
            gaps: gaps.into_iter().peekable(),
        }
    }

    /// Passes on the gaps before an entry.
    pub(super) fn before(&mut self, slot: Slot, sink: ShowSink<'_>) -> Result<()> {
        let Some(at) = self.session.log().head(slot).map(|head| head.at) else {
            return Ok(());
        };
        while let Some(gap) = self.gaps.next_if(|gap| gap.at < at) {
            sink(ShownItem::Gap {
                line: gap.line,
                bytes: gap.len,
            })?;
        }
        Ok(())
    }

    /// Passes on the gaps after the last entry.
    pub(super) fn rest(self, sink: ShowSink<'_>) -> Result<()> {
        for gap in self.gaps {
            sink(ShownItem::Gap {
                line: gap.line,
                bytes: gap.len,
            })?;
        }
        Ok(())
    }

    /// Passes on that an entry is continued by more than the branch that is shown.
    pub(super) fn after(&self, slot: Slot, branch: &OpenBranch, sink: ShowSink<'_>) -> Result<()> {
        let is_alive = |slot: Slot| self.end(slot).is_some();
        let branches = branches_after(self.session, is_alive, slot, |it| branch.has(it));
        let Some((branches, shown)) = branches else {
            return Ok(());
        };
        let end = |slot: &Slot| {
            let end = self.end(*slot).unwrap_or(*slot);
            self.session.log().label(end).into_owned()
        };
        sink(ShownItem::Branches(&BranchPoint {
            ends: branches.iter().map(end).collect(),
            shown: branches.iter().position(|it| *it == shown).unwrap_or(0),
        }))?;
        Ok(())
    }

    /// Returns the last conversation entry at or below an entry.
    fn end(&self, from: Slot) -> Option<Slot> {
        self.ends.get(from.index()).copied().flatten()
    }
}

/// Returns the first entries of the branches that continue an entry, and which of them is shown;
/// `None` if there is no other than that one.
pub(crate) fn branches_after(
    session: &Session,
    is_alive: impl Fn(Slot) -> bool,
    slot: Slot,
    is_on_branch: impl Fn(Slot) -> bool,
) -> Option<(Vec<Slot>, Slot)> {
    // Most entries have one child, and there may be a hundred thousand of them.
    session.tree().children(slot).nth(1)?;
    let is_shown = |slot: &Slot| is_alive(*slot) && in_tree(session, *slot);
    let children: Vec<Slot> = session.tree().children(slot).filter(is_shown).collect();
    let shown = children.iter().copied().find(|it| is_on_branch(*it))?;
    // Results of parallel calls are on the same branch.
    let is_other = |it: &Slot| *it == shown || !is_on_branch(*it);
    let branches: Vec<Slot> = children.into_iter().filter(is_other).collect();
    (branches.len() > 1).then_some((branches, shown))
}
