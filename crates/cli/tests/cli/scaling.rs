//! Commands on one session take time in proportion to its size: twice the input, at most 2.3 times
//! the CPU time.

use std::fmt::Write;
use std::process::{Command, Stdio};

use crate::bench::{BOSWELL, Bench};

/// Most CPU time for twice the input.
const MOST: f64 = 2.3;
/// Seconds that a run must take before two sizes are compared: below, starting counts too much.
const LONG: f64 = 0.25;

fn id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

fn line(number: usize, parent: Option<usize>, role: &str, content: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
    let more = match role {
        "assistant" => "\"id\":\"msg\",\"model\":\"claude-sonnet-4\",\"type\":\"message\",",
        _ => "",
    };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/p\",\"sessionId\":\"{}\",\"version\":\"2.1.150\",\
         \"type\":\"{role}\",\"message\":{{{more}\"role\":\"{role}\",\"content\":{content}}},\"uuid\":\"{}\",\
         \"timestamp\":\"2026-01-01T00:{:02}:{:02}.000Z\"}}\n",
        id(0),
        id(number),
        number / 60 % 60,
        number % 60
    )
}

fn call(number: usize) -> String {
    format!(
        "{{\"type\":\"tool_use\",\"id\":\"toolu_{number}\",\"name\":\"Bash\",\"input\":{{\"command\":\"ls\"}}}}"
    )
}

/// One message with that many calls, none answered.
fn calls_of_one_message(size: usize) -> String {
    let calls: Vec<String> = (0..size).map(call).collect();
    line(0, None, "user", "\"go\"")
        + &line(1, Some(0), "assistant", &format!("[{}]", calls.join(",")))
}

/// That many lines with a call each, none answered.
fn calls_of_many_lines(size: usize) -> String {
    let mut log = line(0, None, "user", "\"go\"");
    for number in 1..=size {
        log += &line(
            number,
            Some(number - 1),
            "assistant",
            &format!("[{}]", call(number)),
        );
    }
    log
}

fn roots(size: usize) -> String {
    (0..size).fold(String::new(), |mut log, number| {
        let _ = write!(log, "{}", line(number, None, "user", "\"a root\""));
        log
    })
}

fn branches(size: usize) -> String {
    (0..size).fold(String::new(), |mut log, number| {
        let parent = number.checked_sub(1).map(|_| 0);
        let _ = write!(log, "{}", line(number, parent, "user", "\"a branch\""));
        log
    })
}

fn lines(size: usize) -> String {
    (0..size).fold(String::new(), |mut log, number| {
        let parent = number.checked_sub(1);
        let _ = write!(log, "{}", line(number, parent, "user", "\"a line\""));
        log
    })
}

/// CPU seconds of a command on a file, as the shell measures them: other tests run meanwhile.
fn seconds(bench: &Bench, args: &[&str], log: &str) -> f64 {
    let path = bench.plant("scaling.jsonl", log.as_bytes());
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("\"$@\" >/dev/null 2>&1; times")
        .arg("sh")
        .arg(BOSWELL)
        .args(args)
        .arg(path)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", bench.home())
        .env("BOSWELL_HOME", bench.own())
        .current_dir(bench.cwd())
        .stdin(Stdio::null());
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    // The second line is that of children: `0m1.230s 0m0.050s`.
    let children = output.lines().nth(1).unwrap();
    let parse = |time: &str| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    };
    children.split_whitespace().map(parse).sum()
}

fn is_linear(args: &[&str], log: fn(usize) -> String) {
    let bench = Bench::new();
    let mut size = 500;
    while size < 200_000 && seconds(&bench, args, &log(size)) < LONG {
        size *= 2;
    }
    // The smaller of several ratios: a measurement is disturbed in one direction only.
    let ratio = (0..4)
        .map(|_| seconds(&bench, args, &log(2 * size)) / seconds(&bench, args, &log(size)))
        .fold(f64::MAX, f64::min);
    assert!(
        ratio <= MOST,
        "`{}` takes {ratio:.2} times as long for {} as for {size}",
        args.join(" "),
        2 * size
    );
}

#[test]
fn check_is_linear_in_unanswered_calls() {
    is_linear(&["check"], calls_of_one_message);
    is_linear(&["check"], calls_of_many_lines);
}

#[test]
fn repair_is_linear_in_unanswered_calls() {
    is_linear(&["repair"], calls_of_one_message);
    is_linear(&["repair"], calls_of_many_lines);
}

#[test]
fn export_is_linear_in_roots_and_branches() {
    is_linear(&["export", "--format", "html"], roots);
    is_linear(&["export", "--format", "html"], branches);
    is_linear(&["export", "--format", "md"], lines);
}

#[test]
fn tree_and_context_are_linear_in_branches_and_lines() {
    is_linear(&["tree"], branches);
    is_linear(&["tree"], roots);
    is_linear(&["context", "--json"], lines);
    is_linear(&["context", "--json"], branches);
}
