//! Parts of a log that are not valid records.
//!
//! A line that cannot be read is passed over, counted in a warning, and named by `check`. A file of
//! unknown format is an error instead of an empty conversation (exit code 4).

use boswell_dialect::is_known_agent;
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Flags, Gap, Head, Log, Remark, Result, Slot, SpanKind, Tip,
};
use boswell_store::Session;

use crate::RequestContext;

/// Refuses a file of an unknown format: it must not look like an empty conversation. An empty file
/// is accepted.
///
/// # Errors
///
/// [`ErrorKind::Damaged`] if no record is of a known kind.
pub(crate) fn require_known_format(session: &Session) -> Result<()> {
    require_conversation(session)?;
    let heads = &session.log().heads;
    let has_known = heads.iter().any(|head| head.kind != EntryKind::Unknown);
    let is_unknown = !is_known_agent(session.dialect()) || !heads.is_empty();
    if has_known || !is_unknown || session.log().bytes == 0 {
        return Ok(());
    }
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let error = Error::new(
        ErrorKind::Damaged,
        format!("the format of `{name}` is not known, so there is no conversation to show"),
    );
    Err(if heads.is_empty() {
        error.because("it has no JSON record of a known agent")
    } else {
        error
            .because("none of its records is of a kind that boswell knows")
            .advising(Advice::show_records(name))
    })
}

/// Refuses a log of operations that is damaged before its first message: it must not look like an
/// empty conversation.
///
/// # Errors
///
/// [`ErrorKind::Damaged`], with the place of the damage.
pub(crate) fn require_conversation(session: &Session) -> Result<()> {
    let mut heads = session.log().heads.iter();
    let is_talk = heads.any(|head| head.kind.is_conversation());
    let Some(why) = shortfall(session).filter(|_| !is_talk) else {
        return Ok(());
    };
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let what = format!("`{name}` is damaged before its first message");
    let error = Error::new(ErrorKind::Damaged, what).because(why);
    Err(error.advising(Advice::check(name)))
}

/// Returns a sentence about what of a log of operations is not in its conversation.
fn shortfall(session: &Session) -> Option<String> {
    let fold = session.dialect().powers().fold?;
    let view = session.view();
    let header = view.with_object(session.header()?, |header| fold.shortfall(header));
    header.ok()??
}

/// Adds a notice about the parts of a log that are not records. The answer itself is complete.
pub(crate) fn warn_about_gaps(cx: &RequestContext, session: &Session) {
    if let Some(what) = shortfall(session) {
        let reference = session.reference().to_string();
        let name = session.path().unwrap_or(&reference);
        let error = Error::new(
            ErrorKind::Damaged,
            format!("`{name}` is not read to its end"),
        );
        cx.warn(error.because(what).advising(Advice::check(name)));
    }
    warn_about_history(cx, session);
    let gaps = session.log().gaps.iter();
    let gaps = gaps
        .filter(|gap| gap.kind != SpanKind::Gap(Gap::Bom))
        .count();
    if gaps == 0 {
        return;
    }
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let what = if gaps == 1 {
        format!("1 byte range in `{name}` is not a record")
    } else {
        format!("{gaps} byte ranges in `{name}` are not records")
    };
    cx.warn(Error::new(ErrorKind::Damaged, what).advising(Advice::check(name)));
}

/// Adds a notice if the history that a session inherits is not complete: without it the
/// conversation would look shorter than it is.
pub(crate) fn warn_about_history(cx: &RequestContext, session: &Session) {
    if let Some(missing) = session.missing_history() {
        let reference = session.reference();
        let what = format!("an earlier part of the conversation {reference} is missing: {missing}");
        cx.warn(Error::new(ErrorKind::Damaged, what));
    }
}

/// Returns a remark if another branch has more messages than the one that is shown, or if most
/// messages are on none that is longer: damaged links, or a leaf near the root, must not make a
/// conversation look short.
pub(crate) fn other_branches(session: &Session, branch: &[Slot]) -> Option<Remark> {
    let log = session.log();
    let all = log.heads.iter().filter(|head| is_message(head)).count();
    let shown = messages_on(log, branch);
    let reference = session.reference().to_string();
    let name = session.path().unwrap_or(&reference);
    let longest = longest_branch(session).filter(|(_, messages)| *messages > shown);
    match longest {
        Some((end, messages)) => {
            let what = format!(
                "the current branch has {shown} of {all} messages; another one has {messages}"
            );
            Some(Remark::new(what).advising(Advice::ShowBranch {
                session: name.to_owned(),
                leaf: log.label(end).into_owned(),
            }))
        }
        None if all > 2 * shown => {
            let what = format!(
                "the current branch has {shown} of {all} messages; the others are on other branches"
            );
            Some(Remark::new(what).advising(Advice::show_records(name)))
        }
        None => None,
    }
}

/// Whether the parents of a tip alone show that no other branch is longer, so that
/// [`other_branches`] has no remark: a branch contains at least the path of its parents.
pub(crate) fn is_longest_by_parents(session: &Session, tip: Tip) -> bool {
    let Some(tip) = tip.slot() else {
        return false;
    };
    let log = session.log();
    let path: Vec<Slot> = session.tree().ancestors(tip).collect();
    let shown = messages_on(log, &path);
    let all = log.heads.iter().filter(|head| is_message(head)).count();
    all <= 2 * shown && longest_branch(session).is_none_or(|(_, messages)| messages <= shown)
}

/// Returns how many messages of the conversation are on a branch.
fn messages_on(log: &Log, branch: &[Slot]) -> usize {
    let heads = branch.iter().filter_map(|slot| log.head(*slot));
    heads.filter(|head| is_message(head)).count()
}

/// Whether an entry is a message of the conversation.
fn is_message(head: &Head) -> bool {
    matches!(head.kind, EntryKind::User | EntryKind::Assistant)
        && !head.flags.has(Flags::HIDDEN)
        && !head.flags.has(Flags::SIDECHAIN)
}

/// Returns the end of the branch with the most messages, and their number. Of several the first.
fn longest_branch(session: &Session) -> Option<(Slot, usize)> {
    let (log, tree) = (session.log(), session.tree());
    let mut counts: Vec<Option<usize>> = vec![None; log.heads.len()];
    let mut longest: Option<(Slot, usize)> = None;
    for slot in log.slots() {
        // Parents come first in nearly every log, so that the way up is short.
        let is_unknown = |slot: &Slot| counts.get(slot.index()).copied().flatten().is_none();
        let way: Vec<Slot> = tree.ancestors(slot).take_while(is_unknown).collect();
        let above = way.last().and_then(|last| tree.parent(*last));
        let mut count = above.and_then(|slot| counts.get(slot.index()).copied().flatten());
        for slot in way.iter().rev() {
            let is_one = log.head(*slot).is_some_and(is_message);
            let number = count.unwrap_or(0) + usize::from(is_one);
            if let Some(place) = counts.get_mut(slot.index()) {
                *place = Some(number);
            }
            count = Some(number);
            if is_one && longest.is_none_or(|(_, most)| number > most) {
                longest = Some((*slot, number));
            }
        }
    }
    longest
}
