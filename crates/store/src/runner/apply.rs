//! Applies one change to the disk, durably.
//!
//! Files are replaced by writing a temporary file, syncing it and renaming it, so that a crash
//! leaves the old file or the new one. Only appends and truncations happen in place; recovery
//! recognises a torn append. Every change first checks that the file has the length that the plan
//! was compiled for: agents take no locks.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::change::{Change, FileFacts};
use super::compile::Content;
use super::paths::place;
use crate::disk::{Disk, DiskFile, OpenMode, durable};
use crate::sha256::{CHUNK, Digest, chunks};
use crate::vault::Vault;

/// Applies the changes of one operation.
#[derive(Debug)]
pub(crate) struct Executor<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) vault: &'a Vault,
    pub(crate) root: &'a Path,
    /// Id of the operation; part of the names of temporary files and hard links.
    pub(crate) op: &'a str,
    /// The folder of staged bytes.
    pub(crate) stage: PathBuf,
    /// Bytes in memory, by hash. Empty during recovery, which reads the stage and the vault.
    pub(crate) contents: &'a HashMap<Digest, Content>,
}

/// Whether the file that is replaced or removed gets a hard link in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// It does: a program may have it open and write to it later; the link is how such lines are
    /// found.
    Linked,
    /// It does not: it is a file that boswell wrote, or nothing of it may be left.
    Dropped,
}

