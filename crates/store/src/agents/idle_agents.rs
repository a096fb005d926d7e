//! Finds agents that drive a session without having its log open.
//!
//! xcsh and oh-my-pi close the log after each write, so an idle one has no descriptor of it. They
//! keep their prompt history open, and they note the session of each terminal (a breadcrumb). A
//! process that has the history open is an agent of this store, its terminal leads to a breadcrumb,
//! and that names the log. A breadcrumb may be outdated: a fork inside the agent does not write a
//! new one, and a subagent overwrites it. So a log of the same folder that was changed since the
//! agent began counts as well.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use boswell_dialect::Environment;
use boswell_model::json::Raw;

use super::breadcrumb::TerminalId;
use crate::disk::{Disk, OpenMode, Stat, durable, read_full};

/// The prompt history, which such an agent has open while it runs.
const HISTORY: &str = "history.db";
/// As much of a log as contains its header.
const HEADER: usize = 16 << 10;
/// The folder of breadcrumbs.
const BREADCRUMBS: &str = "terminal-sessions";

/// Returns the processes that may write to a log of the store at `root`, although they do not have
/// it open.
pub(crate) fn idle_drivers(disk: &dyn Disk, root: &Path, log: &Path) -> Vec<u32> {
    let (Ok(Some(history)), Ok(Some(stat))) = (disk.stat(&root.join(HISTORY)), disk.stat(log))
    else {
        return Vec::new();
    };
    let mut pids = disk.writers_of(history.identity);
    // A command of ours adds prompts to the history.
    pids.retain(|pid| !disk.is_this_program(*pid) && drives(disk, root, (log, &stat), *pid));
    pids
}

fn drives(disk: &dyn Disk, root: &Path, (log, stat): (&Path, &Stat), pid: u32) -> bool {
    let changed_since = || {
        disk.started_at(pid)
            .is_none_or(|started| stat.modified >= i128::from(started.millis()) * 1_000_000)
    };
    let env = disk.environment_of(pid);
    let noted = env.as_ref().and_then(|env| noted_session(disk, root, env));
    match noted {
        Some(noted) if is_of(&noted, log) => true,
        Some(noted) => noted.parent() == log.parent() && changed_since(),
        // An agent without a terminal works in the folder of its session. Of an agent of another
        // user nothing is known.
        None => {
            let is_elsewhere = env
                .zip(project_of(disk, log))
                .is_some_and(|(env, project)| env.cwd != project);
            !is_elsewhere && changed_since()
        }
    }
}

/// Returns the project folder that the header of a log names.
fn project_of(disk: &dyn Disk, log: &Path) -> Option<PathBuf> {
    let file = disk.open(log, OpenMode::Read).ok()?;
    let mut start = vec![0; HEADER];
    let len = read_full(file.as_ref(), &mut start, 0).ok()?;
    let lines = start.get(..len)?.split(|byte| *byte == b'\n');
    // A line with the title may come first.
    lines.take(2).find_map(|line| {
        let header = Raw::parse(line).ok()?;
        Some(header.get("cwd")?.text()?.into_owned().into())
    })
}

/// Returns the session file that the terminal of a process was last used for.
fn noted_session(disk: &dyn Disk, root: &Path, env: &Environment) -> Option<PathBuf> {
    let terminal = TerminalId::of(env)?;
    let mut folders = vec![root.join(BREADCRUMBS)];
    if let (Some(state), Some(agent)) = (env.path_var("XDG_STATE_HOME"), root.file_name()) {
        folders.insert(0, state.join(agent).join(BREADCRUMBS));
    }
    let bytes = folders
        .iter()
        .find_map(|folder| durable::read(disk, &folder.join(terminal.as_str())).ok()?)?;
    let text = String::from_utf8(bytes).ok()?;
    let session = text.lines().nth(1)?;
    Some(PathBuf::from(session))
}

/// Whether a breadcrumb names this log, or the transcript of a subagent of it.
fn is_of(noted: &Path, log: &Path) -> bool {
    let is_log = |path: &Path| path.extension() == Some(OsStr::new("jsonl"));
    noted == log || (is_log(log) && noted.starts_with(log.with_extension("")))
}
