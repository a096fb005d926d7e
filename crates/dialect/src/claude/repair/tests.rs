use crate::Repairer;
use boswell_model::{Instant, Repair};

use super::super::Claude;
use super::super::fixture::{
    Bytes, DOT, assistant, base, call, file, image, line, read_bytes, result, sent, text, user,
    with_content,
};
use super::*;
use crate::{Clock, Depth, Dialect, IdSource, Patch, PatchPiece, Reader, SessionLocation};

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Instant {
        Instant::from_millis(0)
    }
}

impl IdSource for Fixed {
    fn random(&self) -> u64 {
        7
    }
}

fn location() -> SessionLocation {
    SessionLocation {
        key: Some("projects/-p/s.jsonl".into()),
        ..SessionLocation::of("s", boswell_model::Framing::Lines, 0)
    }
}

fn with_mending<T>(bytes: &[u8], ask: impl FnOnce(&RepairInput<'_>) -> T) -> T {
    let location = location();
    let read = Reader::read(&Claude, &location, bytes, Depth::Pairs);
    let payloads = Bytes(bytes);
    let pairs = read.pairs.clone().unwrap();
    ask(&RepairInput {
        location: &location,
        view: read.view(&payloads),
        meta: &read.meta,
        pairs: &pairs,
        id_source: &Fixed,
    })
}

/// Returns the fixes of the first stage that has any.
fn found_for_all(bytes: &[u8]) -> Vec<Fix> {
    let mut fixes = with_mending(bytes, |repair_input| fixes(repair_input).unwrap());
    let stage = fixes.iter().map(|fix| fix.stage).min();
    fixes.retain(|fix| Some(fix.stage) == stage);
    fixes
}

/// Returns the fixes that are offered if no reader is named.
fn found(bytes: &[u8]) -> Vec<Fix> {
    found_for_all(bytes)
        .into_iter()
        .filter(|fix| fix.problem.is_damage())
        .collect()
}

/// Returns the file after every stage.
fn fixed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for stage in 0..4 {
        let mut found = with_mending(&bytes, |repair_input| fixes(repair_input).unwrap());
        found.retain(|fix| fix.stage == stage && fix.problem.is_damage());
        bytes = applied(&bytes, found);
    }
    bytes
}

fn applied(bytes: &[u8], fixes: Vec<Fix>) -> Vec<u8> {
    let splices: Vec<Splice> = fixes.into_iter().flat_map(|fix| fix.splices).collect();
    let part = |piece: &PatchPiece| match piece {
        PatchPiece::Old { at, len } => bytes[*at as usize..(*at + *len) as usize].to_vec(),
        PatchPiece::New(bytes) => bytes.clone(),
    };
    Patch::whole(bytes.len() as u64)
        .spliced(&splices)
        .pieces()
        .iter()
        .flat_map(part)
        .collect()
}

fn parent_of(bytes: &[u8], id: &str) -> Option<String> {
    let read = read_bytes(bytes);
    let slot = read.log.find(id).unwrap();
    read.log.heads[slot.index()]
        .parent
        .map(|parent| read.log.names.text(parent).to_owned())
}

fn reparent(line: &str, parent: &str) -> String {
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\"{}",
        line.split_once(",\"isSidechain\"").unwrap().1
    )
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
    let fixes = found(&bytes);
    assert!(
        fixes
            .iter()
            .all(|fix| fix.confidence == Confidence::Certain),
        "{fixes:?}"
    );
    assert_eq!(parent_of(&fixed(&bytes), "r2").as_deref(), Some("a3"));
    assert_eq!(parent_of(&fixed(&bytes), "a3").as_deref(), Some("a2"));
    assert_eq!(fixed(&bytes), file(&base()));
}

