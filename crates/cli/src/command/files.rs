//! `files`: files that a session touched.

use std::process::ExitCode;

use boswell_app::files::{FilesRequest, FormerFilesRequest, TouchedFile};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{fit, one_line};
use crate::words;

/// List the files that a session read or changed
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell files @last
  boswell files 0b7e --json")]
pub(crate) struct FilesArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// List checkpointed files as they were at this entry
    #[arg(long, value_name = "E")]
    at: Option<String>,
    /// With --at: show how the files differ from now
    #[arg(long, requires = "at")]
    diff: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl FilesArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::about(&self.host, Some(&self.session))
    }
}

impl From<&FilesArgs> for FilesRequest {
    fn from(args: &FilesArgs) -> FilesRequest {
        FilesRequest {
            session: args.session.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &FilesArgs) -> Result<ExitCode> {
    if let Some(entry) = &args.at {
        return at(app, args, entry);
    }
    let files = app.requests.files(&args.into());
    let files = app.shown(files)?;
    let mut out = Output::paged(app);
    for file in files.touched {
        touched(file, &mut out)?;
    }
    for file in files.checkpoints {
        if out.json {
            out.object(&file.object())?;
        } else {
            let path = one_line(&file.path);
            out.line(&format!("{}  {path}", fit("checkpoint", 24)))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn at(app: &App, args: &FilesArgs, entry: &str) -> Result<ExitCode> {
    let request = FormerFilesRequest {
        session: args.session.clone(),
        entry: entry.to_owned(),
    };
    if args.diff {
        let files = app.shown(app.requests.file_differences(&request))?;
        let mut out = Output::paged(app);
        words::files::differences(files, &mut out)?;
        out.finish()?;
    } else {
        let files = app.shown(app.requests.files_at(&request))?;
        let mut out = Output::paged(app);
        words::files::states(files, &mut out)?;
        out.finish()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn touched(file: TouchedFile, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&file.object());
    }
    let calls = file.tools.0.iter();
    let tools: Vec<String> = calls
        .map(|(tool, count)| format!("{tool}×{count}"))
        .collect();
    out.line(&format!(
        "{}  {}",
        fit(&one_line(&tools.join(" ")), 24),
        one_line(&file.path)
    ))
}
