//! Tests of the metadata of pi sessions.

use super::super::Pi;
use super::super::fixture::{HEADER, assistant, entry, read, user, v3};
use super::*;

#[test]
fn a_session_is_summed_up() {
    let text = v3(&[
        user("1", "", " why? "),
        assistant("2", "1", "so"),
        user("3", "1", "and?"),
        assistant("4", "3", "thus"),
        entry("label", "5", "4", r#""targetId":"1","label":"start""#),
        entry("label", "6", "5", r#""targetId":"2","label":"x""#),
        entry("label", "7", "6", r#""targetId":"2""#),
    ]);
    let meta = read(Pi::PI, &text).meta;
    assert_eq!(
        (meta.id.as_deref(), meta.project.as_deref()),
        (Some("S"), Some("/p"))
    );
    assert_eq!(
        (meta.messages, meta.turns, meta.format_version),
        (4, 2, Some(3))
    );
    assert_eq!(
        (meta.first_prompt.as_deref(), meta.last_prompt.as_deref()),
        (Some("why?"), Some("and?"))
    );
    assert_eq!(meta.models, ["anthropic/claude-test"]);
    assert_eq!(
        meta.labels_now().into_iter().collect::<Vec<_>>(),
        [("1", "start")]
    );
    assert_eq!(
        meta.usage.total().cost,
        Some(1.0),
        "also what the other branch cost"
    );
    assert_eq!(meta.kinds.get("message"), Some(&4));
    assert_eq!(meta.created, Instant::parse("2025-01-01T00:00:00Z"));
}

#[test]
fn a_line_that_stands_there_twice_counts_once() {
    let text = v3(&[
        user("1", "", "a"),
        assistant("2", "1", "b"),
        assistant("2", "1", "b"),
        user("1", "", "a"),
    ]);
    let meta = read(Pi::PI, &text).meta;
    assert_eq!((meta.messages, meta.turns), (2, 1));
    assert_eq!(meta.usage.total().output, Some(2));
    assert_eq!(meta.kinds.get("message"), Some(&4));
}

#[test]
fn titles_come_from_info_entries_in_pi_and_an_empty_one_clears() {
    let named = |names: &[&str]| {
        let lines: Vec<_> = names
            .iter()
            .map(|n| entry("session_info", n, "", &format!(r#""name":"{n}""#)))
            .collect();
        read(Pi::PI, &v3(&lines)).meta.title
    };
    assert_eq!(named(&["a", " b "]).as_deref(), Some("b"));
    assert_eq!(named(&["a", " "]), None);
}

#[test]
fn titles_come_from_header_slot_or_changes_in_the_heirs() {
    let header = HEADER.replace(
        "\"cwd\"",
        "\"title\":\"Old\",\"titleSource\":\"user\",\"cwd\"",
    );
    let meta = read(Pi::XCSH, &header).meta;
    assert_eq!(
        (meta.title.as_deref(), meta.title_source.as_deref()),
        (Some("Old"), Some("user"))
    );
    let slot = |title: &str| {
        format!(
            "{{\"type\":\"title\",\"v\":1,\"title\":\"{title}\",\"source\":\"auto\"}}\n{header}\n"
        )
    };
    let meta = read(Pi::OMP, &slot("New")).meta;
    assert_eq!(
        (meta.title.as_deref(), meta.title_source.as_deref()),
        (Some("New"), Some("auto"))
    );
    assert_eq!(
        read(Pi::OMP, &slot("")).meta.title,
        None,
        "an empty slot takes the title away"
    );
    let change = entry(
        "title_change",
        "1",
        "",
        r#""title":"Newer","source":"user""#,
    );
    assert_eq!(
        read(Pi::OMP, &format!("{}{change}\n", slot("New")))
            .meta
            .title
            .as_deref(),
        Some("New")
    );
    assert_eq!(
        read(Pi::OMP, &format!("{header}\n{change}\n"))
            .meta
            .title
            .as_deref(),
        Some("Newer")
    );
}

#[test]
fn lineage_is_an_id_or_a_path() {
    for key in ["parentSession", "branchedFrom"] {
        let header = HEADER.replace("\"cwd\"", &format!("\"{key}\":\"/x/y.jsonl\",\"cwd\""));
        assert_eq!(
            read(Pi::PI, &header).meta.parent.as_deref(),
            Some("/x/y.jsonl")
        );
    }
}

#[test]
fn a_fork_is_as_young_as_its_header_and_as_active_as_its_last_message() {
    let text = v3(&[entry(
        "message",
        "1",
        "",
        r#""message":{"role":"user","content":"a","timestamp":1000}"#,
    )]);
    let meta = read(Pi::PI, &text).meta;
    assert_eq!(meta.created, Instant::parse("2025-01-01T00:00:00Z"));
    assert_eq!(meta.last_active, Some(Instant::from_millis(1000)));
    assert_eq!(
        read(Pi::PI, HEADER).meta.last_active,
        Instant::parse("2025-01-01T00:00:00Z")
    );
}

#[test]
fn subagents_and_side_calls_are_paid_for_too() {
    let task = r#""message":{"role":"toolResult","toolName":"task","details":{"usage":{"input":2,"output":3,"cost":{"total":1e-7}}}}"#;
    let other =
        r#""message":{"role":"toolResult","toolName":"read","details":{"usage":{"input":9}}}"#;
    let side = r#""purpose":"title","provider":"p","model":"m","usage":{"input":5}"#;
    let text = v3(&[
        assistant("1", "", "a"),
        entry("message", "2", "1", task),
        entry("message", "3", "2", other),
        entry("model_usage", "4", "3", side),
    ]);
    let meta = read(Pi::XCSH, &text).meta;
    let total = meta.usage.total();
    assert_eq!((total.input, total.output), (Some(8), Some(5)));
    assert!((total.cost.unwrap() - 0.500_000_1).abs() < 1e-12);
    assert_eq!(meta.models, ["anthropic/claude-test", "p/m"]);
}

#[test]
fn an_answer_without_usage_leaves_the_cost_unknown() {
    let text = v3(&[entry(
        "message",
        "1",
        "",
        r#""message":{"role":"assistant","content":[]}"#,
    )]);
    assert!(read(Pi::PI, &text).meta.usage.total().is_unknown());
}

#[test]
fn our_own_sessions_hold_tags_and_status() {
    let text = v3(&[
        entry(
            "custom",
            "1",
            "",
            r#""customType":"boswell.tags","data":{"tags":["a","b"]}"#,
        ),
        entry(
            "custom",
            "2",
            "1",
            r#""customType":"boswell.status","data":{"status":"error","error":"e"}"#,
        ),
    ]);
    let meta = read(Pi::BOSWELL, &text).meta;
    assert_eq!(meta.tags, ["a", "b"]);
    assert_eq!(
        (meta.status.as_deref(), meta.error.as_deref()),
        (Some("error"), Some("e"))
    );
    assert!(read(Pi::PI, &text).meta.tags.is_empty());
}

#[test]
fn without_a_header_the_earliest_entry_is_the_beginning() {
    let meta = read(Pi::PI, &user("1", "", "a")).meta;
    assert_eq!(
        (meta.id, meta.created),
        (None, Instant::parse("2025-01-01T00:00:00Z"))
    );
}
