//! Converts input to drafts: a line of JSON, or a prompt of the user.
//!
//! A line from stdin is a record in the dialect's own format, or `{"role","text"}`. A prompt comes
//! from `--user`; `--attach` adds an image or a file to it, with the MIME type that its name
//! implies.

use std::path::Path;

use boswell_dialect::{Body, Draft, Parent, one_object};
use boswell_model::{EntryId, Error, ErrorKind, Instant, Part, Result};
use boswell_store::disk::{RealDisk, durable};

use crate::base64;

/// Parses a line of input: `None` if it is blank, else `{"role","text"}` or a record in the
/// dialect's own format. `number` is the line number, for the error.
///
/// # Errors
///
/// Invalid for a line that is not one JSON object, or has a role other than `user` and `assistant`.
pub fn draft_of_line(bytes: &[u8], number: usize) -> Result<Option<Draft>> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let wrong = |why: String| {
        Error::new(
            ErrorKind::Invalid,
            format!("line {number} of the input is not an entry"),
        )
        .because(why)
        .advising(r#"write one JSON object a line, such as {"role":"user","text":"…"}"#)
    };
    let raw = one_object(bytes).map_err(|error| {
        wrong(
            error
                .reason()
                .unwrap_or("it is not a JSON object")
                .to_owned(),
        )
    })?;
    let text = |key: &str| {
        raw.get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    let mut draft = match (text("role"), text("text"), raw.get("type")) {
        (Some(role), Some(said), None) => match role.as_str() {
            "user" => Draft::user(said),
            "assistant" => Draft::assistant(said),
            other => {
                return Err(wrong(format!(
                    "the role `{}` is neither `user` nor `assistant`",
                    other.escape_debug()
                )));
            }
        },
        _ => Draft::new(Body::Native(bytes.trim_ascii().to_vec())),
    };
    draft.id = text("id").map(EntryId::from);
    if let Some(parent) = text("parent").or_else(|| text("parentId")) {
        draft.parent = Parent::Entry(parent.into());
    }
    draft.at = text("timestamp").and_then(|time| Instant::parse(&time));
    Ok(Some(draft))
}

/// Creates a prompt of the user, with files.
pub fn draft_of_user(text: &str, files: &[AttachedFile]) -> Draft {
    let text = Part::Text(text.to_owned());
    let images = files
        .iter()
        .map(|file| Part::image(base64::encode(&file.bytes), &file.mime));
    let mut draft = Draft::new(Body::User(std::iter::once(text).chain(images).collect()));
    draft.file_names = files.iter().map(|file| file.name.clone()).collect();
    draft
}

/// An image or file that is part of a prompt.
#[derive(Debug, Clone)]
pub struct AttachedFile {
    /// Name of the file, without its folder.
    pub name: String,
    /// Media type, such as `image/png`.
    pub mime: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl AttachedFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// NotFound if there is none, else an error of the disk.
    pub fn read(path: &Path) -> Result<AttachedFile> {
        let bytes = durable::read(&RealDisk, path)?.ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{}`", path.display()),
            )
        })?;
        let mime = mime_of(path).to_owned();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(AttachedFile { name, mime, bytes })
    }
}

/// Returns the media type of a file, by its extension.
fn mime_of(path: &Path) -> &'static str {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}

/// Returns the prompt text of a draft.
pub(super) fn prompt(draft: &Draft) -> Option<String> {
    let Body::User(parts) = &draft.body else {
        return None;
    };
    let text = |part: &Part| {
        if let Part::Text(text) = part {
            Some(text.clone())
        } else {
            None
        }
    };
    Some(parts.iter().filter_map(text).collect::<Vec<_>>().join("\n"))
}
