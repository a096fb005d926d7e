//! Attachments: files that belong to a session of boswell's own store.
//!
//! The bytes are a blob; name and MIME type are the data of a `custom` entry of the session. Names
//! come from any source, so they are made safe when files are written out, not trusted when they
//! come in.

mod file_name;
mod kind;

use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Raw};
use boswell_model::{EntryId, Error, ErrorKind, Instant, Result};

use crate::blobs::{BlobId, Blobs};
use crate::disk::durable;
use crate::session::Session;
use crate::store::custom_entry;

pub(crate) use file_name::safe_names;

/// The `customType` of entries that describe an attachment.
pub const ATTACHMENT_TYPE: &str = "boswell.attachment";

const LONGEST_NAME: usize = 255;

/// A file that belongs to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Name of the file, as it was given.
    pub name: String,
    /// MIME type of the file.
    pub mime: String,
    /// The blob that contains the bytes.
    pub blob: BlobId,
    /// Length of the file in bytes.
    pub len: u64,
    /// When the attachment was added.
    pub at: Instant,
}

/// Stores and reads attachments.
#[derive(Debug, Clone)]
pub struct Attachments {
    blobs: Blobs,
}

impl Attachments {
    /// Returns attachments whose bytes are stored in these blobs.
    pub fn new(blobs: Blobs) -> Self {
        Attachments { blobs }
    }

    /// Stores a file. Its bytes are durable when this returns; the attachment is not: append it to
    /// the session.
    ///
    /// Without a MIME type the extension decides. A type that the extension or the first bytes
    /// contradict is refused.
    pub fn add(
        &self,
        bytes: &[u8],
        name: &str,
        mime: Option<&str>,
        at: Instant,
    ) -> Result<Attachment> {
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            return Err(
                Error::new(ErrorKind::Invalid, "attachment has no usable name")
                    .because("a name has 1 to 255 bytes and no NUL")
                    .advising("give it a shorter name"),
            );
        }
        let mime = kind::checked(bytes, name, mime)?;
        let blob = self.blobs.put(bytes)?;
        Ok(Attachment {
            name: name.to_owned(),
            mime,
            blob,
            len: bytes.len() as u64,
            at,
        })
    }

    /// Returns the attachments of a session in file order, on all branches, each with its entry.
    pub fn list(session: &Session) -> Result<Vec<(EntryId, Attachment)>> {
        let mut found = Vec::new();
        for slot in session.log().slots() {
            if let Some(Some(attachment)) =
                custom_entry::data(session, slot, ATTACHMENT_TYPE, Attachment::from_json)?
            {
                found.push((session.log().label(slot).as_ref().into(), attachment));
            }
        }
        Ok(found)
    }

    /// Returns the bytes of an attachment.
    pub fn read(&self, attachment: &Attachment) -> Result<Vec<u8>> {
        self.blobs.get(&attachment.blob)
    }

    /// Writes attachments into a folder under safe names, replacing nothing.
    /// Returns one result per attachment.
    pub fn extract(&self, attachments: &[Attachment], folder: &Path) -> Vec<Result<PathBuf>> {
        let write = |(attachment, name): (&Attachment, String)| {
            let disk = self.blobs.disk()?;
            let bytes = self.read(attachment)?;
            durable::make_folders(disk, folder)?;
            let path = folder.join(name);
            if disk.is_link(&path).unwrap_or(true)
                || disk.stat(&path).is_ok_and(|stat| stat.is_some())
            {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("`{}` is there already", path.display()),
                )
                .because("attachments never replace files")
                .advising("extract into an empty folder"));
            }
            durable::create(disk, &path, &bytes)?;
            Ok(path)
        };
        attachments
            .iter()
            .zip(safe_names(attachments))
            .map(write)
            .collect()
    }
}

impl Attachment {
    /// Returns the data of the attachment's `custom` entry.
    pub fn to_json(&self) -> Json {
        Json::object()
            .with("name", self.name.as_str())
            .with("mime", self.mime.as_str())
            .with("blob", self.blob.reference())
            .with("len", self.len)
            .with("at", self.at.to_rfc3339())
    }

    /// Parses the data of a `custom` entry; `None` if it is not an attachment.
    pub fn from_json(data: Raw<'_>) -> Option<Self> {
        let text = |key: &str| data.get(key).and_then(|value| value.text());
        Some(Attachment {
            name: text("name")?.into_owned(),
            mime: text("mime")?.into_owned(),
            blob: BlobId::from_reference(&text("blob")?)?,
            len: data.get("len")?.u64()?,
            at: Instant::parse(&text("at")?)?,
        })
    }
}
