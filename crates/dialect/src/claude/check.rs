//! Finds lost branches: branches with messages that the client will not show again.
//!
//! They are reported as `lost_branch`.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use boswell_model::json::Object;
use boswell_model::{EntryKind, Flags, Problem, ProblemKind, Result, SessionView, Slot, Tip};

use super::chain::{Chain, is_message};
use super::{branch, tip};

/// A branch that the client will not show again.
pub(super) struct LostBranch {
    /// Its last message.
    end: Slot,
    /// Its entries, without those that the current branch shares.
    pub(super) entries: Vec<Slot>,
    /// The number of messages among them.
    messages: usize,
}

/// Reports every lost branch once, with its number of messages.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    for LostBranch { end, messages, .. } in lost_branches(view)? {
        let detail = format!(
            "a branch of {messages} {} that ends at {} is out of the client's reach",
            if messages == 1 { "message" } else { "messages" },
            view.log.label(end)
        );
        let line = view.log.head(end).map(|head| u64::from(head.line));
        problems.push(Problem {
            kind: ProblemKind::LostBranch,
            line,
            slot: Some(end),
            advice: None,
            detail,
        });
    }
    Ok(())
}

/// Returns the branches that diverge from the current one and that the user did not leave on
/// purpose, in the order of their ends.
fn lost_branches(view: &SessionView<'_>) -> Result<Vec<LostBranch>> {
    let tip = tip::tip(view)?;
    let Tip::At(at) = tip else {
        return Ok(Vec::new());
    };
    let current = tip::chain_of(view)?.path(at);
    lost_beside(view, at, &branch::branch(view, tip)?, &current)
}

/// Returns the branches that diverge from one, as [`lost_branches`] does: for a tip with its branch
/// and its path in the client's chain, which cost a look at the whole log.
pub(super) fn lost_beside(
    view: &SessionView<'_>,
    tip: Slot,
    branch: &[Slot],
    path: &[Slot],
) -> Result<Vec<LostBranch>> {
    let chain = Chain::of(view.log, None);
    let mut on_branch = vec![false; view.log.heads.len()];
    for slot in branch.iter().chain(path) {
        if let Some(mark) = on_branch.get_mut(slot.index()) {
            *mark = true;
        }
    }
    lost_ends(view, &chain, &on_branch, tip)
}

fn lost_ends(
    view: &SessionView<'_>,
    chain: &Chain<'_>,
    on_branch: &[bool],
    tip: Slot,
) -> Result<Vec<LostBranch>> {
    let has_child = chain.has_child();
    let is_on = |slot: &Slot| on_branch.get(slot.index()).copied().unwrap_or(true);
    let is_end =
        |slot: &Slot| !has_child.get(slot.index()).copied().unwrap_or(true) && !is_on(slot);
    let current = chain.path(tip);
    // Built for the first branch that is not the current one; most sessions have none.
    let places: LazyCell<HashMap<Slot, usize>, _> = LazyCell::new(|| {
        let numbered = current.iter().enumerate();
        numbered.map(|(at, slot)| (*slot, at)).collect()
    });
    let mut lost = BTreeMap::new();
    for end in chain.in_order().filter(is_end) {
        let entries: Vec<Slot> = chain
            .ancestors(end)
            .take_while(|slot| !is_on(slot))
            .collect();
        let mut messages = 0;
        for slot in entries.iter().filter(|slot| is_said(view, **slot)) {
            messages += usize::from(!is_command(view, *slot)?);
        }
        let fork = chain
            .ancestors(end)
            .find_map(|slot| places.get(&slot).copied());
        let is_left = was_left(view, &entries, fork, &current) && !is_stub(view, fork, &current)?;
        if messages > 0 && !is_left {
            let end = chain.message(end).unwrap_or(end);
            lost.insert(
                end,
                LostBranch {
                    end,
                    entries,
                    messages,
                },
            );
        }
    }
    Ok(lost.into_values().collect())
}

/// Whether a message only records a command of the user, such as `/exit`, or what it printed.
fn is_command(view: &SessionView<'_>, slot: Slot) -> Result<bool> {
    let is_one = |object: &Object<'_>| {
        let content = object.get("message").and_then(|it| it.get("content"));
        let text = content.and_then(|it| it.text());
        text.is_some_and(|text| {
            let text = text.trim_start();
            text.starts_with("<command-") || text.starts_with("<local-command-")
        })
    };
    Ok(view.with_object(slot, is_one)? == Some(true))
}

/// Whether the current branch consists of commands of the user alone where it diverged: the
/// user did not ask again, and the conversation is on the other branch.
fn is_stub(view: &SessionView<'_>, fork: Option<usize>, current: &[Slot]) -> Result<bool> {
    let own = fork
        .and_then(|at| current.get(at + 1..))
        .unwrap_or_default();
    for slot in own.iter().filter(|slot| is_said(view, **slot)) {
        if !is_command(view, *slot)? {
            return Ok(false);
        }
    }
    Ok(!own.is_empty())
}

