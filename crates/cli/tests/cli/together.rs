//! Several processes make changes concurrently: every acknowledged change exists afterwards.

use std::collections::BTreeSet;
use std::sync::Barrier;

use boswell_testkit::{disk, make};
use serde_json::Value;

use crate::bench::{Bench, Ran};

/// Number of concurrent processes.
const PROCESSES: usize = 4;

/// Runs lists of commands concurrently, each list in order, and returns the result of each command.
fn at_once(bench: &Bench, lists: &[Vec<Vec<String>>]) -> Vec<Ran> {
    // All start together: without contention the test would prove nothing.
    let start = Barrier::new(lists.len());
    std::thread::scope(|scope| {
        let run = |list: &'_ Vec<Vec<String>>| {
            start.wait();
            list.iter().map(|args| bench.run(args)).collect::<Vec<_>>()
        };
        let threads: Vec<_> = lists
            .iter()
            .map(|list| scope.spawn(move || run(list)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

fn session_of(bench: &Bench, reference: &str) -> Value {
    let rows = bench
        .run(["list", "--json", "--hidden"])
        .ends(0)
        .of_type("session");
    rows.into_iter()
        .find(|row| row["ref"] == reference)
        .unwrap()
}

fn tags_of(row: &Value) -> BTreeSet<String> {
    row["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag.as_str().unwrap().to_owned())
        .collect()
}

/// Each process adds its own tags concurrently; every tag must exist afterwards.
fn tag_from_all_sides(bench: &Bench, session: &str, each: usize) {
    let tag = |process: usize, number: usize| format!("t{process}-{number}");
    let list = |process| {
        (0..each)
            .map(|number| words(&["tag", session, &tag(process, number)]))
            .collect()
    };
    let lists: Vec<_> = (0..PROCESSES).map(list).collect();
    for ran in at_once(bench, &lists) {
        ran.ends(0);
    }
    let all: BTreeSet<String> = (0..PROCESSES)
        .flat_map(|process| (0..each).map(move |number| tag(process, number)))
        .collect();
    let lost: Vec<_> = all
        .difference(&tags_of(&session_of(bench, session)))
        .cloned()
        .collect();
    assert!(
        lost.is_empty(),
        "of {} tags these were acknowledged and are lost: {lost:?}",
        all.len()
    );
}

#[test]
fn tags_that_processes_give_one_session_at_once_are_all_kept() {
    let bench = Bench::new();
    let session = bench
        .run(["new", "--title", "busy"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    tag_from_all_sides(&bench, &session, 25);
}

#[test]
fn tags_that_become_notes_or_go_into_an_agents_document_are_all_kept_as_well() {
    let bench = Bench::new();
    let made = make::claude::file(make::claude::ClaudeShape::ALL[0], "/proj/demo", 1);
    made.write_to(&bench.home().join(".claude"));
    // Claude Code supports one tag: the others become notes.
    tag_from_all_sides(&bench, &format!("claude:{}", made.id), 6);
    // clinvoker has one document per session and one index for all.
    let batch = make::clinvoker::store(make::clinvoker::ClinvokerIndexState::ALL[0], 5);
    batch.write_to(&bench.home().join(".clinvk"));
    tag_from_all_sides(&bench, &format!("clinvoker:{}", batch.sessions[0].id), 6);
}

#[test]
fn tag_untag_rename_and_status_at_once_lose_nothing_of_each_other() {
    const EACH: usize = 12;
    let bench = Bench::new();
    let session = bench
        .run(["new", "--title", "busy"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let named = |kind: &str| {
        (0..EACH)
            .map(|number| format!("{kind}-{number}"))
            .collect::<Vec<_>>()
    };
    let (old, new) = (named("old"), named("new"));
    let first = [words(&["tag", &session, "stays"]), old.clone()].concat();
    bench.run(&first).ends(0);
    let lists = [
        new.iter()
            .map(|tag| words(&["tag", &session, tag]))
            .collect::<Vec<_>>(),
        old.iter()
            .map(|tag| words(&["untag", &session, tag]))
            .collect(),
        named("title")
            .iter()
            .map(|title| words(&["rename", &session, title]))
            .collect(),
        (0..EACH)
            .map(|n| {
                words(&[
                    "status",
                    &session,
                    if n % 2 == 0 { "paused" } else { "active" },
                ])
            })
            .collect(),
    ];
    for ran in at_once(&bench, &lists) {
        ran.ends(0);
    }
    let row = session_of(&bench, &session);
    let expected = new.into_iter().chain(["stays".to_owned()]);
    assert_eq!(
        tags_of(&row),
        expected.collect(),
        "added tags are there, removed ones did not come back"
    );
    assert_eq!(
        (&row["title"], &row["status"]),
        (&"title-11".into(), &"active".into()),
        "the last one of each counts"
    );
}

#[test]
fn lines_that_processes_add_to_one_memory_page_at_once_are_all_kept() {
    const EACH: usize = 8;
    let bench = Bench::new();
    let line = |process: usize, number: usize| format!("line {process}-{number}");
    let list = |process| {
        (0..EACH)
            .map(|number| words(&["memory", "add", "page", &line(process, number)]))
            .collect::<Vec<_>>()
    };
    for ran in at_once(&bench, &(0..PROCESSES).map(list).collect::<Vec<_>>()) {
        ran.ends(0);
    }
    let text = bench.run(["memory", "show"]).ends(0).text();
    let there: BTreeSet<&str> = text.lines().map(str::trim).collect();
    for (process, number) in
        (0..PROCESSES).flat_map(|process| (0..EACH).map(move |number| (process, number)))
    {
        assert!(
            there.contains(line(process, number).as_str()),
            "{process}-{number} is missing in:\n{text}"
        );
    }
}

#[test]
fn stores_that_are_kept_from_now_on_by_processes_at_once_are_all_remembered() {
    let bench = Bench::new();
    let folder = |process: usize| bench.root().join(format!("claude-{process}"));
    let list = |process| {
        disk::write(&folder(process).join("projects/-p/empty"), b"");
        let store = format!("claude={}", folder(process).display());
        vec![words(&["--store", &store, "keep", "on", "--apply"])]
    };
    for ran in at_once(&bench, &(0..PROCESSES).map(list).collect::<Vec<_>>()) {
        ran.ends(0);
    }
    let state = String::from_utf8(disk::read(&bench.own().join("keep.json"))).unwrap();
    for process in 0..PROCESSES {
        // A hook that is not recorded here would stay in the agent's settings after `keep off`.
        assert!(
            state.contains(&format!("claude-{process}\"")),
            "claude-{process} is missing in {state}"
        );
    }
}

#[test]
fn an_operation_that_processes_undo_at_once_is_undone_once() {
    let bench = Bench::new();
    bench.run(["memory", "add", "page", "first"]).ends(0);
    bench.run(["memory", "add", "page", "second"]).ends(0);
    let id = bench.run(["ops", "--json"]).ends(0).of_type("op")[0]["op"]
        .as_str()
        .unwrap()
        .to_owned();
    let lists = vec![vec![words(&["undo", &id])]; PROCESSES];
    let codes: Vec<_> = at_once(&bench, &lists)
        .into_iter()
        .map(|ran| ran.code)
        .collect();
    assert_eq!(
        codes.iter().filter(|code| **code == Some(0)).count(),
        1,
        "{codes:?}"
    );
    let text = bench.run(["memory", "show"]).ends(0).text();
    assert!(text.contains("first") && !text.contains("second"), "{text}");
}