#[test]
fn side_chains_and_progress_are_passed_over() {
    let mut lines = base();
    lines[8] = reparent(&lines[8], "\"gone\"");
    lines.insert(8, line("progress", "pg", Some("a4"), 8, r#""data":{}"#));
    lines.insert(8, side(user("s1", None, 8, "SIDE")));
    let bytes = file(&lines);
    assert_eq!(parent_of(&fixed(&bytes), "u3").as_deref(), Some("a4"));
    assert_eq!(
        found(&bytes)[0].helps,
        readers::STOP_AT_GAPS,
        "the newest client bridges it alike"
    );
}

#[test]
fn children_of_one_missing_parent_stay_together() {
    let mut lines = base();
    lines.push(user("u4", Some("a4"), 11, "OTHER"));
    lines.remove(7);
    let bytes = fixed(&file(&lines));
    assert_eq!(parent_of(&bytes, "u3"), parent_of(&bytes, "u4"));
    assert_eq!(parent_of(&bytes, "u4").as_deref(), Some("r2"));
}

#[test]
fn a_file_without_links_gets_them_all_back() {
    let mut whole = base();
    whole.insert(
        2,
        line(
            "attachment",
            "at",
            Some("a1"),
            3,
            r#""attachment":{"type":"date"}"#,
        ),
    );
    let lines: Vec<String> = whole.iter().map(|line| reparent(line, "null")).collect();
    let bytes = file(&lines);
    assert!(sent(&bytes).len() < 3);
    assert_eq!(sent(&fixed(&bytes)), sent(&file(&base())));
}

#[test]
fn a_stray_answer_below_a_call_that_waits_is_its_answer() {
    let mut lines = base();
    lines[6] = lines[6].replace("\"t2\"", "\"nobody\"");
    let bytes = file(&lines);
    assert_eq!(
        found(&bytes)
            .iter()
            .map(|fix| fix.confidence)
            .collect::<Vec<_>>(),
        [Confidence::Certain]
    );
    assert_eq!(fixed(&bytes), file(&base()));
}

#[test]
fn a_call_in_the_middle_is_answered_honestly_and_what_follows_hangs_below() {
    let mut lines = base();
    lines.remove(6);
    lines[6] = reparent(&lines[6], "\"a3\"");
    let bytes = fixed(&file(&lines));
    let shown = sent(&bytes);
    assert!(
        shown
            .iter()
            .any(|message| message.contains("result t2: [the answer of this call is not in")),
        "{shown:?}"
    );
    assert!(shown.contains(&"A two done".to_owned()));
    assert_eq!(found(&bytes), [], "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn a_call_at_the_end_is_left_to_the_client() {
    let mut lines = base();
    lines.push(user("u4", Some("a5"), 11, "FOUR"));
    lines.push(assistant("a6", "u4", 12, "m9", &call("t9")));
    let fixes = found(&file(&lines));
    assert_eq!(fixes.len(), 1);
    assert_eq!(fixes[0].helps, readers::LEAVE_CALLS_OPEN);
}

#[test]
fn a_stray_answer_keeps_its_text() {
    let mut lines = base();
    lines.push(result("r9", "a5", 11, "nobody"));
    let bytes = fixed(&file(&lines));
    assert!(
        sent(&bytes)
            .iter()
            .any(|message| message.contains("not in the session's file]")
                && message.contains("out nobody"))
    );
    assert_eq!(found(&bytes), []);
}

#[test]
fn twins_are_told_apart_and_what_is_said_anew_is_no_twin() {
    let mut lines = base();
    lines.insert(
        2,
        assistant("a1", "u1", 2, "m1", &text("one done, and more")),
    );
    assert_eq!(found(&file(&lines)), []);
    let mut lines = base();
    lines.push(user("a1", Some("a5"), 11, "TWIN"));
    lines.push(assistant("a6", "a1", 12, "m9", &text("twin done")));
    let bytes = fixed(&file(&lines));
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
    let fixes = found(&bytes);
    assert_eq!(
        (fixes[0].repair, fixes[0].confidence),
        (Repair::Append, Confidence::Guess)
    );
    assert_eq!(sent(&bytes).last().map(String::as_str), Some("A p done"));
    assert_eq!(
        sent(&fixed(&bytes)).last().map(String::as_str),
        Some("A q done")
    );
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
    assert_eq!(
        Claude.entries_agent_sees(&view, tip).unwrap().len() + 1,
        Claude.branch(&view, tip).unwrap().len()
    );
}

#[test]
fn a_call_with_the_id_of_another_gets_the_one_that_its_answer_names() {
    let mut lines = base();
    lines[4] = lines[4].replace("\"t2\"", "\"t1\"");
    let bytes = file(&lines);
    assert!(
        found(&bytes)
            .iter()
            .all(|fix| fix.confidence == Confidence::Certain)
    );
    assert_eq!(fixed(&bytes), file(&base()));
}

#[test]
fn twin_calls_are_told_apart_with_their_answers_and_a_lost_answer_is_said_to_be_lost() {
    let mut lines = base();
    for at in [4, 6] {
        lines[at] = lines[at].replace("\"t2\"", "\"t1\"");
    }
    let bytes = file(&lines);
    let all = sent(&fixed(&bytes));
    assert!(
        all.iter()
            .any(|said| said.starts_with("A call t1 + call toolu_")),
        "{all:?}"
    );
    assert!(
        all.iter()
            .any(|said| said.starts_with("U result toolu_") && said.ends_with("out t2")),
        "{all:?}"
    );
    assert_eq!(found(&fixed(&bytes)), []);
    lines.remove(6);
    lines[6] = reparent(&lines[6], "\"r1\"");
    let bytes = file(&lines);
    assert_eq!(found(&bytes)[0].confidence, Confidence::Likely);
    let all = sent(&fixed(&fixed(&bytes)));
    assert!(
        all.iter()
            .any(|said| said.contains("result toolu_") && said.contains("is unknown")),
        "{all:?}"
    );
}

#[test]
fn a_call_of_another_branch_may_have_the_same_id() {
    let mut lines = base();
    lines.push(assistant("b2", "u2", 11, "m9", &call("t1")));
    lines.push(result("s1", "b2", 12, "t1"));
    assert!(
        found(&file(&lines))
            .iter()
            .all(|fix| fix.problem != ProblemKind::DuplicateCall)
    );
}

#[test]
fn calls_made_at_once_are_put_in_a_row_for_old_clients_alone() {
    let bytes = file(&base());
    let fixes = found_for_all(&bytes);
    assert_eq!(
        fixes
            .iter()
            .map(|fix| (fix.problem, fix.helps))
            .collect::<Vec<_>>(),
        [(ProblemKind::ParallelCalls, readers::ONE_PARENT)]
    );
    let rowed = applied(&bytes, fixes);
    assert_eq!(parent_of(&rowed, "r1").as_deref(), Some("a3"));
    assert_eq!(parent_of(&rowed, "r2").as_deref(), Some("r1"));
    assert_eq!(
        sent(&rowed),
        sent(&bytes),
        "the newest client sends the same"
    );
    assert_eq!(found_for_all(&rowed), []);
}

#[test]
fn an_image_that_the_provider_refuses_gets_a_note_in_its_place_and_a_sound_one_stays() {
    let mut lines = base();
    lines[2] = with_content(
        &lines[2],
        &format!("{},{},{}", image(DOT), image("!!!!"), text("TWO")),
    );
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"t1","content":[{},{}]}}"#,
        image(""),
        text("")
    );
    lines[5] = with_content(&lines[5], &result);
    let bytes = file(&lines);
    let fixes = found(&bytes);
    assert_eq!(fixes.len(), 2);
    assert!(fixes.iter().all(|fix| fix.helps.is_empty()), "{fixes:?}");
    assert_eq!(
        [fixes[0].confidence, fixes[1].confidence],
        [Confidence::Certain, Confidence::Likely],
        "{fixes:?}"
    );
    let after = fixed(&bytes);
    let text = String::from_utf8_lossy(&after);
    assert!(text.contains(DOT) && !text.contains("!!!!"), "{text}");
    assert!(
        text.contains("[an image was left out by repair: its data is broken]"),
        "{text}"
    );
    assert!(
        text.contains("[an image was left out by repair: it holds nothing]"),
        "{text}"
    );
    assert_eq!(
        found_for_all(&after)
            .iter()
            .filter(|fix| fix.problem == ProblemKind::RefusedBlock)
            .count(),
        0
    );
}