fn is_said(view: &SessionView<'_>, slot: Slot) -> bool {
    let flags = view
        .log
        .head(slot)
        .map_or(Flags::default(), |head| head.flags);
    is_message(view.log.kind(slot)) && !flags.has(Flags::HIDDEN) && !flags.has(Flags::ERROR)
}

/// Whether the user went back and asked again. Then the branch had already ended when the current
/// one diverged.
///
/// Two clients that share a session write alternately instead, and a file without links has
/// assistant messages as roots.
fn was_left(
    view: &SessionView<'_>,
    entries: &[Slot],
    fork: Option<usize>,
    current: &[Slot],
) -> bool {
    let is_answer = |slot: &Slot| {
        let kind = view.log.kind(*slot);
        matches!(kind, EntryKind::Assistant | EntryKind::ToolResult)
    };
    let next = match fork {
        Some(at) => current.get(at + 1),
        // No conversation begins with an answer: its parent was lost.
        None if entries.last().is_some_and(is_answer) => None,
        // A prompt, a hook's output or a compaction starts over on purpose.
        None => current.first().filter(|root| !is_answer(root)),
    };
    match next {
        Some(next) => entries.iter().max() < Some(next),
        // The current branch ends at the fork: a `last-prompt` line moved the tip there.
        None => fork.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Bytes, assistant, base, file, line, read_bytes, text, user};
    use super::*;

    fn problems(lines: &[String]) -> Vec<String> {
        let bytes = file(lines);
        let read = read_bytes(&bytes);
        let mut problems = Vec::new();
        check(&read.view(&Bytes(&bytes)), &mut problems).unwrap();
        problems.into_iter().map(|problem| problem.detail).collect()
    }

    #[test]
    fn a_healthy_session_and_one_that_was_rewound_lose_nothing() {
        assert_eq!(problems(&base()), [] as [&str; 0]);
        let mut lines = base();
        lines.push(user("u4", Some("a1"), 11, "ANEW"));
        lines.push(assistant("a6", "u4", 12, "m9", &text("anew done")));
        assert_eq!(problems(&lines), [] as [&str; 0]);
        lines.push(r#"{"type":"last-prompt","leafUuid":"a1","explicit":true}"#.to_owned());
        assert_eq!(problems(&lines), [] as [&str; 0]);
        let mut reset = base();
        reset.push(user("u4", None, 11, "ANEW"));
        assert_eq!(problems(&reset), [] as [&str; 0]);
    }

    #[test]
    fn what_precedes_a_compaction_without_a_logical_parent_is_not_lost() {
        let mut lines = base();
        let boundary = r#""subtype":"compact_boundary","compactMetadata":{}"#;
        lines.push(line("system", "b1", None, 11, boundary));
        lines.push(user("k1", Some("b1"), 12, "SUMMARY"));
        assert_eq!(problems(&lines), [] as [&str; 0]);
    }

    #[test]
    fn what_precedes_a_new_start_and_stubs_of_commands_are_not_lost() {
        let mut cleared = base();
        let hook = r#""attachment":{"type":"hook_success"}"#;
        cleared.push(line("attachment", "h1", None, 11, hook));
        cleared.push(user("u4", Some("h1"), 12, "AFTER CLEAR"));
        assert_eq!(problems(&cleared), [] as [&str; 0]);
        let mut exited = base();
        exited.push(user("p1", Some("a5"), 11, "P1"));
        exited.push(user(
            "x1",
            Some("a5"),
            12,
            "<command-name>/exit</command-name>",
        ));
        exited.push(assistant("p2", "p1", 13, "mp", &text("p done")));
        assert_eq!(problems(&exited), [] as [&str; 0]);
    }

    #[test]
    fn the_branch_of_a_second_client_is_lost() {
        let mut lines = base();
        lines.push(user("p1", Some("a5"), 11, "P1"));
        lines.push(user("q1", Some("a5"), 12, "Q1"));
        lines.push(assistant("q2", "q1", 13, "mq", &text("q done")));
        lines.push(assistant("p2", "p1", 14, "mp", &text("p done")));
        assert_eq!(
            problems(&lines),
            ["a branch of 2 messages that ends at q2 is out of the client's reach"]
        );
    }

    #[test]
    fn a_file_without_links_loses_every_message_but_the_last() {
        let lines: Vec<String> = base()
            .into_iter()
            .map(|line| {
                format!(
                    "{{\"parentUuid\":null,\"isSidechain\"{}",
                    line.split_once(",\"isSidechain\"").unwrap().1
                )
            })
            .collect();
        assert_eq!(problems(&lines).len(), 9);
    }
}
