//! System calls: no receipt leaves a process before the sync that covers it has returned.
//!
//! Needs strace; without it the test is skipped, under CI it fails.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test plants, looks and stops at the first surprise"
)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::hammer::hammer;

/// A call as strace prints it, with the path of its file descriptor.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    /// A write to a file: its path and the beginning of the bytes.
    Wrote(String, String),
    /// A write to standard output.
    Said(String),
    SyncedFile(String),
    SyncedFolder(String),
    Renamed(String, String),
    Linked(String, String),
}

fn has_strace() -> bool {
    let found = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "strace is not installed");
    eprintln!("SKIPPED: strace is not installed, the order of the system calls was not looked at");
    false
}

fn trace(folder: &Path, role: &str, count: usize) -> Vec<Call> {
    let log = folder.join("trace");
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-y",
        "-s",
        "4096",
        "-e",
        "trace=write,pwrite64,writev,fdatasync,fsync,rename,renameat,renameat2,link,linkat",
    ]);
    command
        .arg("-o")
        .arg(&log)
        .arg(hammer())
        .arg(role)
        .arg(folder.join("home"))
        .args(["s", "x", &count.to_string(), "1"]);
    let output = command.stdout(Stdio::piped()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read_to_string(log)
        .unwrap()
        .lines()
        .filter_map(parse)
        .collect()
}

/// Parses calls that succeeded; each is on one line, because the process has one thread.
fn parse(line: &str) -> Option<Call> {
    let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let (call, result) = call.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let (name, rest) = call.split_once('(')?;
    let path = || {
        rest.split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'))
            .map(|(path, _)| path.to_owned())
    };
    let quoted = |nth: usize| rest.split('"').nth(nth).map(str::to_owned);
    let data = || rest.split_once(", \"").map(|(_, data)| data.to_owned());
    match name {
        "write" | "pwrite64" | "writev" if rest.starts_with("1<") => Some(Call::Said(data()?)),
        "write" | "pwrite64" | "writev" => Some(Call::Wrote(path()?, data()?)),
        "fdatasync" => Some(Call::SyncedFile(path()?)),
        "fsync" => Some(Call::SyncedFolder(path()?)),
        "rename" | "renameat" | "renameat2" => Some(Call::Renamed(quoted(1)?, quoted(3)?)),
        "link" | "linkat" => Some(Call::Linked(quoted(1)?, quoted(3)?)),
        _ => None,
    }
}

fn position(calls: &[Call], is_it: impl Fn(&Call) -> bool) -> usize {
    calls.iter().position(is_it).unwrap()
}

/// Checks for each receipt that its entry was written and then the log synced, both before the
/// receipt was printed.
fn receipts_follow_their_syncs(calls: &[Call], count: usize) {
    for number in 0..count {
        let said = position(
            calls,
            |call| matches!(call, Call::Said(text) if text.starts_with(&format!("x-{number}\\n"))),
        );
        let marker = format!("\\\"id\\\":\\\"x-{number}\\\"");
        let wrote = position(
            calls,
            |call| matches!(call, Call::Wrote(_, data) if data.contains(&marker)),
        );
        let between = calls.get(wrote..said).unwrap_or_default();
        let synced =
            |call: &Call| matches!(call, Call::SyncedFile(path) if path.contains("_s.jsonl"));
        assert!(
            between.iter().any(synced),
            "x-{number} was acknowledged before its sync: {between:?}"
        );
    }
}

#[test]
fn no_receipt_leaves_before_its_sync_and_a_new_log_is_durable_before_it_is_used() {
    if !has_strace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let calls = trace(folder.path(), "create", 20);
    receipts_follow_their_syncs(&calls, 20);
    // Written and synced under another name, then linked to its own, then the folder synced.
    let linked = position(
        &calls,
        |call| matches!(call, Call::Linked(_, to) if to.ends_with("_s.jsonl")),
    );
    let Call::Linked(temp, to) = &calls[linked] else {
        return;
    };
    let wrote = position(
        &calls,
        |call| matches!(call, Call::Wrote(path, _) if path == temp),
    );
    let synced = position(&calls, |call| *call == Call::SyncedFile(temp.clone()));
    assert!(wrote < synced && synced < linked, "{calls:?}");
    let created = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("created")),
    );
    let project = Path::new(to).parent().unwrap();
    for (above, folder) in project.ancestors().take(4).enumerate() {
        // The folders above it may be synced earlier, when they were created.
        let from = if above == 0 { linked } else { 0 };
        let folder = Call::SyncedFolder(folder.to_str().unwrap().to_owned());
        assert!(
            calls[from..created].contains(&folder),
            "{folder:?} is not synced: {calls:?}"
        );
    }
    // From then on, an append is one write and one sync.
    let second = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("x-1\\n")),
    );
    let third = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("x-2\\n")),
    );
    let between = calls.get(second + 1..third).unwrap();
    assert!(
        matches!(between, [Call::Wrote(one, _), Call::SyncedFile(two)] if one == two),
        "{between:?}"
    );
}

#[test]
fn a_deferred_log_has_its_visible_name_synced_before_the_first_answer_is_acknowledged() {
    if !has_strace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let calls = trace(folder.path(), "defer", 3);
    receipts_follow_their_syncs(&calls, 3);
    // x-0 is a prompt, x-1 the first assistant message.
    let shown = position(
        &calls,
        |call| matches!(call, Call::Renamed(from, to) if from.ends_with(".pending") && to.ends_with("_s.jsonl")),
    );
    let prompt = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("x-0\\n")),
    );
    let answer = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("x-1\\n")),
    );
    assert!(prompt < shown && shown < answer);
    let Call::Renamed(_, to) = &calls[shown] else {
        return;
    };
    let project = Path::new(to).parent().unwrap().to_str().unwrap().to_owned();
    assert!(
        calls[shown..answer].contains(&Call::SyncedFolder(project)),
        "{:?}",
        &calls[shown..answer]
    );
}

#[test]
fn a_log_in_doubt_is_copied_and_synced_before_anything_is_acknowledged() {
    if !has_strace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), "create", 1);
    // A hard link to the log, which was the failed-sync marker of earlier versions.
    let only = |folder: &Path| {
        std::fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    let log = only(&only(&folder.path().join("home/sessions")));
    std::fs::hard_link(&log, folder.path().join("home/locks/boswell-s.doubt")).unwrap();
    let calls = trace(folder.path(), "share", 1);
    let renamed = position(
        &calls,
        |call| matches!(call, Call::Renamed(_, to) if to.ends_with("_s.jsonl")),
    );
    let Call::Renamed(temp, to) = &calls[renamed] else {
        return;
    };
    let project = Path::new(to).parent().unwrap().to_str().unwrap().to_owned();
    let synced = position(&calls, |call| *call == Call::SyncedFile(temp.clone()));
    let named = position(&calls, |call| *call == Call::SyncedFolder(project.clone()));
    let said = position(
        &calls,
        |call| matches!(call, Call::Said(text) if text.starts_with("x-0\\n")),
    );
    assert!(
        synced < renamed && renamed < named && named < said,
        "{calls:?}"
    );
    assert!(
        !folder.path().join("home/locks/boswell-s.doubt").exists(),
        "the doubt is over"
    );
}
