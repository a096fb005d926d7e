//! Prompt history: no call waits, no prompt is duplicated, and a damaged line does not lose others.

use boswell_store::Home;
use boswell_store::disk::{Disk, LockMode, OpenMode, RealDisk, durable};
use boswell_store::model::Instant;
use boswell_store::prompts::Prompts;
use boswell_store::prompts::{Added, FoundPrompt, Prompt};

fn history() -> (tempfile::TempDir, Prompts) {
    let home = tempfile::tempdir().unwrap();
    let prompts = Home::at(home.path()).prompts();
    (home, prompts)
}

fn prompt(text: &str, at: i64) -> Prompt {
    let project = Some("/srv/demo".to_owned());
    Prompt {
        text: text.to_owned(),
        at: Instant::from_millis(at),
        project,
        session: None,
    }
}

fn texts(found: &FoundPrompt) -> Vec<&str> {
    found
        .prompts
        .iter()
        .map(|prompt| prompt.text.as_str())
        .collect()
}

#[test]
fn newest_prompts_come_first_trimmed_and_without_repeats() {
    let (_home, prompts) = history();
    assert_eq!(prompts.recent(10).unwrap(), FoundPrompt::default());
    for (text, added) in [
        (" one ", Added::Yes),
        ("one", Added::Repeated),
        (" \n", Added::Empty),
        ("two\nlines", Added::Yes),
        ("one", Added::Yes),
    ] {
        assert_eq!(prompts.add(&prompt(text, 5)).unwrap(), added, "{text}");
    }
    let found = prompts.recent(10).unwrap();
    assert_eq!(texts(&found), ["one", "two\nlines", "one"]);
    assert_eq!(found.prompts[1], prompt("two\nlines", 5));
    assert_eq!(prompts.recent(0).unwrap().prompts.len(), 0);
}

#[test]
fn no_more_than_a_thousand_are_handed_out() {
    let (home, prompts) = history();
    let lines: String = (0..1500)
        .map(|n| format!("{{\"text\":\"p{n}\",\"at\":\"2026-01-01T00:00:00Z\"}}\n"))
        .collect();
    durable::create(
        &RealDisk,
        &home.path().join("prompts.jsonl"),
        lines.as_bytes(),
    )
    .unwrap();
    let found = prompts.recent(usize::MAX).unwrap();
    assert_eq!(
        (found.prompts.len(), found.prompts[0].text.as_str()),
        (1000, "p1499")
    );
}

#[test]
fn search_finds_every_word_anywhere_in_any_case_and_script() {
    let (_home, prompts) = history();
    for text in [
        "Fix the BUILD today",
        "fix tests",
        "修复构建错误",
        "Überprüfe das",
    ] {
        prompts.add(&prompt(text, 1)).unwrap();
    }
    for (query, hits) in [
        ("build fix", vec!["Fix the BUILD today"]),
        ("FIX", vec!["fix tests", "Fix the BUILD today"]),
        ("uil", vec!["Fix the BUILD today"]),
        ("建", vec!["修复构建错误"]),
        ("错误 修复", vec!["修复构建错误"]),
        ("über", vec!["Überprüfe das"]),
        ("nothing", vec![]),
    ] {
        assert_eq!(texts(&prompts.search(query, 10).unwrap()), hits, "{query}");
    }
}

#[test]
fn damaged_lines_are_skipped_counted_and_kept() {
    let (home, prompts) = history();
    prompts.add(&prompt("one", 1)).unwrap();
    let path = home.path().join("prompts.jsonl");
    let file = RealDisk.open(&path, OpenMode::Append).unwrap();
    durable::append_all(file.as_ref(), b"garbage\n{\"text\":1}\n\n{\"torn").unwrap();
    assert_eq!(
        prompts.recent(5).unwrap().damaged,
        2,
        "an unfinished line may still be written"
    );
    prompts.add(&prompt("two", 2)).unwrap();
    let found = prompts.recent(5).unwrap();
    assert_eq!((texts(&found), found.damaged), (vec!["two", "one"], 3));
    let bytes = durable::read(&RealDisk, &path).unwrap().unwrap();
    assert!(
        String::from_utf8(bytes)
            .unwrap()
            .contains("\n{\"torn\n{\"text\":\"two\"")
    );
}

#[test]
fn adding_does_not_wait_for_the_lock() {
    let (home, prompts) = history();
    prompts.add(&prompt("one", 1)).unwrap();
    let held = RealDisk
        .open(&home.path().join("locks/prompts.lock"), OpenMode::Lock)
        .unwrap();
    assert!(held.try_lock(LockMode::Exclusive).unwrap());
    assert_eq!(prompts.add(&prompt("two", 2)).unwrap(), Added::Yes);
    assert_eq!(texts(&prompts.recent(2).unwrap()), ["two", "one"]);
}

#[test]
fn prompts_of_many_writers_stay_whole() {
    let (home, prompts) = history();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let prompts = Home::at(home.path()).prompts();
            scope.spawn(move || {
                for n in 0..50 {
                    prompts
                        .add(&prompt(&format!("{writer} {n} {}", "x".repeat(n * 50)), 1))
                        .unwrap();
                }
            });
        }
    });
    let found = prompts.recent(1000).unwrap();
    assert_eq!((found.prompts.len(), found.damaged), (200, 0));
}
