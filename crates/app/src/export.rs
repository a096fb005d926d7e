//! Exports sessions: as pages for readers, as trajectories, or as lossless documents.

mod atif;
mod document;
mod html;
mod markdown;
mod output;
mod redact;
mod sanitize_markdown;
mod secret_watch;
mod transcript;

use boswell_dialect::Depth;
use boswell_find::SecretCount;
use boswell_model::{Advice, Error, ErrorKind, Remark, Result, SessionRef};
use boswell_store::Session;
use boswell_store::store::Resolved;

use self::output::ExportOutput;
use self::redact::Redactor;
use self::secret_watch::SecretWatch;
use self::transcript::{Section, Transcript};
use crate::gaps::{require_conversation, warn_about_gaps};
use crate::{App, AppResult, Cancel, RequestContext};

pub(crate) use redact::Redactor as AgentKeys;

pub use document::{ExportShape, ExportedFile, ExportedSecrets};

/// A request to export a session.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Format of the export.
    pub format: ExportFormat,
    /// Whether keys and passwords are not redacted.
    pub keep_secrets: bool,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExportFormat {
    /// The bytes of the log.
    #[default]
    Jsonl,
    /// One document with the log and the side files, byte for byte.
    Json,
    /// Markdown, for reading.
    Markdown,
    /// One self-contained HTML page, for reading.
    Html,
    /// A trajectory in the Agent Trajectory Interchange Format, for other programs.
    Atif,
}

/// What an export redacted and what it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// Number of different keys and passwords that were redacted.
    pub removed: usize,
    /// Number of secrets in the output. For pages 0, unless redaction was disabled.
    pub left: usize,
}

/// Receives an export piece by piece; returns false to stop.
pub type ExportSink<'s> = &'s mut dyn FnMut(&[u8]) -> Result<bool>;

impl App {
    /// Exports a session: byte for byte, or as a page for reading.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Unsupported if it has no log; and every error of the
    /// sink.
    pub fn export(
        &self,
        request: &ExportRequest,
        cancel: &Cancel,
        sink: ExportSink<'_>,
    ) -> AppResult<Exported> {
        self.answer_with(cancel.clone(), |cx| export(cx, request, sink))
    }
}

fn export(cx: &RequestContext, request: &ExportRequest, sink: ExportSink<'_>) -> Result<Exported> {
    let found = cx.resolve(&request.session)?;
    if found.location.key.is_none() {
        let dialect = found.store.dialect().name();
        return Err(without_log(&format!("{dialect}:{}", found.location.id)));
    }
    let mut out = ExportOutput::new(sink, &cx.cancel);
    let (removed, left) = match request.format {
        ExportFormat::Jsonl | ExportFormat::Json => exact(cx, request, &found, &mut out)?,
        ExportFormat::Markdown | ExportFormat::Html | ExportFormat::Atif => {
            page(cx, request, &found, &mut out)?
        }
    };
    // The rules do not detect every secret, so this line is printed even if nothing was found.
    cx.remark(format!("removed {removed}; review before sharing"));
    Ok(Exported {
        removed: removed.total(),
        left,
    })
}

/// Writes a page; returns what was redacted, and the number of secrets in the output.
fn page(
    cx: &RequestContext,
    request: &ExportRequest,
    found: &Resolved,
    out: &mut ExportOutput<'_>,
) -> Result<(SecretCount, usize)> {
    let transcript = Transcript::read(found, !request.keep_secrets, &cx.zone)?;
    require_conversation(&transcript.session)?;
    let name = found.store.summary(&found.location)?.name();
    match request.format {
        ExportFormat::Html => html::write(&transcript, &name, out)?,
        ExportFormat::Atif => atif::write(&transcript, out)?,
        _ => markdown::write(&transcript, &name, out)?,
    }
    warn_about_gaps(cx, &transcript.session);
    let count = transcript.count();
    if !request.keep_secrets {
        return Ok((count, 0));
    }
    let reference = transcript.session.reference();
    warn_about_secrets(cx, &reference, count.total(), "they were to be kept");
    Ok((SecretCount::default(), count.total()))
}

/// Writes every byte except those that the agent's dialect redacts; returns the number of those and
/// the number of secrets in the output.
fn exact(
    cx: &RequestContext,
    request: &ExportRequest,
    found: &Resolved,
    out: &mut ExportOutput<'_>,
) -> Result<(SecretCount, usize)> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let hidden = if request.keep_secrets {
        Redactor::default()
    } else {
        Redactor::of(&session)?
    };
    let mut watch = SecretWatch::new()?;
    if request.format == ExportFormat::Json {
        document::write(found, (&session, &hidden), &mut watch, out)?;
    } else {
        write_log(&session, &hidden, &mut watch, out)?;
    }
    let reference = session.reference();
    warn_about_secrets(
        cx,
        &reference,
        watch.times,
        "an exact export leaves nothing out",
    );
    let removed = hidden.count();
    if removed.total() > 0 {
        let hidden = format!("keys that the agent keeps in {reference} are hidden");
        cx.remark(Remark::new(hidden).advising(Advice::ExportEveryByte {
            session: reference.to_string(),
        }));
    }
    warn_about_gaps(cx, &session);
    remark_on_inherited(cx, found)?;
    Ok((removed, watch.times))
}

/// Adds a remark if the conversation begins in another log: an exact copy of the file has only a
/// part of it.
fn remark_on_inherited(cx: &RequestContext, found: &Resolved) -> Result<()> {
    if found.store.dialect().powers().inherit_history.is_none() {
        return Ok(());
    }
    let whole = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    let inherited = whole.log().inherited;
    if inherited > 0 || whole.missing_history().is_some() {
        cx.remark(format!(
            "the conversation begins in the log of another session: {inherited} records of it are not in this copy"
        ));
    }
    Ok(())
}

fn write_log(
    session: &Session,
    hidden: &Redactor,
    watch: &mut SecretWatch,
    out: &mut ExportOutput<'_>,
) -> Result<()> {
    // Secrets do not span lines, except key blocks, which JSON writes on one line.
    let mut line: Vec<u8> = Vec::new();
    hidden.export(session, &mut |piece| {
        if out.is_cancelled() {
            return Ok(());
        }
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                watch.look(&line);
                line.clear();
            }
        }
        out.bytes(piece)
    })?;
    watch.look(&line);
    Ok(())
}

fn warn_about_secrets(cx: &RequestContext, session: &SessionRef, count: usize, why: &'static str) {
    let what = match count {
        0 => return,
        1 => "1 key or password".to_owned(),
        _ => format!("{count} keys or passwords"),
    };
    cx.warn(
        Error::new(ErrorKind::Denied, format!("what was written holds {what}"))
            .because(why)
            .advising(
                Advice::ShowSecrets {
                    session: session.to_string(),
                }
                .or(Advice::ExportText {
                    session: session.to_string(),
                }),
            ),
    );
}

/// Returns the error for a session without a file.
fn without_log(reference: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("session {reference} has no log of its own"),
    )
    .because("only an index names it")
    .advising(Advice::FindSessions {
        matching: reference.to_owned(),
    })
}
