//! `import`: a session from a file into boswell's own store.

use std::collections::BTreeMap;
use std::process::ExitCode;

use boswell_app::import::ImportRequest;
use boswell_app::shape::{ImportedFile, LeftFile, Shape as _};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::error_report::say;
use crate::output::Output;
use crate::words::count;

/// How many files that were not imported are listed.
const NAMED: usize = 10;

/// Import a session file into boswell's own store
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell import ~/Downloads/session.jsonl --title 'red build'
  boswell export 0b7e --format json > s.json && boswell import s.json")]
pub(crate) struct ImportArgs {
    /// A session file of any agent, the output of `export --format json`, or a trajectory (ATIF)
    file: std::path::PathBuf,
    /// Project folder [default: the one in the file]
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Title [default: the one in the file]
    #[arg(long)]
    title: Option<String>,
    /// Import the file even if it was imported before
    #[arg(long)]
    again: bool,
}

impl From<&ImportArgs> for ImportRequest {
    fn from(args: &ImportArgs) -> ImportRequest {
        ImportRequest {
            file: args.file.clone(),
            project: args.project.as_ref().map(Into::into),
            title: args.title.clone(),
            again: args.again,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ImportArgs) -> Result<ExitCode> {
    let request = ImportRequest::from(args);
    let imported = app.shown(app.requests.import(&request))?;
    let (brought, left) = (imported.brought.clone(), imported.left.clone());
    let mut out = Output::plain(app);
    if out.json {
        out.object(&imported.shape().object())?;
    } else {
        out.line(&imported.reference.to_string())?;
    }
    out.finish()?;
    if !app.quiet {
        say_brought(&brought);
        say_left(&left);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints which side files of the source were imported.
fn say_brought(brought: &[ImportedFile]) {
    if brought.is_empty() {
        return;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    brought
        .iter()
        .for_each(|file| *kinds.entry(file.kind).or_default() += 1);
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{kind}×{count}"))
        .collect();
    say(&format!("imported side files: {}", kinds.join(", ")));
}

/// Prints which were not.
fn say_left(left: &[LeftFile]) {
    if left.is_empty() {
        return;
    }
    say(&format!(
        "{} not imported:",
        count(left.len(), "side file was", "side files were")
    ));
    for LeftFile { kind, path, why } in left.iter().take(NAMED) {
        say(&format!("  {kind}  {path}: {why}"));
    }
    if left.len() > NAMED {
        say(&format!("  and {} more", left.len() - NAMED));
    }
}
