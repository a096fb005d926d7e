//! Determines the type of a file: MIME type, extension and first bytes must not contradict each
//! other.

use boswell_model::{Error, ErrorKind, Result};

const UNKNOWN: &str = "application/octet-stream";

/// MIME type, its extensions with the usual one first, and what its bytes start with.
type Known = (&'static str, &'static [&'static str], &'static [u8]);

const KNOWN: &[Known] = &[
    ("image/png", &["png"], b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", &["jpg", "jpeg"], b"\xff\xd8\xff"),
    ("image/gif", &["gif"], b"GIF8"),
    ("image/webp", &["webp"], b"RIFF"),
    ("image/svg+xml", &["svg"], b""),
    ("application/pdf", &["pdf"], b"%PDF-"),
    ("application/zip", &["zip"], b"PK"),
    ("application/gzip", &["gz"], b"\x1f\x8b"),
    ("application/json", &["json"], b""),
    ("text/plain", &["txt", "log", "text"], b""),
    ("text/markdown", &["md", "markdown"], b""),
    ("text/csv", &["csv"], b""),
    ("text/html", &["html", "htm"], b""),
];

/// The MIME type of a file, if nothing contradicts it.
pub(super) fn checked(bytes: &[u8], name: &str, mime: Option<&str>) -> Result<String> {
    let extension = extension(name);
    let by_extension = extension
        .as_deref()
        .and_then(|ext| KNOWN.iter().find(|known| known.1.contains(&ext)));
    let mime = match mime {
        Some(given) => grammar(given)?,
        None => by_extension.map_or(UNKNOWN, |known| known.0).to_owned(),
    };
    let by_mime = KNOWN.iter().find(|known| known.0 == mime);
    let generic = mime == UNKNOWN || mime == "text/plain";
    if let (Some(known), Some(ext)) = (by_extension, &extension)
        && known.0 != mime
        && !generic
    {
        return Err(contradiction(
            name,
            &mime,
            &format!("`.{ext}` means {}", known.0),
        ));
    }
    if let Some((_, _, start)) = by_mime
        && !bytes.starts_with(start)
    {
        return Err(contradiction(
            name,
            &mime,
            "its first bytes are not those of such a file",
        ));
    }
    Ok(mime)
}

/// The usual extension of a MIME type.
pub(super) fn usual_extension(mime: &str) -> Option<&'static str> {
    KNOWN
        .iter()
        .find(|known| known.0 == mime)
        .and_then(|known| known.1.first().copied())
}

/// Returns the extension of a name, in lower case.
pub(super) fn extension(name: &str) -> Option<String> {
    let (stem, ext) = name.rsplit_once('.')?;
    (!stem.is_empty() && !ext.is_empty()).then(|| ext.to_ascii_lowercase())
}

/// A MIME type in lower case without its parameters.
fn grammar(given: &str) -> Result<String> {
    let bare = given
        .split(';')
        .next()
        .unwrap_or(given)
        .trim()
        .to_ascii_lowercase();
    let token = |part: &str| {
        (1..=100).contains(&part.len())
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
            && part
                .as_bytes()
                .first()
                .is_some_and(u8::is_ascii_alphanumeric)
    };
    match bare.split_once('/') {
        Some((kind, subtype)) if token(kind) && token(subtype) => Ok(bare),
        _ => {
            let shown: String = given.chars().take(40).collect();
            Err(Error::new(
                ErrorKind::Invalid,
                format!("`{}` is not a MIME type", shown.escape_debug()),
            )
            .advising("use one like `image/png`, or leave it out"))
        }
    }
}

fn contradiction(name: &str, mime: &str, why: &str) -> Error {
    let shown: String = name.chars().take(80).collect();
    Error::new(
        ErrorKind::Invalid,
        format!("`{}` is not {mime}", shown.escape_debug()),
    )
    .because(why)
    .advising("leave the type out, or name the file after what it is")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    #[test]
    fn types_follow_from_extensions_and_agree_with_bytes() {
        for (bytes, name, given, mime) in [
            (PNG, "a.PNG", None, "image/png"),
            (PNG, "a", Some("Image/PNG; q=1"), "image/png"),
            (b"{}", "a.json", None, "application/json"),
            (b"{}", "a.json", Some("text/plain"), "text/plain"),
            (
                b"x",
                "a.weird",
                Some("application/x-weird"),
                "application/x-weird",
            ),
            (b"x", "noext", None, "application/octet-stream"),
            (b"x", ".png", None, "application/octet-stream"),
        ] {
            assert_eq!(checked(bytes, name, given).unwrap(), mime, "{name}");
        }
    }

    #[test]
    fn contradictions_and_nonsense_are_refused() {
        for (bytes, name, given) in [
            (PNG, "a.pdf", Some("image/png")),
            (b"MZ\x90".as_slice(), "a.png", None),
            (b"x", "a", Some("image/png")),
            (b"x", "a", Some("image")),
            (b"x", "a", Some("image/p ng")),
            (b"x", "a", Some("-x/y")),
            (b"x", "a", Some("")),
        ] {
            assert_eq!(
                checked(bytes, name, given).unwrap_err().kind(),
                ErrorKind::Invalid,
                "{name} {given:?}"
            );
        }
    }
}
