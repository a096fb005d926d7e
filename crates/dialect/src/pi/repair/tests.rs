use boswell_model::Instant;

use super::super::fixture::{Bytes, HEADER, assistant, entry, read, texts, user, v3};
use super::*;
use crate::{Clock, Depth, IdSource, Patch, PatchPiece, Reader, SessionLocation};

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Instant {
        Instant::from_millis(0)
    }
}

impl IdSource for Fixed {
    fn random(&self) -> u64 {
        0xABCD_EF01_2345_6789
    }
}

fn found(text: &str) -> Vec<Fix> {
    let location = SessionLocation {
        key: Some("sessions/--p--/x_S.jsonl".into()),
        ..SessionLocation::of("S", boswell_model::Framing::Lines, 0)
    };
    let read = Reader::read(&Pi::PI, &location, text.as_bytes(), Depth::Pairs);
    let payloads = Bytes(text);
    let pairs = read.pairs.clone().unwrap();
    fixes(&RepairInput {
        location: &location,
        view: read.view(&payloads),
        meta: &read.meta,
        pairs: &pairs,
        id_source: &Fixed,
    })
    .unwrap()
}

fn fixed(text: &str) -> String {
    let splices: Vec<Splice> = found(text)
        .into_iter()
        .flat_map(|fix| fix.splices)
        .collect();
    let part = |piece: &PatchPiece| match piece {
        PatchPiece::Old { at, len } => text[*at as usize..(*at + *len) as usize].to_owned(),
        PatchPiece::New(bytes) => String::from_utf8(bytes.clone()).unwrap(),
    };
    Patch::whole(text.len() as u64)
        .spliced(&splices)
        .pieces()
        .iter()
        .map(part)
        .collect()
}

#[test]
fn a_gap_is_bridged_to_the_branch_that_was_open() {
    let sound = v3(&[
        user("1", "", "a"),
        assistant("2", "1", "b"),
        user("3", "2", "c"),
    ]);
    assert_eq!(found(&sound), []);
    let broken = sound.replace("\"parentId\":\"2\"", "\"parentId\":\"gone\"");
    assert_eq!(found(&broken)[0].confidence, Confidence::Certain);
    assert_eq!(fixed(&broken), sound);
    let two = v3(&[
        user("1", "", "a"),
        user("2", "1", "b"),
        user("3", "1", "c"),
        user("4", "gone", "d"),
    ]);
    assert_eq!(
        found(&two)[0].confidence,
        Confidence::Likely,
        "two branches are open"
    );
    assert_eq!(texts(Pi::PI, &fixed(&two), None), ["a", "c", "d"]);
}

#[test]
fn the_first_entry_begins_the_conversation_whatever_it_names() {
    let broken = v3(&[user("1", "S", "a"), user("2", "1", "b")]);
    assert_eq!(
        fixed(&broken),
        v3(&[user("1", "", "a"), user("2", "1", "b")])
    );
}

#[test]
fn circles_are_opened_where_they_were_closed() {
    let broken = v3(&[user("1", "", "a"), user("2", "3", "b"), user("3", "2", "c")]);
    assert_eq!(
        fixed(&broken),
        v3(&[user("1", "", "a"), user("2", "1", "b"), user("3", "2", "c")])
    );
}

#[test]
fn a_header_is_brought_to_the_front_or_made_from_what_is_left() {
    let late = format!(
        "{}\n{HEADER}\n{}\n",
        user("1", "", "a"),
        user("2", "1", "b")
    );
    assert_eq!(found(&late)[0].repair, boswell_model::Repair::Rewrite);
    assert!(fixed(&late).starts_with(&format!("{HEADER}\n{}\n", user("1", "", "a"))));
    let torn = format!("{}\n{}\n", &HEADER[..HEADER.len() - 3], user("1", "", "a"));
    let made = fixed(&torn);
    let header = made.lines().find(|line| {
        line.starts_with("{\"type\":\"session\",\"version\":3,\"id\":\"S\"") && line.ends_with('}')
    });
    assert!(header.is_some(), "{made}");
    assert_eq!(found(&made), []);
}

