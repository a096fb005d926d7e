//! One rule for what deletes or rewrites something that exists, and one name for agents.

use serde_json::json;

use super::on_terminal;
use crate::bench::Bench;

const ID: &str = "aaaaaaaa-2222-4333-8444-555555555555";

fn bench() -> Bench {
    let bench = Bench::new();
    let line = json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": ID,
        "timestamp": "2026-03-10T17:30:00.000Z", "cwd": "/w/shop",
        "message": {"role": "user", "content": "hello"}});
    let second = json!({"type": "user", "uuid": "v", "parentUuid": "nowhere", "sessionId": ID,
        "timestamp": "2026-03-10T17:31:00.000Z", "cwd": "/w/shop",
        "message": {"role": "user", "content": "again"}});
    let log = format!("{line}\n{second}\n");
    bench.plant(
        &format!(".claude/projects/-w-shop/{ID}.jsonl"),
        log.as_bytes(),
    );
    bench
}

/// Commands that delete or rewrite, without `--apply`.
const CHANGES: [&[&str]; 6] = [
    &["delete", ID],
    &["delete", "--purge", ID],
    &["archive", ID],
    &["clean", "--older-than", "1d", "--agent", "claude"],
    &["move", "/w/shop", "/w/store"],
    &["repair", ID, "--step", "1"],
];

#[test]
fn c7_without_a_terminal_there_is_a_plan_a_hint_and_code_2() {
    let bench = bench();
    let log = bench
        .home()
        .join(format!(".claude/projects/-w-shop/{ID}.jsonl"));
    let before = boswell_testkit::disk::read(&log);
    for args in CHANGES {
        for json in [false, true] {
            let mut args = args.to_vec();
            args.extend(json.then_some("--json"));
            let ran = bench.run(&args).ends(2).says("--apply");
            assert!(!ran.stdout.is_empty(), "a plan: {ran:?}");
            assert_eq!(boswell_testkit::disk::read(&log), before, "{args:?}");
        }
    }
}

#[test]
fn c7_a_terminal_is_asked_and_no_is_no() {
    for args in CHANGES {
        let bench = bench();
        let log = bench
            .home()
            .join(format!(".claude/projects/-w-shop/{ID}.jsonl"));
        let before = boswell_testkit::disk::read(&log);
        let line = format!("boswell {}", args.join(" "));
        // The terminal has no one to type: the end of the input is no.
        let Some(screen) = on_terminal(&bench, &line, &[]) else {
            return;
        };
        assert!(screen.contains("[y/N]"), "{line}: {screen}");
        assert_eq!(boswell_testkit::disk::read(&log), before, "{line}");
        let done = bench.run(args.iter().chain(&["--apply"]));
        assert_eq!(done.code, Some(0), "{done:?}");
        let gone = !log.exists() || boswell_testkit::disk::read(&log) != before;
        let forked = args[0] == "repair";
        assert!(gone || forked, "{line}");
    }
}

#[test]
fn c7_dry_run_is_gone_from_every_command() {
    let bench = Bench::new();
    for command in crate::help::commands(&bench) {
        let help = bench.run([command.as_str(), "--help"]).ends(0).text();
        assert!(!help.contains("dry-run"), "{command}: {help}");
    }
    for args in [
        &["import", "x.jsonl"][..],
        &["summarize", "@last"],
        &["keep", "on"],
        &["delete", ID],
    ] {
        let args = [args, &["--dry-run"]].concat();
        bench.run(args).ends(2).says("--dry-run");
    }
}

