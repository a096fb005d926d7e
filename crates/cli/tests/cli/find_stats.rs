//! `stats`, `prompts`, `watch`, completions and deleted sessions through the command line.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use crate::find_bench::Bench;
use boswell_testkit::make::claude;
use boswell_testkit::{corpus, disk};
use serde_json::Value;

fn logs(bench: &Bench) -> Vec<PathBuf> {
    corpus::files(&bench.claude().join("projects"))
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

/// Returns input and output tokens of all distinct messages, by reading all lines.
fn brute_force(bench: &Bench) -> (u64, u64) {
    let mut unique: HashMap<String, (u64, u64)> = HashMap::new();
    for log in logs(bench) {
        for line in String::from_utf8_lossy(&disk::read(&log)).lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let usage = &record["message"]["usage"];
            let Some(output) = usage["output_tokens"].as_u64() else {
                continue;
            };
            let key = format!("{} {}", record["message"]["id"], record["requestId"]);
            unique.insert(key, (usage["input_tokens"].as_u64().unwrap_or(0), output));
        }
    }
    unique
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn tokens(stat: &Value) -> (u64, u64) {
    (
        stat["tokens"]["input"].as_u64().unwrap_or(0),
        stat["tokens"]["output"].as_u64().unwrap_or(0),
    )
}

#[test]
fn sums_that_were_kept_follow_every_change() {
    let bench = Bench::planted();
    let asked = |args: &[&str]| {
        let ran = bench.run(&[&["stats", "--json"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    let every = [
        &[][..],
        &["--by", "day"],
        &["--by", "project"],
        &["--by", "agent"],
        &["--by", "model"],
        &["--since", "2026-03-01"],
        &["--by", "day", "--model", "sonnet"],
    ];
    let mut last = String::new();
    let mut compare = |what: &str| {
        for args in every {
            // Run twice: the second result comes from the catalog. A catalog in memory stores
            // nothing.
            let (first, kept) = (asked(args), asked(args));
            let honest = bench
                .run(&[&["--read-only", "stats", "--json"], args].concat())
                .stdout;
            assert_eq!((&first, &kept), (&honest, &honest), "{what} {args:?}");
        }
        let total = asked(&[]);
        assert_ne!(total, last, "{what}");
        last = total;
    };
    compare("at first");
    let logs = logs(&bench);
    let text = disk::read(&logs[0]);
    let line = text
        .split_inclusive(|byte| *byte == b'\n')
        .find(|line| line.windows(7).any(|w| w == b"\"usage\""))
        .unwrap();
    let other = String::from_utf8(line.to_vec())
        .unwrap()
        .replace("msg_", "msg_other");
    std::fs::OpenOptions::new()
        .append(true)
        .open(&logs[0])
        .unwrap()
        .write_all(other.as_bytes())
        .unwrap();
    compare("after a line was appended");
    disk::write(
        &bench
            .claude()
            .join("projects/-copy")
            .join(logs[1].file_name().unwrap()),
        &disk::read(&logs[1]),
    );
    compare("after a log was copied");
    std::fs::remove_file(&logs[2]).unwrap();
    compare("after a log was deleted");
    let since = ["--since", "2000-01-01"];
    assert_eq!(
        asked(&since),
        asked(&[]),
        "chosen by time, nothing that was kept is taken"
    );
}

#[test]
fn tokens_equal_a_brute_force_count_of_unique_messages_however_sums_are_made() {
    let bench = Bench::planted();
    for (number, log) in logs(&bench).into_iter().take(4).enumerate() {
        let copy = bench
            .claude()
            .join(format!("projects/-copied-{number}"))
            .join(log.file_name().unwrap());
        disk::write(&copy, &disk::read(&log));
    }
    let honest = brute_force(&bench);
    for args in [
        &["stats", "--json"][..],
        &["--read-only", "stats", "--json"],
        &["stats", "--json", "--by", "day"],
        &["stats", "--json", "--by", "project"],
        &["stats", "--json", "--by", "agent"],
        &["stats", "--json", "--by", "model"],
    ] {
        let ran = bench.run(args);
        let sum = ran
            .lines
            .iter()
            .map(tokens)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(sum, honest, "{args:?}: {}", ran.stderr);
    }
    let total = &bench.run(&["stats", "--json"]).lines[0];
    assert_eq!(total["sessions"], 44);
    assert!(total["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!(total["complete"], true);
}

#[test]
fn one_session_has_its_own_sums_and_its_records_by_kind() {
    let bench = Bench::planted();
    let log = &logs(&bench)[0];
    let id = log.file_stem().unwrap().to_str().unwrap();
    let stat = &bench.run(&["stats", "--json", id]).lines[0];
    let shown = &bench.run(&["list", "--json", "--match", id]).lines[0];
    for key in [
        "messages",
        "turns",
        "tool_calls",
        "kinds",
        "tokens",
        "entries",
    ] {
        assert_eq!(stat[key], shown[key], "{key}");
    }
    assert!(bench.run(&["stats", id]).stdout.contains("assistant"));
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let bench = Bench::new();
    let line = "{\"type\":\"assistant\",\"uuid\":\"u\",\"sessionId\":\"00000000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"nobody-knows-1\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":7}}}\n";
    disk::write(
        &bench
            .claude()
            .join("projects/-p/00000000-0000-4000-8000-000000000001.jsonl"),
        line.as_bytes(),
    );
    let stat = &bench.run(&["stats", "--json"]).lines[0];
    assert_eq!((tokens(stat), &stat["cost_usd"]), ((5, 7), &Value::Null));
    assert_eq!(stat["unpriced_models"][0], "nobody-knows-1");
}

#[test]
fn an_hour_in_the_cache_is_counted_and_priced_apart() {
    let bench = Bench::new();
    let line = |id: &str, span: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{id}\",\"sessionId\":\"00000000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-01-02T03:04:05.000Z\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-5\",\"content\":[],\"usage\":{{\"cache_creation_input_tokens\":1000000{span}}}}}}}\n"
        )
    };
    let log = bench
        .claude()
        .join("projects/-p/00000000-0000-4000-8000-000000000001.jsonl");
    let stat = || bench.run(&["stats", "--json"]).lines[0].clone();
    disk::write(&log, line("a", "").as_bytes());
    assert_eq!(
        (
            &stat()["tokens"]["cache_write_1h"],
            stat()["cost_usd"].as_f64()
        ),
        (&Value::Null, Some(6.25))
    );
    let hour = ",\"cache_creation\":{\"ephemeral_5m_input_tokens\":0,\"ephemeral_1h_input_tokens\":1000000}";
    disk::write(&log, [line("a", ""), line("b", hour)].concat().as_bytes());
    let both = stat();
    assert_eq!(
        (
            both["tokens"]["cache_write"].as_u64(),
            both["tokens"]["cache_write_1h"].as_u64()
        ),
        (Some(2_000_000), Some(1_000_000))
    );
    assert_eq!(both["cost_usd"].as_f64(), Some(16.25));
    assert!(
        bench
            .run(&["stats"])
            .stdout
            .contains("1-hour cache  1,000,000 tokens"),
        "{}",
        bench.run(&["stats"]).stdout
    );
}

#[test]
fn prices_of_the_users_own_count_and_bad_ones_are_refused() {
    let bench = Bench::planted();
    let cost = || bench.run(&["stats", "--by", "model", "--json"]).lines[0].clone();
    let before = cost();
    let model = before["key"].as_str().unwrap().to_owned();
    let own = bench.home().join(".config/boswell/config.toml");
    let prices = format!(
        "[prices.\"{model}\"]\ninput = 1_000_000\noutput = 0\ncache_read = 0.0\ncache_write = 0\n"
    );
    disk::write(&own, prices.as_bytes());
    let after = cost();
    assert_eq!(
        (
            before["prices_overridden"].as_bool(),
            after["prices_overridden"].as_bool()
        ),
        (Some(false), Some(true))
    );
    assert_eq!(
        after["cost_usd"].as_f64(),
        after["tokens"]["input"].as_f64()
    );
    disk::write(&own, b"[prices.m]\ninput = 1\n");
    let refused = bench.run(&["stats"]);
    assert!(
        refused.code == 2
            && refused.stderr.contains("under `prices`")
            && refused.stderr.contains("hint:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn prompts_come_from_sessions_and_histories_newest_first_and_once() {
    let bench = Bench::planted();
    let gone = "11111111-1111-4111-8111-111111111111";
    let mut history = claude::history_line("an old question", 1_700_000_000_000, "/p", gone);
    history += &claude::history_line("what is the newest question", 1_999_000_000_000, "/p", gone);
    history += &claude::history_line("what is the newest question", 1_999_000_000_001, "/p", gone);
    disk::write(&bench.claude().join("history.jsonl"), history.as_bytes());
    let lines = bench.run(&["prompts", "--json", "--limit", "10"]).lines;
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0]["text"], "what is the newest question");
    assert_ne!(lines[1]["text"], "what is the newest question");
    assert_eq!(lines[1]["source"], "session");
    let times: Vec<_> = lines
        .iter()
        .map(|line| line["at"].as_str().unwrap().to_owned())
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] >= pair[1]), "{times:?}");
    let found = bench.run(&["prompts", "--json", "OLD", "question"]).lines;
    assert_eq!(
        (found.len(), found[0]["source"].as_str()),
        (1, Some("history"))
    );
    assert_eq!(bench.run(&["prompts", "nobodyaskedthis"]).code, 1);
}

#[test]
fn a_session_that_is_gone_is_listed_as_deleted_with_its_prompts() {
    let bench = Bench::planted();
    disk::make_dir(&bench.own());
    let gone = "11111111-1111-4111-8111-111111111111";
    let history = claude::history_line("who goes there", 1_790_000_000_000, "/p", gone);
    disk::write(&bench.claude().join("history.jsonl"), history.as_bytes());
    assert_eq!(bench.run(&["list", "--json"]).lines.len(), 41);
    std::fs::remove_file(&logs(&bench)[0]).unwrap();
    assert_eq!(bench.run(&["list", "--json"]).lines.len(), 40);
    let lines = bench.run(&["list", "--json", "--hidden"]).lines;
    let deleted_sessions: Vec<&Value> = lines
        .iter()
        .filter(|line| line["hidden"] == "ghost")
        .collect();
    assert_eq!(deleted_sessions.len(), 2);
    let known = deleted_sessions
        .iter()
        .find(|deleted_session| deleted_session["id"] == gone)
        .unwrap();
    assert_eq!(
        (known["first_prompt"].as_str(), known["project"].as_str()),
        (Some("who goes there"), Some("/p"))
    );
}

#[test]
fn watching_shows_what_is_written_and_nothing_else() {
    let bench = Bench::planted();
    let log = logs(&bench).remove(3);
    let mut command = bench.command(&["watch", "--json", "--for", "20s"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // Lines are written until one was seen, because the start of the program takes an unknown time.
    let (done, stop) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        for number in 0..70 {
            let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
            writeln!(file, "{{\"type\":\"user\",\"uuid\":\"new-{number}\",\"message\":{{\"role\":\"user\",\"content\":\"fresh\"}}}}").unwrap();
            if stop
                .recv_timeout(std::time::Duration::from_millis(250))
                .is_ok()
            {
                break;
            }
        }
    });
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    done.send(()).unwrap();
    writer.join().unwrap();
    assert_eq!(
        (first["type"].as_str(), first["text"].as_str()),
        (Some("entry"), Some("fresh"))
    );
    assert!(first["id"].as_str().unwrap().starts_with("new-"));
}

#[test]
fn completions_offer_commands_and_live_sessions() {
    let bench = Bench::planted();
    for shell in ["bash", "zsh", "fish"] {
        let ran = bench.run(&["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(
            ran.stdout.contains("search") && ran.stdout.contains("__complete"),
            "{shell}"
        );
    }
    let offered = bench.run(&["__complete"]).stdout;
    assert_eq!(offered.lines().count(), 40);
    assert!(
        offered
            .lines()
            .all(|line| line.split_once('\t').is_some_and(|(id, _)| id.len() == 36))
    );
    assert_eq!(bench.run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn a_file_outside_of_any_store_is_counted_as_the_same_file_inside_of_one() {
    let bench = Bench::planted();
    let log = logs(&bench)
        .into_iter()
        .filter(|log| !log.to_string_lossy().contains("subagents"))
        .max_by_key(|log| disk::read(log).len())
        .unwrap();
    let asked = |path: &str, by: &[&str]| -> Vec<Value> {
        let ran = bench.run(&[&["stats", path, "--json"], by].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let lines = ran.stdout.lines();
        lines.map(|it| serde_json::from_str(it).unwrap()).collect()
    };
    // A copy outside the store, in a store without other sessions: messages shared with forks
    // count.
    let alone = Bench::new();
    let inside = alone
        .claude()
        .join("projects/p")
        .join(log.file_name().unwrap());
    disk::write(&inside, &disk::read(&log));
    let listed = alone.run(&["stats", "--json"]);
    let listed: Value = serde_json::from_str(listed.stdout.trim()).unwrap();
    let outside = bench.cwd().join(log.file_name().unwrap());
    disk::write(&outside, &disk::read(&log));
    let outside = outside.to_str().unwrap();
    for by in ["day", "project", "agent", "model"] {
        let rows = asked(outside, &["--by", by]);
        assert!(!rows.is_empty(), "{by}");
        let spent: u64 = rows.iter().map(|row| tokens(row).1).sum();
        assert_eq!(spent, tokens(&listed).1, "{by}");
    }
    let total = asked(outside, &[]).remove(0);
    assert!(total["messages"].as_u64().unwrap() > 0, "{total}");
    assert_eq!(total["messages"], listed["messages"]);
    assert_eq!(
        (&total["sessions"], &total["complete"]),
        (&1.into(), &true.into())
    );
}

#[test]
fn a_file_of_an_unknown_format_has_no_sums_instead_of_zeros() {
    let bench = Bench::new();
    let file = bench.cwd().join("other.json");
    disk::write(&file, br#"{"messages":[{"who":"me","said":"hello"}]}"#);
    let ran = bench.run(&["stats", file.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, 4, "{} {}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.is_empty() && ran.stderr.contains("is not known"),
        "{}",
        ran.stderr
    );
}
