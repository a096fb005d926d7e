//! `cargo xtask soak remote`: kills, cuts, take-overs and processes on a private PostgreSQL. Writes
//! `docs/soak/remote.md`.

use std::process::{ExitCode, Stdio};

use boswell_testkit::disk;

use crate::{Outcome, workspace};

const REPORT: &str = "docs/soak/remote.md";

/// Kills, cuts, take-overs, and appends of each of eight processes.
const AMOUNTS: [&str; 4] = ["200", "1000", "100", "1000"];

const ABOUT: &str = "\
# Sessions in PostgreSQL, in bad weather

Written by `cargo xtask soak remote`.
A private server runs with `fsync` on.
Its postmaster is killed with `SIGKILL` while a writer appends,
and a proxy cuts connections before the statement, before `COMMIT`, after `COMMIT`,
in one direction only, or passes the statement on late.
A holder of a lease loses its network until another one has taken the lease.
Eight processes append to one session at the same time.

A writer sends an append again when its connection is lost, so that none of these ends it.
`lost` are entries that were acknowledged and are not there,
`doubled` are entries that are there twice.
";

pub(crate) fn run(arguments: &[String]) -> Outcome<ExitCode> {
    let amounts: Vec<&str> = match arguments {
        [] => AMOUNTS.to_vec(),
        [_, _, _, _] => arguments.iter().map(String::as_str).collect(),
        _ => return Err("soak remote takes nothing, or KILLS CUTS TAKEOVERS APPENDS".into()),
    };
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--release", "-p", "boswell-remote"]);
    cargo.args(["--no-default-features", "--features", "postgres"]);
    cargo
        .args(["--example", "remote_lab", "--", "soak"])
        .args(&amounts);
    let output = cargo.stderr(Stdio::inherit()).output()?;
    let table = String::from_utf8(output.stdout)?;
    print!("{table}");
    if !output.status.success() {
        return Ok(ExitCode::FAILURE);
    }
    if amounts == AMOUNTS {
        let report = format!("{ABOUT}\n{table}");
        disk::write(&workspace::root().join(REPORT), report.as_bytes());
    }
    Ok(ExitCode::SUCCESS)
}
