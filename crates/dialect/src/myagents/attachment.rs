//! Attachments of a message, whose names must not be trusted.
//!
//! The app joins the path in a row to its attachments folder without a check, and takes file
//! extensions from a MIME type that the sender chose. We only return keys that stay inside the
//! folder.

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, MediaSource, Part, Result};

/// The folder of files that tools made.
pub(crate) const TOOL_FILES: &str = "generated/tool-attachments";

/// Returns the block for one item of an `attachments` array.
pub(crate) fn block(item: Raw<'_>) -> Part {
    let path = item.get("path").and_then(|p| p.text()).unwrap_or_default();
    let other = |word: &str| Part::Other {
        word: word.to_owned(),
        json: super::content::lossy(item.bytes()),
    };
    if path.is_empty() {
        return made_by_tool(item).unwrap_or_else(|| other("attachment"));
    }
    if !stays_inside(&path) {
        return other("unsafe_attachment");
    }
    let mime = item
        .get("mimeType")
        .and_then(|m| m.text())
        .filter(|m| is_mime(m))
        .map(Into::into);
    Part::Media {
        mime,
        source: MediaSource::Reference(format!("attachments/{path}")),
    }
}

/// Returns the block for a file that a tool made. Of its paths only the one that names a file in
/// the app's own folder counts: the others are of the machine that wrote them.
fn made_by_tool(item: Raw<'_>) -> Option<Part> {
    let link = item.get("refPath")?.text()?;
    let path = link.strip_prefix("/api/attachment/tool/")?;
    let mime = item.get("mimeType").and_then(|m| m.text());
    stays_inside(path).then(|| Part::Media {
        mime: mime.filter(|mime| is_mime(mime)).map(Into::into),
        source: MediaSource::Reference(format!("{TOOL_FILES}/{path}")),
    })
}

/// Returns the path below the attachments folder, and the bytes, of a new attachment.
///
/// The app uses the MIME type as the file extension unchecked; here it is checked first.
pub(crate) fn file(session: &str, id: &str, mime: &str, base64: &str) -> Result<(String, Vec<u8>)> {
    let wrong = |why: &str| {
        Error::new(ErrorKind::Invalid, "this cannot be attached")
            .because(why.to_owned())
            .advising("give its bytes as base64 and its type such as image/png")
    };
    let ending = mime
        .split_once('/')
        .map(|(_, sub)| sub)
        .filter(|_| is_mime(mime));
    let ending = ending.ok_or_else(|| wrong("its type is none"))?;
    let path = format!("{session}/{id}.{ending}");
    if !stays_inside(&path) {
        return Err(wrong("its path would leave the folder of attachments"));
    }
    Ok((
        path,
        from_base64(base64).ok_or_else(|| wrong("its bytes are no base64"))?,
    ))
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut value, mut bits) = (0u32, 0);
    for byte in text
        .bytes()
        .filter(|b| !b.is_ascii_whitespace() && *b != b'=')
    {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        value = value << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((value >> bits & 0xFF) as u8);
        }
    }
    Some(out)
}

/// Whether a path stays inside the folder that it is joined to, on every operating system.
pub(crate) fn stays_inside(path: &str) -> bool {
    !path.contains(['\\', ':', '\0'])
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn is_mime(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    text.split_once('/')
        .is_some_and(|(kind, sub)| token(kind) && token(sub) && !sub.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, mime: &str) -> Part {
        let json = format!(r#"{{"id":"1","name":"n","mimeType":"{mime}","path":"{path}"}}"#);
        block(Raw::parse(json.as_bytes()).unwrap())
    }

    #[test]
    fn a_path_below_the_folder_is_a_reference() {
        let media = Part::Media {
            mime: Some("image/svg+xml".into()),
            source: MediaSource::Reference("attachments/s1/a.svg+xml".into()),
        };
        assert_eq!(of("s1/a.svg+xml", "image/svg+xml"), media);
    }

    #[test]
    fn a_path_that_leaves_the_folder_is_shown_and_never_resolved() {
        for path in [
            "../x",
            "s/../../x",
            "/etc/passwd",
            "s//x",
            "./x",
            "s\\\\x",
            "C:x",
            "s/\\u0000",
        ] {
            assert!(
                matches!(of(path, "a/b"), Part::Other { word, .. } if word == "unsafe_attachment"),
                "{path}"
            );
        }
        assert!(matches!(of("", "a/b"), Part::Other { word, .. } if word == "attachment"));
    }

    #[test]
    fn a_type_that_is_none_is_not_repeated() {
        for mime in ["image", "image/../../x", "a/b/c", "text/html; x=1", "/", ""] {
            assert!(
                matches!(of("s/x", mime), Part::Media { mime: None, .. }),
                "{mime}"
            );
        }
    }
}
