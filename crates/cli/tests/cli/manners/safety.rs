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
    &["repair", ID, "--likely"],
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
