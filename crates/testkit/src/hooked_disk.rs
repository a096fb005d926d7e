//! A disk around another disk that calls a [`Hook`] before and after every call.
//!
//! Every test disk that counts, delays, fails or intrudes is such a hook, so that only this file
//! has to forward the calls of [`Disk`] and [`DiskFile`]. The loss of unsynced data at a crash does
//! not depend on single calls: for that see [`crate::crash_disk`].

mod call;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::Environment;
use boswell_model::Instant;
use boswell_store::disk::{
    Disk, DiskFile, LockMode, OpenMode, ProcessState, Processes, RealDisk, Sleep, Stat,
};

pub use call::DiskCall;

/// The decision about a call.
#[derive(Debug)]
pub enum HookVerdict {
    /// The call is made.
    Proceed,
    /// The call is not made, and reports success. Only for calls that return nothing.
    Skip,
    /// The call is not made, and reports this error.
    Fail(io::Error),
    /// The call is made, and reports this error all the same.
    FailAfter(io::Error),
    /// A read or an append is limited to this many bytes; other calls are made completely.
    Partial(usize),
    /// As `Partial`, and reports this error.
    PartialThenFail(usize, io::Error),
}

/// Sees every call. Hooks are shared by all handles of a disk, also across threads.
pub trait Hook: Send + Sync + fmt::Debug {
    /// Decides about a call before it is made.
    fn before(&self, _call: &DiskCall<'_>) -> HookVerdict {
        HookVerdict::Proceed
    }

    /// Sees a call that succeeded; `bytes` is how many a read or an append transferred.
    fn after(&self, _call: &DiskCall<'_>, _bytes: usize) {}

    /// Whether the disk supports queries about processes, as not every system does.
    fn knows_processes(&self) -> bool {
        true
    }

    /// Waits.
    fn pause(&self, disk: &dyn Disk, time: Duration) {
        disk.sleep(time);
    }
}

/// A disk whose calls go through a hook. Clones share both.
#[derive(Debug, Clone)]
pub struct HookedDisk {
    inner: Arc<dyn Disk>,
    hook: Arc<dyn Hook>,
}

impl HookedDisk {
    /// Creates a disk around `inner`.
    pub fn new(inner: Arc<dyn Disk>, hook: Arc<dyn Hook>) -> HookedDisk {
        HookedDisk { inner, hook }
    }

    /// Creates a disk around the real one.
    pub fn real(hook: Arc<dyn Hook>) -> HookedDisk {
        HookedDisk::new(Arc::new(RealDisk), hook)
    }

    /// Makes a call that transfers no bytes.
    fn call<T>(&self, call: DiskCall<'_>, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.hook.before(&call) {
            HookVerdict::Fail(error) => Err(error),
            HookVerdict::FailAfter(error) | HookVerdict::PartialThenFail(_, error) => {
                make()?;
                Err(error)
            }
            HookVerdict::Skip => Err(io::Error::other(format!(
                "{call:?} returns something and cannot be skipped"
            ))),
            HookVerdict::Proceed | HookVerdict::Partial(_) => {
                let made = make()?;
                self.hook.after(&call, 0);
                Ok(made)
            }
        }
    }

    /// Makes a call that returns nothing, and may be skipped.
    fn change(&self, call: DiskCall<'_>, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        match self.hook.before(&call) {
            HookVerdict::Skip => {
                self.hook.after(&call, 0);
                Ok(())
            }
            HookVerdict::Fail(error) => Err(error),
            HookVerdict::FailAfter(error) | HookVerdict::PartialThenFail(_, error) => {
                make().and(Err(error))
            }
            HookVerdict::Proceed | HookVerdict::Partial(_) => {
                make()?;
                self.hook.after(&call, 0);
                Ok(())
            }
        }
    }

    /// Makes a call that transfers up to `len` bytes.
    fn moved(
        &self,
        call: DiskCall<'_>,
        len: usize,
        make: impl FnOnce(usize) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let (len, error) = match self.hook.before(&call) {
            HookVerdict::Fail(error) => return Err(error),
            HookVerdict::Skip => (0, None),
            HookVerdict::Proceed => (len, None),
            HookVerdict::FailAfter(error) => (len, Some(error)),
            HookVerdict::Partial(count) => (count.min(len), None),
            HookVerdict::PartialThenFail(count, error) => (count.min(len), Some(error)),
        };
        let count = make(len)?;
        match error {
            Some(error) => Err(error),
            None => {
                self.hook.after(&call, count);
                Ok(count)
            }
        }
    }

    fn hooked(&self, inner: Box<dyn DiskFile>, path: &Path) -> Box<dyn DiskFile> {
        Box::new(HookedFile {
            inner,
            disk: self.clone(),
            path: path.to_owned(),
        })
    }
}