#[test]
fn entries_without_ids_and_links_follow_one_another() {
    let nameless = |text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2025-01-01T00:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let broken = format!("{HEADER}\n{}\n{}\n", nameless("a"), nameless("b"));
    assert_eq!(
        texts(Pi::PI, &broken, None),
        ["b"],
        "pi finds only the last"
    );
    assert_eq!(found(&broken).len(), 2);
}

#[test]
fn twins_are_told_apart() {
    let broken = v3(&[
        user("1", "", "a"),
        user("2", "1", "b"),
        user("1", "2", "c"),
        user("3", "1", "d"),
    ]);
    assert_eq!(texts(Pi::PI, &fixed(&broken), None), ["a", "b", "c", "d"]);
}

#[test]
fn a_call_without_answer_is_answered_before_the_conversation_goes_on() {
    let call = r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"bash","arguments":{}}],"usage":{},"timestamp":1}"#;
    let open = v3(&[user("1", "", "a"), entry("message", "2", "1", call)]);
    assert_eq!(found(&open), [], "at the end the agent knows how to go on");
    let broken = v3(&[
        user("1", "", "a"),
        entry("message", "2", "1", call),
        user("3", "2", "b"),
    ]);
    let text = fixed(&broken);
    assert!(
        text.contains("\"toolCallId\":\"t1\",\"toolName\":\"bash\""),
        "{text}"
    );
    assert_eq!(found(&text), []);
    assert_eq!(texts(Pi::PI, &text, None).len(), 4);
}

#[test]
fn pi_reaches_nothing_of_a_circle_and_skips_lines_that_hold_more_than_a_record() {
    let reach = |text: &str| {
        let read = read(Pi::PI, text);
        let bytes = Bytes(text);
        let view = read.view(&bytes);
        let tip = crate::Dialect::tip(&Pi::PI, &view).unwrap();
        entries_agent_sees(Pi::PI, &view, tip).unwrap().len()
    };
    assert_eq!(reach(&v3(&[user("1", "2", "a"), user("2", "1", "b")])), 0);
    let glued = format!(
        "{HEADER}\n{}{}\n{}\n",
        user("1", "", "a"),
        user("2", "1", "b"),
        user("3", "2", "c")
    );
    assert_eq!(reach(&glued), 1);
}

#[test]
fn calls_with_one_id_are_told_apart_with_the_answers_below_them() {
    let call = |id: &str, parent: &str, call: &str| {
        let content =
            format!(r#"[{{"type":"toolCall","id":"{call}","name":"bash","arguments":{{}}}}]"#);
        entry(
            "message",
            id,
            parent,
            &format!(r#""message":{{"role":"assistant","content":{content},"usage":{{}}}}"#),
        )
    };
    let answer = |id: &str, parent: &str, call: &str| {
        let rest = r#""toolName":"bash","content":[{"type":"text","text":"out"}],"isError":false"#;
        entry(
            "message",
            id,
            parent,
            &format!(r#""message":{{"role":"toolResult","toolCallId":"{call}",{rest}}}"#),
        )
    };
    let session = |second: &str, answered: &str| {
        v3(&[
            user("1", "", "a"),
            call("2", "1", "t1"),
            answer("3", "2", "t1"),
            call("4", "3", second),
            answer("5", "4", answered),
            assistant("6", "5", "done"),
        ])
    };
    let sound = session("t2", "t2");
    assert_eq!(found(&sound), []);
    assert_eq!(
        fixed(&session("t1", "t2")),
        sound,
        "its answer says which id it had"
    );
    let apart = fixed(&session("t1", "t1"));
    assert_eq!(
        apart,
        session("call_abcdef0123456789", "call_abcdef0123456789")
    );
    assert_eq!(found(&apart), []);
}
