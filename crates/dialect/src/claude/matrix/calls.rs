//! Tests of tool calls, results, and the parts of messages.

use super::super::fixture::{
    assistant, base, call, file, line, result, sent, text, tip_label, user,
};
use super::{ALL, reparent, with};

#[test]
fn calls_cut_off_by_a_crash_get_a_made_result_and_an_answer() {
    let both = sent(&file(&base()[..5]));
    assert_eq!(both[3], "A call t1 + call t2");
    assert!(
        both[4].starts_with("U result t1: [Tool call interrupted: the session ended"),
        "{}",
        both[4]
    );
    assert!(
        both[5].starts_with("U result t2: [Tool call interrupted: the session ended"),
        "{}",
        both[5]
    );
    assert_eq!(both[6..], ["A No response requested."]);
    let second = sent(&file(&base()[..6]));
    assert_eq!(second[4], "U result t1: out t1");
    assert!(second[5].starts_with("U result t2: [Tool call interrupted"));
    assert_eq!(second[6..], ["A No response requested."]);
    let one_line = with(|lines| {
        lines.push(assistant(
            "ax",
            "a5",
            11,
            "m9",
            &format!("{},{}", call("t7"), call("t8")),
        ))
    });
    assert!(
        sent(&one_line)[10].contains("result t7: [Tool call")
            && sent(&one_line)[10].contains("result t8: [Tool")
    );
}

#[test]
fn a_call_whose_result_is_missing_is_dropped() {
    let no_first = with(|lines| drop(lines.remove(5)));
    assert_eq!(sent(&no_first)[3..5], ["A call t2", "U result t2: out t2"]);
    let no_second = with(|lines| drop(lines.remove(6)));
    assert_eq!(sent(&no_second)[3..5], ["A call t1", "U result t1: out t1"]);
    let none = with(|lines| drop(lines.drain(5..7)));
    assert_eq!(
        sent(&none),
        [
            "U ONE",
            "A one done",
            "U TWO",
            "A two done",
            "U THREE",
            "A three done"
        ]
    );
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
    assert_eq!(
        sent(&tail(format!("{},{}", text("let me"), call("t7"))))[9..],
        ["U FOUR", "A four done"]
    );
    let own_line = with(|lines| {
        lines.push(assistant("ax", "a5", 11, "m9", &text("let me")));
        lines.push(assistant("ay", "ax", 12, "m9", &call("t7")));
        lines.push(user("u4", Some("ay"), 13, "FOUR"));
        lines.push(assistant("a6", "u4", 14, "m7", &text("four done")));
    });
    assert_eq!(sent(&own_line)[9..], ["A let me", "U FOUR", "A four done"]);
}

#[test]
fn tools_of_the_provider_are_answered_inside_the_message() {
    let search = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let unanswered = with(|lines| {
        lines.insert(9, assistant("ws", "u3", 9, "m4", search));
        reparent(lines, "a5", "\"ws\"");
    });
    assert_eq!(sent(&unanswered), ALL);
    let answered = with(|lines| {
        lines.insert(9, assistant("ws", "u3", 9, "m4", search));
        lines.insert(10, assistant("wr", "ws", 9, "m4", found));
        reparent(lines, "a5", "\"wr\"");
    });
    let last = sent(&answered).pop().unwrap();
    assert!(
        last.starts_with("A call s1 + Other") && last.ends_with("three done"),
        "{last}"
    );
}

