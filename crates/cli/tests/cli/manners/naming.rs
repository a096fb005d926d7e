//! Ids, numbers and hints that work as they are printed.

use serde_json::json;

use super::on_terminal;
use crate::bench::{Bench, Ran, finish};

const ID: &str = "aaaaaaaa-2222-4333-8444-555555555555";
const OTHER: &str = "bbbbbbbb-2222-4333-8444-555555555555";
const DUPLICATE: &str = "aaaaaaaa-2222-4333-8444-666666666666";

fn log(id: &str, text: &str) -> String {
    let user = json!({"type": "user", "uuid": format!("{id}-1"), "parentUuid": null,
        "sessionId": id, "timestamp": "2026-03-10T17:30:00.000Z", "cwd": "/w/shop",
        "message": {"role": "user", "content": text}});
    format!("{user}\n")
}

fn plant(bench: &Bench, id: &str, text: &str) {
    let path = format!(".claude/projects/-w-shop/{id}.jsonl");
    bench.plant(&path, log(id, text).as_bytes());
}

/// Runs a command in a terminal program that has a name, which is where lists are remembered.
fn in_window(bench: &Bench, window: &str, args: &[&str]) -> Ran {
    let mut command = bench.command(args);
    command.env("KITTY_WINDOW_ID", window);
    finish(command)
}

