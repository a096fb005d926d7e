//! Finds records that a client skips because of their form: without an id, a type, or content that
//! is a list of blocks.
//!
//! They are reported as `missing_id` and `unsent`.

use boswell_model::json::{Object, RawKind};
use boswell_model::{EntryKind, Flags, Problem, ProblemKind, Result, SessionView, Slot};

use super::chain::is_chain_kind;
use super::tip;

/// Reports each such record.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    for (slot, head) in view.log.entries() {
        if head.nth > 0 || head.flags.has(Flags::SALVAGED) {
            continue;
        }
        let found = match () {
            () if is_chain_kind(head.kind) && head.id.is_none() => {
                Some((ProblemKind::MissingId, "it has no id"))
            }
            () if head.flags.has(Flags::MALFORMED) => {
                let has_content = view.with_object(slot, has_content)? == Some(true);
                has_content.then_some((ProblemKind::Unsent, "its content is no list of blocks"))
            }
            () if head.kind == EntryKind::Unknown => {
                let is_message = view.with_object(slot, is_message)? == Some(true);
                is_message.then_some((ProblemKind::Unsent, "a message without a type"))
            }
            () => None,
        };
        problems.extend(found.map(|(kind, detail)| Problem {
            kind,
            line: Some(head.line.into()),
            slot: Some(slot),
            advice: None,
            detail: detail.to_owned(),
        }));
    }
    timeless(view, problems)
}

/// Reports the line because of whose missing time an old client resumes a wrong one: the first, or
/// the tip.
fn timeless(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    let chain = tip::chain_of(view)?;
    if chain.is_side_only() {
        return Ok(());
    }
    let tip = tip::tip(view)?.slot();
    let message = tip.and_then(|tip| chain.message(tip));
    let ends = [chain.in_order().next(), tip, message];
    let is_timeless = |slot: &Slot| view.log.head(*slot).is_some_and(|head| head.time.is_none());
    if let Some(slot) = ends.into_iter().flatten().find(is_timeless) {
        problems.push(Problem {
            kind: ProblemKind::Unsent,
            line: view.log.head(slot).map(|head| head.line.into()),
            slot: Some(slot),
            advice: None,
            detail: "it has no time, by which clients find the line to resume".to_owned(),
        });
    }
    Ok(())
}

/// Whether a message that is not well formed has some content all the same.
fn has_content(object: &Object<'_>) -> bool {
    let Some(message) = object.get("message") else {
        return false;
    };
    let content = match message.kind() {
        RawKind::Object => message.get("content"),
        _ => Some(message),
    };
    content.is_some_and(|content| match content.kind() {
        RawKind::Null => false,
        RawKind::Array => content.items().any(|item| !item.is_null()),
        _ => true,
    })
}

/// Whether a record without a type is a message.
fn is_message(object: &Object<'_>) -> bool {
    let role = || object.get("message")?.get("role")?.text();
    object.get("type").is_none()
        && object.get("uuid").is_some()
        && role().is_some_and(|role| matches!(role.as_ref(), "user" | "assistant"))
}
