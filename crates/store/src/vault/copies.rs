//! [`Vault`]: stores, finds, verifies and returns copies.
//!
//! A copy is stored under the hash of its content, compressed (`object.rs`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};

use super::object;
use super::record::{Reason, VaultRecord};
use crate::disk::{Disk, OpenMode, durable};
use crate::journal::{self, DamagedLine};
use crate::locks::{Locks, OsLock, Wait};
use crate::sha256::{Digest, hash_file};
use boswell_dialect::IdSource;

/// How long to wait for another process that writes to the vault.
const PATIENCE: Wait = Wait::For(Duration::from_secs(30));

/// The source of a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Copied<'a> {
    /// A file with this content.
    File(&'a Path),
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// None: the copy exists, only the record is added.
    Present,
}

/// The content-addressed copies of one home.
#[derive(Debug, Clone)]
pub struct Vault {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) home: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) locks: Locks,
    pub(super) id_source: Arc<dyn IdSource>,
}

impl Vault {
    /// Returns the vault of a home.
    pub fn new(
        disk: Arc<dyn Disk>,
        home: &Path,
        locks: Locks,
        id_source: Arc<dyn IdSource>,
    ) -> Self {
        Vault {
            disk,
            home: home.to_owned(),
            folder: home.join("vault"),
            locks,
            id_source,
        }
    }

