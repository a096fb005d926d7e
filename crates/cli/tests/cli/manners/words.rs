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
