//! Rollback: `thread_rolled_back` drops the last turns, and the conversation continues from before
//! them.
//!
//! The lines stay in the file. In the tree, the parent of the event is the entry before the dropped
//! turns, and these are an abandoned branch.

use boswell_model::{EntryKind, Flags, Head, Log, Slot};

/// Returns the parent of every entry: the one before it, except for rollbacks. Headers are not part
/// of the tree, because a fork has two.
pub(super) fn link(log: &Log) -> Vec<Option<Slot>> {
    let mut parents: Vec<Option<Slot>> = Vec::with_capacity(log.heads.len());
    // For each turn of the current branch the entry before it; `None` at the start of the file.
    let mut turns: Vec<Option<Slot>> = Vec::new();
    let mut before = None;
    for (slot, head) in log.entries() {
        if head.kind == EntryKind::Header {
            parents.push(None);
            continue;
        }
        let mut parent = before;
        if head.kind == EntryKind::Leaf {
            for _ in 0..dropped(log, head).min(turns.len()) {
                parent = turns.pop().unwrap_or(parent);
            }
        } else if begins_turn(head) {
            let first = turns.is_empty();
            turns.push(if first {
                before
            } else {
                before_preface(log, &parents, before)
            });
        }
        parents.push(parent);
        before = Some(slot);
    }
    parents
}

fn dropped(log: &Log, head: &Head) -> usize {
    head.group
        .and_then(|turns| log.names.text(turns).parse().ok())
        .unwrap_or(0)
}

fn begins_turn(head: &Head) -> bool {
    matches!(head.kind, EntryKind::User | EntryKind::CustomMessage)
        && !head.flags.has(Flags::HIDDEN)
}

/// Returns the entry before the settings and injected texts that Codex writes ahead of a prompt:
/// they belong to its turn and are dropped with it.
fn before_preface(log: &Log, parents: &[Option<Slot>], from: Option<Slot>) -> Option<Slot> {
    let mut at = from;
    while let Some(slot) = at {
        if !log
            .head(slot)
            .is_some_and(|head| is_preface(log, slot, head))
        {
            break;
        }
        at = parents.get(slot.index()).copied().flatten();
    }
    at
}

fn is_preface(log: &Log, slot: Slot, head: &Head) -> bool {
    match head.kind {
        EntryKind::Setting | EntryKind::Attachment => true,
        EntryKind::System => head.flags.has(Flags::HIDDEN),
        EntryKind::Meta if log.word(slot) == "world_state" => true,
        _ => matches!(
            head.group.map(|event| log.names.text(event)),
            Some("task_started" | "user_message")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{log, read, said, sent};
    use super::*;

    fn turns(rollback: u32) -> Vec<u8> {
        let event = format!(r#"{{"type":"thread_rolled_back","num_turns":{rollback}}}"#);
        let (one, two, three) = (
            said("user", "one"),
            said("user", "two"),
            said("user", "three"),
        );
        let (first, second) = (said("assistant", "first"), said("assistant", "second"));
        log(&[
            ("session_meta", r#"{"id":"a"}"#),
            ("response_item", &one),
            ("response_item", &first),
            ("turn_context", r#"{"model":"m"}"#),
            ("response_item", &two),
            ("response_item", &second),
            ("event_msg", &event),
            ("response_item", &three),
        ])
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        sent(bytes).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_dropped_turn_becomes_a_branch_that_was_left_with_its_settings() {
        let bytes = turns(1);
        let read = read(&bytes);
        assert_eq!(read.tree.parent(Slot(6)), Some(Slot(2)));
        assert!(read.tree.is_tip(Slot(5)));
        assert_eq!(texts(&bytes), ["one", "first", "three"]);
    }

    #[test]
    fn headers_stand_beside_the_tree() {
        let read = read(&turns(1));
        assert_eq!(read.tree.roots().collect::<Vec<_>>(), [Slot(0), Slot(1)]);
        assert!(read.tree.is_tip(Slot(0)));
        let header = log(&[("session_meta", r#"{"id":"a"}"#)]);
        assert!(sent(&header).is_empty());
    }

    #[test]
    fn dropping_more_turns_than_there_are_keeps_what_came_before_the_first() {
        assert_eq!(read(&turns(9)).tree.parent(Slot(6)), None);
        assert_eq!(texts(&turns(9)), ["three"]);
        assert_eq!(texts(&turns(0)).len(), 5);
    }
}
