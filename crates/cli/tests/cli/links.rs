//! One conversation in two stores is one row.

use boswell_testkit::{Planted, TestHome};
use serde_json::Value;

use crate::bench::Bench;

fn reference(planted: &Planted) -> String {
    format!("{}:{}", planted.dialect, planted.id)
}

fn refs_of(row: &Value) -> Vec<String> {
    let links = row["links"].as_array().unwrap();
    std::iter::once(&row["ref"])
        .chain(links.iter().map(|link| &link["ref"]))
        .map(|r| r.as_str().unwrap().to_owned())
        .collect()
}

/// Creates a home; returns its rows in `list --json --hidden`, and the planted pairs: front, other
/// side.
fn linked() -> (Bench, Vec<Value>, Vec<(Planted, Planted)>) {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 7);
    let rows = bench
        .run(["list", "--json", "--hidden"])
        .ends(0)
        .of_type("session");
    let pairs: Vec<(Planted, Planted)> = home
        .planted
        .iter()
        .filter_map(|front| {
            let (dialect, id) = front.link.clone()?;
            let other = home
                .planted
                .iter()
                .find(|other| other.dialect == dialect && other.id == id)?;
            Some((front.clone(), other.clone()))
        })
        .collect();
    (bench, rows, pairs)
}

#[test]
fn a_conversation_in_myagents_and_in_claude_is_listed_once_with_both_places() {
    let (_bench, rows, pairs) = linked();
    let pairs: Vec<_> = pairs
        .iter()
        .filter(|(front, other)| front.dialect == "myagents" && other.dialect == "claude")
        .collect();
    assert_eq!(pairs.len(), 2, "one that shares its id, one that does not");
    for (front, other) in pairs {
        once_with_both_places(&rows, front, other);
    }
}

#[test]
fn a_clinvoker_session_and_that_of_its_backend_are_listed_once() {
    let (_bench, rows, pairs) = linked();
    let pairs: Vec<_> = pairs
        .iter()
        .filter(|(front, _)| front.dialect == "clinvoker")
        .collect();
    let backends: Vec<_> = pairs.iter().map(|(_, other)| other.dialect).collect();
    assert_eq!(backends, ["claude", "codex"]);
    for (front, other) in pairs {
        once_with_both_places(&rows, front, other);
    }
}

fn once_with_both_places(rows: &[Value], front: &Planted, other: &Planted) {
    let (a, b) = (reference(front), reference(other));
    let mine: Vec<&Value> = rows
        .iter()
        .filter(|row| refs_of(row).iter().any(|r| *r == a || *r == b))
        .collect();
    assert_eq!(mine.len(), 1, "{a} and {b} are in {} rows", mine.len());
    assert_eq!(refs_of(mine[0]), [a, b]);
    assert_eq!(mine[0]["path"], front.path.to_str().unwrap());
    assert_eq!(mine[0]["links"][0]["path"], other.path.to_str().unwrap());
}

#[test]
fn every_planted_session_is_in_exactly_one_row() {
    let (bench, rows, _) = linked();
    let home = TestHome::build(&bench.home(), 7);
    for planted in &home.planted {
        let wanted = reference(planted);
        let count = rows
            .iter()
            .flat_map(refs_of)
            .filter(|r| *r == wanted)
            .count();
        assert_eq!(count, 1, "{planted:?}");
    }
}

#[test]
fn the_text_of_a_list_names_both_agents_of_a_linked_conversation() {
    let (bench, _, pairs) = linked();
    let text = bench.run(["list"]).ends(0).text();
    for (front, other) in pairs {
        let shown = |line: &str| {
            line.split(' ')
                .next()
                .is_some_and(|short| !short.is_empty() && front.id.starts_with(short))
        };
        let lines: Vec<&str> = text.lines().filter(|line| shown(line)).collect();
        assert_eq!(lines.len(), 1, "{}", front.id);
        assert!(
            lines[0].contains(&format!("+{}", other.dialect)),
            "{}",
            lines[0]
        );
    }
}

