//! `attachments`: images and files inside a session and beside it.

use std::path::Path;
use std::process::ExitCode;

use boswell_dialect::{Depth, SideKind};
use boswell_model::json::Json;
use boswell_model::{Block, Error, ErrorKind, MediaSource, Result, shell_quote};
use clap::Args;

use boswell_app::base64;

use crate::app::App;
use crate::output::Output;
use crate::terminal::{fit, one_line};
use crate::words::size;

/// The largest attachment that is read into memory.
const LARGEST: u64 = 1 << 30;

/// List the images and files of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell attachments @last
  boswell attachments 0b7e --extract ./pictures")]
pub(crate) struct AttachmentsArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Write them into this folder (made if it is not there; nothing is overwritten)
    #[arg(long, value_name = "DIR")]
    extract: Option<std::path::PathBuf>,
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

/// Runs the command.
pub(crate) fn run(app: &App, args: &AttachmentsArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    let session = found.store.read(&found.location, Depth::Heads)?;
    let mut out = Output::paged(app);
    if let Some(folder) = &args.extract {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::io(folder.display(), "make the folder", error))?;
    }
    let mut count = 0;
    let mut show = |attachment: Attachment, out: &mut Output| -> Result<()> {
        count += 1;
        let written = match &args.extract {
            Some(folder) => extract(&found.store, &attachment, folder, count)?,
            None => None,
        };
        print(
            &session.reference().to_string(),
            &attachment,
            written.as_deref(),
            out,
        )
    };
    for slot in session.log().slots() {
        let Some(view) = session.entry(slot)?.view else {
            continue;
        };
        for block in view.blocks {
            let Block::Media { mime, source } = block else {
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
                MediaSource::Reference(name) => {
                    let key = blob_key(&name);
                    let info = key
                        .as_deref()
                        .and_then(|key| found.store.backend().stat(key).ok().flatten());
                    let content = match (&info, key) {
                        (Some(_), Some(key)) => Content::File(key),
                        _ => Content::Elsewhere,
                    };
                    Attachment {
                        entry,
                        mime,
                        bytes: info.map(|i| i.size),
                        place: name,
                        content,
                    }
                }
            };
            show(attachment, &mut out)?;
        }
    }
    for file in found
        .store
        .side_files(&found.location)?
        .into_iter()
        .filter(|f| f.kind == SideKind::Attachment)
    {
        let place = found.store.backend().describe(&file.key);
        show(
            Attachment {
                entry: None,
                mime: None,
                bytes: Some(file.size),
                place,
                content: Content::File(file.key),
            },
            &mut out,
        )?;
    }
    out.finish()?;
    if count == 0 && !app.quiet {
        crate::error_report::say(&format!("{} has no attachments", session.reference()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a store keeps what a reference names: `blob:sha256:…` in its blobs, or a path below the
/// root that stays below it.
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

fn extract(
    store: &boswell_store::Store,
    attachment: &Attachment,
    folder: &Path,
    number: usize,
) -> Result<Option<String>> {
    let bytes = match &attachment.content {
        Content::Base64(text) => base64::decode(text),
        Content::File(key) => store.file(key, LARGEST)?,
        Content::Elsewhere => None,
    };
    let Some(bytes) = bytes else { return Ok(None) };
    let from_name = match &attachment.content {
        Content::File(key) => key
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, ext)| ext),
        _ => None,
    };
    let extension = from_name
        .or(attachment
            .mime
            .as_deref()
            .and_then(|mime| mime.split_once('/'))
            .map(|(_, sub)| sub))
        .unwrap_or("bin");
    let extension: String = extension
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(8)
        .collect();
    let path = folder.join(format!(
        "{number:03}.{}",
        if extension.is_empty() {
            "bin"
        } else {
            &extension
        }
    ));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
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
        .hinting("extract into an empty folder");
    }
    Error::io(path.display(), "make", error)
}

fn print(
    session: &str,
    attachment: &Attachment,
    written: Option<&str>,
    out: &mut Output,
) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "attachment")
                .with("session", session)
                .with("entry", attachment.entry.as_deref())
                .with("mime", attachment.mime.as_deref())
                .with("bytes", attachment.bytes)
                .with("place", &attachment.place)
                .with("missing", matches!(attachment.content, Content::Elsewhere))
                .with_some("written", written),
        );
    }
    let bytes = attachment.bytes.map_or_else(|| "-".to_owned(), size);
    let place = written.unwrap_or(if matches!(attachment.content, Content::Elsewhere) {
        "missing"
    } else {
        &attachment.place
    });
    out.line(&format!(
        "{}  {bytes:>10}  {}  {}",
        fit(&one_line(attachment.entry.as_deref().unwrap_or("-")), 36),
        fit(&one_line(attachment.mime.as_deref().unwrap_or("-")), 12),
        one_line(place),
    ))
}

/// A session that has no place on disk cannot be handed on.
pub(crate) fn without_log(reference: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("session {reference} has no log of its own"),
    )
    .because("only an index speaks of it")
    .hinting(format!(
        "see what is known with `boswell list --hidden --json --match {}`",
        shell_quote(reference)
    ))
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
