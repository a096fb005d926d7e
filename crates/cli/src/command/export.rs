//! `export`: a session in a format for others.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::export::{ExportFormat, ExportRequest};
use boswell_model::Result;
use clap::{Args, ValueEnum};

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::LateOutput;

/// Export a session as JSONL, JSON, Markdown, HTML or ATIF
///
/// `jsonl` and `json` are exact copies, damage and secrets included. `md` and `html` are for
/// reading, `atif` for programs that take trajectories; all three with secrets removed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell export 0b7e > copy.jsonl
  boswell export @last --format html -o session.html")]
pub(crate) struct ExportArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Jsonl)]
    format: FormatArg,
    /// Do not remove keys and passwords
    #[arg(long)]
    no_redact: bool,
    /// Write to this new file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
}

impl ExportArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere {
            exact: Some(self.output.as_deref()),
            ..Elsewhere::about(&self.host, Some(&self.session))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// The bytes of the log
    Jsonl,
    /// One document with the log and its side files, byte for byte
    Json,
    /// Markdown
    Md,
    /// One page without external files
    Html,
    /// A trajectory (ATIF 1.8) of the current branch and its subagents
    Atif,
}

impl From<&ExportArgs> for ExportRequest {
    fn from(args: &ExportArgs) -> ExportRequest {
        ExportRequest {
            session: args.session.clone(),
            format: match args.format {
                FormatArg::Jsonl => ExportFormat::Jsonl,
                FormatArg::Json => ExportFormat::Json,
                FormatArg::Md => ExportFormat::Markdown,
                FormatArg::Html => ExportFormat::Html,
                FormatArg::Atif => ExportFormat::Atif,
            },
            keep_secrets: args.no_redact,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ExportArgs) -> Result<ExitCode> {
    let mut out = LateOutput::to(app, args.output.as_deref());
    let exported = app
        .requests
        .export(&args.into(), &Cancel::new(), &mut |piece| {
            let out = out.open()?;
            out.bytes(piece)?;
            Ok(!out.gone())
        });
    out.shown(exported)?;
    Ok(ExitCode::SUCCESS)
}
