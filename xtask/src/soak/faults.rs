//! `cargo xtask soak faults`: every command that writes, interrupted at every call that
//! changes or syncs a file.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use boswell_testkit::faults::{Case, FaultTally, Shim, Soak, WantedFaults, cases, page};

use super::options::Options;
use crate::{Outcome, clients, workspace};

/// Maximum number of faults per case; more are sampled: `man --output` alone has thousands of equal
/// writes.
const MOST: usize = 1_500;

pub(crate) fn run(options: &Options) -> Outcome<ExitCode> {
    let chosen = chosen(options);
    if options.list {
        chosen.iter().for_each(|case| println!("{}", case.name));
        return Ok(ExitCode::SUCCESS);
    }
    if chosen.is_empty() {
        return Err("no case has that name; `cargo xtask soak faults --list` lists them".into());
    }
    // The release build: a trial runs the program six times, and the whole soak about 150,000
    // times.
    workspace::must_succeed(workspace::cargo().args([
        "build",
        "--release",
        "--package",
        "boswell",
    ]))?;
    let target = workspace::target()?;
    clients::compiler()?;
    let shim = Shim::build(&target.join("faults"))?;
    let wanted = match (options.fault, options.sample) {
        (Some(fault), _) => WantedFaults::One(fault),
        (None, Some(size)) => WantedFaults::Sample(size),
        (None, None) => WantedFaults::Every { most: MOST },
    };
    let soak = Soak {
        program: &target.join("release/boswell"),
        shim: &shim,
        folder: scratch(),
        workers: options.workers,
        seed: options.seed,
        wanted,
    };
    println!(
        "soak: {} cases, seed {}, {} workers",
        chosen.len(),
        options.seed,
        options.workers
    );
    let tally = soak.run(&chosen, &|line| println!("soak: {line}"))?;
    finish(options, &tally)
}

fn chosen(options: &Options) -> Vec<Case> {
    let asked = |case: &Case| {
        options
            .command
            .as_ref()
            .is_none_or(|name| case.name.starts_with(name.as_str()))
    };
    cases().into_iter().filter(asked).collect()
}

/// Returns a folder in memory if the system has one: thousands of syncs would wear a real disk and
/// take hours.
fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let below = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    below.join(format!("boswell-faults-{}", std::process::id()))
}

fn finish(options: &Options, tally: &FaultTally) -> Outcome<ExitCode> {
    for violation in &tally.violations {
        let expected = violation
            .expected()
            .map_or(String::new(), |reason| format!("\n    expected: {reason}"));
        println!("VIOLATION {}{expected}", violation.line());
    }
    if options.command.is_none() && options.fault.is_none() {
        let how = options
            .sample
            .map_or("every one that can make a difference".to_owned(), |size| {
                format!("a sample of {size} for each case")
            });
        let file = workspace::root().join("docs/soak/faults.md");
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        std::fs::write(&file, page(tally, &commit(), options.seed, &how))?;
        println!("soak: written to docs/soak/faults.md");
    }
    let (total, unexpected) = (tally.total(), tally.unexpected().count());
    println!(
        "soak: {} trials, {} faults struck, {unexpected} unexpected violations",
        total.runs, total.struck
    );
    Ok(if unexpected == 0 && total.struck > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty", "--abbrev=12"])
        .current_dir(workspace::root());
    let output = git.output().ok().filter(|output| output.status.success());
    output.map_or("unknown".to_owned(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}