#[test]
fn stores_pairs_counts_what_is_kept_twice_and_once() {
    let (bench, _, pairs) = linked();
    let told = bench
        .run(["stores", "--pairs", "--json"])
        .ends(0)
        .of_type("pairs");
    for dialect in ["myagents", "clinvoker"] {
        let line = told.iter().find(|line| line["dialect"] == dialect).unwrap();
        let mine: Vec<_> = pairs
            .iter()
            .filter(|(front, _)| front.dialect == dialect)
            .collect();
        assert_eq!(line["twice"], mine.len(), "{line}");
        let bytes = |path: &std::path::Path| boswell_testkit::disk::read(path).len();
        let here: usize = mine.iter().map(|(front, _)| bytes(&front.path)).sum();
        let there: usize = mine.iter().map(|(_, other)| bytes(&other.path)).sum();
        assert_eq!(
            (&line["bytes"], &line["other_bytes"]),
            (&Value::from(here), &Value::from(there)),
            "{line}"
        );
        assert_eq!(line["total_bytes"], here + there);
        let ratio = here as f64 / there as f64;
        assert!(
            (line["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9,
            "{line}"
        );
    }
    let clinvoker = told
        .iter()
        .find(|line| line["dialect"] == "clinvoker")
        .unwrap();
    assert!(
        clinvoker["transcript_gone"].as_u64().unwrap() > 0,
        "its other sessions point at nothing: {clinvoker}"
    );
    let text = bench.run(["stores", "--pairs"]).ends(0).text();
    assert!(text.contains("2 sessions in two stores"), "{text}");
}

#[test]
fn either_id_of_a_linked_conversation_leads_to_it_and_a_side_can_be_chosen() {
    let (bench, _, pairs) = linked();
    let shared = pairs
        .iter()
        .find(|(front, other)| front.id == other.id)
        .unwrap();
    let session = |args: &[&str]| -> String {
        let ran = bench
            .run(args.iter().chain(&["--records", "--json"]))
            .ends(0);
        ran.lines()[0]["session"].as_str().unwrap().to_owned()
    };
    // The engine's transcript is the more complete side.
    assert_eq!(session(&["show", &shared.0.id]), reference(&shared.1));
    for side in [&shared.0, &shared.1] {
        assert_eq!(
            session(&["show", &side.id, "--agent", side.dialect]),
            reference(side)
        );
        assert_eq!(session(&["show", &reference(side)]), reference(side));
    }
    let refused = bench
        .run(["show", &shared.0.id, "--agent", "codex"])
        .ends(2);
    refused.says("no side in the dialect").says("hint:");
}

#[test]
fn deleting_the_front_of_a_pair_leaves_the_transcript_that_its_engine_resumes_by() {
    let (bench, _, pairs) = linked();
    for (front, other) in pairs
        .iter()
        .filter(|(front, _)| front.dialect == "myagents")
    {
        let (shown, kept) = (reference(front), reference(other));
        let transcript = boswell_testkit::disk::read(&other.path);
        bench
            .run(["delete", "--apply", &shown])
            .ends(0)
            .says(&format!("its transcript {kept} stays"));
        assert_eq!(boswell_testkit::disk::read(&other.path), transcript);
        let rows = bench
            .run(["list", "--json", "--hidden"])
            .ends(0)
            .of_type("session");
        assert!(
            rows.iter().any(|row| row["ref"] == kept.as_str()),
            "{kept} stands alone now"
        );
        let left: Vec<&Value> = rows
            .iter()
            .filter(|row| row["ref"] == shown.as_str() && row["hidden"] != "ghost")
            .collect();
        assert!(left.is_empty(), "{left:?}");
        bench.run(["restore", &shown]).ends(0);
        let rows = bench
            .run(["list", "--json", "--hidden"])
            .ends(0)
            .of_type("session");
        once_with_both_places(&rows, front, other);
        // A user who names both sides means both.
        let ran = bench.run(["delete", "--apply", &shown, &kept]).ends(0);
        assert!(!ran.stderr.contains("stays"), "{ran:?}");
        assert!(!other.path.exists());
    }
}
