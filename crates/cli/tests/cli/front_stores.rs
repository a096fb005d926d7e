//! Stores with an index, or in front of another store: rebuilding their index, and which side a
//! change applies to.

use std::collections::BTreeMap;
use std::path::Path;

use boswell_testkit::make::{claude, clinvoker, myagents, oas};
use boswell_testkit::{Batch, disk};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};

/// Returns every file below a folder.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in disk::list(folder) {
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.display().to_string(), disk::read(&path));
        }
    }
    files
}

/// Reports what is wrong, fixes it, and checks that nothing more is reported.
fn fixed(dialect: &str, batch: &Batch, what: &str) -> (Bench, Ran) {
    let bench = Bench::new();
    let root = bench.home().join("elsewhere");
    batch.write_to(&root);
    let store = format!("{dialect}={}", root.display());
    let index = |apply: &[&str]| {
        let args = ["index", "--native", "--store", &store];
        let ran = bench.run(args.iter().chain(apply));
        // A plan that would change something is no success.
        let code = if apply.is_empty() && !ran.stdout.is_empty() {
            2
        } else {
            0
        };
        ran.ends(code)
    };
    let before = tree(&root);
    let would = index(&[]);
    assert_eq!(tree(&root), before, "{what}: shown, not done");
    let done = index(&["--apply"]);
    assert_eq!(
        would.text().is_empty(),
        done.text().is_empty(),
        "{what}: {would:?} {done:?}"
    );
    assert_eq!(
        tree(&root) == before,
        done.text().is_empty(),
        "{what}: {done:?}"
    );
    let written = tree(&root);
    index(&["--apply"]).says("match their logs");
    assert_eq!(tree(&root), written, "{what}: once is enough");
    let found = bench
        .run(["check", "--json", "--store", &store])
        .of_type("damage");
    let stale: Vec<&Value> = found
        .iter()
        .filter(|it| it["problem"] == "stale_index")
        .collect();
    assert!(stale.is_empty(), "{what}: {stale:?}");
    (bench, done)
}

#[test]
fn the_index_of_myagents_is_rebuilt_from_the_command_line_in_every_era() {
    for &shape in myagents::MyAgentsShape::ALL {
        fixed(
            "myagents",
            &myagents::store(shape, 5),
            &format!("{shape:?}"),
        );
    }
}

#[test]
fn the_index_of_clinvoker_is_rebuilt_from_the_command_line_whatever_it_was() {
    for &state in clinvoker::ClinvokerIndexState::ALL {
        let (_, done) = fixed(
            "clinvoker",
            &clinvoker::store(state, 5),
            &format!("{state:?}"),
        );
        assert_eq!(
            done.text().is_empty(),
            state == clinvoker::ClinvokerIndexState::Right,
            "{state:?}"
        );
    }
}

#[test]
fn the_indexes_of_open_agent_sdk_are_rebuilt_from_the_command_line_whatever_they_were() {
    for &state in oas::OasIndexState::ALL {
        fixed(
            "oas",
            &oas::store(state, "/home/dev/proj/demo", 3),
            &format!("{state:?}"),
        );
    }
}

#[test]
fn what_repairs_an_index_can_be_undone_and_is_refused_where_nothing_may_be_written() {
    let bench = Bench::new();
    let root = bench.home().join(".clinvk");
    clinvoker::store(clinvoker::ClinvokerIndexState::Stale, 5).write_to(&root);
    let before = tree(&root);
    bench
        .run(["index", "--native", "--apply", "--read-only"])
        .ends(2);
    assert_eq!(tree(&root), before);
    bench
        .run(["index", "--native", "--apply"])
        .ends(0)
        .says("boswell undo");
    assert_ne!(tree(&root), before);
    bench.run(["index", "--apply"]).ends(2).says("--native");
}

const ROW: &str = r#"[{"id":"11111111-1111-4111-8111-111111111111","agentDir":"/p","title":"T","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-02T00:00:00.000Z","unifiedSession":true,"cronTaskId":"task-9","stats":{"messageCount":7,"totalInputTokens":0,"totalOutputTokens":0}}]"#;
const ID: &str = "11111111-1111-4111-8111-111111111111";

fn message(number: usize, role: &str) -> String {
    format!(
        "{{\"id\":\"{number}\",\"role\":\"{role}\",\"content\":\"m{number}\",\"timestamp\":\"2026-02-01T00:00:00.000Z\"}}\n"
    )
}

