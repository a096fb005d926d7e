//! Tip, branch and context.

use std::collections::HashSet;

use boswell_dialect::{Capability, Depth, Support};
use boswell_model::json::Raw;
use boswell_model::{ContextItem, ErrorKind, Slot, Tip};
use boswell_store::Session;

use super::DialectRule::{
    AbsentPowerIsUnsupported, BranchIsStable, ContextRenders, TipIsOnItsBranch,
};
use super::{DialectSample, DialectSuite, Findings};

pub(super) fn run(suite: &DialectSuite, sample: &DialectSample, findings: &mut Findings) {
    let store = sample.store(suite.dialect);
    let Ok(Some(location)) = sample.located(&store) else {
        return;
    };
    let session = store.read(&location, Depth::Facts);
    let Some(session) = findings.answer(TipIsOnItsBranch, &sample.id, session) else {
        return;
    };
    let Some(tip) = findings.answer(TipIsOnItsBranch, &sample.id, session.tip()) else {
        return;
    };
    tip_is_on_its_branch(sample, &session, tip, findings);
    context_renders(suite, sample, (&session, tip), findings);
    let count = session.log().heads.len();
    for slot in session.log().slots().step_by(count / 8 + 1) {
        branch_is_stable(sample, &session, Tip::At(slot), findings);
        context_renders(suite, sample, (&session, Tip::At(slot)), findings);
    }
}

fn inside(session: &Session, slot: Slot) -> bool {
    slot.index() < session.log().heads.len()
}

fn tip_is_on_its_branch(
    sample: &DialectSample,
    session: &Session,
    tip: Tip,
    findings: &mut Findings,
) {
    let Some(branch) = branch_is_stable(sample, session, tip, findings) else {
        return;
    };
    let holds = tip.slot().is_none_or(|slot| branch.contains(&slot));
    findings.expect(TipIsOnItsBranch, holds, || {
        format!("{}: {tip:?} is not on its branch {branch:?}", sample.id)
    });
    let leaf = findings.answer(TipIsOnItsBranch, &sample.id, session.leaf());
    let holds = leaf.flatten().is_none_or(|leaf| branch.contains(&leaf));
    findings.expect(TipIsOnItsBranch, holds, || {
        format!("{}: the leaf is not on the branch {branch:?}", sample.id)
    });
    let kinds = session.log().entries().map(|(_, head)| head.kind);
    let talks = kinds.filter(|kind| kind.is_conversation()).count();
    let stands = tip.slot().is_some() || talks == 0;
    findings.expect(TipIsOnItsBranch, stands, || {
        format!(
            "{}: {talks} messages, and the conversation stands nowhere",
            sample.id
        )
    });
}

fn branch_is_stable(
    sample: &DialectSample,
    session: &Session,
    tip: Tip,
    findings: &mut Findings,
) -> Option<Vec<Slot>> {
    let branch = findings.answer(BranchIsStable, &sample.id, session.branch(tip))?;
    let again = session.branch(tip).ok();
    findings.expect(BranchIsStable, again.as_ref() == Some(&branch), || {
        format!("{}: {branch:?}, then {again:?}", sample.id)
    });
    let mut known = HashSet::new();
    let once = branch
        .iter()
        .all(|slot| inside(session, *slot) && known.insert(*slot));
    findings.expect(BranchIsStable, once, || {
        format!("{}: {branch:?} holds an entry twice, or none", sample.id)
    });
    Some(branch)
}

fn context_renders(
    suite: &DialectSuite,
    sample: &DialectSample,
    (session, tip): (&Session, Tip),
    findings: &mut Findings,
) {
    let stated = suite
        .dialect
        .facts()
        .capabilities
        .support(Capability::Context);
    let context = match session.context(tip) {
        Ok(context) => context,
        Err(error) => {
            let clean = stated == Support::No && error.kind() == ErrorKind::Unsupported;
            findings.expect(AbsentPowerIsUnsupported, clean, || {
                format!(
                    "{}: the context is stated as {stated:?}, and: {error}",
                    sample.id
                )
            });
            return;
        }
    };
    for item in &context.items {
        renders(sample, session, item, findings);
    }
}

fn renders(sample: &DialectSample, session: &Session, item: &ContextItem, findings: &mut Findings) {
    let exists = item.slots().all(|slot| inside(session, slot));
    findings.expect(ContextRenders, exists, || {
        format!("{}: {item:?} points at no entry", sample.id)
    });
    if !exists {
        return;
    }
    let [first, second] = [0, 1].map(|_| session.render(item).map(|it| it.message));
    let Some(message) = findings.answer(ContextRenders, &sample.id, first) else {
        return;
    };
    let mut parts = message.content.iter().chain(&message.native);
    let is_json = parts.all(|json| Raw::parse(&json.to_bytes()).is_ok());
    let says = !message.content.is_empty() || message.native.is_some();
    let sound = is_json && says && !message.role.is_empty();
    findings.expect(ContextRenders, sound, || {
        format!("{}: {item:?} renders to {message:?}", sample.id)
    });
    let same = second.is_ok_and(|again| again == message);
    findings.expect(ContextRenders, same, || {
        format!(
            "{}: {item:?} renders differently the second time",
            sample.id
        )
    });
}
