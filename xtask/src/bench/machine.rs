//! The machine of the figures: commit, cores, kernel, file system. Nothing that names a host or a
//! person.

use std::path::Path;
use std::process::Command;

use crate::workspace;

pub(crate) fn describe(data: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = said_by(Command::new("uname").args(["-s", "-r", "-m"]));
    let commit = said_by(
        Command::new("git")
            .args(["rev-parse", "--short", "HEAD"])
            .current_dir(workspace::root()),
    );
    let class = if is_real_time() {
        ", run under `chrt -f 1`"
    } else {
        ""
    };
    format!(
        "Commit {commit}; {cores} cores, load {}{class}, {system}, data on {}",
        load(),
        file_system(data)
    )
}

/// Whether other processes cannot take our core: field 41 of the process, its scheduling policy, is
/// FIFO.
fn is_real_time() -> bool {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let policy = stat
        .rsplit_once(')')
        .and_then(|(_, fields)| fields.split_ascii_whitespace().nth(38));
    policy == Some("1")
}

/// Returns the load average of the last minute: how much other processes affected the figures.
fn load() -> String {
    let averages = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages
        .split(' ')
        .next()
        .filter(|load| !load.is_empty())
        .unwrap_or("unknown")
        .to_owned()
}

/// Returns for how long the host of this virtual machine ran others on its cores, in ticks of
/// 10 ms; 0 where it does not say so.
pub(super) fn stolen() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = stat.lines().next().unwrap_or_default();
    let stolen = all.split_ascii_whitespace().nth(8);
    stolen.and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn said_by(command: &mut Command) -> String {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|| "unknown".to_owned())
}

/// Whether a sync has an effect there: a file system in memory has nothing to wait for.
pub(crate) fn is_disk(path: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mount_of(path, &mounts).is_none_or(|(_, kind)| !matches!(kind, "tmpfs" | "ramfs"))
}

/// Returns the type, and for ext4 whether there is a journal: it decides the cost of a sync.
fn file_system(path: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let Some((device, kind)) = mount_of(path, &mounts) else {
        return "an unknown file system".to_owned();
    };
    if kind != "ext4" {
        return kind.to_owned();
    }
    let device = std::fs::canonicalize(device).unwrap_or_default();
    let name = device
        .file_name()
        .map(|name| format!("{}-", name.to_string_lossy()));
    let mut journals = std::fs::read_dir("/proc/fs/jbd2")
        .into_iter()
        .flatten()
        .flatten();
    let has_journal = name
        .is_some_and(|name| journals.any(|j| j.file_name().to_string_lossy().starts_with(&name)));
    format!(
        "{kind} {} journal",
        if has_journal { "with a" } else { "without a" }
    )
}

/// Returns device and type of the mount of `path`: the deepest one, and of several the last, which
/// hides the others.
fn mount_of<'a>(path: &Path, mounts: &'a str) -> Option<(&'a str, &'a str)> {
    let mut best = None;
    let mut best_depth = 0;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(device), Some(place), Some(kind)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let depth = Path::new(place).components().count();
        if path.starts_with(place) && depth >= best_depth {
            (best, best_depth) = (Some((device, kind)), depth);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_and_last_mount_holds_a_path() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /data tmpfs rw 0 0\n/dev/b /data xfs rw 0 0\n/dev/c /database zfs rw 0 0\n";
        assert_eq!(
            mount_of(Path::new("/data/bench"), mounts),
            Some(("/dev/b", "xfs"))
        );
        assert_eq!(
            mount_of(Path::new("/home"), mounts),
            Some(("/dev/a", "ext4"))
        );
        assert_eq!(mount_of(Path::new("/home"), ""), None);
    }
}
