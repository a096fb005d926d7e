//! The first index reads every log once, for the catalog and for itself, and leaves what separate
//! reads leave.

use std::path::Path;
use std::process::Command;

use boswell_testkit::{TestHome, bench_corpus, corpus};
use serde_json::Value;

use crate::bench::{BOSWELL, Bench, finish};

/// Everything that catalog and index answer about a home, without what differs between two runs.
fn answers(bench: &Bench) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for args in [
        &["list", "--hidden", "--json"][..],
        &["stats", "--by", "session", "--json"],
        &["stats", "--by", "model,day", "--json"],
        &[
            "search", "the", "--json", "--limit", "1000", "--sort", "newest",
        ],
        &[
            "search", "错误", "--json", "--limit", "1000", "--sort", "newest",
        ],
        &["prompts", "--json"],
    ] {
        let ran = bench.run(args);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let mut lines = ran.lines();
        for line in &mut lines {
            let line = line.as_object_mut().unwrap();
            // When the page was made, and how it was searched.
            for member in ["as_of", "cursor", "scanned_bytes"] {
                line.remove(member);
            }
        }
        all.push(lines);
    }
    all
}

/// Asks until the last planted file is older than what the catalog takes for unsettled: a younger
/// one is read again by each command, as far as its time allows.
fn settle(bench: &Bench, planted: &Path) {
    let age = || {
        let modified = std::fs::metadata(planted).unwrap().modified().unwrap();
        modified.elapsed().unwrap_or_default()
    };
    while age() < std::time::Duration::from_millis(2100) {
        bench.run(["stats"]).ends(0);
    }
}

fn compare(bench: &Bench) {
    let last = bench.plant(".claude/last-of-all", b"");
    settle(bench, &last);
    let kept = bench.own();
    if kept.exists() {
        std::fs::remove_dir_all(kept).unwrap();
    }
    // The catalog first and on its own, then the index.
    bench.run(["stats"]).ends(0);
    let apart = bench.run(["index", "--json"]).ends(0).of_type("index");
    let expected = answers(bench);
    assert!(expected.iter().all(|answer| !answer.is_empty()));
    std::fs::remove_dir_all(bench.own()).unwrap();
    let together = bench.run(["index", "--json"]).ends(0).of_type("index");
    for member in ["sessions", "sources", "text_bytes", "failed", "complete"] {
        assert_eq!(apart[0][member], together[0][member], "{member}");
    }
    for (apart, together) in expected.iter().zip(answers(bench)) {
        assert_eq!(*apart, together);
    }
}

/// Ends some logs with half a line, and some with a line that lacks its end.
fn plant_ends(bench: &Bench) {
    let logs = corpus::files(&bench.home().join(".claude"));
    let logs = logs
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    for (number, path) in logs.enumerate().step_by(3) {
        let mut bytes = boswell_testkit::disk::read(path);
        match number % 2 {
            0 => bytes.extend_from_slice(b"{\"type\":\"user\",\"message\":{\"role\""),
            _ => bytes.truncate(bytes.trim_ascii_end().len()),
        }
        boswell_testkit::disk::write(path, &bytes);
    }
}

#[test]
fn a_first_index_leaves_what_separate_reads_leave() {
    // Large enough for several threads, and every dialect.
    let bench = Bench::new();
    TestHome::build(&bench.home(), 17);
    bench_corpus::generate(&bench.home(), 60, 20.0, 5, false);
    plant_ends(&bench);
    compare(&bench);
    // Small enough for one.
    let bench = Bench::new();
    TestHome::build(&bench.home(), 18);
    compare(&bench);
}

#[test]
fn a_first_index_that_is_stopped_keeps_what_it_read_and_the_next_one_goes_on() {
    let bench = Bench::new();
    bench_corpus::generate(&bench.home(), 40, 12.0, 6, false);
    let last = bench.plant(".claude/last-of-all", b"");
    settle(&bench, &last);
    std::fs::remove_dir_all(bench.own()).unwrap();
    let mut first = Command::new("timeout");
    first
        .args(["-s", "INT", "0.3", BOSWELL, "index"])
        .env_clear()
        .env("HOME", bench.home())
        .env("BOSWELL_HOME", bench.own())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(bench.cwd());
    finish(first);
    let stopped = bench.run(["index", "--json"]).ends(0).of_type("index");
    assert_eq!(stopped[0]["complete"], true);
    let continued = answers(&bench);
    std::fs::remove_dir_all(bench.own()).unwrap();
    bench.run(["index"]).ends(0);
    assert_eq!(continued, answers(&bench));
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a test may be skipped is said by the environment"
)]
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Bytes that system calls read from logs, as strace saw them.
fn read_from_logs(trace: &str) -> u64 {
    let reads = trace.lines().filter(|line| {
        let call = ["pread64(", "read(", "preadv(", "readv("];
        line.contains(".jsonl>") && call.iter().any(|call| line.contains(call))
    });
    let taken = |line: &str| {
        line.rsplit_once("= ")?
            .1
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
    };
    reads.filter_map(taken).sum()
}

#[test]
fn a_first_index_reads_every_log_once() {
    let bench = Bench::new();
    bench_corpus::generate(&bench.home(), 80, 16.0, 7, false);
    let trace = bench.root().join("trace");
    std::fs::create_dir(&trace).unwrap();
    let mut traced = Command::new("strace");
    traced
        // A file for each thread, so that no call is split.
        .args(["-ff", "-y", "-e", "trace=read,pread64,preadv,readv", "-o"])
        .arg(trace.join("calls"))
        .args([BOSWELL, "index"])
        .env_clear()
        .env("HOME", bench.home())
        .env("BOSWELL_HOME", bench.own())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(bench.cwd());
    let Ok(ran) = traced.output() else {
        assert!(
            !is_ci(),
            "strace is missing: `cargo xtask test` installs it"
        );
        eprintln!("SKIPPED: strace is not on the path, so that nobody counts what is read");
        return;
    };
    assert!(ran.status.success(), "{ran:?}");
    let calls = corpus::files(&trace).into_iter();
    let read: u64 = calls
        .map(|path| {
            read_from_logs(&String::from_utf8_lossy(&boswell_testkit::disk::read(
                &path,
            )))
        })
        .sum();
    let logs = corpus::files(&bench.home().join(".claude"));
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let is_log = |path: &&std::path::PathBuf| path.extension().is_some_and(|it| it == "jsonl");
    let whole: u64 = logs.iter().filter(is_log).map(|path| size(path)).sum();
    // Of each log a window at either end is compared besides.
    let windows = logs.len() as u64 * (16 << 10);
    assert!(read >= whole, "{read} of {whole} bytes");
    assert!(read <= whole + windows, "{read} bytes of {whole} were read");
}
