//! Images and files of a session: inside its entries and in side files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use boswell_dialect::{Depth, SideKind};
use boswell_model::{Error, ErrorKind, MediaSource, Part, Result, Slot};
use boswell_store::store::Resolved;
use boswell_store::{Session, Store};

use crate::shape::{Maybe, shape};
use crate::{App, AppResult, RequestContext, base64};

/// Maximum size of an attachment that is read into memory.
const LARGEST: u64 = 1 << 30;

shape! {
    /// An image or a file of a session.
    AttachmentShape: "attachment" {
        /// the session
        session: String,
        /// the entry that contains or names it
        entry: Option<String>,
        /// MIME type, where it is known
        mime: Option<String>,
        /// size in bytes
        bytes: Option<u64>,
        /// path of the file, or the name that the entry gives it
        place: String,
        /// whether the file that the entry names is missing
        missing: bool,
        /// with `--extract`: path of the extracted file
        written: Maybe<String>,
    }
}

/// A request for the attachments of a session.
#[derive(Debug, Clone, Default)]
pub struct AttachmentsRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Folder to write the attachments to; created if it is missing. Nothing is overwritten.
    pub extract: Option<PathBuf>,
    /// Only those inside this entry.
    pub entry: Option<String>,
}

/// A request for the content of one attachment.
#[derive(Debug, Clone, Default)]
pub struct AttachmentRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Its place in the list of [`App::attachments`], from 0.
    pub number: usize,
    /// Counts only the images and files inside this entry.
    pub entry: Option<String>,
}

/// The content of an attachment.
#[derive(Debug, Clone)]
pub struct AttachmentContent {
    /// The attachment.
    pub shape: AttachmentShape,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Receives attachments one by one; returns false to stop.
pub type AttachmentSink<'s> = &'s mut dyn FnMut(AttachmentShape) -> Result<bool>;

impl App {
    /// Lists the images and files of a session, and extracts them on request.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Invalid if a file would be overwritten; and every
    /// error of the sink.
    pub fn attachments(
        &self,
        request: &AttachmentsRequest,
        sink: AttachmentSink<'_>,
    ) -> AppResult<()> {
        self.answer(|cx| attachments(cx, request, sink))
    }

    /// Returns the content of one attachment.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or attachment, or its file is missing.
    pub fn attachment(&self, request: &AttachmentRequest) -> AppResult<AttachmentContent> {
        self.answer(|cx| attachment(cx, request))
    }
}

fn attachments(
    cx: &RequestContext,
    request: &AttachmentsRequest,
    sink: AttachmentSink<'_>,
) -> Result<()> {
    let found = cx.resolve(&request.session)?;
    let session = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    if let Some(folder) = &request.extract {
        std::fs::create_dir_all(cx.env.cwd.join(folder))
            .map_err(|error| Error::io(folder.display(), "make the folder", error))?;
    }
    let mut count = 0;
    let entry = request.entry.as_deref();
    each(&found, &session, entry, &mut |attachment| {
        count += 1;
        let written = match &request.extract {
            Some(folder) => extract(cx, &found.store, &attachment, folder, count)?,
            None => None,
        };
        sink(attachment.shape(&session, written))
    })?;
    if count == 0 {
        cx.remark(format!("{} has no attachments", session.reference()));
    }
    Ok(())
}

fn attachment(cx: &RequestContext, request: &AttachmentRequest) -> Result<AttachmentContent> {
    let found = cx.resolve(&request.session)?;
    let session = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    let (mut number, mut content) = (0, None);
    each(
        &found,
        &session,
        request.entry.as_deref(),
        &mut |attachment| {
            if number == request.number {
                let bytes = bytes_of(&found.store, &attachment.content)?;
                content = Some((attachment.shape(&session, None), bytes));
            }
            number += 1;
            Ok(content.is_none())
        },
    )?;
    let missing = |what: &str| {
        let what = format!(
            "attachment {} of {} {what}",
            request.number,
            session.reference()
        );
        Error::new(ErrorKind::NotFound, what)
    };
    let (shape, bytes) = content.ok_or_else(|| missing("does not exist"))?;
    let bytes = bytes.ok_or_else(|| missing("is named, but its file is missing"))?;
    Ok(AttachmentContent { shape, bytes })
}

/// Passes on every attachment of a session, or of one entry, once.
fn each(
    found: &Resolved,
    session: &Session,
    entry: Option<&str>,
    hand_out: HandOut<'_>,
) -> Result<()> {
    let mut seen = HashSet::new();
    let mut once = |attachment: Attachment| {
        // A file that an entry names is a side file too.
        if let Content::File(key) = &attachment.content
            && entry.is_none()
            && !seen.insert(key.clone())
        {
            return Ok(true);
        }
        hand_out(attachment)
    };
    let slots: Vec<Slot> = match entry {
        Some(name) => vec![session.find(name)?],
        None => session.log().slots().collect(),
    };
    if inside(session, &found.store, &slots, &mut once)? && entry.is_none() {
        side_files(found, &mut once)?;
    }
    Ok(())
}

/// Returns the bytes of an attachment; `None` if its file is missing.
fn bytes_of(store: &Store, content: &Content) -> Result<Option<Vec<u8>>> {
    Ok(match content {
        Content::Base64(text) => base64::decode(text),
        Content::File(key) => store.file(key, LARGEST)?,
        Content::Elsewhere => None,
    })
}

struct Attachment {
    entry: Option<String>,
    mime: Option<String>,
    bytes: Option<u64>,
    place: String,
    content: Content,
}

enum Content {
    Base64(String),
    File(String),
    Elsewhere,
}

impl Attachment {
    fn shape(self, session: &Session, written: Option<String>) -> AttachmentShape {
        AttachmentShape {
            session: session.reference().to_string(),
            entry: self.entry,
            mime: self.mime,
            bytes: self.bytes,
            place: self.place,
            missing: matches!(self.content, Content::Elsewhere),
            written: written.into(),
        }
    }

