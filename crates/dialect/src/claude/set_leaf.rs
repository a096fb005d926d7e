//! Moves the leaf in a way that the newest client follows: with a `last-prompt` line that names the
//! leaf explicitly.

use boswell_model::json::Json;
use boswell_model::{
    Advice, Error, ErrorKind, Remark, Result, SessionMeta, SessionRef, SessionView, Slot, Tip,
};

use super::plan::{log_key, whole_session};
use super::{chain, tip};
use crate::{Parent, Plan, PlanInput, Planned, Step};

/// The first version that follows such a line; older ones resume the newest branch.
const FOLLOWS: [u32; 3] = [2, 1, 150];

/// Plans that the next entry follows this one.
pub(super) fn stand(asked: &PlanInput<'_>, at: Tip) -> Result<Planned> {
    say(asked, at, "branch")
}

/// Plans a rewind to before a prompt.
pub(super) fn rewind(asked: &PlanInput<'_>, prompt: Tip) -> Result<Planned> {
    let Tip::At(slot) = prompt else {
        return say(asked, Tip::Root, "rewind");
    };
    reachable(asked, slot)?;
    let above = tip::chain_of(&asked.view)?.parent(slot);
    say(asked, above.map_or(Tip::Root, Tip::At), "rewind")
}

fn say(asked: &PlanInput<'_>, at: Tip, kind: &str) -> Result<Planned> {
    whole_session(asked.location, "stand elsewhere")?;
    let leaf = match at {
        Tip::At(slot) => {
            reachable(asked, slot)?;
            Some(asked.view.log.label(slot).into_owned())
        }
        Tip::Root => None,
    };
    let title = match &leaf {
        Some(leaf) => format!("move the leaf to {leaf}"),
        None => "move the leaf before everything".to_owned(),
    };
    let plan = Plan::new(kind, title).step(Step::append(
        log_key(asked.location)?,
        leaf_line(leaf.as_deref(), &asked.location.id),
    ));
    let remarks = old_client(asked.meta).into_iter().collect();
    Ok(Planned {
        plan,
        entries: leaf.into_iter().collect(),
        remarks,
        ..Planned::default()
    })
}

/// Returns the line that states a leaf; `None` is a reset to before the first entry.
pub(super) fn leaf_line(leaf: Option<&str>, id: &str) -> Vec<u8> {
    let line = Json::object()
        .with("type", "last-prompt")
        .with("leafUuid", leaf)
        .with("explicit", true)
        .with("sessionId", id);
    let mut line = line.to_bytes();
    line.push(b'\n');
    line
}

/// Returns the parent of a new entry: the client's tip, or a given entry that can be a leaf.
pub(super) fn parent_of_new(view: &SessionView<'_>, parent: &Parent) -> Result<Option<String>> {
    let slot = match parent {
        Parent::Root => None,
        Parent::Tip => tip::tip(view)?.slot(),
        Parent::Entry(id) => {
            let line = view
                .log
                .names
                .find(id.as_str())
                .and_then(|name| tip::chain_of(view).ok()?.line(name));
            let Some(slot) = line else {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("the session has no entry `{}`", id.as_str().escape_debug()),
                )
                .advising(Advice::ShowTree));
            };
            stands(view, slot, None)?;
            Some(slot)
        }
    };
    Ok(slot.map(|slot| view.log.label(slot).into_owned()))
}

/// Checks that the client keeps the line in its chain; only such a line can be a leaf.
fn reachable(asked: &PlanInput<'_>, slot: Slot) -> Result<()> {
    stands(
        &asked.view,
        slot,
        Some(&SessionRef::new("claude", &asked.location.id)),
    )
}

fn stands(view: &SessionView<'_>, slot: Slot, session: Option<&SessionRef>) -> Result<()> {
    let log = view.log;
    let label = log.label(slot);
    let refuse = |why: &str| {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("the client cannot continue from `{}`", label.escape_debug()),
        )
        .because(why.to_owned())
        .advising(Advice::Fork {
            session: session.map(ToString::to_string),
            at: Some(label.to_string()),
        }))
    };
    let Some(head) = log.head(slot).filter(|head| chain::counts(head)) else {
        return refuse("that line is not part of the conversation as the client reads it");
    };
    let chain = tip::chain_of(view)?;
    if !chain.is_main(head) {
        return refuse("that line belongs to a subagent");
    }
    if !chain.is_alive(slot) {
        return refuse(
            "a compaction behind it kept messages, and the client reads nothing else from before it",
        );
    }
    Ok(())
}

fn old_client(meta: &SessionMeta) -> Option<Remark> {
    let version = meta.agent_version.as_deref()?;
    let numbers: Vec<u32> = version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect();
    (numbers.len() == 3 && numbers.as_slice() < FOLLOWS.as_slice()).then(|| {
        let text = format!(
            "it was last used with version {version}: versions before 2.1.150 do not follow this, and a fork works with all"
        );
        Remark::new(text).advising(Advice::Fork {
            session: None,
            at: None,
        })
    })
}
