//! [`MemoryDisk`]: a disk in memory, for sessions that are never stored.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{
    Disk, DiskFile, LockMode, OpenMode, ProcessState, Processes, Sleep, Stat, StatKind,
    process_state,
};

/// Files and folders that exist as long as the value.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    nodes: Mutex<BTreeMap<PathBuf, Node>>,
    // Used as a clock: it only grows.
    ticks: Arc<AtomicI64>,
}

#[derive(Debug, Clone)]
enum Node {
    Folder,
    File(Arc<Inode>),
}

#[derive(Debug)]
struct Inode {
    number: u64,
    bytes: Mutex<Vec<u8>>,
    modified: AtomicI64,
    lock: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    exclusive: bool,
    shared: usize,
}

#[derive(Debug)]
struct MemoryFile {
    inode: Arc<Inode>,
    ticks: Arc<AtomicI64>,
    mine: Mutex<Option<LockMode>>,
}

impl MemoryDisk {
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, inode: &Arc<Inode>) -> Box<dyn DiskFile> {
        Box::new(MemoryFile {
            inode: Arc::clone(inode),
            ticks: Arc::clone(&self.ticks),
            mine: Mutex::default(),
        })
    }
}

fn not_found() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

fn exists() -> io::Error {
    io::Error::from(io::ErrorKind::AlreadyExists)
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk for MemoryDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut nodes = self.nodes();
        match (nodes.get(path), how) {
            (Some(Node::Folder), _) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            (Some(Node::File(_)), OpenMode::CreateNew) => Err(exists()),
            (Some(Node::File(inode)), _) => Ok(self.file(inode)),
            (None, OpenMode::Read | OpenMode::Append | OpenMode::ExistingLock) => Err(not_found()),
            (None, OpenMode::CreateNew | OpenMode::Lock) => {
                if !path
                    .parent()
                    .is_none_or(|parent| matches!(nodes.get(parent), Some(Node::Folder)))
                {
                    return Err(not_found());
                }
                let number = self.ticks.fetch_add(1, Ordering::Relaxed);
                let inode = Arc::new(Inode {
                    number: number.unsigned_abs(),
                    bytes: Mutex::default(),
                    modified: AtomicI64::new(number),
                    lock: Mutex::default(),
                });
                nodes.insert(path.to_owned(), Node::File(Arc::clone(&inode)));
                Ok(self.file(&inode))
            }
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        Ok(self.nodes().get(path).map(stat_of))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        let nodes = self.nodes();
        if !matches!(nodes.get(path), Some(Node::Folder)) {
            return Err(not_found());
        }
        let below = nodes.iter().filter(|(p, _)| p.parent() == Some(path));
        Ok(below
            .filter_map(|(p, node)| Some((p.file_name()?.to_str()?.to_owned(), stat_of(node))))
            .collect())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        if nodes.contains_key(path) {
            return Err(exists());
        }
        nodes.insert(path.to_owned(), Node::Folder);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        let moved: Vec<PathBuf> = nodes
            .keys()
            .filter(|p| p.starts_with(from))
            .cloned()
            .collect();
        if moved.is_empty() {
            return Err(not_found());
        }
        for path in moved {
            let Some(node) = nodes.remove(&path) else {
                continue;
            };
            let target = path
                .strip_prefix(from)
                .ok()
                .filter(|rest| !rest.as_os_str().is_empty())
                .map_or_else(|| to.to_owned(), |rest| to.join(rest));
            nodes.insert(target, node);
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        let node = nodes.get(from).cloned().ok_or_else(not_found)?;
        if nodes.contains_key(to) {
            return Err(exists());
        }
        nodes.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        match nodes.get(path) {
            Some(Node::File(_)) => {
                nodes.remove(path);
                Ok(())
            }
            Some(Node::Folder) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            None => Err(not_found()),
        }
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.nodes();
        if nodes.keys().any(|p| p.parent() == Some(path)) {
            return Err(io::Error::from(io::ErrorKind::DirectoryNotEmpty));
        }
        nodes.remove(path).map(|_| ()).ok_or_else(not_found)
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn write_again(
        &self,
        _path: &Path,
        _file: (u64, u64),
        _bytes: &[u8],
        _at: u64,
    ) -> io::Result<()> {
        // The bytes are there, and nothing is ever synced.
        Ok(())
    }
}

/// The locks of this disk are held by processes of this machine.
impl Processes for MemoryDisk {
    fn process_state(&self, pid: u32) -> ProcessState {
        process_state(pid)
    }
}

impl Sleep for MemoryDisk {
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

fn stat_of(node: &Node) -> Stat {
    match node {
        Node::Folder => Stat {
            kind: StatKind::Folder,
            len: 0,
            modified: 0,
            changed: 0,
            identity: (0, 0),
            mode: 0o700,
            links: 1,
        },
        Node::File(inode) => inode.stat(),
    }
}

impl Inode {
    fn stat(&self) -> Stat {
        let modified = i128::from(self.modified.load(Ordering::Relaxed));
        let len = guard(&self.bytes).len() as u64;
        Stat {
            kind: StatKind::File,
            len,
            modified,
            changed: modified,
            identity: (1, self.number),
            mode: 0o600,
            links: 1,
        }
    }
}

impl DiskFile for MemoryFile {
    fn stat(&self) -> io::Result<Stat> {
        Ok(self.inode.stat())
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let bytes = guard(&self.inode.bytes);
        let rest = bytes
            .get(usize::try_from(at).unwrap_or(usize::MAX)..)
            .unwrap_or(b"");
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        guard(&self.inode.bytes).extend_from_slice(bytes);
        self.inode.modified.store(
            self.ticks.fetch_add(1, Ordering::Relaxed),
            Ordering::Relaxed,
        );
        Ok(bytes.len())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        guard(&self.inode.bytes).resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_mode_and_time(&self, _mode: u32, _modified: i128) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let mut held = guard(&self.inode.lock);
        let free = match mode {
            LockMode::Exclusive => !held.exclusive && held.shared == 0,
            LockMode::Shared => !held.exclusive,
        };
        if free {
            match mode {
                LockMode::Exclusive => held.exclusive = true,
                LockMode::Shared => held.shared += 1,
            }
            *guard(&self.mine) = Some(mode);
        }
        Ok(free)
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        let mut held = guard(&self.inode.lock);
        match guard(&self.mine).take() {
            Some(LockMode::Exclusive) => held.exclusive = false,
            Some(LockMode::Shared) => held.shared = held.shared.saturating_sub(1),
            None => {}
        }
    }
}