/// The commands in backticks of a text.
fn commands(text: &str) -> Vec<String> {
    let words = text.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

#[test]
fn c4_a_hidden_subagent_never_makes_a_listed_id_ambiguous() {
    let bench = Bench::new();
    plant(&bench, ID, "the main session");
    let subagent = json!({"type": "user", "uuid": "s1", "parentUuid": null, "isSidechain": true,
        "agentId": "aaaaaaaa", "sessionId": ID, "timestamp": "2026-03-10T17:30:00.000Z",
        "message": {"role": "user", "content": "the subagent"}});
    for name in ["agent-aaaaaaaa", "aaaaaaaa"] {
        bench.plant(
            &format!(".claude/projects/-w-shop/{ID}/subagents/{name}.jsonl"),
            format!("{subagent}\n").as_bytes(),
        );
    }
    let text = bench.run(["list"]).ends(0).text();
    let short = text
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    assert_eq!(short, "aaaaaaaa", "{text}");
    let shown = bench.run(["show", short]).ends(0).text();
    assert!(shown.contains("the main session"), "{shown}");
}

#[test]
fn c4_listed_ids_are_as_long_as_they_must_be_even_beyond_the_page() {
    let bench = Bench::new();
    plant(&bench, ID, "first");
    plant(&bench, DUPLICATE, "second");
    bench.run(["index"]).ends(0);
    for args in [&["list"][..], &["list", "--limit", "1"]] {
        let text = bench.run(args).ends(0).text();
        for row in text.lines().skip(1) {
            let short = row.split_whitespace().next().unwrap();
            let shown = bench.run(["show", short]).ends(0).text();
            let name = row.split_whitespace().last().unwrap();
            assert!(shown.contains(name), "{row}: {shown}");
        }
    }
}

#[test]
fn c4_hints_name_the_stores_that_were_named() {
    let bench = Bench::new();
    let store = bench.root().join("else where");
    let path = store.join(format!("projects/-w-shop/{ID}.jsonl"));
    boswell_testkit::disk::write(&path, log(ID, "deadlock").as_bytes());
    let store = format!("claude={}", store.display());
    let text = bench
        .run(["--store", &store, "search", "deadlock"])
        .ends(0)
        .text();
    let hint = commands(&text).into_iter().next().unwrap();
    assert!(hint.starts_with("boswell --store 'claude="), "{hint}");
    // As printed, in a shell.
    let Some(screen) = on_terminal(&bench, &hint, &[]) else {
        return;
    };
    assert!(
        screen.contains("deadlock") && !screen.contains("error"),
        "{screen}"
    );
}

#[test]
fn c4_the_hints_of_the_demo_work_as_printed() {
    let bench = Bench::new();
    let folder = bench.root().join("demo");
    bench.run(["demo", folder.to_str().unwrap()]).ends(0);
    let script = folder.join("try");
    let script = script.to_str().unwrap();
    for (line, wanted) in [
        ("search 二元", "二元"),
        ("search coupon", "coupon"),
        ("check", "certain"),
    ] {
        let Some(screen) = on_terminal(&bench, &format!("{script} {line}"), &[]) else {
            return;
        };
        let hints = commands(&screen);
        let hint = hints.iter().find(|hint| hint.contains("/try "));
        let hint = hint.unwrap_or_else(|| panic!("no hint: {screen}"));
        assert!(hint.starts_with(script), "{hint}");
        // On the same terminal: a number is one of its last list.
        let both = format!("{script} {line} >/dev/null; {hint}");
        let answer = on_terminal(&bench, &both, &[]).unwrap();
        assert!(answer.contains(wanted), "{hint}: {answer}");
    }
}

#[test]
fn c4_a_file_outside_every_store_is_named_by_its_path_in_hints() {
    let bench = Bench::new();
    let second = log(ID, "second").replace(&format!("{ID}-1"), "other");
    let second = second.replace("\"parentUuid\":null", "\"parentUuid\":\"nowhere\"");
    let text = format!("{}{second}", log(ID, "first"));
    let path = bench.plant("loose.jsonl", text.as_bytes());
    let text = bench.run(["check", path.to_str().unwrap()]).text();
    let hint = commands(&text).into_iter().find(|it| it.contains("repair"));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {text}"));
    assert!(hint.contains(path.to_str().unwrap()), "{hint}");
    let words: Vec<&str> = hint.split_whitespace().skip(1).collect();
    let plan = bench.run(words);
    assert!(!plan.stderr.contains("no session is called"), "{plan:?}");
}

#[test]
fn c3_a_number_names_a_row_of_the_last_list_of_the_terminal() {
    let bench = Bench::new();
    plant(&bench, ID, "first deadlock");
    plant(&bench, OTHER, "second livelock");
    let text = in_window(&bench, "7", &["list"]).ends(0).text();
    let number = |name: &str| {
        let row = text.lines().find(|row| row.contains(name)).unwrap();
        row.split_whitespace().next().unwrap().to_owned()
    };
    for name in ["first deadlock", "second livelock"] {
        let shown = in_window(&bench, "7", &["show", &number(name)]);
        assert!(shown.ends(0).text().contains(name));
    }
    let resumed = in_window(&bench, "7", &["resume", &number("first"), "--print"]);
    assert!(resumed.ends(0).text().contains(ID));
    // A search is a list too.
    let found = in_window(&bench, "7", &["search", "livelock"])
        .ends(0)
        .text();
    assert!(found.starts_with("1 claude:bbbbbbbb-"), "{found}");
    let shown = in_window(&bench, "7", &["show", "1"]).ends(0).text();
    assert!(shown.contains("second livelock"), "{shown}");
    // Another terminal has seen no list.
    in_window(&bench, "8", &["show", "1"]).ends(2);
    // What changes a session is never named by a number.
    in_window(&bench, "7", &["rename", "1", "x"])
        .ends(2)
        .says("is a number of the last list");
}

#[test]
fn c3_a_number_never_wins_over_an_id_that_exists() {
    let bench = Bench::new();
    plant(&bench, ID, "listed first");
    in_window(&bench, "7", &["list"]).ends(0);
    bench.run(["new", "--id", "1"]).ends(0);
    bench
        .run(["append", "1", "--user", "the session called one"])
        .ends(0);
    let shown = in_window(&bench, "7", &["show", "1"]).ends(0).text();
    assert!(shown.contains("the session called one"), "{shown}");
}

#[test]
fn c3_search_prints_one_block_per_conversation_and_how_long_it_took() {
    let bench = Bench::new();
    let folder = bench.root().join("demo");
    bench.run(["demo", folder.to_str().unwrap()]).ends(0);
    let line = format!("{} search 二元", folder.join("try").display());
    let Some(screen) = on_terminal(&bench, &line, &[]) else {
        return;
    };
    let blocks: Vec<&str> = screen
        .lines()
        .filter(|line| line.contains(" · ") && !line.contains(" ms"))
        .collect();
    assert_eq!(blocks.len(), 1, "{screen}");
    let footer = screen.lines().find(|line| line.contains(" ms")).unwrap();
    assert!(footer.starts_with("1 session · "), "{screen}");
}
