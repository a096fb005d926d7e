//! Content-addressed storage of large values (blobs).
//!
//! A blob is a file named after the SHA-256 of its bytes. It is durable before its id is returned,
//! and verified on every read, so an entry that names a blob gets exactly those bytes or an error
//! that they are damaged. Nothing is deleted unasked: [`Blobs::unreferenced`] only lists blobs that
//! no session names.

pub(crate) mod attachments;
pub mod base64;
mod externalize;
mod full_records;
mod string_walk;
mod xcsh_truncation;

pub use attachments::{ATTACHMENT_TYPE, Attachment, Attachments};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use boswell_model::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::disk::{Disk, StatKind, durable};

pub(crate) use externalize::names_any;
pub use externalize::{
    Externalised, Internalised, LARGE_TEXT, SMALL_IMAGE, externalise, references,
};
pub use xcsh_truncation::{Habit, Persisted, persisted};

const SCHEME: &str = "blob:sha256:";

/// The SHA-256 of a blob's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// Returns the id of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        BlobId(Sha256::digest(bytes).into())
    }

    /// Parses 64 lower-case hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut id = [0; 32];
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(BlobId(id))
    }

    /// Parses a reference `blob:sha256:…`, which must be the whole text.
    pub fn from_reference(text: &str) -> Option<Self> {
        text.strip_prefix(SCHEME).and_then(BlobId::parse)
    }

    /// Returns the reference to the blob, as records contain it.
    pub fn reference(&self) -> String {
        format!("{SCHEME}{self}")
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

/// The folder of blobs.
#[derive(Debug, Clone)]
pub struct Blobs {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    shared: Arc<Shared>,
    /// The agent that the blobs belong to, if they are an agent's.
    agent: Option<full_records::Agent>,
}

/// State that clones share.
#[derive(Debug)]
struct Shared {
    /// With the number of how many there were, names temporary files.
    unique: String,
    count: AtomicU64,
    /// Whether the name of the folder itself is known to be durable.
    settled: AtomicBool,
}

impl Blobs {
    /// The blobs below a home folder. `unique` must never be used twice: it names temporary files.
    pub(crate) fn new(disk: Arc<dyn Disk>, home: &Path, unique: &str) -> Self {
        Blobs {
            disk,
            folder: home.join("blobs"),
            shared: Arc::new(Shared {
                unique: unique.to_owned(),
                count: AtomicU64::new(0),
                settled: AtomicBool::new(false),
            }),
            agent: None,
        }
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// Stores bytes; they are durable when this returns. A blob that exists and is whole is not
    /// written again.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId> {
        let id = BlobId::of(bytes);
        let path = self.path(&id);
        self.settle_folder()?;
        if self.holds(&id, bytes.len())? {
            // The process that wrote it may have died between the rename and the sync of the
            // folder.
            durable::sync_parent(self.disk.as_ref(), &path)?;
            return Ok(id);
        }
        durable::put(self.disk.as_ref(), &path, bytes, &self.temp_name())?;
        Ok(id)
    }

    /// Returns the bytes of a blob, checked against its id.
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>> {
        let path = self.path(id);
        let bytes = durable::read(self.disk.as_ref(), &path)?.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("blob {id} is not there"))
                .because(format!("`{}` does not exist", path.display()))
                .advising("copy it from a backup; the entry that names it is intact")
        })?;
        let found = BlobId::of(&bytes);
        if found != *id {
            return Err(
                Error::new(ErrorKind::Damaged, format!("blob {id} is damaged"))
                    .because(format!("its {} bytes have the hash {found}", bytes.len()))
                    .advising(format!("replace `{}` from a backup", path.display())),
            );
        }
        Ok(bytes)
    }

    /// Removes a blob. The caller knows that no session names it.
    pub fn remove(&self, id: &BlobId) -> Result<()> {
        let path = self.path(id);
        match self.disk.remove(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io(path.display(), "remove", error)),
            Ok(()) => durable::sync_parent(self.disk.as_ref(), &path),
        }
    }

    /// Returns whether a blob exists; its bytes are not checked.
    pub fn has(&self, id: &BlobId) -> Result<bool> {
        Ok(self.stat(id)?.is_some())
    }

    /// Returns all blobs in order, with their lengths.
    pub fn list(&self) -> Result<Vec<(BlobId, u64)>> {
        let names = match self.disk.list(&self.folder) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(self.folder.display(), "list", error)),
        };
        let files = names
            .into_iter()
            .filter(|(_, stat)| stat.kind == StatKind::File);
        let mut found: Vec<_> = files
            .filter_map(|(name, stat)| BlobId::parse(&name).map(|id| (id, stat.len)))
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// Returns the blobs that are not in `referenced`, the set of those that sessions name. Deletes
    /// nothing.
    pub fn unreferenced(&self, referenced: &BTreeSet<BlobId>) -> Result<Vec<(BlobId, u64)>> {
        let mut found = self.list()?;
        found.retain(|(id, _)| !referenced.contains(id));
        Ok(found)
    }

    /// Makes the folder. An existing one may have been made by a process that died before it was
    /// durable.
    fn settle_folder(&self) -> Result<()> {
        if !self.shared.settled.load(Ordering::Acquire) {
            durable::make_folders(self.disk.as_ref(), &self.folder)?;
            durable::sync_parent(self.disk.as_ref(), &self.folder)?;
            self.shared.settled.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn path(&self, id: &BlobId) -> PathBuf {
        self.folder.join(id.to_string())
    }

    fn stat(&self, id: &BlobId) -> Result<Option<u64>> {
        let path = self.path(id);
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(stat
            .filter(|stat| stat.kind == StatKind::File)
            .map(|stat| stat.len))
    }

    fn holds(&self, id: &BlobId, len: usize) -> Result<bool> {
        if self.stat(id)? != u64::try_from(len).ok() {
            return Ok(false);
        }
        let kept = durable::read(self.disk.as_ref(), &self.path(id))?;
        Ok(kept.is_some_and(|bytes| BlobId::of(&bytes) == *id))
    }

    fn temp_name(&self) -> String {
        format!(
            "{}-{}",
            self.shared.unique,
            self.shared.count.fetch_add(1, Ordering::Relaxed)
        )
    }
}
