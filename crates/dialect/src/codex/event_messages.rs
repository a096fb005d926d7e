//! Messages that a log contains only as events.
//!
//! Codex writes each message as an item, for the model, and as an event, for the screen. The items
//! are authoritative and the events hidden. Some tools that write this format write the events
//! alone: then these are the conversation, although Codex would not send them.

use boswell_model::{EntryKind, Flags, Head, Log, SessionMeta};

/// Shows the messages among the events if there are no others, and hides them if there are.
pub(super) fn settle(log: &mut Log, meta: Option<&mut SessionMeta>) {
    let Some(event) = log.names.find("event_msg") else {
        return;
    };
    let [prompt, answer] = ["user_message", "agent_message"].map(|word| log.names.find(word));
    let kind_of = |head: &Head| match head.group.filter(|_| head.word == Some(event)) {
        group @ Some(_) if group == prompt => Some(EntryKind::User),
        group @ Some(_) if group == answer => Some(EntryKind::Assistant),
        _ => None,
    };
    let has_items = log.heads.iter().any(|head| {
        matches!(head.kind, EntryKind::User | EntryKind::Assistant) && kind_of(head).is_none()
    });
    let (mut messages, mut turns) = (0, 0);
    for head in &mut log.heads {
        let Some(kind) = kind_of(head) else {
            continue;
        };
        messages += 1;
        turns += u64::from(kind == EntryKind::User);
        head.kind = if has_items { EntryKind::Meta } else { kind };
        if has_items {
            head.flags.set(Flags::HIDDEN);
        } else {
            head.flags.clear(Flags::HIDDEN);
        }
    }
    if let Some(meta) = meta.filter(|_| !has_items && messages > 0) {
        (meta.messages, meta.turns) = (messages, turns);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{log, read, said, sent};
    use super::*;

    const EVENTS: [(&str, &str); 3] = [
        (
            "event_msg",
            r#"{"type":"user_message","message":"why red?"}"#,
        ),
        ("event_msg", r#"{"type":"agent_reasoning","text":"hm"}"#),
        (
            "event_msg",
            r#"{"type":"agent_message","message":"a flaky test"}"#,
        ),
    ];

    fn visible(bytes: &[u8]) -> Vec<EntryKind> {
        let read = read(bytes);
        let shown = read
            .log
            .heads
            .iter()
            .filter(|head| head.kind.is_conversation() && !head.flags.has(Flags::HIDDEN));
        shown.map(|head| head.kind).collect()
    }

    #[test]
    fn codex_files_with_only_event_messages_are_shown() {
        let bytes = log(&EVENTS);
        assert_eq!(visible(&bytes), [EntryKind::User, EntryKind::Assistant]);
        let meta = read(&bytes).meta;
        assert_eq!((meta.messages, meta.turns), (2, 1));
        assert_eq!(meta.first_prompt.as_deref(), Some("why red?"));
        assert!(sent(&bytes).is_empty(), "Codex sends items only");
    }

    #[test]
    fn events_beside_items_stay_hidden_and_count_once() {
        let (asked, answered) = (said("user", "why red?"), said("assistant", "a flaky test"));
        let mut lines = EVENTS.to_vec();
        lines.extend([
            ("response_item", asked.as_str()),
            ("response_item", answered.as_str()),
        ]);
        let bytes = log(&lines);
        assert_eq!(visible(&bytes).len(), 2);
        assert_eq!(read(&bytes).meta.messages, 2);
    }
}
