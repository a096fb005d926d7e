//! `export`: a session handed on.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::export::{ExportFormat, ExportRequest};
use boswell_model::Result;
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::output::LateOutput;

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
    #[arg(long, value_enum, default_value_t = FormatArg::Jsonl)]
    format: FormatArg,
    /// Leave keys and passwords in
    #[arg(long)]
    no_redact: bool,
    /// Write to this new file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// The bytes of the log
    Jsonl,
    /// One document with the log and all that lies beside it, byte for byte
    Json,
    /// Markdown
    Md,
    /// One page that needs nothing else
    Html,
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