/// Creates one MyAgents session with this many rows.
fn myagents_bench(rows: usize) -> Bench {
    let bench = Bench::new();
    bench.plant(".myagents/sessions.json", ROW.as_bytes());
    let log: String = (0..rows)
        .map(|n| message(n, if n % 2 == 0 { "user" } else { "assistant" }))
        .collect();
    bench.plant(&format!(".myagents/sessions/{ID}.jsonl"), log.as_bytes());
    bench
}

#[test]
fn a_row_that_counts_wrong_is_a_stale_index_until_it_is_rewritten() {
    let bench = myagents_bench(4);
    let session = format!("myagents:{ID}");
    let store = format!("myagents={}", bench.home().join(".myagents").display());
    let found = bench
        .run(["check", &session, "--json", "--store", &store])
        .ends(1)
        .of_type("damage");
    assert_eq!(
        (found.len(), &found[0]["problem"]),
        (1, &json!("stale_index")),
        "{found:?}"
    );
    assert!(
        found[0]["detail"]
            .as_str()
            .unwrap()
            .contains("counts 7 prompts"),
        "{found:?}"
    );
    bench.run(["index", "--native", "--apply"]).ends(0);
    bench.run(["check", &session, "--store", &store]).ends(0);
}

#[test]
fn the_id_of_a_scheduled_task_is_listed() {
    let rows = myagents_bench(2)
        .run(["list", "--json", "--hidden"])
        .ends(0)
        .of_type("session");
    assert_eq!(rows[0]["metadata"]["cronTaskId"], "task-9", "{rows:?}");
}

#[test]
fn pages_read_backwards_stay_the_same_while_rows_are_appended() {
    let bench = myagents_bench(9);
    let session = format!("myagents:{ID}");
    let mut seen = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let mut args = vec!["show", &session, "--json", "--limit", "2"];
        args.extend(before.iter().flat_map(|id| ["--before", id.as_str()]));
        let page: Vec<String> = bench
            .run(args)
            .ends(0)
            .of_type("entry")
            .iter()
            .map(|entry| entry["id"].as_str().unwrap().to_owned())
            .collect();
        let Some(first) = page.first().cloned() else {
            break;
        };
        seen.splice(0..0, page);
        before = Some(first);
        bench
            .run(["append", &session, "--user", "meanwhile"])
            .ends(0);
    }
    assert_eq!(
        seen,
        (0..9).map(|n| n.to_string()).collect::<Vec<_>>(),
        "none twice, none left out"
    );
}

#[test]
fn pages_of_a_list_show_nothing_twice_while_sessions_are_appended_to() {
    let bench = Bench::new();
    bench.plant(".myagents/sessions.json", b"[]");
    let made: Vec<String> = (0..5)
        .map(|_| {
            bench
                .run(["new", "--dialect", "myagents", "--project", "/p"])
                .ends(0)
                .text()
                .trim()
                .to_owned()
        })
        .collect();
    for session in &made {
        bench.run(["append", session, "--user", "x"]).ends(0);
    }
    let (mut seen, mut cursor): (Vec<String>, Option<String>) = (Vec::new(), None);
    loop {
        let mut args = vec!["list", "--json", "--limit", "2"];
        args.extend(cursor.iter().flat_map(|at| ["--cursor", at.as_str()]));
        let page = bench.run(args).ends(0);
        seen.extend(
            page.of_type("session")
                .iter()
                .map(|row| row["ref"].as_str().unwrap().to_owned()),
        );
        cursor = page.of_type("page")[0]["cursor"]
            .as_str()
            .map(str::to_owned);
        if cursor.is_none() {
            break;
        }
        // The session that the cursor names moves to the top.
        bench
            .run(["append", seen.last().unwrap(), "--user", "meanwhile"])
            .ends(0);
    }
    let newest_first: Vec<String> = made.into_iter().rev().collect();
    assert_eq!(
        seen, newest_first,
        "each once, in the order of the first page"
    );
}

#[test]
fn a_row_that_cannot_be_read_is_passed_over_and_its_line_is_named() {
    let bench = myagents_bench(2);
    let log = format!("{}{{torn\n{}", message(0, "user"), message(1, "assistant"));
    bench.plant(&format!(".myagents/sessions/{ID}.jsonl"), log.as_bytes());
    let session = format!("myagents:{ID}");
    let shown = bench
        .run(["show", &session, "--json"])
        .ends(0)
        .says("is not a record")
        .says("boswell check");
    assert_eq!(shown.of_type("entry").len(), 2, "the rest is read");
    let found = bench
        .run(["check", &session, "--json"])
        .ends(1)
        .of_type("damage");
    assert!(
        found
            .iter()
            .any(|it| it["problem"] == "not_json" && it["line"] == 2),
        "{found:?}"
    );
}