#[test]
fn texts_of_nothing_are_left_out_for_those_who_would_send_them() {
    let mut lines = base();
    lines[2] = with_content(&lines[2], &format!("{},{}", text(" "), text("TWO")));
    let fixes = found(&file(&lines));
    assert_eq!(
        fixes.iter().map(|fix| fix.helps).collect::<Vec<_>>(),
        [readers::SEND_BLANKS]
    );
    assert_eq!(sent(&fixed(&file(&lines))), sent(&file(&base())));
}

#[test]
fn a_thought_without_signature_is_refused_only_where_thoughts_are_signed() {
    let thought = r#"{"type":"thinking","thinking":"hm","signature":""}"#;
    let mut lines = base();
    lines[3] = with_content(&lines[3], &format!("{thought},{}", call("t1")));
    assert_eq!(found(&file(&lines)), [], "the model `big` signs nothing");
    lines[3] = lines[3].replace("\"big\"", "\"claude-sonnet-4-5\"");
    let fixes = found(&file(&lines));
    assert_eq!(
        fixes.iter().map(|fix| fix.confidence).collect::<Vec<_>>(),
        [Confidence::Likely]
    );
    assert!(String::from_utf8_lossy(&fixed(&file(&lines))).contains("it has lost its signature"));
}

#[test]
fn a_title_out_of_the_clients_sight_is_said_again_at_the_end() {
    let title = r#"{"type":"custom-title","customTitle":"my title","sessionId":"s"}"#.to_owned();
    let long = |id: &str, parent: &str, second| {
        assistant(id, parent, second, id, &text(&"x".repeat(70 << 10)))
    };
    let mut lines = base();
    lines.extend([long("l1", "a5", 11), title.clone(), long("l2", "l1", 12)]);
    let bytes = file(&lines);
    let fixes = found(&bytes);
    assert_eq!(
        fixes
            .iter()
            .map(|fix| (fix.problem, fix.repair))
            .collect::<Vec<_>>(),
        [(ProblemKind::LostTitle, Repair::Append)]
    );
    let after = fixed(&bytes);
    assert!(after.starts_with(&bytes) && after[bytes.len()..].starts_with(title.as_bytes()));
    assert_eq!(found(&after), []);
    lines.push(title);
    assert_eq!(found(&file(&lines)), [], "one in sight is enough");
}

#[test]
fn what_came_before_a_compaction_is_not_lost_with_the_line_that_it_names() {
    let rest = r#""subtype":"compact_boundary","logicalParentUuid":"gone","compactMetadata":{}"#;
    let mut lines = base();
    lines.push(line("system", "b1", None, 11, rest));
    lines.push(user("s1", Some("b1"), 12, "SUM"));
    let bytes = file(&lines);
    let read = read_bytes(&bytes);
    let payloads = Bytes(&bytes);
    let view = read.view(&payloads);
    assert_eq!(
        Claude
            .entries_agent_sees(&view, Claude.tip(&view).unwrap())
            .unwrap()
            .len(),
        lines.len()
    );
    let fixes = found(&bytes);
    assert_eq!(
        fixes.iter().map(|fix| fix.helps).collect::<Vec<_>>(),
        [readers::STOP_AT_GAPS]
    );
    let after = fixed(&bytes);
    assert_eq!(parent_of(&after, "b1").as_deref(), Some("a5"));
    assert_eq!(found(&after), []);
    assert_eq!(sent(&after), sent(&bytes), "the compaction still cuts");
}
