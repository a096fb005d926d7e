//! Content-addressed storage of large values (blobs).
//!
//! A blob is a file named after the SHA-256 of its bytes. It is durable before its id is returned,
//! and verified on every read, so an entry that names a blob gets exactly those bytes or an error
//! that they are damaged. Nothing is deleted unasked: [`Blobs::unreferenced`] only lists blobs that
//! no session names.

pub(crate) mod attachments;
pub mod base64;
mod externalize;
mod folder;
mod full_records;
mod string_walk;
mod xcsh_truncation;

pub use attachments::{ATTACHMENT_TYPE, Attachment, Attachments};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use boswell_model::{Advice, Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::disk::Disk;
use folder::BlobFolder;

pub use externalize::{
    Externalised, Internalised, LARGE_TEXT, SMALL_IMAGE, externalise, references,
};
pub(crate) use externalize::{Limits, names_any};
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

    /// Returns the hash.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Makes an id of a hash.
    pub fn from_bytes(hash: [u8; 32]) -> Self {
        BlobId(hash)
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

/// The blobs of a store: files in a folder, or a place of a backend without files.
#[derive(Debug, Clone)]
pub struct Blobs {
    place: Place,
    /// The agent that the blobs belong to, if they are an agent's.
    agent: Option<full_records::Agent>,
}

#[derive(Debug, Clone)]
enum Place {
    Folder(BlobFolder),
    Remote(Arc<dyn RemoteBlobs>),
}

/// Where a backend without files stores large values.
///
/// [`Blobs`] verifies what it returns. A value is deleted only when no line of a log names it.
pub trait RemoteBlobs: Send + Sync + fmt::Debug {
    /// Stores bytes under their id, durably. Bytes that are there already stay. Returns false if
    /// they cannot be stored now, so that they stay in their line.
    fn put(&self, id: &BlobId, bytes: &[u8]) -> Result<bool>;

    /// Returns the bytes of an id; `None` if there are none.
    fn get(&self, id: &BlobId) -> Result<Option<Vec<u8>>>;
}

impl Blobs {
    /// The blobs below a home folder. `unique` must never be used twice: it names temporary files.
    pub(crate) fn new(disk: Arc<dyn Disk>, home: &Path, unique: &str) -> Self {
        Blobs {
            place: Place::Folder(BlobFolder::new(disk, home, unique)),
            agent: None,
        }
    }

    /// The blobs of a backend without files.
    pub(crate) fn remote(place: Arc<dyn RemoteBlobs>) -> Self {
        Blobs {
            place: Place::Remote(place),
            agent: None,
        }
    }

    /// Which values leave their line. A value that is not a file costs a round trip of its own, so
    /// only a larger one does.
    pub(crate) fn limits(&self) -> Limits {
        match self.place {
            Place::Folder(_) => Limits::FILES,
            Place::Remote(_) => Limits::REMOTE,
        }
    }

    /// Returns the folder, for what only files have.
    fn folder(&self) -> Result<&BlobFolder> {
        match &self.place {
            Place::Folder(folder) => Ok(folder),
            Place::Remote(_) => Err(Error::new(
                ErrorKind::Unsupported,
                "the large values of this store are not files",
            )),
        }
    }

    pub(crate) fn disk(&self) -> Result<&dyn Disk> {
        Ok(self.folder()?.disk.as_ref())
    }

    /// Stores bytes; they are durable when this returns. A blob that exists and is whole is not
    /// written again.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId> {
        let id = BlobId::of(bytes);
        if self.store(&id, bytes)? {
            return Ok(id);
        }
        Err(Error::new(
            ErrorKind::Busy,
            format!("blob {id} cannot be stored while a sweep deletes it"),
        )
        .advising(Advice::RetryLater))
    }

    /// Stores bytes. Returns false if they cannot be stored now.
    fn store(&self, id: &BlobId, bytes: &[u8]) -> Result<bool> {
        match &self.place {
            Place::Folder(folder) => folder.put(id, bytes).map(|()| true),
            Place::Remote(place) => place.put(id, bytes),
        }
    }

    /// Returns the bytes of a blob, checked against its id.
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>> {
        let (found, place) = match &self.place {
            Place::Folder(folder) => {
                let path = folder.path(id);
                (folder.get(id)?, format!("`{}`", path.display()))
            }
            Place::Remote(place) => (place.get(id)?, "the object".to_owned()),
        };
        let bytes = found.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("blob {id} is not there"))
                .because(format!("{place} does not exist"))
                .advising("copy it from a backup; the entry that names it is intact")
        })?;
        let found = BlobId::of(&bytes);
        if found != *id {
            return Err(
                Error::new(ErrorKind::Damaged, format!("blob {id} is damaged"))
                    .because(format!("its {} bytes have the hash {found}", bytes.len()))
                    .advising(format!("replace {place} from a backup")),
            );
        }
        Ok(bytes)
    }

    /// Removes a blob. The caller knows that no session names it.
    pub fn remove(&self, id: &BlobId) -> Result<()> {
        self.folder()?.remove(id)
    }

    /// Returns whether a blob exists; its bytes are not checked.
    pub fn has(&self, id: &BlobId) -> Result<bool> {
        match &self.place {
            Place::Folder(folder) => folder.has(id),
            Place::Remote(place) => Ok(place.get(id)?.is_some()),
        }
    }

    /// Returns all blobs in order, with their lengths.
    pub fn list(&self) -> Result<Vec<(BlobId, u64)>> {
        self.folder()?.list()
    }

    /// Returns the blobs that are not in `referenced`, the set of those that sessions name. Deletes
    /// nothing.
    pub fn unreferenced(&self, referenced: &BTreeSet<BlobId>) -> Result<Vec<(BlobId, u64)>> {
        let mut found = self.list()?;
        found.retain(|(id, _)| !referenced.contains(id));
        Ok(found)
    }
}
