//! What the newest client makes of damaged files, case by case.
//!
//! Every expectation was read off a request of Claude Code 2.1.325 that resumed the same lines. One thing is left out on
//! purpose: where a session ends with the user's word, the client answers itself with "No response requested." before
//! it appends the next prompt. That belongs to the next prompt, not to what is there.

use super::fixture::{assistant, base, call, file, line, result, sent, text, tip_label, user};

const ALL: [&str; 9] = [
    "U ONE",
    "A one done",
    "U TWO",
    "A call t1 + call t2",
    "U result t1: out t1",
    "U result t2: out t2",
    "A two done",
    "U THREE",
    "A three done",
];

fn with(change: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
    let mut lines = base();
    change(&mut lines);
    file(&lines)
}

/// The base with the parent of one line replaced.
fn reparented(uuid: &str, parent: &str) -> Vec<u8> {
    with(|lines| reparent(lines, uuid, parent))
}

fn reparent(lines: &mut [String], uuid: &str, parent: &str) {
    let own = format!("\"uuid\":\"{uuid}\"");
    let line = lines.iter_mut().find(|line| line.contains(&own)).unwrap();
    let rest = line.split_once(",\"isSidechain\"").unwrap().1.to_owned();
    *line = format!("{{\"parentUuid\":{parent},\"isSidechain\"{rest}");
}

fn side(line: String) -> String {
    line.replace("\"isSidechain\":false", "\"isSidechain\":true")
}

fn without(expected: &[&str]) -> Vec<&'static str> {
    ALL.iter().copied().filter(|message| !expected.contains(message)).collect()
}

#[test]
fn an_undamaged_session_is_sent_whole_with_parallel_results_put_back() {
    assert_eq!(sent(&file(&base())), ALL);
    assert_eq!(tip_label(&file(&base())), "a5");
}

