//! `statusline`: one line for the status line of an agent.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use boswell_testkit::clock::iso;
use boswell_testkit::disk;
use boswell_testkit::make::claude::project_key;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, finish};

const DAY: i64 = 86_400_000;

#[expect(clippy::disallowed_methods, reason = "today is the question")]
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// A session with an answer per time; each has a million tokens of output.
fn session(bench: &Bench, number: u32, times: &[i64]) -> String {
    let id = format!("{number:08}-0000-4000-8000-000000000000");
    let lines: String = times
        .iter()
        .enumerate()
        .map(|(at, time)| line(bench, &id, at, *time))
        .collect();
    disk::write(&log(bench, &id), lines.as_bytes());
    id
}

fn log(bench: &Bench, id: &str) -> std::path::PathBuf {
    let cwd = bench.cwd().canonicalize().unwrap();
    let key = project_key(&cwd.display().to_string());
    let projects = bench.home().join(".claude/projects");
    projects.join(key).join(format!("{id}.jsonl"))
}

fn line(bench: &Bench, id: &str, at: usize, time: i64) -> String {
    let cwd = bench.cwd().canonicalize().unwrap().display().to_string();
    let uuid = |at: usize| format!("{}-{at}", &id[..8]);
    let parent = at.checked_sub(1).map(uuid);
    let message = json!({
        "role": "assistant", "model": "claude-opus-4-1", "id": format!("msg_{}_{at}", &id[..8]),
        "type": "message", "content": [{"type": "text", "text": "done"}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 40_000, "output_tokens": 1_000_000},
    });
    let line = json!({
        "type": "assistant", "uuid": uuid(at), "parentUuid": parent, "sessionId": id, "cwd": cwd,
        "isSidechain": false, "version": "2.0.0", "timestamp": iso(time), "message": message,
        "requestId": format!("req_{}_{at}", &id[..8]),
    });
    format!("{line}\n")
}