impl Disk for HookedDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let file = self.call(DiskCall::Open { path, how }, || self.inner.open(path, how))?;
        Ok(self.hooked(file, path))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.call(DiskCall::Stat { path }, || self.inner.stat(path))
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        self.call(DiskCall::Stat { path }, || self.inner.is_link(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        self.call(DiskCall::List { path }, || self.inner.list(path))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.call(DiskCall::Stat { path }, || self.inner.real_path(path))
    }

    fn open_below(&self, root: &Path, below: &str) -> io::Result<Box<dyn DiskFile>> {
        let path = root.join(below);
        let call = DiskCall::Open {
            path: &path,
            how: OpenMode::Read,
        };
        let file = self.call(call, || self.inner.open_below(root, below))?;
        Ok(self.hooked(file, &path))
    }

    fn stat_below(&self, root: &Path, below: &str) -> io::Result<Option<Stat>> {
        self.call(
            DiskCall::Stat {
                path: &root.join(below),
            },
            || self.inner.stat_below(root, below),
        )
    }

    fn list_below(&self, root: &Path, below: &str) -> io::Result<Vec<(String, Stat)>> {
        self.call(
            DiskCall::List {
                path: &root.join(below),
            },
            || self.inner.list_below(root, below),
        )
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.change(DiskCall::MakeFolder { path }, || {
            self.inner.make_folder(path)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(DiskCall::Rename { from, to }, || {
            self.inner.rename(from, to)
        })
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(DiskCall::Link { from, to }, || self.inner.link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(DiskCall::Remove { path }, || self.inner.remove(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.change(DiskCall::RemoveFolder { path }, || {
            self.inner.remove_folder(path)
        })
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.change(DiskCall::SyncFolder { path }, || {
            self.inner.sync_folder(path)
        })
    }

    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        let call = DiskCall::WriteAgain { path, bytes, at };
        self.change(call, || self.inner.write_again(path, file, bytes, at))
    }
}

impl Processes for HookedDisk {
    fn process_state(&self, pid: u32) -> ProcessState {
        self.inner.process_state(pid)
    }

    fn writers_of(&self, file: (u64, u64)) -> Vec<u32> {
        if self.hook.knows_processes() {
            self.inner.writers_of(file)
        } else {
            Vec::new()
        }
    }

    fn start_time(&self, pid: u32) -> Option<String> {
        self.hook
            .knows_processes()
            .then(|| self.inner.start_time(pid))
            .flatten()
    }

    fn is_this_program(&self, pid: u32) -> bool {
        self.inner.is_this_program(pid)
    }

    fn started_at(&self, pid: u32) -> Option<Instant> {
        self.inner.started_at(pid)
    }

    fn environment_of(&self, pid: u32) -> Option<Environment> {
        self.inner.environment_of(pid)
    }

    fn knows_start_times(&self) -> bool {
        self.hook.knows_processes() && self.inner.knows_start_times()
    }

    fn knows_lock_holders(&self) -> bool {
        self.hook.knows_processes() && self.inner.knows_lock_holders()
    }

    fn lock_holder(&self, file: (u64, u64)) -> Option<(u32, String)> {
        self.hook
            .knows_processes()
            .then(|| self.inner.lock_holder(file))
            .flatten()
    }
}

impl Sleep for HookedDisk {
    fn sleep(&self, time: Duration) {
        self.hook.pause(self.inner.as_ref(), time);
    }
}

#[derive(Debug)]
struct HookedFile {
    inner: Box<dyn DiskFile>,
    disk: HookedDisk,
    path: PathBuf,
}

impl DiskFile for HookedFile {
    fn stat(&self) -> io::Result<Stat> {
        self.disk.call(DiskCall::FileStat { path: &self.path }, || {
            self.inner.stat()
        })
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let len = buffer.len();
        let read = |len: usize| {
            self.inner
                .read_at(buffer.get_mut(..len).unwrap_or_default(), at)
        };
        self.disk.moved(
            DiskCall::Read {
                path: &self.path,
                at,
                len,
            },
            len,
            read,
        )
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let append = |len: usize| self.inner.append(bytes.get(..len).unwrap_or_default());
        self.disk.moved(
            DiskCall::Append {
                path: &self.path,
                bytes,
            },
            bytes.len(),
            append,
        )
    }

    fn appended_to(&self) -> io::Result<u64> {
        self.inner.appended_to()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.disk.change(
            DiskCall::Truncate {
                path: &self.path,
                len,
            },
            || self.inner.truncate(len),
        )
    }

    fn sync(&self) -> io::Result<()> {
        self.disk
            .change(DiskCall::Sync { path: &self.path }, || self.inner.sync())
    }

    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        let call = DiskCall::SetModeAndTime { path: &self.path };
        self.disk
            .change(call, || self.inner.set_mode_and_time(mode, modified))
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        self.disk.call(DiskCall::TryLock { path: &self.path }, || {
            self.inner.try_lock(mode)
        })
    }

    fn unlock(&self) -> io::Result<()> {
        self.disk.call(DiskCall::Unlock { path: &self.path }, || {
            self.inner.unlock()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use boswell_store::disk::MemoryDisk;

    use super::*;

    /// Returns the verdicts of a list, one per append.
    #[derive(Debug)]
    struct Script {
        verdicts: Mutex<Vec<HookVerdict>>,
        seen: Mutex<Vec<usize>>,
    }

    impl Hook for Script {
        fn before(&self, call: &DiskCall<'_>) -> HookVerdict {
            let appends = matches!(call, DiskCall::Append { .. });
            if appends {
                self.verdicts.lock().unwrap().remove(0)
            } else {
                HookVerdict::Proceed
            }
        }

        fn after(&self, call: &DiskCall<'_>, bytes: usize) {
            if matches!(call, DiskCall::Append { .. }) {
                self.seen.lock().unwrap().push(bytes);
            }
        }
    }

    #[test]
    fn each_verdict_does_to_the_disk_what_it_says() {
        let fault = || io::Error::other("fault");
        let verdicts = vec![
            HookVerdict::Proceed,
            HookVerdict::Fail(fault()),
            HookVerdict::FailAfter(fault()),
            HookVerdict::Partial(1),
            HookVerdict::PartialThenFail(2, fault()),
        ];
        let hook = Arc::new(Script {
            verdicts: Mutex::new(verdicts),
            seen: Mutex::default(),
        });
        let disk = HookedDisk::new(Arc::new(MemoryDisk::default()), hook.clone());
        boswell_store::disk::durable::make_folders(&disk, Path::new("/d")).unwrap();
        let file = disk.open(Path::new("/d/f"), OpenMode::CreateNew).unwrap();
        let taken: Vec<Option<usize>> = [b"abc", b"def", b"ghi", b"jkl", b"mno"]
            .iter()
            .map(|bytes| file.append(*bytes).ok())
            .collect();
        assert_eq!(taken, [Some(3), None, None, Some(1), None]);
        assert_eq!(*hook.seen.lock().unwrap(), [3, 1]);
        let bytes = boswell_store::disk::durable::read(&disk, Path::new("/d/f"))
            .unwrap()
            .unwrap();
        assert_eq!(bytes, b"abcghijmn");
    }
}