#[test]
fn a_torn_last_line_is_passed_over() {
    let mut bytes = file(&base());
    bytes.extend_from_slice(br#"{"parentUuid":"a5","isSidechain":false,"type":"us"#);
    assert_eq!(sent(&bytes), ALL);
}

#[test]
fn a_missing_parent_is_bridged_to_the_line_before() {
    for uuid in ["u2", "a4", "u3", "u1"] {
        assert_eq!(sent(&reparented(uuid, "\"nobody\"")), ALL, "{uuid}");
    }
    let after_side = with(|lines| {
        reparent(lines, "u3", "\"nobody\"");
        lines.insert(8, side(user("s1", None, 8, "SIDE")));
    });
    assert_eq!(sent(&after_side), ALL);
}

#[test]
fn a_bridge_leads_to_the_line_before_even_on_another_branch() {
    let bytes = with(|lines| {
        lines.push(user("q1", Some("a1"), 11, "Q"));
        lines.push(assistant("q2", "q1", 12, "mq", &text("q done")));
        lines.push(user("u4", Some("nobody"), 13, "FOUR"));
        lines.push(assistant("a6", "u4", 14, "m7", &text("four done")));
    });
    assert_eq!(sent(&bytes), ["U ONE", "A one done", "U Q", "A q done", "U FOUR", "A four done"]);
}

#[test]
fn a_parent_of_an_unknown_type_or_a_snapshot_is_bridged() {
    let unknown = with(|lines| {
        lines.insert(2, r#"{"type":"brand-new","uuid":"x1","parentUuid":"u1"}"#.to_owned());
        reparent(lines, "u2", "\"x1\"");
    });
    assert_eq!(sent(&unknown), ALL);
    let snapshot = with(|lines| {
        lines.insert(2, r#"{"type":"file-history-snapshot","messageId":"x1","snapshot":{}}"#.to_owned());
        reparent(lines, "u2", "\"x1\"");
    });
    assert_eq!(sent(&snapshot), ALL);
}

#[test]
fn a_deleted_line_loses_only_itself() {
    assert_eq!(sent(&with(|lines| drop(lines.remove(1)))), without(&["A one done"]));
    assert_eq!(sent(&with(|lines| drop(lines.remove(2)))), without(&["U TWO"]));
    let no_call = sent(&with(|lines| drop(lines.remove(3))));
    assert_eq!(no_call[3..5], ["A call t2", "U result t2: out t2"]);
}

#[test]
fn of_glued_records_only_the_first_counts() {
    let glued = with(|lines| {
        let second = lines.remove(2);
        lines[1].push_str(&second);
    });
    assert_eq!(sent(&glued), without(&["U TWO"]));
    let cut = with(|lines| {
        let second = lines.remove(2);
        lines[1].truncate(100);
        lines[1].push_str(&second);
    });
    assert_eq!(sent(&cut), without(&["A one done", "U TWO"]));
}

#[test]
fn a_record_behind_nuls_is_lost_and_nul_lines_blanks_and_crlf_are_harmless() {
    assert_eq!(sent(&with(|lines| lines[2].insert_str(0, "\0\0\0"))), without(&["U TWO"]));
    assert_eq!(sent(&with(|lines| lines.insert(2, "\0\0\0".to_owned()))), ALL);
    assert_eq!(sent(&with(|lines| lines.insert(2, "garbage".to_owned()))), ALL);
    assert_eq!(sent(&with(|lines| lines.insert(2, String::new()))), ALL);
    assert_eq!(sent(&with(|lines| lines.iter_mut().for_each(|line| line.push('\r')))), ALL);
    let mut bom = b"\xEF\xBB\xBF".to_vec();
    bom.extend(file(&base()));
    assert_eq!(sent(&bom), ALL);
}

#[test]
fn bytes_that_are_not_utf8_are_content() {
    let mut bytes = file(&base());
    let at = bytes.windows(3).position(|window| window == b"ONE").unwrap();
    bytes[at] = 0xFF;
    assert_eq!(sent(&bytes)[0], "U \u{FFFD}NE");
}

#[test]
fn circles_are_bridged_like_missing_parents() {
    assert_eq!(sent(&reparented("u1", "\"a5\"")), ALL);
    assert_eq!(sent(&reparented("u2", "\"a4\"")), ALL);
    assert_eq!(sent(&reparented("a5", "\"a5\"")), ALL);
}

#[test]
fn without_any_parent_only_the_last_message_is_sent() {
    let bytes = with(|lines| {
        for uuid in ["a1", "u2", "a2", "a3", "r1", "r2", "a4", "u3", "a5"] {
            reparent(lines, uuid, "null");
        }
    });
    assert_eq!(sent(&bytes), ["A three done"]);
}

#[test]
fn calls_cut_off_by_a_crash_get_a_made_result_and_an_answer() {
    let both = sent(&file(&base()[..5]));
    assert_eq!(both[3], "A call t1 + call t2");
    assert!(both[4].starts_with("U result t1: [Tool call interrupted: the session ended"), "{}", both[4]);
    assert!(both[5].starts_with("U result t2: [Tool call interrupted: the session ended"), "{}", both[5]);
    assert_eq!(both[6..], ["A No response requested."]);
    let second = sent(&file(&base()[..6]));
    assert_eq!(second[4], "U result t1: out t1");
    assert!(second[5].starts_with("U result t2: [Tool call interrupted"));
    assert_eq!(second[6..], ["A No response requested."]);
    let one_line = with(|lines| lines.push(assistant("ax", "a5", 11, "m9", &format!("{},{}", call("t7"), call("t8")))));
    assert!(sent(&one_line)[10].contains("result t7: [Tool call") && sent(&one_line)[10].contains("result t8: [Tool"));
}

#[test]
fn a_call_whose_result_is_missing_is_dropped() {
    let no_first = with(|lines| drop(lines.remove(5)));
    assert_eq!(sent(&no_first)[3..5], ["A call t2", "U result t2: out t2"]);
    let no_second = with(|lines| drop(lines.remove(6)));
    assert_eq!(sent(&no_second)[3..5], ["A call t1", "U result t1: out t1"]);
    let none = with(|lines| drop(lines.drain(5..7)));
    assert_eq!(sent(&none), ["U ONE", "A one done", "U TWO", "A two done", "U THREE", "A three done"]);
}

#[test]
fn a_line_with_an_unanswered_call_takes_its_text_with_it() {
    let tail = |ask: String| {
        with(|lines| {
            lines.push(assistant("ax", "a5", 11, "m9", &ask));
            lines.push(user("u4", Some("ax"), 12, "FOUR"));
            lines.push(assistant("a6", "u4", 13, "m7", &text("four done")));
        })
    };
    assert_eq!(sent(&tail(format!("{},{}", text("let me"), call("t7"))))[9..], ["U FOUR", "A four done"]);
    let own_line = with(|lines| {
        lines.push(assistant("ax", "a5", 11, "m9", &text("let me")));
        lines.push(assistant("ay", "ax", 12, "m9", &call("t7")));
        lines.push(user("u4", Some("ay"), 13, "FOUR"));
        lines.push(assistant("a6", "u4", 14, "m7", &text("four done")));
    });
    assert_eq!(sent(&own_line)[9..], ["A let me", "U FOUR", "A four done"]);
}

#[test]
fn one_missing_result_of_a_line_with_two_calls_is_made_up() {
    let bytes = with(|lines| {
        lines.push(assistant("ax", "a5", 11, "m9", &format!("{},{}", call("t7"), call("t8"))));
        lines.push(result("rx", "ax", 12, "t7"));
        lines.push(assistant("a6", "rx", 13, "m7", &text("end")));
    });
    assert_eq!(
        sent(&bytes)[9..],
        [
            "A call t7 + call t8",
            "U result t8: [Tool result missing due to internal error]",
            "U result t7: out t7",
            "A end"
        ]
    );
}

#[test]
fn results_without_a_call_are_removed() {
    let mut first = base().split_off(5);
    reparent(&mut first, "r1", "null");
    assert_eq!(
        sent(&file(&first)),
        ["U [Orphaned tool result removed due to conversation resume]", "A two done", "U THREE", "A three done"]
    );
    let beside_a_prompt = with(|lines| {
        lines.insert(8, result("rx", "a4", 8, "t9"));
        reparent(lines, "u3", "\"rx\"");
    });
    assert_eq!(sent(&beside_a_prompt), ALL);
    let alone = with(|lines| {
        lines.insert(8, result("rx", "a4", 8, "t9"));
        lines.insert(9, assistant("ax", "rx", 8, "mx", &text("after")));
        reparent(lines, "u3", "\"ax\"");
    });
    assert_eq!(sent(&alone)[6..], ["A two done", "U (no content)", "A after", "U THREE", "A three done"]);
}

#[test]
fn of_lines_with_one_id_the_last_counts_where_the_first_stands() {
    let again = assistant("a1", "u1", 2, "m1", &text("again"));
    for at in [2, 10] {
        let bytes = with(|lines| lines.insert(at, again.clone()));
        let mut expected = ALL;
        expected[1] = "A again";
        assert_eq!(sent(&bytes), expected, "{at}");
        assert_eq!(tip_label(&bytes), "a5");
    }
    assert_eq!(sent(&with(|lines| lines.extend(base()))), ALL);
}

#[test]
fn a_call_id_used_twice_counts_once() {
    let same_message = with(|lines| lines[4] = assistant("a3", "a2", 5, "m2", &call("t1")));
    assert_eq!(sent(&same_message)[3..6], ["A call t1", "U result t1: out t1", "A two done"]);
    let later = with(|lines| {
        lines.push(assistant("a6", "a5", 11, "m9", &call("t1")));
        lines.push(result("r6", "a6", 12, "t1"));
        lines.push(assistant("a7", "r6", 13, "m10", &text("end")));
    });
    assert_eq!(sent(&later)[9..], ["A [Tool use interrupted]", "U (no content)", "A end"]);
    let two_results = with(|lines| {
        lines.push(assistant("ax", "a5", 11, "m9", &call("t7")));
        lines.push(result("rx", "ax", 12, "t7"));
        lines.push(result("ry", "rx", 13, "t7"));
        lines.push(assistant("a6", "ry", 14, "m7", &text("end")));
    });
    assert_eq!(sent(&two_results)[9..], ["A call t7", "U result t7: out t7", "A end"]);
}

#[test]
fn side_chains_do_not_move_the_tip() {
    for parent in [None, Some("a5")] {
        let bytes = with(|lines| {
            lines.push(side(user("s1", parent, 11, "SIDE")));
            lines.push(side(assistant("s2", "s1", 12, "ms", &text("side says"))));
        });
        assert_eq!(sent(&bytes), ALL);
        assert_eq!(tip_label(&bytes), "a5");
    }
    let only_side: Vec<String> = base().into_iter().map(side).collect();
    assert_eq!(sent(&file(&only_side)), ALL);
}

#[test]
fn answers_of_only_thinking_or_blanks_are_dropped() {
    let think = r#"{"type":"thinking","thinking":"hmm","signature":"c2ln"}"#;
    for block in [think.to_owned(), text(""), text("  ")] {
        let bytes = with(|lines| {
            lines.insert(2, assistant("th", "a1", 2, "m40", &block));
            reparent(lines, "u2", "\"th\"");
        });
        assert_eq!(sent(&bytes), ALL, "{block}");
    }
    for (block, expected) in [(think.to_owned(), "A think hmm + three done"), (text(""), "A three done")] {
        let bytes = with(|lines| {
            lines.insert(9, assistant("th", "u3", 9, "m4", &block));
            reparent(lines, "a5", "\"th\"");
        });
        assert_eq!(sent(&bytes)[8], expected);
    }
}

#[test]
fn errors_of_the_api_are_not_sent_and_synthetic_answers_are() {
    let error = assistant("e1", "a5", 11, "me", &text("API Error"))
        .replace("\"type\":\"assistant\",\"uuid\"", "\"type\":\"assistant\",\"isApiErrorMessage\":true,\"uuid\"");
    let bytes = with(|lines| lines.push(error.clone()));
    assert_eq!(sent(&bytes), ALL);
    assert_eq!(tip_label(&bytes), "e1");
    let synthetic = assistant("e1", "a5", 11, "me", &text("made")).replace("\"big\"", "\"<synthetic>\"");
    assert_eq!(sent(&with(|lines| lines.push(synthetic.clone())))[9..], ["A made"]);
}

#[test]
fn the_newest_explicit_leaf_counts_until_something_is_written() {
    let leaf = |id: &str| format!(r#"{{"type":"last-prompt","leafUuid":{id},"explicit":true}}"#);
    let plain = r#"{"type":"last-prompt","leafUuid":"a1"}"#.to_owned();
    let after = |lines: &[String]| tip_label(&with(|all| all.extend_from_slice(lines)));
    assert_eq!(after(&[leaf("\"a1\"")]), "a1");
    assert_eq!(after(&[leaf("\"a1\""), leaf("\"u2\"")]), "u2");
    assert_eq!(after(&[leaf("null")]), "root");
    assert_eq!(after(&[leaf("\"nobody\"")]), "a5");
    assert_eq!(after(&[leaf("\"a1\""), leaf("\"00000000-0000-0000-0000-000000000000\"")]), "a5");
    assert_eq!(after(&[plain.clone()]), "a5");
    assert_eq!(after(&[leaf("\"a1\""), plain]), "a5");
    let system = line("system", "sy", Some("a5"), 11, r#""subtype":"turn_duration""#);
    assert_eq!(after(&[leaf("\"a1\""), system]), "sy");
    assert_eq!(after(&[leaf("\"a1\""), user("u9", Some("a1"), 11, "NEW")]), "u9");
    let bytes = with(|lines| lines.push(leaf("\"a2\"")));
    assert_eq!(sent(&bytes), ALL[..6]);
    assert_eq!(sent(&with(|lines| lines.push(leaf("null")))), [] as [&str; 0]);
}

#[test]
fn the_branch_written_last_is_the_current_one() {
    let branch = [user("u4", Some("a1"), 11, "BRANCH"), assistant("a6", "u4", 12, "m11", &text("branch done"))];
    assert_eq!(sent(&with(|lines| lines.extend(branch.clone()))), ["U ONE", "A one done", "U BRANCH", "A branch done"]);
    assert_eq!(sent(&with(|lines| drop(lines.splice(3..3, branch.clone())))), ALL);
    let system = line("system", "sy", Some("a5"), 13, r#""subtype":"turn_duration""#);
    let bytes = with(|lines| {
        lines.extend(branch);
        lines.push(system);
    });
    assert_eq!(sent(&bytes), ALL);
    assert_eq!(tip_label(&bytes), "sy");
}

#[test]
fn results_that_lost_their_place_are_found_by_the_id_of_the_call() {
    let bytes = with(|lines| {
        lines.remove(5);
        lines.insert(8, result("r1", "u1", 11, "t1"));
    });
    assert_eq!(sent(&bytes)[3..6], ["A call t1 + call t2", "U result t2: out t2", "U result t1: out t1"]);
}

#[test]
fn lines_of_one_message_with_results_between_are_one_answer() {
    let bytes = with(|lines| {
        lines.splice(
            3..7,
            [
                assistant("a2", "u2", 4, "m2", &call("t1")),
                result("r1", "a2", 5, "t1"),
                assistant("a3", "r1", 6, "m2", &call("t2")),
                result("r2", "a3", 7, "t2"),
            ],
        );
    });
    assert_eq!(sent(&bytes), ALL);
    let later = with(|lines| {
        lines.push(user("u4", Some("a5"), 11, "FOUR"));
        lines.push(assistant("a6", "u4", 12, "m4", &text("late")));
    });
    assert_eq!(sent(&later)[8..], ["A three done", "U FOUR", "A late"]);
    let fork = with(|lines| {
        lines.push(assistant("a6", "a5", 11, "m4", &text("more")));
        lines.push(assistant("a7", "a5", 12, "m4", &text("third")));
    });
    assert_eq!(sent(&fork)[8..], ["A three done + more + third"]);
}

#[test]
fn hidden_lines_and_command_output_reach_the_model() {
    let tail = |middle: String| {
        with(|lines| {
            lines.push(middle);
            lines.push(user("u4", Some("x"), 12, "FOUR"));
            lines.push(assistant("a6", "u4", 13, "m11", &text("four done")));
        })
    };
    let meta = user("x", Some("a5"), 11, "META").replace("\"type\":\"user\"", "\"type\":\"user\",\"isMeta\":true");
    assert_eq!(sent(&tail(meta))[9..], ["U META", "U FOUR", "A four done"]);
    let command = line("system", "x", Some("a5"), 11, r#""subtype":"local_command","content":"<out>""#);
    assert_eq!(sent(&tail(command))[9..], ["U <out>", "U FOUR", "A four done"]);
    let word = line("system", "x", Some("a5"), 11, r#""subtype":"informational","content":"hear""#);
    assert_eq!(sent(&tail(word))[9..], ["U FOUR", "A four done"]);
    let progress = line("progress", "x", Some("a5"), 11, r#""data":{"type":"bash_progress"}"#);
    assert_eq!(sent(&tail(progress))[9..], ["U FOUR", "A four done"]);
    let attached = line(
        "attachment",
        "x",
        Some("a5"),
        11,
        r#""attachment":{"type":"date"},"rendered":[{"content":"today"}],"renderedRole":"system""#,
    );
    assert_eq!(sent(&tail(attached))[9..], ["S today", "U FOUR", "A four done"]);
    let unseen = line("attachment", "x", Some("a5"), 11, r#""attachment":{"type":"prompt_snapshot"}"#);
    assert_eq!(sent(&tail(unseen))[9..], ["U FOUR", "A four done"]);
}

fn boundary(parent: &str, meta: &str) -> String {
    let rest = format!(
        r#""subtype":"compact_boundary","logicalParentUuid":"a5","compactMetadata":{{"trigger":"manual"{meta}}}"#
    );
    line("system", "b1", None, 11, &rest).replace("\"parentUuid\":null", &format!("\"parentUuid\":{parent}"))
}

fn summary() -> String {
    user("k1", Some("b1"), 12, "SUMMARY").replace("\"type\":\"user\"", "\"type\":\"user\",\"isCompactSummary\":true")
}

fn keeps(ids: &[&str]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    format!(r#","preservedMessages":{{"anchorUuid":"k1","uuids":[{}]}}"#, ids.join(","))
}

/// The base, a compaction, its summary and one more turn.
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
    let kept = ["U SUMMARY", "U THREE", "A three done", "U FOUR", "A four done"];
    assert_eq!(sent(&file(&compacted(&keeps(&["u3", "a5"])))), kept);
    let segment = r#","preservedSegment":{"headUuid":"u3","anchorUuid":"k1","tailUuid":"a5"}"#;
    assert_eq!(sent(&file(&compacted(segment))), kept);
    let mut parented = compacted("");
    parented[10] = boundary("\"a5\"", &keeps(&["u3", "a5"]));
    assert_eq!(sent(&file(&parented)), kept);
    let turned = sent(&file(&compacted(&keeps(&["a5", "u3"]))));
    assert_eq!(turned, ["U SUMMARY", "A three done", "U THREE", "U FOUR", "A four done"]);
    assert_eq!(sent(&file(&compacted(""))), ["U SUMMARY", "U FOUR", "A four done"]);
}

#[test]
fn kept_calls_and_results_stay_paired() {
    let all = sent(&file(&compacted(&keeps(&["a2", "a3", "r1", "r2", "a4"]))));
    assert_eq!(all[1..5], ["A call t1 + call t2", "U result t1: out t1", "U result t2: out t2", "A two done"]);
    let no_call = sent(&file(&compacted(&keeps(&["r2", "a4", "u3", "a5"]))));
    assert_eq!(no_call[..2], ["U SUMMARY", "A two done"]);
    let no_result = sent(&file(&compacted(&keeps(&["a3", "a4"]))));
    assert_eq!(no_result[..2], ["U SUMMARY", "A two done"]);
}

#[test]
fn if_one_kept_message_is_gone_none_is_sent() {
    for ids in [&["nope", "a5"][..], &["u3", "nope"], &["u3", "nope", "a5"], &["nope"]] {
        assert_eq!(sent(&file(&compacted(&keeps(ids)))), ["U SUMMARY", "U FOUR", "A four done"], "{ids:?}");
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
    let branch = [user("u9", Some("a1"), 15, "BR"), assistant("a9", "u9", 16, "m50", &text("br done"))];
    let mut plain = compacted("");
    plain.extend(branch.clone());
    assert_eq!(sent(&file(&plain)), ["U ONE", "A one done", "U BR", "A br done"]);
    let mut kept = compacted(&keeps(&["u3", "a5"]));
    kept.extend(branch);
    assert_eq!(sent(&file(&kept)), ["U SUMMARY", "U THREE", "A three done", "U BR", "A br done"]);
    let explicit = |id: &str| {
        let mut lines = compacted(&keeps(&["u3", "a5"]));
        lines.push(format!(r#"{{"type":"last-prompt","leafUuid":"{id}","explicit":true}}"#));
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
    lines.push(
        user("k2", Some("b2"), 16, "SUMMARY2")
            .replace("\"type\":\"user\"", "\"type\":\"user\",\"isCompactSummary\":true"),
    );
    lines.push(user("u7", Some("k2"), 17, "SEVEN"));
    assert_eq!(sent(&file(&lines)), ["U SUMMARY2", "U SEVEN"]);
}
