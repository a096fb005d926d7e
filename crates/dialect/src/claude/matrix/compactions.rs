//! Tests of the context after a compaction.

use super::super::fixture::{assistant, base, file, line, sent, text, tip_label, user};
use super::{ALL, reparent};

fn boundary(parent: &str, meta: &str) -> String {
    let rest = format!(
        r#""subtype":"compact_boundary","logicalParentUuid":"a5","compactMetadata":{{"trigger":"manual"{meta}}}"#
    );
    line("system", "b1", None, 11, &rest)
        .replace("\"parentUuid\":null", &format!("\"parentUuid\":{parent}"))
}

fn summary() -> String {
    user("k1", Some("b1"), 12, "SUMMARY").replace(
        "\"type\":\"user\"",
        "\"type\":\"user\",\"isCompactSummary\":true",
    )
}

fn keeps(ids: &[&str]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    format!(
        r#","preservedMessages":{{"anchorUuid":"k1","uuids":[{}]}}"#,
        ids.join(",")
    )
}

/// Returns the base session, a compaction, its summary and one more exchange.
fn compacted(meta: &str) -> Vec<String> {
    let mut lines = base();
    lines.push(boundary("null", meta));
    lines.push(summary());
    lines.push(user("u4", Some("k1"), 13, "FOUR"));
    lines.push(assistant("a6", "u4", 14, "m11", &text("four done")));
    lines
}

const FOUR: [&str; 2] = ["U FOUR", "A four done"];

#[test]
fn after_a_compaction_the_summary_the_kept_messages_and_the_rest_are_sent() {
    let kept = [
        "U SUMMARY",
        "U THREE",
        "A three done",
        "U FOUR",
        "A four done",
    ];
    assert_eq!(sent(&file(&compacted(&keeps(&["u3", "a5"])))), kept);
    let segment = r#","preservedSegment":{"headUuid":"u3","anchorUuid":"k1","tailUuid":"a5"}"#;
    assert_eq!(sent(&file(&compacted(segment))), kept);
    let mut parented = compacted("");
    parented[10] = boundary("\"a5\"", &keeps(&["u3", "a5"]));
    assert_eq!(sent(&file(&parented)), kept);
    let turned = sent(&file(&compacted(&keeps(&["a5", "u3"]))));
    assert_eq!(
        turned,
        [
            "U SUMMARY",
            "A three done",
            "U THREE",
            "U FOUR",
            "A four done"
        ]
    );
    assert_eq!(
        sent(&file(&compacted(""))),
        ["U SUMMARY", "U FOUR", "A four done"]
    );
}

#[test]
fn kept_calls_and_results_stay_paired() {
    let all = sent(&file(&compacted(&keeps(&["a2", "a3", "r1", "r2", "a4"]))));
    assert_eq!(
        all[1..5],
        [
            "A call t1 + call t2",
            "U result t1: out t1",
            "U result t2: out t2",
            "A two done"
        ]
    );
    let no_call = sent(&file(&compacted(&keeps(&["r2", "a4", "u3", "a5"]))));
    assert_eq!(no_call[..2], ["U SUMMARY", "A two done"]);
    let no_result = sent(&file(&compacted(&keeps(&["a3", "a4"]))));
    assert_eq!(no_result[..2], ["U SUMMARY", "A two done"]);
}

#[test]
fn if_one_kept_message_is_gone_none_is_sent() {
    for ids in [
        &["nope", "a5"][..],
        &["u3", "nope"],
        &["u3", "nope", "a5"],
        &["nope"],
    ] {
        assert_eq!(
            sent(&file(&compacted(&keeps(ids)))),
            ["U SUMMARY", "U FOUR", "A four done"],
            "{ids:?}"
        );
    }
}

#[test]
fn a_summary_without_its_boundary_cuts_nothing() {
    let mut lines = compacted(&keeps(&["u3", "a5"]));
    lines.remove(10);
    let sent = sent(&file(&lines));
    assert_eq!(sent[..9], ALL);
    assert_eq!(sent[9..], ["U SUMMARY", "U FOUR", "A four done"]);
}

#[test]
fn a_boundary_without_its_summary_still_cuts() {
    let mut lines = compacted(&keeps(&["u3", "a5"]));
    lines.remove(11);
    reparent(&mut lines, "u4", "\"b1\"");
    assert_eq!(sent(&file(&lines)), FOUR);
}

#[test]
fn a_session_that_ends_with_a_compaction_stands_at_the_last_kept_message() {
    let lines = compacted(&keeps(&["u3", "a5"]));
    let at_summary = file(&lines[..12]);
    assert_eq!(sent(&at_summary), ["U SUMMARY", "U THREE", "A three done"]);
    assert_eq!(tip_label(&at_summary), "a5");
    let at_boundary = file(&lines[..11]);
    assert_eq!(sent(&at_boundary), ["U THREE", "A three done"]);
    assert_eq!(tip_label(&at_boundary), "a5");
    assert_eq!(tip_label(&file(&compacted("")[..12])), "k1");
}

#[test]
fn what_a_compaction_left_out_is_reached_only_where_nothing_was_kept() {
    let branch = [
        user("u9", Some("a1"), 15, "BR"),
        assistant("a9", "u9", 16, "m50", &text("br done")),
    ];
    let mut plain = compacted("");
    plain.extend(branch.clone());
    assert_eq!(
        sent(&file(&plain)),
        ["U ONE", "A one done", "U BR", "A br done"]
    );
    let mut kept = compacted(&keeps(&["u3", "a5"]));
    kept.extend(branch);
    assert_eq!(
        sent(&file(&kept)),
        ["U SUMMARY", "U THREE", "A three done", "U BR", "A br done"]
    );
    let explicit = |id: &str| {
        let mut lines = compacted(&keeps(&["u3", "a5"]));
        lines.push(format!(
            r#"{{"type":"last-prompt","leafUuid":"{id}","explicit":true}}"#
        ));
        (tip_label(&file(&lines)), sent(&file(&lines)))
    };
    assert_eq!(explicit("a1").0, "a6");
    assert_eq!(explicit("u3").1, ["U SUMMARY", "U THREE"]);
    assert_eq!(explicit("k1").1, ["U SUMMARY"]);
}

#[test]
fn a_second_compaction_counts_alone() {
    let mut lines = compacted(&keeps(&["u3", "a5"]));
    lines.push(line(
        "system",
        "b2",
        None,
        15,
        r#""subtype":"compact_boundary","logicalParentUuid":"a6","compactMetadata":{}"#,
    ));
    lines.push(user("k2", Some("b2"), 16, "SUMMARY2").replace(
        "\"type\":\"user\"",
        "\"type\":\"user\",\"isCompactSummary\":true",
    ));
    lines.push(user("u7", Some("k2"), 17, "SEVEN"));
    assert_eq!(sent(&file(&lines)), ["U SUMMARY2", "U SEVEN"]);
}
