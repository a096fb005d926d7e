//! Invariants of every generated MyAgents store.

use serde_json::Value;

use super::*;
use crate::jsonl;

fn rows(batch: &crate::Batch) -> Vec<Value> {
    serde_json::from_slice(batch.shared.get("sessions.json").unwrap()).unwrap()
}

#[test]
fn healthy_stores_have_a_row_for_each_transcript_and_counts_that_agree() {
    for shape in [MyAgentsShape::E1, MyAgentsShape::E2, MyAgentsShape::E3] {
        let batch = store(shape, 3);
        let rows = rows(&batch);
        assert_eq!(rows.len(), 3);
        for (made, row) in batch.sessions.iter().zip(&rows) {
            assert_eq!(row["id"], made.id.as_str());
            let lines = jsonl::parse(made.bytes());
            let users = lines.iter().filter(|line| line["role"] == "user").count();
            assert_eq!(row["stats"]["messageCount"], users);
            let blocks = lines
                .iter()
                .filter(|line| line["content"].as_str().unwrap().starts_with('['));
            assert!(blocks.clone().count() > 0);
            for line in blocks {
                let content: Vec<Value> =
                    serde_json::from_str(line["content"].as_str().unwrap()).unwrap();
                assert_eq!(content[1]["type"], "tool_use");
            }
        }
    }
}

#[test]
fn attachments_lie_where_their_rows_say() {
    let batch = store(MyAgentsShape::E3, 4);
    let made = &batch.sessions[0];
    let lines = jsonl::parse(made.bytes());
    let path = lines[2]["attachments"][0]["path"].as_str().unwrap();
    assert!(made.files.get(&format!("attachments/{path}")).is_some());
}

#[test]
fn broken_indexes_are_broken_in_their_own_way() {
    let text = |shape| {
        store(shape, 5)
            .shared
            .get("sessions.json")
            .map(<[u8]>::to_vec)
    };
    assert!(text(MyAgentsShape::IndexMissing).is_none());
    assert!(
        text(MyAgentsShape::BomIndex)
            .unwrap()
            .starts_with(b"\xef\xbb\xbf[")
    );
    for shape in [
        MyAgentsShape::IndexTruncated,
        MyAgentsShape::IndexCutInRow,
        MyAgentsShape::TmpNewer,
    ] {
        assert!(
            serde_json::from_slice::<Value>(&text(shape).unwrap()).is_err(),
            "{shape:?}"
        );
    }
    assert!(rows(&store(MyAgentsShape::IndexWithNull, 5))[1].is_null());
    let batch = store(MyAgentsShape::TmpNewer, 5);
    let times: Vec<_> = batch
        .shared
        .list
        .iter()
        .map(|file| file.modified.unwrap())
        .collect();
    assert!(times[1] > times[0]);
    assert!(serde_json::from_slice::<Value>(&batch.shared.list[1].bytes).is_ok());
}

#[test]
fn intents_match_the_transcript_on_one_side() {
    for (shape, key) in [
        (MyAgentsShape::IntentBefore, "sourceMessageCount"),
        (MyAgentsShape::IntentAfter, "targetMessageCount"),
    ] {
        let batch = store(shape, 6);
        let intent = &rows(&batch)[0]["pendingConversationMutation"];
        assert_eq!(
            intent[key],
            jsonl::parse(batch.sessions[0].bytes()).len(),
            "{shape:?}"
        );
    }
}

#[test]
fn legacy_files_hold_the_same_messages() {
    let batch = store(MyAgentsShape::BothPresent, 7);
    let made = &batch.sessions[0];
    let whole: Value = serde_json::from_slice(
        made.files
            .get(&format!("sessions/{}.json", made.id))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        whole["messages"].as_array().unwrap(),
        &jsonl::parse(made.bytes())
    );
    assert!(
        store(MyAgentsShape::EmptyWithLegacy, 7).sessions[0]
            .bytes()
            .is_empty()
    );
    assert!(
        store(MyAgentsShape::LegacyJson, 7).sessions[0]
            .main
            .ends_with(".json")
    );
}

#[test]
fn one_seed_gives_one_store() {
    for &shape in MyAgentsShape::ALL {
        let (a, b) = (store(shape, 8), store(shape, 8));
        assert_eq!(a.shared, b.shared);
        for (one, other) in a.sessions.iter().zip(&b.sessions) {
            assert_eq!(one.files, other.files);
        }
    }
}
