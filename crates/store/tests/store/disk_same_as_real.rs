//! The disk in memory behaves like the real disk; otherwise tests on it would prove nothing.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use boswell_store::disk::{Disk, DiskFile, LockMode, OpenMode, RealDisk, Stat, StatKind};
use boswell_testkit::Rng;
use boswell_testkit::crash_disk::CrashDisk;

const NAMES: [&str; 7] = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a"];

/// The result of a step: enough to distinguish two disks, without details that differ between
/// machines.
type Seen = Result<String, ErrorKind>;

struct Side<'d> {
    disk: &'d dyn Disk,
    root: PathBuf,
    open: Vec<(OpenMode, Box<dyn DiskFile>)>,
}

impl Side<'_> {
    fn step(&mut self, rng: &mut Rng, count: usize) -> Seen {
        let at = self.root.join(rng.word(&NAMES));
        let other = self.root.join(rng.word(&NAMES));
        let how = *rng.pick(&[
            OpenMode::Read,
            OpenMode::Append,
            OpenMode::CreateNew,
            OpenMode::Lock,
            OpenMode::ExistingLock,
        ]);
        let mode = *rng.pick(&[LockMode::Exclusive, LockMode::Shared]);
        let (which, len) = (rng.below(self.open.len()), rng.below(12));
        let done = match rng.below(15) {
            0..=2 => self.open(&at, how),
            3 => self
                .disk
                .stat(&at)
                .map(|stat| stat.map_or("none".to_owned(), |stat| shown(&stat))),
            4 => self.list(&at),
            5 | 6 => self.disk.make_folder(&at).map(|()| "made".to_owned()),
            7 => self.disk.rename(&at, &other).map(|()| "renamed".to_owned()),
            8 => self.disk.link(&at, &other).map(|()| "linked".to_owned()),
            9 => self.disk.remove(&at).map(|()| "removed".to_owned()),
            10 => self.disk.remove_folder(&at).map(|()| "removed".to_owned()),
            // The real disk would also sync a file by this call, but no caller should do that.
            11 if !is_file(self.disk, &at) => {
                self.disk.sync_folder(&at).map(|()| "synced".to_owned())
            }
            12 if !self.open.is_empty() => {
                drop(self.open.swap_remove(which));
                Ok("closed".to_owned())
            }
            kind => match self.open.get(which) {
                // Systems differ in how they report a write to a file opened for reading.
                Some((OpenMode::Read | OpenMode::Lock | OpenMode::ExistingLock, _))
                    if kind == 13 =>
                {
                    Ok("not for writing".to_owned())
                }
                Some((_, file)) => on_file(file.as_ref(), kind, len, count, mode),
                None => Ok("nothing open".to_owned()),
            },
        };
        done.map_err(|error| same_kind(&error))
    }

    fn open(&mut self, at: &Path, how: OpenMode) -> io::Result<String> {
        let file = self.disk.open(at, how)?;
        self.open.push((how, file));
        Ok("opened".to_owned())
    }

    fn list(&self, at: &Path) -> io::Result<String> {
        let mut found: Vec<String> = self
            .disk
            .list(at)?
            .into_iter()
            .map(|(name, stat)| format!("{name} {}", shown(&stat)))
            .collect();
        found.sort();
        Ok(found.join(", "))
    }
}

fn on_file(
    file: &dyn DiskFile,
    kind: usize,
    len: usize,
    count: usize,
    mode: LockMode,
) -> io::Result<String> {
    match (kind, count % 4) {
        (13, 0) => file.truncate(len as u64).map(|()| "cut".to_owned()),
        (13, _) => file
            .append(&vec![b'x'; len])
            .map(|count| format!("{count} appended")),
        (_, 0) => file.stat().map(|stat| shown(&stat)),
        (_, 1) => file.sync().map(|()| "synced".to_owned()),
        (_, 2) => file.try_lock(mode).map(|got| format!("lock {got}")),
        (_, _) => {
            let mut buffer = [0; 16];
            file.read_at(&mut buffer, len as u64 / 2)
                .map(|count| format!("{:?}", &buffer[..count]))
        }
    }
}

fn is_file(disk: &dyn Disk, at: &Path) -> bool {
    disk.stat(at)
        .is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == StatKind::File))
}

fn shown(stat: &Stat) -> String {
    match stat.kind {
        StatKind::File => format!(
            "file of {} with {} names, mode {:o}",
            stat.len, stat.links, stat.mode
        ),
        kind => format!("{kind:?} mode {:o}", stat.mode),
    }
}

/// Maps errors that systems report differently to one kind.
fn same_kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => ErrorKind::InvalidInput,
        kind => kind,
    }
}

#[test]
fn random_calls_show_the_same_on_the_real_disk_and_in_memory() {
    let mut successes = 0;
    for seed in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let memory = CrashDisk::new(seed);
        memory.make_folder(Path::new("root")).unwrap();
        let mut real = Side {
            disk: &RealDisk,
            root: folder.path().into(),
            open: Vec::new(),
        };
        let mut fake = Side {
            disk: &memory,
            root: "root".into(),
            open: Vec::new(),
        };
        let mut rng = Rng::new(seed);
        for count in 0..200 {
            let mut same = rng.clone();
            let (a, b) = (real.step(&mut rng, count), fake.step(&mut same, count));
            assert_eq!(a, b, "seed {seed}, step {count}: the real disk stands left");
            successes += usize::from(a.is_ok());
        }
    }
    assert!(
        successes > 4_000,
        "{successes} of 12000 calls did something"
    );
}

#[test]
fn bytes_are_written_again_only_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let crash = CrashDisk::new(1);
    crash.make_folder(Path::new("d")).unwrap();
    for (disk, root) in [
        (&RealDisk as &dyn Disk, folder.path()),
        (&crash, Path::new("d")),
    ] {
        let path = root.join("log");
        let file = disk.open(&path, OpenMode::CreateNew).unwrap();
        file.append(b"one\ntwo\n").unwrap();
        let Stat { identity, .. } = file.stat().unwrap();
        disk.write_again(&path, identity, b"two\n", 4).unwrap();
        for (bytes, at) in [("two\n", 3), ("tw0\n", 4), ("two\nmore", 4), ("x", 8)] {
            let refused = disk.write_again(&path, identity, bytes.as_bytes(), at);
            assert_eq!(
                refused.map_err(|error| error.kind()),
                Err(ErrorKind::NotFound),
                "{bytes:?} at {at}"
            );
        }
        let other = root.join("other");
        disk.open(&other, OpenMode::CreateNew)
            .unwrap()
            .append(b"one\ntwo\n")
            .unwrap();
        assert!(
            disk.write_again(&other, identity, b"two\n", 4).is_err(),
            "another file"
        );
        let mut there = [0; 16];
        assert_eq!(
            (file.read_at(&mut there, 0).unwrap(), &there[..8]),
            (8, &b"one\ntwo\n"[..]),
            "nothing else changed"
        );
    }
}
