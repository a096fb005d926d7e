//! Whether a mended session is better than the one before, or at least as good.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use boswell_model::{Error, ErrorKind, Flags, Result, Slot};

use crate::Session;

/// Conversation entries that the agent reaches, and those in the file.
pub(crate) fn reach(session: &Session) -> Result<(u64, u64)> {
    let conversation = |slot: &Slot| {
        session.log().head(*slot).is_some_and(|head| head.kind.is_conversation() && !head.flags.has(Flags::SIDECHAIN))
    };
    let reached = session.dialect().reached(&session.view(), session.tip()?)?;
    let reachable = reached.iter().filter(|slot| conversation(slot)).count() as u64;
    let total = session.log().slots().filter(conversation).count() as u64;
    Ok((reachable, total))
}

/// Fails if a record is gone that was not one of `changed`, or if the agent reaches less.
pub(super) fn verify(before: &Session, after: &Session, changed: usize) -> Result<()> {
    let kept = records(after)?;
    let gone = records(before)?.difference(&kept).count();
    if gone > changed {
        return Err(Error::new(ErrorKind::Internal, "the repair was not carried out: its result would not be better")
            .because(format!("{gone} records would be gone, and {changed} were to change"))
            .hinting("take fewer steps with `--step N`, and please report this"));
    }
    let ((was, _), (is, _)) = (reach(before)?, reach(after)?);
    if is < was {
        return Err(Error::new(ErrorKind::Conflict, "the steps alone would cut the conversation")
            .because(format!("the agent would reach {is} entries instead of {was}"))
            .hinting("take the likely steps too with `--likely`; see them with `boswell repair S --likely`"));
    }
    Ok(())
}

fn records(session: &Session) -> Result<HashSet<u64>> {
    let view = session.view();
    session
        .log()
        .slots()
        .map(|slot| {
            let mut hasher = DefaultHasher::new();
            view.payload(slot)?.hash(&mut hasher);
            Ok(hasher.finish())
        })
        .collect()
}