/// What Claude Code passes.
fn input(bench: &Bench, id: &str) -> Value {
    json!({
        "session_id": id, "transcript_path": log(bench, id), "cwd": bench.cwd(),
        "model": {"id": "claude-opus-4-1", "display_name": "Opus 4.1"},
        "workspace": {"current_dir": bench.cwd(), "project_dir": bench.cwd()},
        "version": "2.1.325", "output_style": {"name": "default"},
        "cost": {"total_cost_usd": 0.424, "total_duration_ms": 1, "total_api_duration_ms": 1},
        "context_window": {"total_input_tokens": 46_000, "total_output_tokens": 5,
            "context_window_size": 200_000, "used_percentage": 23, "remaining_percentage": 77},
        "exceeds_200k_tokens": false,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program reads the file as its standard input"
)]
fn statusline(bench: &Bench, options: &[&str], input: &[u8]) -> Ran {
    let file = bench.root().join("input");
    disk::write(&file, input);
    let mut command = bench.command(["statusline"]);
    command.args(options);
    command.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    finish(command)
}

fn object(bench: &Bench, input: &Value) -> Value {
    let ran = statusline(bench, &["--json"], input.to_string().as_bytes()).ends(0);
    ran.of_type("statusline")[0].clone()
}

/// What statistics say about today.
fn today(bench: &Bench) -> f64 {
    let ran = bench.run(["stats", "--by", "day", "--json"]).ends(0);
    let days = ran.of_type("stat");
    let key = iso(now())[..10].to_owned();
    let day = days.iter().find(|day| day["key"] == key);
    day.map_or(0.0, |day| day["cost_usd"].as_f64().unwrap())
}

#[test]
fn the_line_shows_the_session_today_and_the_context() {
    let bench = Bench::new();
    let now = now();
    let id = session(&bench, 1, &[now - 2 * DAY, now]);
    session(&bench, 2, &[now]);
    session(&bench, 3, &[now - 2 * DAY]);
    let expected = today(&bench);
    assert!(
        expected > 100.0,
        "two answers of a million tokens: {expected}"
    );
    let said = object(&bench, &input(&bench, &id));
    assert_eq!(said["session"], format!("claude:{id}"));
    assert_eq!(said["cost_usd"], 0.424);
    assert!(
        (said["today_usd"].as_f64().unwrap() - expected).abs() < 1e-6,
        "{said}"
    );
    assert_eq!(said["context_tokens"], 46_000);
    let text = statusline(&bench, &[], input(&bench, &id).to_string().as_bytes()).ends(0);
    let expected = format!("Opus 4.1 · $0.42 · ${expected:.2} today · 23 % of context\n");
    assert_eq!(text.text(), expected);
}

#[test]
fn what_the_session_spent_since_the_last_refresh_counts_once() {
    let bench = Bench::new();
    let now = now();
    let id = session(&bench, 1, &[now]);
    session(&bench, 2, &[now]);
    let before = today(&bench);
    // The log grows, and the catalog does not hear of it.
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.append(true).open(log(&bench, &id)).unwrap();
    file.write_all(line(&bench, &id, 1, now).as_bytes())
        .unwrap();
    let mut bare = input(&bench, &id);
    bare["cost"] = Value::Null;
    bare["context_window"] = Value::Null;
    let said = object(&bench, &bare);
    let (today_usd, cost) = (said["today_usd"].as_f64(), said["cost_usd"].as_f64());
    assert!((today_usd.unwrap() - before * 1.5).abs() < 1e-6, "{said}");
    assert!((cost.unwrap() - before).abs() < 1e-6, "{said}");
    assert_eq!(said["context_tokens"], 40_010);
    assert!((today(&bench) - before * 1.5).abs() < 1e-6);
    // Now the catalog knows it too.
    assert_eq!(object(&bench, &bare)["today_usd"], said["today_usd"]);
}

#[test]
fn without_input_it_is_the_last_session_of_the_folder() {
    let bench = Bench::new();
    let nothing = statusline(&bench, &[], b"").ends(0);
    assert_eq!(nothing.text(), "no session\n");
    let id = session(&bench, 1, &[now()]);
    today(&bench);
    let said = statusline(&bench, &["--json"], b"").ends(0);
    let said = &said.of_type("statusline")[0];
    assert_eq!(said["session"], format!("claude:{id}"));
    assert_eq!(said["model"], "claude-opus-4-1");
    assert_eq!(said["cost_usd"], said["today_usd"]);
}

#[test]
fn a_day_without_spending_cost_nothing_and_an_unknown_one_is_not_shown() {
    let bench = Bench::new();
    let id = session(&bench, 1, &[now() - 2 * DAY]);
    let asked = input(&bench, &id).to_string();
    let unknown = statusline(&bench, &[], asked.as_bytes()).ends(0).text();
    assert!(!unknown.contains("today"), "{unknown}");
    today(&bench);
    let known = statusline(&bench, &[], asked.as_bytes()).ends(0).text();
    assert!(known.contains("$0.00 today"), "{known}");
}

#[test]
fn it_writes_nothing_and_refuses_what_is_no_object() {
    let bench = Bench::new();
    let id = session(&bench, 1, &[now()]);
    statusline(&bench, &[], input(&bench, &id).to_string().as_bytes()).ends(0);
    assert!(!bench.own().exists(), "a status line makes no folder");
    statusline(&bench, &[], b"[1]").ends(2).says("JSON object");
    // A path outside of every store is not read.
    let mut outside = input(&bench, &id);
    outside["transcript_path"] = json!("/etc/passwd");
    assert_eq!(object(&bench, &outside)["session"], Value::Null);
    outside["transcript_path"] = json!(bench.home().join(".claude/projects/../../x.jsonl"));
    assert_eq!(object(&bench, &outside)["session"], Value::Null);
}

/// The promise is 5 ms for a release build; the bench `startup` measures that.
#[test]
fn it_is_as_fast_in_a_home_with_many_sessions() {
    let bench = Bench::new();
    let now = now();
    for number in 2..300 {
        session(&bench, number, &[now - 2 * DAY]);
    }
    let id = session(&bench, 1, &[now]);
    today(&bench);
    let asked = input(&bench, &id).to_string();
    let mut times: Vec<Duration> = (0..8)
        .map(|_| {
            let before = Moment::now();
            statusline(&bench, &[], asked.as_bytes()).ends(0);
            before.elapsed()
        })
        .collect();
    times.sort();
    assert!(times[0] < Duration::from_millis(150), "{times:?}");
}

/// A moment of the clock that never goes back.
struct Moment(std::time::Instant);

impl Moment {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it takes is the question"
    )]
    fn now() -> Moment {
        Moment(std::time::Instant::now())
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
