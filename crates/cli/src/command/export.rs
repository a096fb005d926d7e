//! `export`: a session handed on.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use boswell_dialect::Depth;
use boswell_find::{SecretCount, Secrets};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::Resolved;
use clap::{Args, ValueEnum};

use super::attachments::without_log;
use super::show::warn_about_gaps;
use crate::app::App;
use crate::export::{Redactor, Transcript, document, html, markdown};
use crate::json_shape;
use crate::output::Output;

/// Write a session to stdout or a file: exact, or as a page for people
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell export 0b7e > copy.jsonl
  boswell export @last --format html -o session.html")]
pub(crate) struct ExportArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// How: `jsonl` and `json` are exact, damage and secrets included; `md` and
    /// `html` are for reading
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Leave keys and passwords in
    #[arg(long)]
    no_redact: bool,
    /// Write to this new file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The bytes of the log
    Jsonl,
    /// One document with the log and all that lies beside it, byte for byte
    Json,
    /// Markdown
    Md,
    /// One page that needs nothing else
    Html,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ExportArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    if found.location.key.is_none() {
        return Err(without_log(&format!(
            "{}:{}",
            found.store.dialect().name(),
            found.location.id
        )));
    }
    let mut out = match &args.output {
        Some(path) => Output::to_file(app, path)?,
        None => Output::paged(app),
    };
    let removed = match args.format {
        Format::Jsonl | Format::Json => exact(app, args, &found, &mut out)?,
        Format::Md | Format::Html => {
            let transcript = Transcript::read(&found, !args.no_redact)?;
            let name = found.store.summary(&found.location)?.name();
            match args.format {
                Format::Html => html::write(&transcript, &name, &mut out)?,
                _ => markdown::write(&transcript, &name, &mut out)?,
            }
            warn_about_gaps(app, &transcript.session);
            let count = transcript.count();
            if args.no_redact {
                warn_about_secrets(app, &transcript.session.reference(), count.total());
                SecretCount::default()
            } else {
                count
            }
        }
    };
    out.finish()?;
    // Rules do not know every secret, so this line is there even if nothing was found.
    if !app.quiet {
        crate::error_report::say(&format!("removed {removed}; review before sharing"));
    }
    Ok(ExitCode::SUCCESS)
}

fn warn_about_secrets(app: &App, session: &SessionRef, count: usize) {
    if count == 0 || app.quiet {
        return;
    }
    crate::error_report::warn(
        &Error::new(
            ErrorKind::Denied,
            format!("what was written holds {count} keys or passwords"),
        )
        .because("an exact export leaves nothing out")
        .hinting(format!(
            "see them with `boswell secrets {0}`, or hand on `boswell export {0} --format md`",
            session.to_argument()
        )),
    );
}

/// Writes every byte but those that the agent's dialect hides, and gives how many
/// of those there were.
fn exact(app: &App, args: &ExportArgs, found: &Resolved, out: &mut Output) -> Result<SecretCount> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let hidden = if args.no_redact {
        Redactor::default()
    } else {
        Redactor::of(&session)?
    };
    let secrets = Secrets::new()?;
    let removed = hidden.count();
    let left = RefCell::new((0, SecretCount::default()));
    let watch = |piece: &[u8]| {
        let (total, kinds) = &mut *left.borrow_mut();
        for secret in secrets.find(piece) {
            *total += 1;
            kinds.add(secret.kind, piece.get(secret.range).unwrap_or_default());
        }
    };
    if args.format == Format::Json {
        let shape = json_shape::session(&found.store.summary(&found.location)?, Some(&found.store));
        let last = || secrets_json(&removed, &left.borrow().1);
        document::write(
            found,
            (&session, &hidden),
            &shape,
            &mut |piece| watch(piece),
            &last,
            out,
        )?;
    } else {
        // Secrets do not cross line ends, except keys in blocks, which JSON writes on one.
        let mut line: Vec<u8> = Vec::new();
        hidden.export(&session, &mut |piece| {
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    watch(&line);
                    line.clear();
                }
            }
            out.bytes(piece)
        })?;
        watch(&line);
    }
    warn_about_secrets(app, &session.reference(), left.borrow().0);
    if removed.total() > 0 && !app.quiet {
        let session = session.reference();
        crate::error_report::say(&format!(
            "keys that the agent keeps in {session} are hidden; `boswell export {} --no-redact` writes every byte",
            session.to_argument()
        ));
    }
    warn_about_gaps(app, &session);
    Ok(removed)
}

/// What a document says of the secrets that it leaves out and of those that it holds.
fn secrets_json(removed: &SecretCount, left: &SecretCount) -> Json {
    let kinds = left.kinds().fold(Json::object(), |kinds, (kind, count)| {
        kinds.with(kind, count as u64)
    });
    Json::object()
        .with("removed", removed.total() as u64)
        .with("left", left.total() as u64)
        .with("kinds", kinds)
}
