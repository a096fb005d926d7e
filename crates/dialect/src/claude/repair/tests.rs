use boswell_model::{Instant, Repair};

use super::super::Claude;
use super::super::fixture::{Bytes, assistant, base, call, file, line, read_bytes, result, sent, text, user};
use super::*;
use crate::{Chance, Depth, Dialect, Located, Patch, Piece, Reader};

#[derive(Debug)]
struct Fixed;

impl Chance for Fixed {
    fn now(&self) -> Instant {
        Instant::from_millis(0)
    }

    fn random(&self) -> u64 {
        7
    }
}

fn located() -> Located {
    Located { key: Some("projects/-p/s.jsonl".into()), ..Located::of("s", boswell_model::Framing::Lines, 0) }
}

fn with_mending<T>(bytes: &[u8], ask: impl FnOnce(&Mending<'_>) -> T) -> T {
    let located = located();
    let read = Reader::read(&Claude, &located, bytes, Depth::Pairs);
    let payloads = Bytes(bytes);
    let pairs = read.pairs.clone().unwrap();
    ask(&Mending { located: &located, view: read.view(&payloads), facts: &read.facts, pairs: &pairs, chance: &Fixed })
}

fn found(bytes: &[u8]) -> Vec<Mend> {
    with_mending(bytes, |mending| mends(mending).unwrap())
}

fn mended(bytes: &[u8]) -> Vec<u8> {
    let splices: Vec<Splice> = found(bytes).into_iter().flat_map(|mend| mend.splices).collect();
    let part = |piece: &Piece| match piece {
        Piece::Old { at, len } => bytes[*at as usize..(*at + *len) as usize].to_vec(),
        Piece::New(bytes) => bytes.clone(),
    };
    Patch::whole(bytes.len() as u64).spliced(&splices).pieces().iter().flat_map(part).collect()
}

fn parent_of(bytes: &[u8], id: &str) -> Option<String> {
    let read = read_bytes(bytes);
    let slot = read.log.find(id).unwrap();
    read.log.heads[slot.index()].parent.map(|parent| read.log.names.text(parent).to_owned())
}

fn reparent(line: &str, parent: &str) -> String {
    format!("{{\"parentUuid\":{parent},\"isSidechain\"{}", line.split_once(",\"isSidechain\"").unwrap().1)
}

fn side(line: String) -> String {
    line.replace("\"isSidechain\":false", "\"isSidechain\":true")
}

#[test]
fn a_sound_session_needs_nothing() {
    assert_eq!(found(&file(&base())), []);
}

#[test]
fn an_answer_hangs_below_its_call_and_a_part_below_the_part_before() {
    let mut lines = base();
    lines[6] = reparent(&lines[6], "\"gone\"");
    lines[4] = reparent(&lines[4], "\"gone too\"");
    let bytes = file(&lines);
    let mends = found(&bytes);
    assert!(mends.iter().all(|mend| mend.confidence == Confidence::Certain), "{mends:?}");
    assert_eq!(parent_of(&mended(&bytes), "r2").as_deref(), Some("a3"));
    assert_eq!(parent_of(&mended(&bytes), "a3").as_deref(), Some("a2"));
    assert_eq!(mended(&bytes), file(&base()));
}

#[test]
fn side_chains_and_progress_are_passed_over() {
    let mut lines = base();
    lines[8] = reparent(&lines[8], "\"gone\"");
    lines.insert(8, line("progress", "pg", Some("a4"), 8, r#""data":{}"#));
    lines.insert(8, side(user("s1", None, 8, "SIDE")));
    let bytes = file(&lines);
    assert_eq!(parent_of(&mended(&bytes), "u3").as_deref(), Some("a4"));
    assert_eq!(found(&bytes)[0].helps, readers::STOP_AT_GAPS, "the newest client bridges it alike");
}

#[test]
fn children_of_one_missing_parent_stay_together() {
    let mut lines = base();
    lines.push(user("u4", Some("a4"), 11, "OTHER"));
    lines.remove(7);
    let bytes = mended(&file(&lines));
    assert_eq!(parent_of(&bytes, "u3"), parent_of(&bytes, "u4"));
    assert_eq!(parent_of(&bytes, "u4").as_deref(), Some("r2"));
}

#[test]
fn a_file_without_links_gets_them_all_back() {
    let lines: Vec<String> = base().iter().map(|line| reparent(line, "null")).collect();
    let bytes = file(&lines);
    assert!(sent(&bytes).len() < 3);
    assert_eq!(sent(&mended(&bytes)), sent(&file(&base())));
}

#[test]
fn a_call_in_the_middle_is_answered_honestly_and_what_follows_hangs_below() {
    let mut lines = base();
    lines.remove(6);
    lines[6] = reparent(&lines[6], "\"a3\"");
    let bytes = mended(&file(&lines));
    let shown = sent(&bytes);
    assert!(shown.iter().any(|message| message.contains("result t2: [the answer of this call is not in")), "{shown:?}");
    assert!(shown.contains(&"A two done".to_owned()));
    assert_eq!(found(&bytes), [], "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn a_call_at_the_end_is_left_to_the_client() {
    let mut lines = base();
    lines.push(user("u4", Some("a5"), 11, "FOUR"));
    lines.push(assistant("a6", "u4", 12, "m9", &call("t9")));
    let mends = found(&file(&lines));
    assert_eq!(mends.len(), 1);
    assert_eq!(mends[0].helps, readers::LEAVE_CALLS_OPEN);
}

#[test]
fn a_stray_answer_keeps_its_text() {
    let mut lines = base();
    lines.push(result("r9", "a5", 11, "nobody"));
    let bytes = mended(&file(&lines));
    assert!(
        sent(&bytes)
            .iter()
            .any(|message| message.contains("not in the session's file]") && message.contains("out nobody"))
    );
    assert_eq!(found(&bytes), []);
}

#[test]
fn twins_are_told_apart_and_what_is_said_anew_is_no_twin() {
    let mut lines = base();
    lines.insert(2, assistant("a1", "u1", 2, "m1", &text("one done, and more")));
    assert_eq!(found(&file(&lines)), []);
    let mut lines = base();
    lines.push(user("a1", Some("a5"), 11, "TWIN"));
    lines.push(assistant("a6", "a1", 12, "m9", &text("twin done")));
    let bytes = mended(&file(&lines));
    let all = sent(&bytes);
    assert_eq!(all.last().map(String::as_str), Some("A twin done"));
    assert!(all.contains(&"A one done".to_owned()), "{all:?}");
}

#[test]
fn a_lost_branch_is_offered_as_a_guess_and_followed_if_taken() {
    let mut lines = base();
    lines.push(user("p1", Some("a5"), 11, "P1"));
    lines.push(user("q1", Some("a5"), 12, "Q1"));
    lines.push(assistant("q2", "q1", 13, "mq", &text("q done")));
    lines.push(assistant("p2", "p1", 14, "mp", &text("p done")));
    let bytes = file(&lines);
    let mends = found(&bytes);
    assert_eq!((mends[0].repair, mends[0].confidence), (Repair::Append, Confidence::Guess));
    assert_eq!(sent(&bytes).last().map(String::as_str), Some("A p done"));
    assert_eq!(sent(&mended(&bytes)).last().map(String::as_str), Some("A q done"));
}

#[test]
fn the_client_reaches_less_than_the_file_holds_where_records_share_a_line() {
    let mut lines = base();
    let glued = lines.remove(2);
    lines[1].push_str(&glued);
    let bytes = file(&lines);
    let read = read_bytes(&bytes);
    let payloads = Bytes(&bytes);
    let view = read.view(&payloads);
    let tip = Claude.tip(&view).unwrap();
    assert_eq!(Claude.reached(&view, tip).unwrap().len() + 1, Claude.branch(&view, tip).unwrap().len());
}