#[test]
fn of_a_conversation_in_two_places_what_is_said_about_it_goes_to_the_front() {
    let bench = myagents_bench(2);
    let transcript = claude::file(claude::ClaudeShape::Plain, "/p", 9);
    let text = String::from_utf8(transcript.bytes().to_vec())
        .unwrap()
        .replace(&transcript.id, ID);
    bench.plant(&format!(".claude/projects/-p/{ID}.jsonl"), text.as_bytes());
    let engine = || disk::read(&bench.home().join(format!(".claude/projects/-p/{ID}.jsonl")));
    let row = || -> Value {
        let rows: Value =
            serde_json::from_slice(&disk::read(&bench.home().join(".myagents/sessions.json")))
                .unwrap();
        rows[0].clone()
    };
    let shown = bench
        .run(["show", "1111", "--records", "--json"])
        .ends(0)
        .lines()[0]["session"]
        .clone();
    assert_eq!(
        shown,
        format!("claude:{ID}"),
        "reading takes the fuller side"
    );
    for name in ["1111", "@last"] {
        let title = format!("by {name}");
        bench.run(["rename", name, &title]).ends(0);
        assert_eq!(
            (row()["title"].as_str(), engine() == text.as_bytes()),
            (Some(title.as_str()), true),
            "{name}"
        );
    }
    bench.run(["tag", "1111", "t"]).ends(0);
    bench.run(["status", "@last", "paused"]).ends(0);
    let listed = bench.run(["list", "--json"]).ends(0).of_type("session");
    assert_eq!(
        (&listed[0]["tags"], &listed[0]["status"]),
        (&json!(["t"]), &json!("paused")),
        "{listed:?}"
    );
    assert_eq!(
        engine(),
        text.as_bytes(),
        "the engine's transcript is not touched"
    );
    bench
        .run(["rename", "1111", "theirs", "--agent", "claude"])
        .ends(0);
    assert_eq!(
        (row()["title"].as_str(), engine() == text.as_bytes()),
        (Some("by @last"), false),
        "a side was named"
    );
    let engine_then = engine();
    let would = bench.run(["delete", "1111"]).ends(2).text();
    assert!(
        would.contains("sessions.json"),
        "what is shown is what is done: {would}"
    );
    bench.run(["delete", "--apply", "1111"]).ends(0);
    assert_eq!(
        (row(), engine() == engine_then),
        (Value::Null, true),
        "the engine's copy stays"
    );
}

#[test]
fn open_agent_sdk_sessions_are_appended_to_and_rewound_and_a_rewind_is_shown_first() {
    for &state in oas::OasIndexState::ALL {
        let bench = Bench::new();
        let root = bench.home().join(".open-agent");
        let batch = oas::store(state, "/home/dev/proj/demo", 3);
        batch.write_to(&root);
        let made = &batch.sessions[1];
        let (session, log) = (format!("oas:{}", made.id), root.join(&made.main));
        let before = disk::read(&log);
        let receipts = bench
            .run([
                "append",
                &session,
                "--user",
                "为什么?",
                "--assistant",
                "because",
                "--json",
            ])
            .ends(0);
        let receipts = receipts.of_type("receipt");
        assert_eq!(receipts.len(), 2, "{state:?}: {receipts:?}");
        let asked = receipts[0]["entry"].as_str().unwrap().to_owned();
        let after = disk::read(&log);
        assert!(
            after.starts_with(&before) && after.len() > before.len(),
            "{state:?}: only added to"
        );
        let shown = bench
            .run(["show", &session, "--json"])
            .ends(0)
            .of_type("entry");
        assert_eq!(shown[shown.len() - 2]["text"], "为什么?", "{state:?}");
        bench
            .run(["rewind", &session, &asked])
            .ends(2)
            .says("--apply");
        assert_eq!(disk::read(&log), after, "{state:?}: shown, not done");
        let rewound = bench.run(["rewind", &session, &asked, "--apply"]).ends(0);
        assert_eq!(rewound.text().trim(), "为什么?", "{state:?}");
        assert_eq!(disk::read(&log), before, "{state:?}: as before the prompt");
        bench.run(["undo"]).ends(0);
        assert_eq!(disk::read(&log), after, "{state:?}");
        bench
            .run([
                "rewind",
                &session,
                receipts[1]["entry"].as_str().unwrap(),
                "--apply",
            ])
            .ends(2);
        bench.run(["rewind", &session, "nobody", "--apply"]).ends(2);
        bench
            .run(["append", &session, "--user", "x", "--read-only"])
            .ends(2);
        assert_eq!(
            disk::read(&log),
            after,
            "{state:?}: what is refused changes nothing"
        );
    }
}
