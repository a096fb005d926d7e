//! The line at which each version continues, and the way back from it.
//!
//! The recorded runs of the real clients prove these rules on hundreds of files; here each stands
//! alone.

use boswell_model::Tip;

use super::super::client::{Client, Resumed, resume};
use super::super::fixture::{Bytes, assistant, base, file, line, read_bytes, text, user};

/// Returns where 2.1.50, 2.1.150 and 2.1.325 continue.
fn resumed(lines: &[String]) -> [String; 3] {
    let bytes = file(lines);
    let read = read_bytes(&bytes);
    let payloads = Bytes(&bytes);
    let view = read.view(&payloads);
    Client::ALL.map(|client| match resume(&view, client).unwrap() {
        Resumed::From { tip: Tip::Root, .. } => "root".to_owned(),
        Resumed::From {
            tip: Tip::At(slot), ..
        } => read.log.label(slot).into_owned(),
        Resumed::Refused => "refused".to_owned(),
        Resumed::Failed => "failed".to_owned(),
    })
}

/// Returns the path of the newest version, from its root.
fn path(lines: &[String]) -> Vec<String> {
    let bytes = file(lines);
    let read = read_bytes(&bytes);
    let payloads = Bytes(&bytes);
    match resume(&read.view(&payloads), Client::NEWEST).unwrap() {
        Resumed::From { path, .. } => {
            let labels = path.iter().map(|slot| read.log.label(*slot).into_owned());
            labels.collect()
        }
        _ => Vec::new(),
    }
}

fn stated(leaf: &str) -> String {
    format!(r#"{{"type":"last-prompt","leafUuid":{leaf}}}"#)
}

/// The base session, and a second branch that was written later.
fn with_branch() -> Vec<String> {
    let mut lines = base();
    lines.push(user("b1", Some("a1"), 20, "ELSEWHERE"));
    lines.push(assistant("b2", "b1", 21, "m9", &text("done elsewhere")));
    lines
}

fn and(mut lines: Vec<String>, more: String) -> Vec<String> {
    lines.push(more);
    lines
}

#[test]
fn without_a_statement_the_last_line_counts() {
    assert_eq!(resumed(&with_branch()), ["b2", "b2", "b2"]);
}

#[test]
fn a_statement_moves_new_versions_to_the_line_that_it_names() {
    // 2.1.50 does not read it.
    assert_eq!(
        resumed(&and(with_branch(), stated("\"a5\""))),
        ["b2", "a5", "a5"]
    );
}

#[test]
fn the_last_line_counts_if_it_descends_from_the_named_one() {
    assert_eq!(
        resumed(&and(with_branch(), stated("\"b1\""))),
        ["b2", "b2", "b2"]
    );
}

#[test]
fn a_statement_about_a_line_that_does_not_exist_does_not_count() {
    assert_eq!(
        resumed(&and(with_branch(), stated("\"nowhere\""))),
        ["b2", "b2", "b2"]
    );
}

#[test]
fn the_newest_version_goes_on_to_the_newest_line_below_the_last_one() {
    let mut lines = base();
    // The first answer is the last line of the file, and others continue it.
    let moved = lines.remove(1);
    let lines = and(lines, moved);
    assert_eq!(resumed(&lines), ["a5", "a1", "a5"]);
    // A statement that does not count keeps it from looking for one.
    let lines = and(lines, stated("\"nowhere\""));
    assert_eq!(resumed(&lines), ["a5", "a1", "a1"]);
}

#[test]
fn an_explicit_statement_of_no_line_resets_the_newest_version() {
    let reset = r#"{"type":"last-prompt","leafUuid":null,"explicit":true}"#.to_owned();
    assert_eq!(resumed(&and(base(), reset.clone())), ["a5", "a5", "root"]);
    // What was written afterwards counts again.
    let lines = and(base(), reset);
    let lines = and(lines, user("u9", None, 30, "AGAIN"));
    assert_eq!(resumed(&lines)[2], "u9");
}

#[test]
fn the_oldest_version_takes_the_newest_time_and_a_first_line_without_one() {
    let mut lines = base();
    lines.swap(0, 1);
    assert_eq!(resumed(&lines)[0], "a5");
    let mut lines = base();
    if let Some(first) = lines.first_mut() {
        *first = first.replace("\"timestamp\":\"2026-01-01T00:00:01.000Z\",", "");
    }
    assert_eq!(resumed(&lines)[0], "u1");
}

#[test]
fn a_missing_parent_is_bridged_within_five_seconds() {
    let without = |second: usize| {
        vec![
            user("u1", None, 1, "ONE"),
            assistant("a1", "u1", 2, "m1", &text("one done")),
            user("u2", Some("gone"), second, "TWO"),
        ]
    };
    assert_eq!(path(&without(7)), ["u1", "a1", "u2"]);
    assert_eq!(path(&without(8)), ["u2"]);
}

#[test]
fn a_cycle_is_left_at_the_newest_line_before_it() {
    let lines = vec![
        user("u1", None, 1, "ONE"),
        user("u2", Some("a2"), 2, "TWO"),
        assistant("a2", "u2", 3, "m2", &text("two done")),
    ];
    assert_eq!(path(&lines), ["u1", "u2", "a2"]);
}

#[test]
fn lines_beside_the_messages_do_not_hide_the_message_above_them() {
    let note = |uuid: &str, parent: &str, second| {
        line(
            "system",
            uuid,
            Some(parent),
            second,
            r#""subtype":"informational","content":"a note","level":"info""#,
        )
    };
    let lines = and(base(), note("s1", "a5", 11));
    let lines = and(lines, note("s2", "s1", 12));
    assert_eq!(resumed(&lines), ["s2", "s2", "s2"]);
}
