//! The mark of a log whose last sync failed.
//!
//! After a failed sync the system may show bytes that are not on disk, and later syncs do not tell. Everybody who appends looks
//! for the mark, so it must be cheap to see that there is none: it is a second name of the log, and whoever looks at the log sees
//! how many names that has. Only if there are more than one, or where names do not show, the mark itself is looked for.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, Stat, durable};
use crate::lease::{AppendLock, doubt_path};

#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) path: PathBuf,
    /// Whether the number of the log's names tells when there is no mark.
    by_names: bool,
}

impl Doubt {
    /// The mark of the log whose lock has that name.
    pub(super) fn of(locks: &Path, lock: &str, by_names: bool) -> Doubt {
        Doubt { path: doubt_path(locks, lock), by_names }
    }

    /// Whether a log that looks like this is marked.
    pub(super) fn is_marked(&self, disk: &dyn Disk, log: &Stat) -> io::Result<bool> {
        if self.by_names && log.links == 1 {
            return Ok(false);
        }
        disk.stat(&self.path).map(|mark| mark.is_some())
    }

    /// Marks a log. Best effort: on a dead disk nothing more can be said.
    pub(super) fn mark(&self, disk: &dyn Disk, log: &Path, lock: &AppendLock) {
        match disk.link(log, &self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => {
                let _ = durable::append_lines(disk, &self.path, b"{\"type\":\"doubt\"}\n");
                // Nobody must go by names that do not show it.
                lock.forget(disk);
            }
        }
    }

    /// Whether a second name of a log would show: not every file system has them, or counts them.
    pub(super) fn would_show(&self, disk: &dyn Disk, log: &Path) -> bool {
        let second = self.path.with_extension("name");
        // One who was killed here may have left it.
        let _ = disk.remove(&second);
        let links = || disk.stat(log).ok().flatten().map_or(0, |stat| stat.links);
        let shows = links() == 1 && disk.link(log, &second).is_ok() && links() == 2;
        let _ = disk.remove(&second);
        shows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{MemoryDisk, Open, RealDisk};
    use crate::lease::NamedLog;

    fn log_on(disk: &dyn Disk, folder: &Path) -> PathBuf {
        durable::make_folders(disk, folder).unwrap();
        durable::create(disk, &folder.join("log"), b"{}\n").unwrap();
        folder.join("log")
    }

    fn is_marked(doubt: &Doubt, disk: &dyn Disk, log: &Path) -> bool {
        doubt.is_marked(disk, &disk.stat(log).unwrap().unwrap()).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_mark_shows_in_the_names_of_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let (disk, log) = (&RealDisk, log_on(&RealDisk, folder.path()));
        let doubt = Doubt::of(folder.path(), "s", true);
        assert!(doubt.would_show(disk, &log));
        assert!(doubt.would_show(disk, &log), "nothing is left of the first try");
        assert!(!is_marked(&doubt, disk, &log));
        // Another name says nothing by itself.
        disk.link(&log, &folder.path().join("copy")).unwrap();
        assert!(!is_marked(&doubt, disk, &log));
        assert!(!doubt.would_show(disk, &log), "whose names are others' is looked at closely");
        disk.remove(&folder.path().join("copy")).unwrap();
        let lock = AppendLock::new(folder.path(), "s");
        doubt.mark(disk, &log, &lock);
        doubt.mark(disk, &log, &lock);
        assert!(is_marked(&doubt, disk, &log));
        assert_eq!(disk.stat(&doubt.path).unwrap().unwrap().identity, disk.stat(&log).unwrap().unwrap().identity);
    }

    #[test]
    fn where_names_do_not_show_the_mark_itself_is_looked_for() {
        let disk = &MemoryDisk::default();
        let log = log_on(disk, Path::new("/locks"));
        let doubt = Doubt::of(Path::new("/locks"), "s", false);
        assert!(!doubt.would_show(disk, &log));
        assert!(!is_marked(&doubt, disk, &log));
        doubt.mark(disk, &log, &AppendLock::new(Path::new("/locks"), "s"));
        assert!(is_marked(&doubt, disk, &log));
    }

    #[test]
    fn a_mark_that_cannot_be_a_name_makes_others_look_for_it() {
        let disk = &MemoryDisk::default();
        let log = log_on(disk, Path::new("/locks"));
        let lock = AppendLock::new(Path::new("/locks"), "s");
        lock.remember(disk, &NamedLog { identity: (0, 1), key: "log".to_owned(), shows_names: true });
        assert!(lock.remembered(disk).is_some());
        Doubt::of(Path::new("/locks"), "s", true).mark(disk, Path::new("/elsewhere/log"), &lock);
        assert_eq!(lock.remembered(disk), None, "what was known of its names is forgotten");
        assert!(is_marked(&Doubt::of(Path::new("/locks"), "s", false), disk, &log));
        assert!(disk.open(Path::new("/locks/s.doubt"), Open::Read).is_ok());
    }
}