    /// Returns the file extension, limited to characters that are safe in every file name.
    fn extension(&self) -> String {
        let from_name = match &self.content {
            Content::File(key) => {
                let name = key.rsplit('/').next();
                name.and_then(|name| name.rsplit_once('.'))
            }
            _ => None,
        };
        let from_mime = self.mime.as_deref().and_then(|mime| mime.split_once('/'));
        let extension = from_name.or(from_mime).map_or("bin", |(_, end)| end);
        let letters = extension.chars().filter(char::is_ascii_alphanumeric);
        match letters.take(8).collect::<String>() {
            nothing if nothing.is_empty() => "bin".to_owned(),
            extension => extension,
        }
    }
}

/// Receives attachments; returns false to stop.
type HandOut<'a> = &'a mut dyn FnMut(Attachment) -> Result<bool>;

/// Passes on attachments in entries. Returns false if the sink wants no more.
fn inside(session: &Session, store: &Store, slots: &[Slot], hand_out: HandOut<'_>) -> Result<bool> {
    for slot in slots.iter().copied() {
        let Some(view) = session.entry(slot)?.view else {
            continue;
        };
        for part in view.parts {
            let Part::Media { mime, source } = part else {
                continue;
            };
            let entry = Some(session.log().label(slot).into_owned());
            let attachment = match source {
                MediaSource::Inline(text) => Attachment {
                    entry,
                    mime,
                    bytes: Some(text.trim_end_matches('=').len() as u64 * 3 / 4),
                    place: "inside the record".to_owned(),
                    content: Content::Base64(text),
                },
                MediaSource::Reference(name) => named(store, entry, mime, name),
            };
            if !hand_out(attachment)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns an attachment that an entry refers to.
fn named(store: &Store, entry: Option<String>, mime: Option<String>, name: String) -> Attachment {
    let key = blob_key(&name);
    let info = key
        .as_deref()
        .and_then(|key| store.backend().stat(key).ok().flatten());
    let content = match (&info, key) {
        (Some(_), Some(key)) => Content::File(key),
        _ => Content::Elsewhere,
    };
    Attachment {
        entry,
        mime,
        bytes: info.map(|it| it.size),
        place: name,
        content,
    }
}

/// Passes on the side files of the session.
fn side_files(found: &Resolved, hand_out: HandOut<'_>) -> Result<()> {
    let files = found.store.side_files(&found.location)?.into_iter();
    for file in files.filter(|file| file.kind == SideKind::Attachment) {
        let attachment = Attachment {
            entry: None,
            mime: None,
            bytes: Some(file.size),
            place: found.store.backend().describe(&file.key),
            content: Content::File(file.key),
        };
        if !hand_out(attachment)? {
            break;
        }
    }
    Ok(())
}

/// Returns the key that a reference names: a blob for `blob:sha256:…`, else a path that stays below
/// the root.
fn blob_key(reference: &str) -> Option<String> {
    if let Some(hash) = reference.strip_prefix("blob:sha256:") {
        let hex = hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        return hex.then(|| format!("blobs/{hash}"));
    }
    let safe = !reference.is_empty()
        && !reference.starts_with('/')
        && reference
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."));
    safe.then(|| reference.to_owned())
}

/// Writes an attachment to a new file and returns its path; `None` if there are no bytes.
fn extract(
    cx: &RequestContext,
    store: &Store,
    attachment: &Attachment,
    folder: &Path,
    number: usize,
) -> Result<Option<String>> {
    let Some(bytes) = bytes_of(store, &attachment.content)? else {
        return Ok(None);
    };
    let path = folder.join(format!("{number:03}.{}", attachment.extension()));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(cx.env.cwd.join(&path))
        .map_err(|error| cannot_make(&path, error))?;
    std::io::Write::write_all(&mut file, &bytes)
        .map_err(|error| Error::io(path.display(), "write", error))?;
    Ok(Some(path.display().to_string()))
}

fn cannot_make(path: &Path, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        return Error::new(
            ErrorKind::Invalid,
            format!("`{}` is there already", path.display()),
        )
        .because("nothing is overwritten")
        .advising("extract into an empty folder");
    }
    Error::io(path.display(), "make", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_leave_the_store_are_not_followed() {
        assert_eq!(
            blob_key("attachments/a/b.png").as_deref(),
            Some("attachments/a/b.png")
        );
        for bad in [
            "../x",
            "/etc/passwd",
            "a//b",
            "a/../../b",
            "",
            "blob:sha256:../x",
        ] {
            assert_eq!(blob_key(bad), None, "{bad}");
        }
    }
}
