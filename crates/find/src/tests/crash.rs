//! Death at every step: whatever the disk got until then is the old index or the new one.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use boswell_model::SessionRef;

use super::support::Shelf;
use super::{Index, all, search, sessions};
use crate::disk::{Disk, DiskFile, Folder};

/// A folder that dies at a given change: that one is done by half, and none after it.
#[derive(Debug)]
struct Dying {
    folder: Folder,
    left: AtomicUsize,
}

impl Dying {
    fn after(path: &Path, changes: usize) -> Arc<Dying> {
        Arc::new(Dying { folder: Folder::new(path), left: AtomicUsize::new(changes) })
    }

    /// Whether the next change is done; the first that is not may be torn.
    fn step(&self) -> Result<(), bool> {
        let last = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match last {
            Ok(1) => Err(true),
            Ok(_) => Ok(()),
            Err(_) => Err(false),
        }
    }

    fn whole(&self, change: impl FnOnce(&Folder) -> io::Result<()>) -> io::Result<()> {
        match self.step() {
            Ok(()) => change(&self.folder),
            Err(_) => Err(io::Error::other("the machine died")),
        }
    }
}

impl Disk for Dying {
    fn place(&self) -> String {
        self.folder.place()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.folder.list()
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.folder.open(name)
    }

    fn make(&self) -> io::Result<()> {
        self.folder.make()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match self.step() {
            Ok(()) => self.folder.write(name, bytes),
            Err(torn) => {
                if torn {
                    self.folder.write(name, &bytes[..bytes.len() / 2])?;
                }
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
        }
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.whole(|folder| folder.sync(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.whole(|folder| folder.rename(from, to))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.whole(Folder::sync_names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.whole(|folder| folder.remove(name))
    }

    fn lock(&self) -> io::Result<Box<dyn std::fmt::Debug + Send>> {
        self.folder.lock()
    }
}

fn shelf() -> Shelf {
    let mut shelf = Shelf::default();
    for session in 0..12 {
        shelf.say(&format!("s{session:02}"), &format!("deadlock in session{session}"));
    }
    shelf
}

fn update_one_by_one(index: &Index, shelf: &Shelf) -> bool {
    shelf.sources().into_iter().all(|source| index.update(&mut [source].into_iter(), shelf, &mut || true).is_ok())
}

/// After a death the index answers rightly, and the next update repairs it.
fn survives(folder: &Path, shelf: &Shelf) {
    let index = Index::open(folder);
    let results = search(&index, &all("deadlock"), &shelf.sources(), shelf);
    assert_eq!(sessions(&results).len(), shelf.logs.len());
    assert!(results.complete);
    assert!(update_one_by_one(&index, shelf));
    let again = Index::open(folder);
    let results = search(&again, &all("deadlock"), &shelf.sources(), shelf);
    assert_eq!((sessions(&results).len(), results.scanned), (shelf.logs.len(), 0));
    let left: Vec<_> = Folder::new(folder).list().unwrap();
    assert!(left.iter().all(|name| !name.ends_with(".new")), "{left:?}");
}

#[test]
fn death_at_any_step_of_updates_and_merges_leaves_the_old_index_or_the_new_one() {
    let shelf = shelf();
    let mut deaths = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let done = update_one_by_one(&Index::on(Dying::after(folder.path(), deaths + 1)), &shelf);
        survives(folder.path(), &shelf);
        if done {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 90, "{deaths}");
}

#[test]
fn death_at_any_step_of_a_purge_leaves_the_session_whole_or_gone() {
    let mut shelf = shelf();
    let purged = SessionRef::new("plain", "s03");
    let mut deaths = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path());
        assert!(index.update(&mut shelf.sources().into_iter(), &shelf, &mut || true).unwrap().complete);
        let done = Index::on(Dying::after(folder.path(), deaths + 1)).purge(&purged).is_ok();
        let (_, log) = shelf.logs.remove_entry("s03").unwrap();
        let index = Index::open(folder.path());
        let results = search(&index, &all("deadlock"), &shelf.sources(), &shelf);
        assert_eq!((sessions(&results).len(), results.scanned), (11, 0));
        index.purge(&purged).unwrap();
        let holds = |word: &str| {
            let files = boswell_testkit::corpus::files(folder.path());
            files.iter().any(|file| memchr::memmem::find(&boswell_testkit::disk::read(file), word.as_bytes()).is_some())
        };
        assert!(!holds("session3\n") && holds("session4\n"));
        survives(folder.path(), &shelf);
        shelf.logs.insert("s03".into(), log);
        if done {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 8, "{deaths}");
}