#[test]
fn one_missing_result_of_a_line_with_two_calls_is_made_up() {
    let bytes = with(|lines| {
        lines.push(assistant(
            "ax",
            "a5",
            11,
            "m9",
            &format!("{},{}", call("t7"), call("t8")),
        ));
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
        [
            "U [Orphaned tool result removed due to conversation resume]",
            "A two done",
            "U THREE",
            "A three done"
        ]
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
    assert_eq!(
        sent(&alone)[6..],
        [
            "A two done",
            "U (no content)",
            "A after",
            "U THREE",
            "A three done"
        ]
    );
}

#[test]
fn a_call_id_used_twice_counts_once() {
    let same_message = with(|lines| lines[4] = assistant("a3", "a2", 5, "m2", &call("t1")));
    assert_eq!(
        sent(&same_message)[3..6],
        ["A call t1", "U result t1: out t1", "A two done"]
    );
    let later = with(|lines| {
        lines.push(assistant("a6", "a5", 11, "m9", &call("t1")));
        lines.push(result("r6", "a6", 12, "t1"));
        lines.push(assistant("a7", "r6", 13, "m10", &text("end")));
    });
    assert_eq!(
        sent(&later)[9..],
        ["A [Tool use interrupted]", "U (no content)", "A end"]
    );
    let two_results = with(|lines| {
        lines.push(assistant("ax", "a5", 11, "m9", &call("t7")));
        lines.push(result("rx", "ax", 12, "t7"));
        lines.push(result("ry", "rx", 13, "t7"));
        lines.push(assistant("a6", "ry", 14, "m7", &text("end")));
    });
    assert_eq!(
        sent(&two_results)[9..],
        ["A call t7", "U result t7: out t7", "A end"]
    );
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
    for (block, expected) in [
        (think.to_owned(), "A think hmm + three done"),
        (text(""), "A three done"),
    ] {
        let bytes = with(|lines| {
            lines.insert(9, assistant("th", "u3", 9, "m4", &block));
            reparent(lines, "a5", "\"th\"");
        });
        assert_eq!(sent(&bytes)[8], expected);
    }
}

#[test]
fn thinking_of_another_model_than_the_last_is_dropped() {
    let think = r#"{"type":"thinking","thinking":"hmm","signature":"c2ln"}"#;
    let of = |model: &str| {
        with(|lines| {
            let thought =
                assistant("th", "u1", 1, "m1", think).replace("\"big\"", &format!("\"{model}\""));
            lines.insert(1, thought);
            reparent(lines, "a1", "\"th\"");
        })
    };
    assert_eq!(sent(&of("big"))[1], "A think hmm + one done");
    assert_eq!(sent(&of("small")), ALL);
}

#[test]
fn errors_of_the_api_are_not_sent_and_synthetic_answers_are() {
    let error = assistant("e1", "a5", 11, "me", &text("API Error")).replace(
        "\"type\":\"assistant\",\"uuid\"",
        "\"type\":\"assistant\",\"isApiErrorMessage\":true,\"uuid\"",
    );
    assert_eq!(
        sent(&with(|lines| lines.push(error.clone())))[9..],
        ["A API Error"],
        "only the client's own words are left out"
    );
    let error = error.replace("\"big\"", "\"<synthetic>\"");
    let bytes = with(|lines| lines.push(error.clone()));
    assert_eq!(sent(&bytes), ALL);
    assert_eq!(tip_label(&bytes), "e1");
    let synthetic =
        assistant("e1", "a5", 11, "me", &text("made")).replace("\"big\"", "\"<synthetic>\"");
    assert_eq!(
        sent(&with(|lines| lines.push(synthetic.clone())))[9..],
        ["A made"]
    );
}

#[test]
fn results_that_lost_their_place_are_found_by_the_id_of_the_call() {
    let bytes = with(|lines| {
        lines.remove(5);
        lines.insert(8, result("r1", "u1", 11, "t1"));
    });
    assert_eq!(
        sent(&bytes)[3..6],
        [
            "A call t1 + call t2",
            "U result t2: out t2",
            "U result t1: out t1"
        ]
    );
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
    let meta = user("x", Some("a5"), 11, "META")
        .replace("\"type\":\"user\"", "\"type\":\"user\",\"isMeta\":true");
    assert_eq!(sent(&tail(meta))[9..], ["U META", "U FOUR", "A four done"]);
    let command = line(
        "system",
        "x",
        Some("a5"),
        11,
        r#""subtype":"local_command","content":"<out>""#,
    );
    assert_eq!(
        sent(&tail(command))[9..],
        ["U <out>", "U FOUR", "A four done"]
    );
    let word = line(
        "system",
        "x",
        Some("a5"),
        11,
        r#""subtype":"informational","content":"hear""#,
    );
    assert_eq!(sent(&tail(word))[9..], ["U FOUR", "A four done"]);
    let progress = line(
        "progress",
        "x",
        Some("a5"),
        11,
        r#""data":{"type":"bash_progress"}"#,
    );
    assert_eq!(sent(&tail(progress))[9..], ["U FOUR", "A four done"]);
    let attached = line(
        "attachment",
        "x",
        Some("a5"),
        11,
        r#""attachment":{"type":"date"},"rendered":[{"content":"today"}],"renderedRole":"system""#,
    );
    assert_eq!(
        sent(&tail(attached))[9..],
        ["S today", "U FOUR", "A four done"]
    );
    let unseen = line(
        "attachment",
        "x",
        Some("a5"),
        11,
        r#""attachment":{"type":"prompt_snapshot"}"#,
    );
    assert_eq!(sent(&tail(unseen))[9..], ["U FOUR", "A four done"]);
}
