//! Tests of links, ids, tips and damaged bytes.

use super::super::fixture::{assistant, base, file, line, sent, text, tip_label, user};
use super::{ALL, reparent, reparented, side, with, without};

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
    assert_eq!(
        sent(&bytes),
        [
            "U ONE",
            "A one done",
            "U Q",
            "A q done",
            "U FOUR",
            "A four done"
        ]
    );
}

#[test]
fn a_parent_of_an_unknown_type_or_a_snapshot_is_bridged() {
    let unknown = with(|lines| {
        lines.insert(
            2,
            r#"{"type":"brand-new","uuid":"x1","parentUuid":"u1"}"#.to_owned(),
        );
        reparent(lines, "u2", "\"x1\"");
    });
    assert_eq!(sent(&unknown), ALL);
    let snapshot = with(|lines| {
        lines.insert(
            2,
            r#"{"type":"file-history-snapshot","messageId":"x1","snapshot":{}}"#.to_owned(),
        );
        reparent(lines, "u2", "\"x1\"");
    });
    assert_eq!(sent(&snapshot), ALL);
}

#[test]
fn a_deleted_line_loses_only_itself() {
    assert_eq!(
        sent(&with(|lines| drop(lines.remove(1)))),
        without(&["A one done"])
    );
    assert_eq!(
        sent(&with(|lines| drop(lines.remove(2)))),
        without(&["U TWO"])
    );
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
    assert_eq!(
        sent(&with(|lines| lines[2].insert_str(0, "\0\0\0"))),
        without(&["U TWO"])
    );
    assert_eq!(
        sent(&with(|lines| lines.insert(2, "\0\0\0".to_owned()))),
        ALL
    );
    assert_eq!(
        sent(&with(|lines| lines.insert(2, "garbage".to_owned()))),
        ALL
    );
    assert_eq!(sent(&with(|lines| lines.insert(2, String::new()))), ALL);
    assert_eq!(
        sent(&with(|lines| lines
            .iter_mut()
            .for_each(|line| line.push('\r')))),
        ALL
    );
    let mut bom = b"\xEF\xBB\xBF".to_vec();
    bom.extend(file(&base()));
    assert_eq!(sent(&bom), ALL);
}

#[test]
fn bytes_that_are_not_utf8_are_content() {
    let mut bytes = file(&base());
    let at = bytes
        .windows(3)
        .position(|window| window == b"ONE")
        .unwrap();
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
fn of_lines_with_one_id_the_last_counts() {
    let again = assistant("a1", "u1", 2, "m1", &text("again"));
    for at in [2, 10] {
        let bytes = with(|lines| lines.insert(at, again.clone()));
        let mut expected = ALL;
        expected[1] = "A again";
        assert_eq!(sent(&bytes), expected, "{at}");
        assert_eq!(tip_label(&bytes), "a5");
    }
    assert_eq!(sent(&with(|lines| lines.extend(base()))), ALL);
    let bridged = with(|lines| {
        lines.insert(8, assistant("a1", "u1", 2, "m1", &text("one done")));
        reparent(lines, "u3", "\"nobody\"");
    });
    assert_eq!(sent(&bridged), ALL);
    let no_links = [
        user("x1", None, 1, "X"),
        user("x2", None, 2, "Y"),
        user("x1", None, 3, "X again"),
    ];
    assert_eq!(sent(&file(&no_links)), ["U X again"]);
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
fn the_newest_explicit_leaf_counts_until_something_is_written() {
    let leaf = |id: &str| format!(r#"{{"type":"last-prompt","leafUuid":{id},"explicit":true}}"#);
    let plain = r#"{"type":"last-prompt","leafUuid":"a1"}"#.to_owned();
    let after = |lines: &[String]| tip_label(&with(|all| all.extend_from_slice(lines)));
    assert_eq!(after(&[leaf("\"a1\"")]), "a1");
    assert_eq!(after(&[leaf("\"a1\""), leaf("\"u2\"")]), "u2");
    assert_eq!(after(&[leaf("null")]), "root");
    assert_eq!(after(&[leaf("\"nobody\"")]), "a5");
    assert_eq!(
        after(&[
            leaf("\"a1\""),
            leaf("\"00000000-0000-0000-0000-000000000000\"")
        ]),
        "a5"
    );
    assert_eq!(after(std::slice::from_ref(&plain)), "a5");
    assert_eq!(after(&[leaf("\"a1\""), plain]), "a1", "it is repeated");
    let system = line(
        "system",
        "sy",
        Some("a5"),
        11,
        r#""subtype":"turn_duration""#,
    );
    assert_eq!(after(&[leaf("\"a1\""), system]), "sy");
    assert_eq!(
        after(&[leaf("\"a1\""), user("u9", Some("a1"), 11, "NEW")]),
        "u9"
    );
    let bytes = with(|lines| lines.push(leaf("\"a2\"")));
    assert_eq!(sent(&bytes), ALL[..6]);
    assert_eq!(
        sent(&with(|lines| lines.push(leaf("null")))),
        [] as [&str; 0]
    );
}

#[test]
fn the_branch_written_last_is_the_current_one() {
    let branch = [
        user("u4", Some("a1"), 11, "BRANCH"),
        assistant("a6", "u4", 12, "m11", &text("branch done")),
    ];
    assert_eq!(
        sent(&with(|lines| lines.extend(branch.clone()))),
        ["U ONE", "A one done", "U BRANCH", "A branch done"]
    );
    assert_eq!(
        sent(&with(|lines| drop(lines.splice(3..3, branch.clone())))),
        ALL
    );
    let system = line(
        "system",
        "sy",
        Some("a5"),
        13,
        r#""subtype":"turn_duration""#,
    );
    let bytes = with(|lines| {
        lines.extend(branch);
        lines.push(system);
    });
    assert_eq!(sent(&bytes), ALL);
    assert_eq!(tip_label(&bytes), "sy");
}

#[test]
fn a_message_that_is_none_is_passed_over() {
    for message in [
        "\"error\"",
        r#"{"role":"user","content":["wow"]}"#,
        r#"{"role":"user"}"#,
        r#"{"content":7}"#,
    ] {
        let broken = line(
            "user",
            "x9",
            Some("a5"),
            11,
            &format!("\"message\":{message}"),
        );
        let tail = with(|lines| lines.push(broken.clone()));
        assert_eq!(
            (sent(&tail), tip_label(&tail).as_str()),
            (ALL.map(String::from).to_vec(), "a5"),
            "{message}"
        );
        let middle = with(|lines| {
            lines.push(broken);
            lines.push(user("u4", Some("x9"), 12, "FOUR"));
        });
        assert_eq!(sent(&middle)[8..], ["A three done", "U FOUR"], "{message}");
    }
}

#[test]
fn news_of_progress_is_never_the_tip() {
    let progress = line(
        "progress",
        "pg",
        Some("a5"),
        11,
        r#""data":{"type":"hook_progress"}"#,
    );
    let bytes = with(|lines| lines.push(progress));
    assert_eq!(tip_label(&bytes), "a5");
    assert_eq!(sent(&bytes), ALL);
}

#[test]
fn no_place_to_cut_a_file_makes_a_question_fail() {
    let bytes = file(&base());
    for end in 0..bytes.len() {
        assert!(sent(&bytes[..end]).len() <= ALL.len() + 3, "{end}");
        assert!(sent(&bytes[end..]).len() <= ALL.len() + 3, "{end}");
    }
}
