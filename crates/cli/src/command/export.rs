//! `export`: a session handed on.

use std::process::ExitCode;

use boswell_dialect::Depth;
use boswell_model::{EntryKind, Result};
use boswell_store::Session;
use clap::{Args, ValueEnum};

use super::attachments::without_log;
use super::show::warn_about_gaps;
use crate::machine::Machine;
use crate::output::Output;

/// Write a session to stdout
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell export 0b7e > copy.jsonl
  boswell export claude:0b7e… --format jsonl | sha256sum")]
pub(crate) struct ExportArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// How: `jsonl` is the log byte for byte, damage included; only keys that its agent left in it are hidden
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Hide nothing
    #[arg(long)]
    no_redact: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// The bytes of the log
    Jsonl,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &ExportArgs) -> Result<ExitCode> {
    let Format::Jsonl = args.format;
    let found = machine.resolve(&args.session)?;
    if found.located.key.is_none() {
        return Err(without_log(&format!("{}:{}", found.store.dialect().name(), found.located.id)));
    }
    let session = found.store.read(&found.located, Depth::Heads)?;
    let hidden = if args.no_redact { Vec::new() } else { secrets(&session)? };
    let mut out = Output::paged(machine);
    let mut at = 0;
    session.export(&mut |piece| {
        let done = without(piece, at, &hidden, &mut |part| out.bytes(part));
        at += piece.len() as u64;
        done
    })?;
    out.finish()?;
    if !hidden.is_empty() && !machine.quiet {
        let session = session.reference();
        crate::failure::say(&format!(
            "keys that the agent keeps in {session} are hidden; `boswell export {session} --no-redact` writes every byte"
        ));
    }
    warn_about_gaps(machine, &session);
    Ok(ExitCode::SUCCESS)
}

/// A stretch of a log that nobody else should see, and what stands in its place.
struct Secret {
    at: u64,
    len: u64,
    shown: Vec<u8>,
}

/// What a dialect hides in headers, in records that may be one in disguise, and in what is left of torn ones.
fn secrets(session: &Session) -> Result<Vec<Secret>> {
    let suspicious = |kind| matches!(kind, EntryKind::Header | EntryKind::Unknown);
    let heads = session.log().heads.iter().filter(|head| suspicious(head.kind)).map(|head| (head.at, head.len));
    let mut places: Vec<(u64, u64)> = heads.chain(session.log().gaps.iter().map(|gap| (gap.at, gap.len))).collect();
    places.sort_unstable();
    let mut found = Vec::new();
    for (at, len) in places {
        let bytes = session.view().payloads.payload(at, len)?;
        let shown = session.dialect().redact(&bytes);
        if *shown != *bytes {
            found.push(Secret { at, len, shown: shown.into_owned() });
        }
    }
    Ok(found)
}

/// Hands on a piece that begins at `at`, with what stands in the place of secrets.
fn without(piece: &[u8], at: u64, hidden: &[Secret], sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let end = at + piece.len() as u64;
    let place = |of: u64| usize::try_from(of.clamp(at, end) - at).unwrap_or(piece.len());
    let mut from = 0;
    for secret in hidden.iter().filter(|secret| secret.at < end && secret.at + secret.len > at) {
        sink(piece.get(from..place(secret.at)).unwrap_or_default())?;
        if secret.at >= at {
            sink(&secret.shown)?;
        }
        from = place(secret.at + secret.len);
    }
    sink(piece.get(from..).unwrap_or_default())
}
