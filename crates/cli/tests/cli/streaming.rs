//! A long session is streamed: memory is bounded by its longest line and its heads, not by its
//! length.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use boswell_testkit::bench_corpus::{BigKind, big_session};
use boswell_testkit::disk;

use crate::bench::Bench;

/// Memory that a reading command may use besides the longest line.
const ALLOWED: u64 = 64 << 20;

/// Unoptimised code reads slowly; the bound must stay well below the length in either case.
const BYTES: u64 = if cfg!(debug_assertions) {
    80_000_000
} else {
    200_000_000
};

/// Returns the peak memory of a running process, if the system reports it.
fn peak(process: u32) -> Option<u64> {
    let path = format!("/proc/{process}/status");
    let text = Path::new(&path)
        .exists()
        .then(|| String::from_utf8(disk::read(Path::new(&path))).ok())
        .flatten()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .ok()
        .map(|kib| kib << 10)
}

/// Runs a command and discards its output; returns the number of lines and the peak memory.
fn drained(bench: &Bench, args: &[&str]) -> (usize, u64) {
    let mut child = bench
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut buffer = vec![0; 1 << 16];
    let (mut lines, mut most) = (0, 0);
    loop {
        // The output is longer than a pipe's buffer, so the program is still running while we read.
        most = peak(child.id()).unwrap_or_default().max(most);
        let read = stdout.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
    }
    assert!(
        child.wait().unwrap().code().is_some_and(|code| code < 2),
        "{args:?}"
    );
    (lines, most)
}

#[test]
fn records_of_a_long_session_are_streamed() {
    if peak(std::process::id()).is_none() {
        eprintln!("SKIPPED: this system does not say how much memory a process had at most");
        return;
    }
    let bench = Bench::new();
    let path = bench.home().join("long.jsonl");
    let made = big_session(&path, BYTES, BigKind::Pi);
    let longest = longest_line(&path);
    let file = path.to_str().unwrap();
    let (lines, most) = drained(&bench, &["show", file, "--records", "--json"]);
    assert_eq!(lines, made.lines - 1, "every record but the header");
    assert!(
        most > 1 << 20 && most < ALLOWED + longest,
        "{most} bytes at most for {BYTES} with lines up to {longest}"
    );
    assert!(most < BYTES, "the bound proves something");
    let (_, most) = drained(&bench, &["export", file]);
    assert!(most < ALLOWED + longest, "{most} bytes at most");
}

fn longest_line(path: &Path) -> u64 {
    disk::read(path)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::len)
        .max()
        .unwrap_or_default() as u64
}

#[test]
fn archived_sessions_are_checked_one_after_the_other_and_let_go() {
    const EACH: usize = 16 << 20;
    const COUNT: usize = 10;
    if peak(std::process::id()).is_none() {
        eprintln!("SKIPPED: this system does not say how much memory a process had at most");
        return;
    }
    let bench = Bench::new();
    // Each line is a second later than the one before: a client bridges a missing parent by time.
    let line = |id: &str, n: usize, parent: &str, text: &str| {
        let time = format!("2026-01-01T00:{:02}:{:02}.000Z", n / 60, n % 60);
        format!(
            "{{\"parentUuid\":{parent},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"l{n}\",\"timestamp\":\"{time}\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
        )
    };
    let long = "x".repeat(1 << 20);
    let ids: Vec<String> = (0..COUNT)
        .map(|n| format!("aaaaaaaa-0001-4001-8001-{n:012}"))
        .collect();
    for id in &ids {
        let longs = EACH >> 20;
        let mut log = line(id, 0, "null", &long);
        log.extend((1..longs).map(|n| line(id, n, &format!("\"l{}\"", n - 1), &long)));
        // Enough problems that the output is longer than a pipe's buffer.
        log.extend((longs..longs + 300).map(|n| line(id, n, &format!("\"gone{n}\""), "?")));
        disk::write(
            &bench.home().join(format!(".claude/projects/-w/{id}.jsonl")),
            log.as_bytes(),
        );
    }
    let args: Vec<&str> = ["archive", "--apply"]
        .into_iter()
        .chain(ids.iter().map(String::as_str))
        .collect();
    bench.run(args).ends(0);
    let (lines, most) = drained(&bench, &["check", "--json"]);
    assert_eq!(lines, COUNT * 300);
    let whole = (EACH * COUNT) as u64;
    assert!(
        most > 1 << 20 && most < ALLOWED + 3 * EACH as u64,
        "{most} bytes at most for {whole}"
    );
    assert!(most < whole, "the bound proves something");
}
