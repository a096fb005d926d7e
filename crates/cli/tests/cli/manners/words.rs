//! Mistakes, other names of commands, and answers that are not cut.

use serde_json::Value;

use super::on_terminal;
use crate::bench::Bench;

#[test]
fn c6_a_wrong_option_is_a_json_error_if_json_was_asked_for() {
    let bench = Bench::new();
    for args in [
        &["--json", "list", "--agnt", "claude"][..],
        &["list", "--sort", "nothing", "--json"],
        &["--json", "serach", "x"],
        &["show", "--json"],
    ] {
        let ran = bench.run(args).ends(2);
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["type"], "error", "{ran:?}");
        assert_eq!(error["kind"], "invalid", "{ran:?}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{ran:?}");
    }
    let ran = bench.run(["--json", "list", "--agnt", "claude"]);
    assert!(ran.stderr.contains("--agent"), "the tip: {ran:?}");
    // A word that is no option of ours is not a wish.
    let ran = bench.run(["list", "--agnt", "--", "--json"]).ends(2);
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
}

#[test]
fn c6_an_agent_that_is_misspelt_is_an_error_with_the_right_name() {
    let bench = Bench::new();
    for args in [&["list"][..], &["search", "x"], &["prompts"], &["stats"]] {
        let args = [args, &["--agent", "cluade"]].concat();
        let ran = bench.run(args).ends(2);
        ran.says("there is no agent `cluade`")
            .says("did you mean `claude`");
    }
    for known in ["claude", "Claude", "codex", "pi", "my-own-agent"] {
        bench.run(["list", "--agent", known]).ends(0);
    }
}

/// What clap prints for a value that is none, and what boswell does.
fn suggests(ran: &crate::bench::Ran, right: &str) {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let said = ran.stderr.lines().any(|line| {
        (line.contains("did you mean") || line.contains("similar value")) && line.contains(right)
    });
    assert!(said, "no suggestion of {right}: {ran:?}");
}

#[test]
fn c6_values_of_filters_that_are_misspelt_are_errors_with_the_right_ones() {
    let bench = Bench::new();
    let line = serde_json::json!({"type": "assistant", "uuid": "u", "parentUuid": null,
        "sessionId": "aaaaaaaa-2222-4333-8444-555555555555", "gitBranch": "release",
        "timestamp": "2026-03-10T17:30:00.000Z", "cwd": "/w/shop",
        "message": {"role": "assistant", "model": "claude-opus-5", "id": "m",
            "content": [{"type": "text", "text": "hello"}]}});
    let id = "aaaaaaaa-2222-4333-8444-555555555555";
    bench.plant(
        &format!(".claude/projects/-w-shop/{id}.jsonl"),
        format!("{line}\n").as_bytes(),
    );
    bench.run(["tag", id, "urgent"]).ends(0);
    let filters = [
        ("--status", "complete", "completed"),
        ("--tag", "urgnet", "urgent"),
        ("--branch", "relaese", "release"),
        ("--model", "opsu", "claude-opus-5"),
        ("--project", "/w/shpo", "/w/shop"),
        ("--project", "shop", "/w/shop"),
    ];
    for (option, wrong, right) in filters {
        for command in [
            &["list"][..],
            &["search", "hello"],
            &["prompts"],
            &["stats"],
        ] {
            let args = [command, &[option, wrong]].concat();
            suggests(&bench.run(&args), right);
            let json = bench.run([&args[..], &["--json"]].concat()).ends(2);
            let error: Value = serde_json::from_str(&json.stderr).unwrap();
            assert_eq!(error["kind"], "invalid", "{json:?}");
            assert!(error["hint"].as_str().unwrap().contains(right), "{json:?}");
        }
    }
    // The right value, one that resembles nothing, and a folder that is there are no mistakes.
    let here = bench.cwd().display().to_string();
    for (option, value) in [
        ("--tag", "urgent"),
        ("--tag", "elsewhere"),
        ("--model", "opus"),
        ("--model", "gemini"),
        ("--project", here.as_str()),
        ("--status", "completed"),
    ] {
        bench.run(["list", option, value]).ends(0);
    }
    for (args, right) in [
        (&["list", "--sort", "actve"][..], "active"),
        (&["search", "x", "--sort", "newst"], "newest"),
        (&["stats", "--by", "mnth"], "month"),
        (&["search", "x", "--in", "promts"], "prompts"),
        (&["show", id, "--tools", "ful"], "full"),
        (&["export", id, "--format", "htlm"], "html"),
    ] {
        suggests(&bench.run(args), right);
    }
}

#[test]
fn c6_commands_have_the_names_that_are_typed_by_habit() {
    let bench = Bench::new();
    let id = bench.run(["new", "--title", "Habit"]).ends(0).text();
    let id = id.trim();
    bench.run(["append", id, "--user", "old habits"]).ends(0);
    for (habit, own) in [
        (&["ls"][..], &["list"][..]),
        (&["find", "habits"], &["search", "habits"]),
        (&["cat", id], &["show", id]),
        (&["usage"], &["stats"]),
        (&["rm", "--help"], &["delete", "--help"]),
        (&["mv", "--help"], &["move", "--help"]),
    ] {
        let (habit, own) = (bench.run(habit).ends(0), bench.run(own).ends(0));
        assert_eq!(habit.text(), own.text());
    }
}

#[test]
fn c6_config_never_cuts_a_value() {
    let bench = Bench::new();
    let home = bench
        .root()
        .join("a-folder-with-a-name-that-is-far-longer-than-a-column");
    let text = bench
        .run(["--home", home.to_str().unwrap(), "config"])
        .ends(0)
        .text();
    assert!(text.contains(home.to_str().unwrap()), "{text}");
    assert!(!text.contains('…'), "{text}");
}

#[test]
fn c6_man_shows_a_page_on_a_terminal_and_its_source_elsewhere() {
    let bench = Bench::new();
    let source = bench.run(["man", "list"]).ends(0).text();
    assert!(source.contains(".TH"), "{source}");
    // A stand-in for the program, which not every machine has.
    let man = bench.plant(
        "bin/man",
        b"#!/bin/sh\necho RENDERED \"$@\"\ncat >/dev/null\n",
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&man, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", man.parent().unwrap().display());
    let Some(screen) = on_terminal(&bench, "boswell man list", &[("PATH", &path)]) else {
        return;
    };
    assert!(
        screen.contains("RENDERED -l -") && !screen.contains(".TH"),
        "{screen}"
    );
}

#[test]
fn c6_one_is_singular() {
    let bench = Bench::new();
    let id = bench.run(["new"]).ends(0).text();
    bench.run(["append", id.trim(), "--user", "alone"]).ends(0);
    for args in [
        &["index"][..],
        &["check"],
        &["search", "alone"],
        &["stores"],
    ] {
        let text = bench.run(args).ends(0).text();
        for wrong in ["1 sessions", "1 copies", "1 files ", "1 hits", "1 problems"] {
            let found = text.split(['\n', ',']);
            let found: Vec<&str> = found.filter(|it| it.trim().starts_with(wrong)).collect();
            assert!(found.is_empty(), "{args:?}: {text}");
        }
    }
}
