//! fast-resume (PyPI `fast-resume`, program `fr`): the fastest other finder, which indexes what the
//! user and the assistant said, a fiftieth of the bytes.
//!
//! It is measured in turn with boswell, on the same sessions.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::lab::Lab;
use crate::bench::measure::Job;
use crate::{Outcome, workspace};

/// Version that is installed, so that figures of different days can be compared.
const VERSION: &str = "2.14.0";
/// Names the program, where it is installed elsewhere.
const PROGRAM: &str = "BOSWELL_FAST_RESUME";

/// Returns its first index of the sessions below `claude`, a folder `.claude`. It leaves only a
/// cache, which is removed before each run.
pub(super) fn first_index(lab: &Lab, claude: &Path) -> Outcome<Job> {
    let home = claude.parent().ok_or("the sessions are in no folder")?;
    let cache = lab.data.join("fast-resume-cache");
    Ok(Job {
        program: program(lab)?,
        arguments: ["--list", "--limit", "1"].map(str::to_owned).to_vec(),
        environment: vec![("HOME", home.to_owned()), ("XDG_CACHE_HOME", cache.clone())],
        forget: Some(cache),
        before: None,
        input: None,
        may_find_nothing: false,
    })
}

/// Returns its search for a word, with its look at every file, as ours has one. Its cache stays,
/// and is complete after a first run.
pub(super) fn search(lab: &Lab, claude: &Path, word: &str) -> Outcome<Job> {
    let mut job = first_index(lab, claude)?;
    job.arguments = ["--list", "--limit", "20", word]
        .map(str::to_owned)
        .to_vec();
    job.forget = None;
    let cache = lab.data.join("fast-resume-warm");
    for (name, value) in &mut job.environment {
        if *name == "XDG_CACHE_HOME" {
            value.clone_from(&cache);
        }
    }
    job.output_lines()?;
    Ok(job)
}

/// Returns the program: that of the environment, else one on the path, else it is installed into
/// the bench's data.
pub(crate) fn program(lab: &Lab) -> Outcome<PathBuf> {
    if let Some(named) = std::env::var_os(PROGRAM) {
        return Ok(named.into());
    }
    if let Some(found) = workspace::on_path("fr") {
        return Ok(found);
    }
    let folder = lab.data.join(format!("fast-resume-{VERSION}"));
    let installed = folder.join("bin").join("fr");
    if !installed.exists() {
        println!("bench: installing fast-resume {VERSION}");
        workspace::must_succeed(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let package = format!("fast-resume=={VERSION}");
        workspace::must_succeed(
            Command::new(folder.join("bin").join("pip")).args(["install", "--quiet", &package]),
        )?;
    }
    Ok(installed)
}
