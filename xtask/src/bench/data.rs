//! The data of the read groups, created once by testkit's generators and cached in `target/bench`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use boswell_testkit::bench_corpus::{self, BigKind};

use crate::Outcome;

pub(crate) const SESSIONS: usize = 1_000;
const SESSIONS_MEGABYTES: f64 = 100.0;
const SESSIONS_SEED: u64 = 1;
const GIGABYTE: u64 = 1_000_000_000;

/// Returns a Claude session of 1 GB, with compactions and branches, in Claude's layout.
pub(crate) fn gigabyte_session(data: &Path) -> Outcome<PathBuf> {
    long_session(data, "big", GIGABYTE)
}

/// As above, with 20 MB, to try a group.
pub(crate) fn twenty_megabyte_session(data: &Path) -> Outcome<PathBuf> {
    long_session(data, "big-small", GIGABYTE / 50)
}

fn long_session(data: &Path, name: &str, bytes: u64) -> Outcome<PathBuf> {
    let folder = data.join(name);
    let project = folder
        .join(".claude")
        .join("projects")
        .join("-home-dev-proj-big");
    let id = once(&folder, || {
        let unnamed = project.join("unnamed");
        let session = bench_corpus::big_session(&unnamed, bytes, BigKind::Claude);
        // A Claude log is named after its session, whose id is known only now.
        std::fs::rename(&unnamed, project.join(format!("{}.jsonl", session.id)))?;
        Ok(session.id)
    })?;
    Ok(project.join(format!("{id}.jsonl")))
}

/// Returns a native session of 1 GB, and how many bytes of its end a context needs: from the first
/// entry that its last compaction preserves.
pub(crate) fn gigabyte_native_session(data: &Path) -> Outcome<(PathBuf, u64)> {
    // In a boswell home, because the folders above a file decide its dialect.
    let folder = data.join("native");
    let file = folder
        .join("boswell")
        .join("sessions")
        .join("--home-dev-proj-big--")
        .join("session.jsonl");
    let needed = once(&folder, || {
        let session = bench_corpus::big_session(&file, GIGABYTE, BigKind::Pi);
        let kept = start_of_entry(&file, &session.first_kept, session.last_compaction)?;
        Ok((session.bytes - kept).to_string())
    })?;
    Ok((file, needed.parse()?))
}

/// Returns the start of the line of an entry at most 16 MB before a position.
fn start_of_entry(file: &Path, id: &str, before: u64) -> Outcome<u64> {
    let mut opened = File::open(file)?;
    let mut at = opened.seek(SeekFrom::Start(before.saturating_sub(16 << 20)))?;
    let mark = format!(",\"id\":\"{id}\"");
    let mut found = None;
    for line in BufReader::new(opened.take(before - at)).split(b'\n') {
        let line = line?;
        if String::from_utf8_lossy(&line).contains(&mark) {
            found = Some(at);
        }
        at += line.len() as u64 + 1;
    }
    found.ok_or_else(|| format!("the entry {id} is not near {before}").into())
}

/// Returns the root of a Claude store with a thousand sessions.
pub(crate) fn thousand_sessions(data: &Path) -> Outcome<PathBuf> {
    generated(
        data,
        "c100",
        (SESSIONS, SESSIONS_MEGABYTES, SESSIONS_SEED),
        false,
    )
}

/// Returns the root of a Claude store with a hundred sessions, to try a group.
pub(crate) fn hundred_sessions(data: &Path) -> Outcome<PathBuf> {
    generated(data, "c10", (100, 9.5, 2), false)
}

/// Returns the root of a Claude store with ten thousand sessions.
pub(crate) fn ten_thousand_sessions(data: &Path) -> Outcome<PathBuf> {
    generated(data, "c1000", (10_000, 950.0, 2), false)
}

/// Returns the root of a Claude store with a hundred thousand short sessions.
pub(crate) fn hundred_thousand_sessions(data: &Path) -> Outcome<PathBuf> {
    generated(data, "c100k", (100_000, 200.0, 3), false)
}

/// Returns the root of a Claude store with a thousand sessions, some of them damaged, and a line of
/// 60 MB.
pub(crate) fn damaged_sessions(data: &Path) -> Outcome<PathBuf> {
    generated(
        data,
        "c100-damaged",
        (SESSIONS, SESSIONS_MEGABYTES, SESSIONS_SEED),
        true,
    )
}

/// Returns the root of a Claude store with that many sessions, megabytes and seed.
fn generated(data: &Path, name: &str, size: (usize, f64, u64), damaged: bool) -> Outcome<PathBuf> {
    let home = data.join(name);
    once(&home, || {
        let (sessions, megabytes, seed) = size;
        bench_corpus::generate(&home, sessions, megabytes, seed, damaged);
        Ok(String::new())
    })?;
    Ok(home.join(".claude"))
}

/// Creates the contents of `folder`, unless an earlier run finished it, and returns the result of
/// `make`.
pub(crate) fn once(folder: &Path, make: impl FnOnce() -> Outcome<String>) -> Outcome<String> {
    // Written last, so that an interrupted run leaves nothing that looks complete.
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