    /// Copies a file as it is now, and records the reason.
    pub fn keep(
        &self,
        root: &Path,
        key: &str,
        session: &SessionRef,
        reason: Reason,
    ) -> Result<VaultRecord> {
        let path = crate::runner::place(root, key)?;
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::NotFound,
                    format!("there is no file `{}`", path.display()),
                )
            })?;
        let hasher = hash_file(self.disk.as_ref(), &path, stat.len)?;
        let record = VaultRecord {
            op: None,
            reason,
            session: session.clone(),
            root: root.to_owned(),
            key: key.to_owned(),
            sha256: hasher.finish(),
            len: hasher.len(),
            mode: stat.mode,
            modified: i64::try_from(stat.modified).unwrap_or_default(),
            at: self.id_source.now(),
            from: None,
            inode: None,
            derived: false,
        };
        self.save(&[(record.clone(), Copied::File(&path))])?;
        Ok(record)
    }

    /// Makes the copies durable, then the records that refer to them.
    pub(crate) fn save(&self, items: &[(VaultRecord, Copied<'_>)]) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for (record, from) in items {
            self.save_object(record, *from)?;
        }
        let lines: Vec<_> = items.iter().map(|(record, _)| record.to_json()).collect();
        journal::append(self.disk.as_ref(), &self.log(), &lines)
    }

    fn save_object(&self, record: &VaultRecord, from: Copied<'_>) -> Result<()> {
        let path = self.object(record.sha256);
        if self.is_durable(record.sha256, &path)? {
            return Ok(());
        }
        let temp = durable::temp_sibling(&path, &self.id_source.hex16());
        let written = match from {
            Copied::File(source) => {
                object::pack_file(self.disk.as_ref(), source, record.len, &temp)
            }
            Copied::Bytes(bytes) => object::pack_bytes(self.disk.as_ref(), bytes, &temp),
            Copied::Present => Err(gone(record.sha256)),
        };
        let written = written.and_then(|hash| {
            if hash != record.sha256 {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!(
                        "`{}` changed while it was copied",
                        record.root.join(&record.key).display()
                    ),
                )
                .advising(Advice::Retry));
            }
            self.disk
                .rename(&temp, &path)
                .map_err(|error| Error::io(path.display(), "keep", error))
        });
        if let Err(error) = written {
            // If this fails too, `remove_orphans` removes it later.
            let _ = self.disk.remove(&temp);
            return Err(error);
        }
        durable::sync_parent(self.disk.as_ref(), &path)
    }

    /// Makes a piece of a file durable. The caller holds the vault's lock.
    pub(super) fn save_piece(&self, bytes: &[u8]) -> Result<Digest> {
        let sha256 = Digest::of(bytes);
        let path = self.object(sha256);
        if self.is_durable(sha256, &path)? {
            return Ok(sha256);
        }
        let temp = durable::temp_sibling(&path, &self.id_source.hex16());
        let written = object::pack_bytes(self.disk.as_ref(), bytes, &temp).and_then(|_| {
            self.disk
                .rename(&temp, &path)
                .map_err(|error| Error::io(path.display(), "keep", error))
        });
        if let Err(error) = written {
            // If this fails too, `remove_orphans` removes it later.
            let _ = self.disk.remove(&temp);
            return Err(error);
        }
        durable::sync_parent(self.disk.as_ref(), &path)?;
        Ok(sha256)
    }

    /// Returns whether there is a copy of this content that is durable under its name; makes the
    /// folder for one.
    fn is_durable(&self, sha256: Digest, path: &Path) -> Result<bool> {
        if let Some(folder) = path.parent() {
            durable::make_folders(self.disk.as_ref(), folder)?;
        }
        if !self.has(sha256)? {
            return Ok(false);
        }
        // The content was synced before the rename. The process that renamed it may have died
        // before it synced the folder, and the record that follows must not survive without its
        // copy.
        durable::sync_parent(self.disk.as_ref(), path)?;
        Ok(true)
    }

    /// Returns whether there is a copy of this content.
    pub fn has(&self, sha256: Digest) -> Result<bool> {
        let path = self.object(sha256);
        self.disk
            .stat(&path)
            .map(|stat| stat.is_some())
            .map_err(|error| Error::io(path.display(), "look at", error))
    }

    /// Returns the bytes of a copy, verified.
    pub fn get(&self, sha256: Digest) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(sha256, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Passes a copy to `sink`, chunk by chunk. Fails at the end if its hash is wrong.
    pub(crate) fn read(
        &self,
        sha256: Digest,
        sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<()> {
        let path = self.object(sha256);
        let file = match self.disk.open(&path, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(gone(sha256)),
            Err(error) => return Err(Error::io(path.display(), "read", error)),
        };
        let found = object::unpack(file.as_ref(), &path, sink)?;
        if found == sha256 {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Damaged,
            format!("the copy `{}` is damaged", path.display()),
        )
        .because(format!("its content has the hash {found}")))
    }

    /// Returns the bytes that a record refers to, verified.
    pub fn restore(&self, record: &VaultRecord) -> Result<Vec<u8>> {
        self.get(record.sha256)
    }

    /// Returns all records, oldest first, and the lines of the log that could not be read.
    pub fn list(&self) -> Result<(Vec<VaultRecord>, Vec<DamagedLine>)> {
        let loaded = journal::load(self.disk.as_ref(), &self.log(), VaultRecord::from_json)?;
        Ok((loaded.items, loaded.damaged))
    }

    /// Returns the records of one session, oldest first.
    pub fn of(&self, session: &SessionRef) -> Result<Vec<VaultRecord>> {
        let (mut records, _) = self.list()?;
        records.retain(|record| record.session == *session);
        Ok(records)
    }

    pub(super) fn lock(&self) -> Result<OsLock> {
        self.locks.exclusive("vault", PATIENCE)
    }

    pub(super) fn lock_for(&self, wait: Wait) -> Result<OsLock> {
        self.locks.exclusive("vault", wait)
    }

    pub(super) fn kept_log(&self) -> PathBuf {
        self.folder.join("kept.jsonl")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log.jsonl")
    }

    pub(super) fn inode(&self, name: &str) -> PathBuf {
        self.folder.join("inodes").join(name)
    }

    pub(super) fn object(&self, sha256: Digest) -> PathBuf {
        let hex = sha256.to_string();
        let (bucket, name) = hex.split_at(2);
        self.folder.join("objects").join(bucket).join(name)
    }
}

fn gone(sha256: Digest) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("there is no copy {sha256} in the vault"),
    )
    .because("it was purged, or its retention has ended")
}
