//! Checks that a repaired session is at least as good as the original.
//!
//! Two conditions: no record is missing except those that were to change, and the agent reaches no
//! fewer conversation entries. A session that fails is refused before anything is written.

use std::collections::HashSet;

use boswell_model::{Advice, Error, ErrorKind, Flags, Result, Slot, Tip};

use super::patched_session::PatchedSession;
use crate::Session;

/// Returns the number of conversation entries that the agent reaches, and of those in the file.
pub(crate) fn reach(session: &Session) -> Result<(u64, u64)> {
    let total = session
        .log()
        .slots()
        .filter(|slot| is_conversation(session, *slot))
        .count() as u64;
    Ok((reach_from(session, session.tip()?)?, total))
}

/// Returns the number of conversation entries that the agent reaches without those that it is known
/// to lose, which are sorted.
pub(crate) fn reach_without(session: &Session, lost: &[Slot]) -> Result<u64> {
    let reached = reached_by_agent(session, session.tip()?)?;
    let is_kept = |slot: &&Slot| lost.binary_search(slot).is_err();
    let kept = reached.iter().filter(is_kept);
    Ok(kept.filter(|slot| is_conversation(session, **slot)).count() as u64)
}

fn reach_from(session: &Session, tip: Tip) -> Result<u64> {
    let reached = reached_by_agent(session, tip)?;
    Ok(reached
        .iter()
        .filter(|slot| is_conversation(session, **slot))
        .count() as u64)
}

/// Returns the entries of a branch that the agent itself would load.
fn reached_by_agent(session: &Session, tip: Tip) -> Result<Vec<Slot>> {
    match session.dialect().powers().repair {
        Some(repair) => repair.entries_agent_sees(&session.view(), tip),
        None => session.branch(tip),
    }
}

fn is_conversation(session: &Session, slot: Slot) -> bool {
    let head = session.log().head(slot);
    head.is_some_and(|head| head.kind.is_conversation() && !head.flags.has(Flags::SIDECHAIN))
}

/// Fails if more than `changed` records are missing, or if the agent reaches less.
pub(super) fn verify(
    before: &PatchedSession,
    after: &PatchedSession,
    changed: usize,
) -> Result<()> {
    let gone = before.records()?.difference(after.records()?).count();
    if gone > changed {
        return Err(Error::new(
            ErrorKind::Internal,
            "the repair was not carried out: its result would not be better",
        )
        .because(format!(
            "{gone} records would be missing, but only {changed} were to change"
        ))
        .advising(Advice::RepairByStep.also("please report this")));
    }
    let ((was, _), (is, _)) = (before.reach()?, after.reach()?);
    // A recovered record can become the new tip, on a shorter branch. That is accepted if the old
    // tip still reaches as much as before.
    if is < was && !is_whole(after)? && reach_of_old_tip(before, after)? < was {
        return Err(Error::new(
            ErrorKind::Conflict,
            "the steps alone would cut the conversation",
        )
        .because(format!(
            "the agent would reach {is} entries instead of {was}"
        ))
        .advising(Advice::RepairLikely.also(Advice::ShowRepair {
            session: None,
            likely: true,
        })));
    }
    Ok(())
}

/// Returns whether the agent reaches the whole branch of the tip, up to an entry without a parent.
/// A client that bridges gaps may have reached more before, because it took several branches for
/// one.
pub(super) fn is_whole(session: &Session) -> Result<bool> {
    let tip = session.tip()?;
    let branch = session.branch(tip)?;
    let reached: HashSet<Slot> = reached_by_agent(session, tip)?.into_iter().collect();
    let begins = branch
        .first()
        .and_then(|slot| session.log().head(*slot))
        .is_some_and(|head| head.parent.is_none());
    Ok(begins
        && branch
            .iter()
            .filter(|slot| is_conversation(session, **slot))
            .all(|slot| reached.contains(slot)))
}

fn reach_of_old_tip(before: &Session, after: &Session) -> Result<u64> {
    let label = before
        .tip()?
        .slot()
        .map(|slot| before.log().label(slot).into_owned());
    let Some(slot) = label.and_then(|label| after.log().find(&label)) else {
        return Ok(0);
    };
    reach_from(after, Tip::At(slot))
}
