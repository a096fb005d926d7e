//! Converts input to drafts: a line of JSON, or a prompt of the user.
//!
//! A line from stdin is a record in the dialect's own format, or `{"role","text"}`, where an answer
//! may have calls and a tool names the call that it answers. A prompt comes from `--user`;
//! `--attach` adds an image or a file to it, with the MIME type that its name implies.

use std::path::Path;

use boswell_dialect::{AssistantMessage, Body, Draft, Parent, one_object};
use boswell_model::json::Raw;
use boswell_model::{EntryId, Error, ErrorKind, Instant, Part, Result};
use boswell_store::disk::{RealDisk, durable};

use crate::base64;

/// Parses a line of input: `None` if it is blank, else `{"role","text"}` or a record in the
/// dialect's own format. `number` is the line number, for the error.
///
/// # Errors
///
/// Invalid for a line that is not one JSON object, or has a role other than `user`, `assistant` and
/// `tool`.
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
    let text = |key: &str| text_of(raw, key);
    let is_said = raw.get("text").is_some_and(|said| said.text().is_some());
    let mut draft = match (text("role"), raw.get("type")) {
        (Some(role), None) if is_said || raw.get("calls").is_some() => {
            said(&role, raw).map_err(wrong)?
        }
        _ => Draft::new(Body::Native(bytes.trim_ascii().to_vec())),
    };
    draft.id = text("id").map(EntryId::from);
    if let Some(parent) = text("parent").or_else(|| text("parentId")) {
        draft.parent = Parent::Entry(parent.into());
    }
    draft.at = text("timestamp").and_then(|time| Instant::parse(&time));
    Ok(Some(draft))
}

fn text_of(raw: Raw<'_>, key: &str) -> Option<String> {
    Some(raw.get(key)?.text()?.into_owned())
}

/// Returns the message of a role, or why there is none.
fn said(role: &str, raw: Raw<'_>) -> std::result::Result<Draft, String> {
    let said = text_of(raw, "text").unwrap_or_default();
    match role {
        "user" => Ok(Draft::user(said)),
        "assistant" => {
            let text = Some(said).filter(|said| !said.is_empty() || raw.get("calls").is_none());
            let mut content: Vec<Part> = text.map(Part::Text).into_iter().collect();
            for call in raw.get("calls").into_iter().flat_map(|calls| calls.items()) {
                content.push(call_of(call)?);
            }
            Ok(Draft::answer(AssistantMessage {
                content,
                model: text_of(raw, "model"),
                ..AssistantMessage::default()
            }))
        }
        "tool" => Ok(Draft::new(Body::ToolResult {
            call: text_of(raw, "call").ok_or("a result names no `call`")?,
            tool: text_of(raw, "tool").unwrap_or_default(),
            content: vec![Part::Text(said)],
            is_error: raw.get("is_error").and_then(|it| it.bool()) == Some(true),
        })),
        other => Err(format!(
            "the role `{}` is none of `user`, `assistant` and `tool`",
            other.escape_debug()
        )),
    }
}

fn call_of(call: Raw<'_>) -> std::result::Result<Part, String> {
    let named = |key: &str| text_of(call, key).ok_or(format!("a call has no `{key}`"));
    let input = call
        .get("input")
        .map(|input| input.bytes())
        .unwrap_or(b"{}");
    Ok(Part::Call {
        id: named("id")?,
        name: named("name")?,
        input: String::from_utf8_lossy(input).into_owned().into(),
    })
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
