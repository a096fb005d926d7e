//! Commands on one session take time in proportion to its size: twice the input, at most 2.3 times
//! the CPU time. `cargo xtask test` runs these one at a time, after all others.

use std::fmt::Write;
use std::process::{Command, Stdio};

use crate::bench::{BOSWELL, Bench};

/// Most CPU time for twice the input.
const MOST: f64 = 2.3;
/// How often the input is doubled: the times of one doubling differ by a tenth from run to run,
/// also on a machine that does nothing else.
const DOUBLINGS: i32 = 2;
/// Seconds that a run must take before two sizes are compared: below, starting counts too much.
const LONG: f64 = 0.2;

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

/// A message, and beside it a chain of that many lines without one.
fn attachments(size: usize) -> String {
    let mut log = line(0, None, "user", "\"go\"");
    for number in 1..=size {
        let parent = Some(number - 1).filter(|parent| *parent > 0);
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
        let _ = writeln!(
            log,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/p\",\"sessionId\":\"{}\",\"version\":\"2.1.150\",\
             \"type\":\"attachment\",\"attachment\":{{\"type\":\"queued_command\",\"prompt\":\"go on\"}},\"uuid\":\"{}\",\
             \"timestamp\":\"2026-01-01T00:{:02}:{:02}.000Z\"}}",
            id(0),
            id(number),
            number / 60 % 60,
            number % 60
        );
    }
    log
}

/// CPU seconds of a command on a file, as the shell measures them: other tests run meanwhile.
fn seconds(bench: &Bench, args: &[&str], log: &str) -> f64 {
    seconds_of(1, bench, args, log)
}

/// As above, for several runs: the clock of the shell has ticks of 10 ms.
fn seconds_of(runs: usize, bench: &Bench, args: &[&str], log: &str) -> f64 {
    let path = bench.plant("scaling.jsonl", log.as_bytes());
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("n=$0; while [ $n -gt 0 ]; do \"$@\" >/dev/null 2>&1; n=$((n-1)); done; times")
        .arg(runs.to_string())
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

/// A way in which a log grows.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: [Shape; 6] = [
    ("calls of one message", calls_of_one_message),
    ("lines with a call", calls_of_many_lines),
    ("roots", roots),
    ("branches", branches),
    ("lines", lines),
    ("attachments", attachments),
];

/// The least CPU time of several runs counts: other programs can only add to it.
const ROUNDS: usize = 12;
/// Runs of each size before the sizes are compared: one that was slowed down proves nothing.
const LEAST_ROUNDS: usize = 2;

fn is_linear_in(args: &[&str], (shape, log): Shape) {
    let bench = Bench::new();
    let mut size = 500;
    does_its_work(&bench, args, &log(size));
    let (mut small, mut large) = (seconds(&bench, args, &log(size)), f64::MAX);
    while size < 100_000 && small < LONG {
        size *= 2;
        small = seconds(&bench, args, &log(size));
    }
    let larger = size << DOUBLINGS;
    for round in 1..=ROUNDS {
        large = large.min(seconds(&bench, args, &log(larger)));
        if round >= LEAST_ROUNDS && large <= MOST.powi(DOUBLINGS) * small {
            return;
        }
        small = small.min(seconds(&bench, args, &log(size)));
    }
    panic!(
        "`{}` takes {:.2} times as long for {larger} {shape} as for {size}, {:.2} for each doubling",
        args.join(" "),
        large / small,
        (large / small).powf(1.0 / f64::from(DOUBLINGS))
    );
}

/// A command that refuses the file would take no time at all.
fn does_its_work(bench: &Bench, args: &[&str], log: &str) {
    let path = bench.plant("scaling.jsonl", log.as_bytes());
    let run = bench.run([args, &[path.to_str().unwrap()]].concat());
    let text = &run.stderr;
    // A plan of a repair, which is not carried out, ends with 2.
    assert!(matches!(run.code, Some(0..=2)), "{args:?}: {text}");
    assert!(!text.contains("error:"), "{args:?}: {text}");
    assert!(run.stdout.len() + run.stderr.len() > 0, "{args:?}");
}

/// Twice the calls, roots, branches or lines cost at most 2.3 times as much.
fn is_linear(args: &[&str]) {
    for shape in SHAPES {
        is_linear_in(args, shape);
    }
}

#[test]
fn check_is_linear() {
    is_linear(&["check"]);
}

#[test]
fn repair_is_linear() {
    is_linear(&["repair"]);
}

#[test]
fn export_is_linear_in_every_format() {
    for format in ["jsonl", "json", "md", "html"] {
        is_linear(&["export", "--format", format]);
    }
}

#[test]
fn tree_is_linear() {
    is_linear(&["tree"]);
}

#[test]
fn context_is_linear() {
    is_linear(&["context", "--json"]);
    is_linear(&["context", "--sent"]);
}

#[test]
fn show_and_stats_are_linear() {
    is_linear(&["show"]);
    is_linear(&["show", "--records"]);
    is_linear(&["stats"]);
}

#[test]
fn the_export_of_a_small_session_costs_little_more_than_showing_it() {
    let bench = Bench::new();
    let log = lines(5);
    let least = |args: &[&str]| {
        let times = (0..5).map(|_| seconds_of(20, &bench, args, &log));
        times.fold(f64::MAX, f64::min)
    };
    let shown = least(&["show"]);
    for format in ["jsonl", "json", "md", "html"] {
        let exported = least(&["export", "--format", format]);
        // A fixed cost of 0.1 s would be ten times as much.
        assert!(
            exported <= 3.0 * shown,
            "20 exports as {format} take {exported:.2} s, 20 transcripts {shown:.2} s"
        );
    }
}
