//! `export`: a session handed on.

use std::process::ExitCode;

use boswell_dialect::Depth;
use boswell_model::Result;
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
    /// How: `jsonl` is the log byte for byte, damage and secrets included
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
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
    let mut out = Output::paged(machine);
    session.export(&mut |piece| out.bytes(piece))?;
    out.finish()?;
    warn_about_gaps(machine, &session);
    Ok(ExitCode::SUCCESS)
}
