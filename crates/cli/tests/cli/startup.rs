//! Startup: `--version` is immediate, and the deferred grammar prints the same help and errors as
//! the complete one.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{BOSWELL, Bench};

/// How often each program is started.
const STARTS: usize = 60;
/// The promised ratio is 3; this build is not optimised, and other tests run concurrently.
const AT_MOST: f64 = 8.0;

#[expect(
    clippy::disallowed_methods,
    reason = "how long a start takes is the question"
)]
fn start(program: &str, args: &[&str]) -> Duration {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let before = Instant::now();
    assert!(command.status().unwrap().success());
    before.elapsed()
}

#[cfg(unix)]
#[test]
fn the_version_is_told_almost_as_fast_as_a_program_that_does_nothing_ends() {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        ours.push(start(BOSWELL, &["--version"]));
        theirs.push(start("/bin/true", &[]));
    }
    // The fastest start is the least disturbed by other processes.
    let fastest = |times: &[Duration]| times.iter().min().unwrap().as_secs_f64();
    let ratio = fastest(&ours) / fastest(&theirs);
    assert!(
        ratio < AT_MOST,
        "`boswell --version` takes {ratio:.1} times as long as `true`"
    );
}

#[test]
fn the_version_is_the_same_however_it_is_asked_for() {
    let bench = Bench::new();
    let short = bench.run(["--version"]).ends(0);
    assert_eq!(
        short.text(),
        format!("boswell {}\n", env!("CARGO_PKG_VERSION"))
    );
    for args in [
        &["-V"] as &[&str],
        &["--json", "--version"],
        &["--version", "--quiet"],
    ] {
        let ran = bench.run(args).ends(0);
        assert_eq!(
            (ran.text(), ran.stderr),
            (short.text(), String::new()),
            "{args:?}"
        );
    }
    // Only as an option of the program: a command without such an option reports an error.
    bench.run(["list", "--version"]).ends(2).says("--version");
}

#[test]
fn mistakes_are_answered_with_all_commands_in_mind() {
    let bench = Bench::new();
    bench.run(["serch", "x"]).ends(2).says("'search'");
    bench.run(["list", "--limt", "3"]).ends(2).says("'--limit'");
    bench.run(["show"]).ends(2).says("Usage: boswell show");
    bench.run(["--colour", "never"]).ends(2).says("'--color'");
    bench
        .run(["list", "--color", "sometimes"])
        .ends(2)
        .says("possible values: auto, always, never");
    // Global options may come before or after the command.
    let (before, after) = (
        bench.run(["--json", "config"]).ends(0),
        bench.run(["config", "--json"]).ends(0),
    );
    assert_eq!(before.text(), after.text());
    assert!(!before.lines().is_empty());
}
