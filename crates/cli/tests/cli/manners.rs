//! What a person at a terminal may expect: pager, local time, hints that work as printed.

mod layout;
mod naming;
mod pager;
mod pages;
mod safety;
mod time;
mod words;

use std::process::Command;

use crate::bench::{BOSWELL, Bench};

/// Runs a line of shell on a new terminal, `boswell` being the program, and returns what appeared
/// there. Not every machine has `script`, which makes the terminal.
pub(crate) fn on_terminal(bench: &Bench, line: &str, env: &[(&str, &str)]) -> Option<String> {
    let mut script = Command::new("script");
    script
        .args(["-qec", &line.replace("boswell ", &format!("{BOSWELL} "))])
        .arg("/dev/null")
        .env_clear()
        .env("HOME", bench.home())
        .env("BOSWELL_HOME", bench.own())
        .env("TMPDIR", bench.tmp())
        .env("PATH", "/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env("PAGER", "cat")
        .envs(env.iter().copied())
        .current_dir(bench.cwd());
    let ran = script.stdin(std::process::Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&ran.stdout).replace('\r', ""))
}
