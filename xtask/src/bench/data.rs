//! The data of the read groups, made once by testkit's generators and kept in `target/bench`.

use std::path::{Path, PathBuf};

use boswell_testkit::bench_corpus::{self, Kind};

use crate::Outcome;

pub(crate) const SESSIONS: usize = 1_000;
const SESSIONS_MEGABYTES: f64 = 100.0;
const SESSIONS_SEED: u64 = 1;
const GIGABYTE: u64 = 1_000_000_000;

/// One Claude session of 1 GB, with compactions and branches, where Claude would keep it.
pub(crate) fn gigabyte_session(data: &Path) -> Outcome<PathBuf> {
    let folder = data.join("big");
    let project = folder.join(".claude").join("projects").join("-home-dev-work-big");
    let id = once(&folder, || {
        let unnamed = project.join("unnamed");
        let session = bench_corpus::big_session(&unnamed, GIGABYTE, Kind::Claude);
        // A Claude log is named after its session, whose id is known only now.
        std::fs::rename(&unnamed, project.join(format!("{}.jsonl", session.id)))?;
        Ok(session.id)
    })?;
    Ok(project.join(format!("{id}.jsonl")))
}

/// The root of a Claude store with a thousand sessions.
pub(crate) fn thousand_sessions(data: &Path) -> Outcome<PathBuf> {
    let home = data.join("c100");
    once(&home, || {
        bench_corpus::generate(&home, SESSIONS, SESSIONS_MEGABYTES, SESSIONS_SEED, false);
        Ok(String::new())
    })?;
    Ok(home.join(".claude"))
}

/// Makes what belongs into `folder`, unless an earlier run finished doing so, and gives what `make` had to say.
fn once(folder: &Path, make: impl FnOnce() -> Outcome<String>) -> Outcome<String> {
    // Written last, so that an interrupted run leaves nothing that looks whole.
    let stamp = folder.with_extension("complete");
    if stamp.exists() {
        return Ok(std::fs::read_to_string(stamp)?);
    }
    println!("bench: generating {}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    let said = make()?;
    std::fs::write(stamp, &said)?;
    Ok(said)
}