#[test]
fn c7_keep_on_shows_what_it_adds_to_the_settings_and_asks() {
    let bench = bench();
    let settings = bench.home().join(".claude/settings.json");
    boswell_testkit::disk::write(&settings, b"{}");
    let plan = bench.run(["keep", "on"]).ends(2).says("--apply").text();
    assert!(plan.contains("SessionEnd"), "{plan}");
    assert_eq!(boswell_testkit::disk::read(&settings), b"{}");
    if let Some(screen) = on_terminal(&bench, "boswell keep on", &[]) {
        assert!(screen.contains("[y/N]"), "{screen}");
        assert_eq!(boswell_testkit::disk::read(&settings), b"{}");
    }
    bench.run(["keep", "on", "--apply"]).ends(0);
    assert_ne!(boswell_testkit::disk::read(&settings), b"{}");
    // There is nothing to install, so nothing to ask.
    bench.run(["keep", "on"]).ends(0);
    // What takes back a change of boswell's own acts at once.
    bench.run(["keep", "off"]).ends(0);
    assert_eq!(boswell_testkit::disk::read(&settings), b"{}");
}

#[test]
fn c7_rewind_asks_where_the_log_must_be_cut_or_files_are_restored() {
    let bench = Bench::new();
    let folder = bench.root().join("demo");
    bench.run(["demo", folder.to_str().unwrap()]).ends(0);
    let script = folder.join("try");
    let logs = || boswell_testkit::TreeSnapshot::take(&folder.join("home"));
    let prompt = "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de";
    let changes: [&[&str]; 2] = [
        &["rewind", "b8cc", "#1"],
        &["rewind", "5ac5", prompt, "--files"],
    ];
    for args in changes {
        let before = logs();
        let mut shell = std::process::Command::new(&script);
        shell.args(args);
        let ran = crate::bench::finish(shell).ends(2).says("--apply");
        assert!(!ran.stdout.is_empty(), "a plan: {ran:?}");
        let line = format!(
            "{} {}",
            script.display(),
            args.join(" ").replace('#', "\\#")
        );
        if let Some(screen) = on_terminal(&bench, &line, &[]) {
            assert!(screen.contains("[y/N]"), "{screen}");
        }
        assert_eq!(before.diff(&logs()), Vec::<String>::new(), "{args:?}");
    }
    let mut shell = std::process::Command::new(&script);
    shell.args(["rewind", "b8cc", "#1", "--apply"]);
    crate::bench::finish(shell).ends(0);
}

#[test]
fn c7_agent_selects_everywhere_and_side_is_gone() {
    let bench = bench();
    for args in [
        &["list"][..],
        &["show", ID],
        &["search", "hello"],
        &["stats"],
        &["clean", "--older-than", "9000d"],
        &["memory", "all", "check"],
    ] {
        let agent = [args, &["--agent", "claude"]].concat();
        bench.run(agent).ends(0);
        let side = [args, &["--side", "claude"]].concat();
        bench.run(side).ends(2).says("--side");
    }
}

#[test]
fn c7_sums_have_two_keys_a_total_and_one_meaning_of_input() {
    let bench = Bench::new();
    let folder = bench.root().join("demo");
    bench.run(["demo", folder.to_str().unwrap()]).ends(0);
    let mut shell = std::process::Command::new(folder.join("try"));
    shell
        .args(["stats", "--by", "agent,model", "--json"])
        .env("COLUMNS", "120");
    let ran = crate::bench::finish(shell).ends(0);
    let sums = ran.of_type("stat");
    assert!(sums.len() > 3, "{ran:?}");
    assert!(
        sums.iter()
            .all(|sum| sum["by"] == "agent" && sum["then_by"] == "model")
    );
    let input: u64 = sums
        .iter()
        .filter_map(|sum| sum["tokens"]["input"].as_u64())
        .sum();
    let mut shell = std::process::Command::new(folder.join("try"));
    shell.args(["stats", "--json"]);
    let whole = crate::bench::finish(shell).ends(0).of_type("stat");
    assert_eq!(whole[0]["tokens"]["input"], input);
    let mut shell = std::process::Command::new(folder.join("try"));
    shell
        .args(["stats", "--by", "agent,model"])
        .env("COLUMNS", "120");
    let text = crate::bench::finish(shell).ends(0).text();
    let total = text.lines().last().unwrap();
    let digits: String = total.chars().filter(|c| *c != ',').collect();
    assert!(total.starts_with("total"), "{text}");
    assert!(digits.contains(&format!(" {input} ")), "{input}: {text}");
}