impl Executor<'_> {
    /// Applies the change with the index `number`.
    pub(crate) fn apply(&self, number: usize, change: &Change, old: Old) -> Result<()> {
        match change {
            Change::Write { key, before, after } => self.write(number, key, *before, after, old),
            Change::Append {
                key,
                before,
                added,
                after,
            } => self.append(key, before, *added, after),
            Change::Truncate {
                key, before, after, ..
            } => self.truncate(key, before, after),
            Change::Rename { from, to } => self.rename(from, to),
            Change::Remove { key, before } => self.remove(number, key, before, old),
            Change::MakeFolder { key } => {
                let path = place(self.root, key)?;
                let made = match self.disk.make_folder(&path) {
                    // A store that was named before its agent ever ran.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        durable::make_folders(self.disk, self.root)?;
                        self.disk.make_folder(&path)
                    }
                    made => made,
                };
                match made {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        Err(Error::io(path.display(), "make the folder", error))
                    }
                    _ => durable::sync_parent(self.disk, &path),
                }
            }
            Change::RemoveFolder { key } => {
                let path = place(self.root, key)?;
                match self.disk.remove_folder(&path) {
                    Ok(()) => durable::sync_parent(self.disk, &path),
                    // Another program put a file into the folder, which therefore stays.
                    Err(error) if is_left_alone(&error) => Ok(()),
                    Err(error) => Err(Error::io(path.display(), "remove the folder", error)),
                }
            }
        }
    }

    /// Fails unless the files are what the change expects. Changes nothing.
    pub(crate) fn ready(&self, change: &Change) -> Result<()> {
        match change {
            Change::Write { key, before, .. } => {
                self.expect_len(key, before.map(|before| before.len))
            }
            Change::Append { key, before, .. }
            | Change::Truncate { key, before, .. }
            | Change::Remove { key, before } => self.expect_len(key, Some(before.len)),
            Change::Rename { to, .. } => self.expect_len(to, None),
            Change::MakeFolder { .. } | Change::RemoveFolder { .. } => Ok(()),
        }
    }

    /// Restores the file that a change replaced or removed by its hard link, so that it is the same
    /// file (inode) again; false if the link is missing.
    pub(crate) fn put_old_back(&self, number: usize, change: &Change) -> Result<bool> {
        match change {
            Change::Write {
                key,
                before: Some(_),
                ..
            }
            | Change::Remove { key, .. } => self
                .vault
                .unlink_inode(&self.inode(number), &place(self.root, key)?),
            _ => Ok(false),
        }
    }

    /// Returns the name of the hard link to the old file.
    pub(crate) fn inode(&self, number: usize) -> String {
        inode_name(self.op, number)
    }

    /// Removes the temporary file that a crash may have left of this change.
    pub(crate) fn sweep(&self, number: usize, change: &Change) -> Result<()> {
        if let Change::Write { key, .. } | Change::Remove { key, .. } = change {
            durable::remove_if_there(self.disk, &self.temp(number, &place(self.root, key)?))?;
        }
        Ok(())
    }

    fn temp(&self, number: usize, path: &Path) -> PathBuf {
        durable::temp_sibling(path, &inode_name(self.op, number))
    }

    fn write(
        &self,
        number: usize,
        key: &str,
        before: Option<FileFacts>,
        after: &FileFacts,
        old: Old,
    ) -> Result<()> {
        let path = place(self.root, key)?;
        self.expect_len(key, before.map(|before| before.len))?;
        if before.is_some() && old == Old::Linked {
            // Before the rename, which takes the last name from the old file.
            self.vault.link_inode(&path, &self.inode(number))?;
        }
        let temp = self.temp(number, &path);
        durable::remove_if_there(self.disk, &temp)?;
        let written = self.write_temp(&temp, after);
        let renamed = written.and_then(|()| {
            self.disk
                .rename(&temp, &path)
                .map_err(|error| Error::io(path.display(), "replace", error))
        });
        if let Err(error) = renamed {
            // If this fails too, recovery removes it (`sweep`).
            let _ = self.disk.remove(&temp);
            return Err(error);
        }
        durable::sync_parent(self.disk, &path)
    }

    fn write_temp(&self, temp: &Path, after: &FileFacts) -> Result<()> {
        let fault = |error| Error::io(temp.display(), "write", error);
        let file = self.disk.open(temp, OpenMode::CreateNew).map_err(fault)?;
        self.feed(after.sha256, &mut |chunk| {
            durable::append_all(file.as_ref(), chunk)
        })?;
        let stat = file.stat().map_err(fault)?;
        if stat.len != after.len {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("`{}` was written incompletely", temp.display()),
            ));
        }
        let time = after.modified.map_or(stat.modified, i128::from);
        file.set_mode_and_time(after.mode, time).map_err(fault)?;
        file.sync().map_err(fault)
    }

    fn append(
        &self,
        key: &str,
        before: &FileFacts,
        added: Digest,
        after: &FileFacts,
    ) -> Result<()> {
        let path = place(self.root, key)?;
        let fault = |error| Error::io(path.display(), "append to", error);
        let file = self.disk.open(&path, OpenMode::Append).map_err(fault)?;
        if file.stat().map_err(fault)?.len != before.len {
            return Err(changed(&path));
        }
        let mut bytes = Vec::new();
        self.feed(added, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        durable::append_all(file.as_ref(), &bytes).map_err(fault)?;
        // After the write, which would set the time again.
        if let Some(time) = after.modified {
            file.set_mode_and_time(after.mode, i128::from(time))
                .map_err(fault)?;
        }
        file.sync().map_err(fault)?;
        // Agents that take no lock may have appended at the same moment, so the bytes are read back
        // from the position where they must be.
        let mut landed = Vec::with_capacity(bytes.len());
        chunks(file.as_ref(), before.len, after.len, &mut |chunk| {
            landed.extend_from_slice(chunk);
            Ok(())
        })
        .map_err(fault)?;
        if landed == bytes {
            Ok(())
        } else {
            Err(changed(&path))
        }
    }

    fn truncate(&self, key: &str, before: &FileFacts, after: &FileFacts) -> Result<()> {
        let path = place(self.root, key)?;
        let fault = |error| Error::io(path.display(), "cut", error);
        let file = self.disk.open(&path, OpenMode::Append).map_err(fault)?;
        if file.stat().map_err(fault)?.len != before.len {
            return Err(changed(&path));
        }
        file.truncate(after.len).map_err(fault)?;
        if let Some(time) = after.modified {
            file.set_mode_and_time(after.mode, i128::from(time))
                .map_err(fault)?;
        }
        file.sync().map_err(fault)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (place(self.root, from)?, place(self.root, to)?);
        let fault = |error| Error::io(from.display(), "rename", error);
        if self.disk.stat(&to).map_err(fault)?.is_some() {
            return Err(changed(&to));
        }
        self.disk.rename(&from, &to).map_err(fault)?;
        durable::sync_parent(self.disk, &to)?;
        durable::sync_parent(self.disk, &from)
    }

    fn remove(&self, number: usize, key: &str, before: &FileFacts, old: Old) -> Result<()> {
        let path = place(self.root, key)?;
        self.expect_len(key, Some(before.len))?;
        if old == Old::Linked {
            self.vault.link_inode(&path, &self.inode(number))?;
        }
        self.disk
            .remove(&path)
            .map_err(|error| Error::io(path.display(), "remove", error))?;
        durable::sync_parent(self.disk, &path)
    }

    fn expect_len(&self, key: &str, len: Option<u64>) -> Result<()> {
        let path = place(self.root, key)?;
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        if stat.map(|stat| stat.len) == len {
            Ok(())
        } else {
            Err(changed(&path))
        }
    }

    /// Passes the bytes with this hash to `sink`: from memory, from the stage or from the vault.
    pub(crate) fn feed(
        &self,
        sha256: Digest,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<()> {
        if let Some(Content::Bytes(bytes)) = self.contents.get(&sha256) {
            let fed = bytes.chunks(CHUNK).try_for_each(sink);
            return fed.map_err(|error| Error::io(self.root.display(), "write below", error));
        }
        let staged = stage_path(&self.stage, self.op, sha256);
        match self.disk.open(&staged, OpenMode::Read) {
            Ok(file) => feed_file(file.as_ref(), &staged, sink),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.vault.read(sha256, sink),
            Err(error) => Err(Error::io(staged.display(), "read", error)),
        }
    }
}

fn feed_file(
    file: &dyn DiskFile,
    path: &Path,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<()> {
    chunks(file, 0, u64::MAX, sink).map_err(|error| Error::io(path.display(), "read", error))
}

/// Returns the path of staged bytes.
pub(crate) fn stage_path(folder: &Path, op: &str, sha256: Digest) -> PathBuf {
    folder.join(format!("stage-{op}-{sha256}"))
}

/// Returns the name of the hard link to the file that a change replaced or removed.
pub(crate) fn inode_name(op: &str, number: usize) -> String {
    format!("{op}-{number}")
}

fn is_left_alone(error: &io::Error) -> bool {
    // Some systems report "exists" for a folder that is not empty.
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
    )
}

pub(crate) fn changed(path: &Path) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("`{}` changed meanwhile", path.display()),
    )
    .because("another process is writing to it")
    .advising(Advice::RetryLater)
}
