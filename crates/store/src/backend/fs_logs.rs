//! Logs in files: leases and append locks are OS locks, positions are bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::Chance;
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use super::file_appender::FileAppender;
use super::fs::path_below;
use super::logs::{Claim, Lease, LogBackend, LogName, OpenLog};
use crate::disk::{Disk, DiskFile, Open, durable};
use crate::lease::{AppendLock, LeaseLock, doubt_path};
use crate::locks::Owner;

/// The logs below a folder, with their locks in another one.
#[derive(Debug)]
pub(crate) struct FsLogs {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) chance: Arc<dyn Chance>,
    /// The folder of the store: names below it, and its own, are made durable with the first receipt.
    pub(crate) root: PathBuf,
    pub(crate) locks: PathBuf,
}

impl LogBackend for FsLogs {
    fn lease(&self, claim: &Claim<'_>) -> Result<Lease> {
        let owner = (&Owner::this(claim.program), claim.now);
        let what = format!("session {}", claim.session.id);
        let lock = LeaseLock::take(&self.disk, &self.locks, &lock_name(claim.session), claim.wait, owner, &what)?;
        Ok(Lease::new(0, lock))
    }

    fn create(&self, key: &str, lines: &[u8], _lease: &Lease) -> Result<()> {
        let path = path_below(&self.root, key)?;
        durable::make_folders(self.disk.as_ref(), path.parent().unwrap_or(&self.root))?;
        durable::create(self.disk.as_ref(), &path, lines)
    }

    fn append_to(&self, log: &LogName<'_>, _lease: Option<&Lease>) -> Result<OpenLog> {
        let disk = self.disk.as_ref();
        let path = path_below(&self.root, log.key)?;
        let visible = match log.visible {
            Some(key) => Some((key.to_owned(), path_below(&self.root, key)?)),
            None => None,
        };
        let name = lock_name(log.session);
        let (append_lock, doubt) = (AppendLock::new(&self.locks, &name), doubt_path(&self.locks, &name));
        self.settle_doubt(&path, &doubt, &append_lock)?;
        let file: Arc<dyn DiskFile> = disk.open(&path, Open::Append).map_err(|error| cannot_open(&path, error))?.into();
        let stat = file.stat().map_err(|error| Error::io(path.display(), "open", error))?;
        if log.just_made {
            append_lock.remember_name(disk, stat.identity, &path);
        }
        let named = log.just_made || append_lock.knows_name(disk, stat.identity, &path);
        let log = FileAppender::new(
            (Arc::clone(&self.disk), file, stat.identity),
            (log.key.to_owned(), path, visible, self.root.clone()),
            (append_lock, doubt),
            named,
        );
        Ok(OpenLog { log: Box::new(log), end: stat.len })
    }
}

impl FsLogs {
    /// A log in doubt is copied before anything is acknowledged in it.
    fn settle_doubt(&self, path: &Path, doubt: &Path, append_lock: &AppendLock) -> Result<()> {
        let disk = self.disk.as_ref();
        let doubted = || disk.stat(doubt).map_err(|error| Error::io(path.display(), "open", error));
        if doubted()?.is_some() {
            let held = append_lock.hold(disk)?;
            // Another writer may have copied it while we waited: a second copy would fence that one off.
            if doubted()?.is_some() {
                copy_in_doubt(disk, path, doubt, &self.chance.hex16())?;
            }
            append_lock.release(held);
        }
        Ok(())
    }
}

/// What the locks of a session are called.
pub(crate) fn lock_name(session: &SessionRef) -> String {
    format!("{}-{}", session.dialect, session.id)
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    if is_link(&error) {
        return Error::new(ErrorKind::Invalid, format!("`{}` is a symbolic link", path.display()))
            .because("boswell writes to regular files only, so that a planted link cannot lead it elsewhere");
    }
    Error::io(path.display(), "open", error)
}

#[cfg(unix)]
fn is_link(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &std::io::Error) -> bool {
    false
}

/// After a failed sync the system may show bytes that are not on disk: a copy that was synced tells the truth.
fn copy_in_doubt(disk: &dyn Disk, path: &Path, doubt: &Path, unique: &str) -> Result<()> {
    if let Some(bytes) = durable::read(disk, path)? {
        durable::put(disk, path, &bytes, unique)?;
    }
    disk.remove(doubt).map_err(|error| Error::io(doubt.display(), "remove", error))?;
    durable::sync_parent(disk, doubt)
}
