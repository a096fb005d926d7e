//! Copies: put, found, verified, given back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result, SessionRef};

use super::object;
use super::record::{Reason, VaultRecord};
use crate::disk::{Disk, OpenMode, durable};
use crate::journal::{self, DamagedLine};
use crate::locks::{Locks, OsLock, Wait};
use crate::sha256::{Digest, hash_file};
use boswell_dialect::IdSource;

/// How long we wait for another process that writes to the vault.
const PATIENCE: Wait = Wait::For(Duration::from_secs(30));

/// What is to be copied.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Copied<'a> {
    /// A file of this content.
    File(&'a Path),
    /// These bytes.
    Bytes(&'a [u8]),
    /// Only the record is added: the copy is there.
    Present,
}

/// The copies that boswell keeps.
#[derive(Debug, Clone)]
pub struct Vault {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) home: PathBuf,
    folder: PathBuf,
    pub(super) locks: Locks,
    pub(super) id_source: Arc<dyn IdSource>,
}

impl Vault {
    /// The vault of a home.
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

    /// Keeps a copy of a file as it is now, and says why.
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

    /// Makes copies durable, then the records that speak of them.
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
                .hinting("try again"));
            }
            self.disk
                .rename(&temp, &path)
                .map_err(|error| Error::io(path.display(), "keep", error))
        });
        if let Err(error) = written {
            // What stays of it is removed with the next copies that nobody speaks of.
            let _ = self.disk.remove(&temp);
            return Err(error);
        }
        durable::sync_parent(self.disk.as_ref(), &path)
    }

    /// Makes a piece of a file durable; the caller holds the lock.
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
            // What stays of it is removed with the next copies that nobody speaks of.
            let _ = self.disk.remove(&temp);
            return Err(error);
        }
        durable::sync_parent(self.disk.as_ref(), &path)?;
        Ok(sha256)
    }

    /// Whether there is a copy of this content, durable under its name; else its
    /// folder is ready for one.
    fn is_durable(&self, sha256: Digest, path: &Path) -> Result<bool> {
        if let Some(folder) = path.parent() {
            durable::make_folders(self.disk.as_ref(), folder)?;
        }
        if !self.has(sha256)? {
            return Ok(false);
        }
        // Its content was synced before it got this name. Whoever gave it the name may
        // have failed to sync that, or died before: the record that is about to speak of
        // it must not survive alone.
        durable::sync_parent(self.disk.as_ref(), path)?;
        Ok(true)
    }

    /// Whether there is a copy of this content.
    pub fn has(&self, sha256: Digest) -> Result<bool> {
        let path = self.object(sha256);
        self.disk
            .stat(&path)
            .map(|stat| stat.is_some())
            .map_err(|error| Error::io(path.display(), "look at", error))
    }

    /// The bytes of a copy, verified.
    pub fn get(&self, sha256: Digest) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(sha256, &mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Hands over a copy chunk by chunk. Fails at the end if it is not what its name says.
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

    /// The bytes that a record speaks of, verified.
    pub fn restore(&self, record: &VaultRecord) -> Result<Vec<u8>> {
        self.get(record.sha256)
    }

    /// Every record, oldest first, and lines of the log that could not be read.
    pub fn list(&self) -> Result<(Vec<VaultRecord>, Vec<DamagedLine>)> {
        let loaded = journal::load(self.disk.as_ref(), &self.log(), VaultRecord::from_json)?;
        Ok((loaded.items, loaded.damaged))
    }

    /// Records of one session, oldest first.
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
    .because("it was purged, or kept for no longer")
}
