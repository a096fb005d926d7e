//! The mark of a log whose last sync failed.
//!
//! After a failed sync the system may show bytes that are not on disk, and later syncs do not tell. Everybody who appends looks
//! for the mark, so it must be cheap to see that there is none: it is a second name of the log, and whoever looks at the log sees
//! how many names that has. Only if there are more than one, or where names do not show, the mark itself is looked for.

use std::io;
use std::path::Path;

use boswell_model::{Error, Result};

use crate::disk::{Disk, Stat, durable};
use crate::lease::AppendLock;

/// How the mark of a log is looked for. It lies beside the log's append lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doubt {
    /// Whether the number of the log's names tells when there is no mark.
    pub(super) by_names: bool,
}

impl Doubt {
    /// Whether a log that looks like this is marked.
    pub(super) fn is_marked(self, disk: &dyn Disk, log: &Stat, lock: &AppendLock) -> Result<bool> {
        if self.by_names && log.links == 1 {
            return Ok(false);
        }
        let path = lock.doubt_path();
        let mark = disk.stat(&path).map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(mark.is_some())
    }
}

/// Marks a log. Best effort: on a dead disk nothing more can be said.
///
/// The mark is not synced, and need not be: it warns of bytes that the running system shows and the disk does not have. After a
/// crash of the machine what is read is what is on disk.
pub(super) fn mark(disk: &dyn Disk, log: &Path, lock: &AppendLock) {
    let path = lock.doubt_path();
    match disk.link(log, &path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => {
            // Best effort as well: what fails here fails on a disk that the caller reports already.
            let _ = durable::append_lines(disk, &path, b"{\"type\":\"doubt\"}\n");
            // Nobody must go by names that do not show it.
            lock.forget(disk);
        }
    }
}

/// Whether a second name of a log would show: not every file system has them, or counts them.
pub(super) fn would_show(disk: &dyn Disk, log: &Path, lock: &AppendLock) -> bool {
    let second = lock.trial_path();
    // One who was killed here may have left it. Neither removal is synced: what comes back after a crash is removed by the next
    // trial, and by a purge, which syncs.
    let _ = disk.remove(&second);
    let links = || disk.stat(log).ok().flatten().map_or(0, |stat| stat.links);
    let shows = links() == 1 && disk.link(log, &second).is_ok() && links() == 2;
    let _ = disk.remove(&second);
    shows
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::disk::{MemoryDisk, Open, RealDisk};
    use crate::lease::NamedLog;

    fn log_on(disk: &dyn Disk, folder: &Path) -> (PathBuf, AppendLock) {
        durable::make_folders(disk, folder).unwrap();
        durable::create(disk, &folder.join("log"), b"{}\n").unwrap();
        (folder.join("log"), AppendLock::new(folder, "s.1"))
    }

    fn is_marked(by_names: bool, disk: &dyn Disk, log: &Path, lock: &AppendLock) -> bool {
        Doubt { by_names }.is_marked(disk, &disk.stat(log).unwrap().unwrap(), lock).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_mark_shows_in_the_names_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, (log, lock)) = (&RealDisk, log_on(&RealDisk, folder.path()));
        assert!(would_show(disk, &log, &lock));
        assert!(would_show(disk, &log, &lock), "nothing is left of the first try");
        assert!(!is_marked(true, disk, &log, &lock));
        // Another name says nothing by itself.
        disk.link(&log, &folder.path().join("copy")).unwrap();
        assert!(!is_marked(true, disk, &log, &lock));
        assert!(!would_show(disk, &log, &lock), "whose names are others' is looked at closely");
        disk.remove(&folder.path().join("copy")).unwrap();
        mark(disk, &log, &lock);
        mark(disk, &log, &lock);
        assert!(is_marked(true, disk, &log, &lock));
        let second = disk.stat(&folder.path().join("s.1.doubt")).unwrap().unwrap();
        assert_eq!(second.identity, disk.stat(&log).unwrap().unwrap().identity);
    }

    #[test]
    fn where_names_do_not_show_the_mark_itself_is_looked_for() {
        let disk = &MemoryDisk::default();
        let (log, lock) = log_on(disk, Path::new("/locks"));
        assert!(!would_show(disk, &log, &lock));
        assert!(!is_marked(false, disk, &log, &lock));
        mark(disk, &log, &lock);
        assert!(is_marked(false, disk, &log, &lock));
    }

    #[test]
    fn a_mark_that_cannot_be_a_name_makes_others_look_for_it() {
        let disk = &MemoryDisk::default();
        let (log, lock) = log_on(disk, Path::new("/locks"));
        lock.remember(disk, &NamedLog { identity: (0, 1), key: "a log".to_owned(), shows_names: true });
        assert_eq!(lock.remembered(disk).map(|log| (log.key, log.shows_names)), Some(("a log".to_owned(), true)));
        mark(disk, Path::new("/elsewhere/log"), &lock);
        assert_eq!(lock.remembered(disk), None, "what was known of its names is forgotten");
        assert!(is_marked(false, disk, &log, &lock));
        assert!(disk.open(Path::new("/locks/s.1.doubt"), Open::Read).is_ok());
    }
}
