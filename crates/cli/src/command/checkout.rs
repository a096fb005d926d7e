//! `checkout`: files as they stood at an entry.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use boswell_dialect::{Depth, Draft};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::checkpoint::{
    CUSTOM_TYPE, Captured, Done, FileDiff, OnConflict, RestoreRefusal, State, TextDiff,
};
use boswell_store::disk::RealDisk;
use boswell_store::{Blobs, Checkpoints, IdSource, Resolved, Session, SystemIds};
use clap::Args;

use super::agent_file_history::AgentFileHistory;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};

/// Put files back to what they were at an entry: the difference is shown first
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell checkout @last a1b2c3d4 --dry-run
  boswell checkout 0b7e a1b2c3d4 src/main.rs")]
pub(crate) struct CheckoutArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// The entry
    entry: String,
    /// Only these files
    paths: Vec<String>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Also files that somebody else changed since
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CheckoutArgs) -> Result<ExitCode> {
    let found = if args.dry_run {
        app.resolve(&args.session)?
    } else {
        app.resolve_for_writing(&args.session)?
    };
    let session = found.store.read(&found.location, Depth::Facts)?;
    let paths: Vec<&str> = args.paths.iter().map(String::as_str).collect();
    let mut out = Output::paged(app);
    if let Some(copies) = AgentFileHistory::at(&found, &session, &args.entry, &paths)? {
        copies.show_diff(&session, &mut out)?;
        let restored = if args.dry_run {
            Ok(ExitCode::SUCCESS)
        } else {
            copies.restore(app, &session, args.force, &mut out)
        };
        out.finish()?;
        return restored;
    }
    let files = Files::at(app, &session, &args.entry, &paths)?;
    files.show_diff(&session, &mut out)?;
    let code = if args.dry_run {
        ExitCode::SUCCESS
    } else {
        files.restore(app, &found, args.force, &mut out)?
    };
    out.finish()?;
    Ok(code)
}

/// The checkpointed files of a session at an entry, and the folder they belong to.
pub(crate) struct Files {
    state: State,
    root: PathBuf,
    checkpoints: Checkpoints,
}

impl Files {
    /// Gathers them. Fails where the session has no checkpoints or its folder is gone.
    pub(crate) fn at(app: &App, session: &Session, entry: &str, paths: &[&str]) -> Result<Files> {
        let facts = session.dialect().facts();
        if !facts.is_own {
            return Err(boswell_dialect::unsupported(
                facts.name,
                "restore files yet",
                "see the files it touched with `boswell files`",
            ));
        }
        let root = PathBuf::from(session.meta().project.clone().unwrap_or_default());
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the session's folder `{}` is gone", root.display()),
            )
            .hinting("files are only put back below the folder that the session was held in"));
        }
        let found = State::in_session(session, entry)?;
        for (entry, error) in &found.damaged {
            crate::error_report::warn(
                &Error::new(
                    ErrorKind::Damaged,
                    format!("the checkpoint at {entry} cannot be read"),
                )
                .because(error.to_string()),
            );
        }
        let state = if paths.is_empty() {
            found.state
        } else {
            found.state.only(paths)
        };
        let blobs = Blobs::new(Arc::new(RealDisk), app.home()?, &SystemIds.hex16());
        Ok(Files {
            state,
            root,
            checkpoints: Checkpoints::new(blobs),
        })
    }

    /// Lists the files with what is known of them.
    pub(crate) fn list(&self, session: &Session, out: &mut Output) -> Result<()> {
        for (path, tracked) in self.state.files() {
            let (word, blob) = match &tracked.then {
                Captured::File { blob, .. } => ("file", Some(blob.reference())),
                Captured::Absent => ("absent", None),
                Captured::Skipped(why) => (why.word(), None),
            };
            if out.json {
                let shape = Json::object()
                    .with("v", 1)
                    .with("type", "file")
                    .with("session", session.reference().to_string());
                out.object(
                    &shape
                        .with("path", path)
                        .with("state", word)
                        .with("blob", blob),
                )?;
            } else {
                out.line(&format!("{}  {}", fit(word, 8), one_line(path)))?;
            }
        }
        Ok(())
    }

    /// Shows how the files differ from what they were.
    pub(crate) fn show_diff(&self, session: &Session, out: &mut Output) -> Result<()> {
        for (path, diff) in self.checkpoints.diff(&self.state, &RealDisk, &self.root) {
            let (word, hunks) = describe(&diff);
            if out.json {
                let reference = session.reference().to_string();
                out.object(
                    &Json::object()
                        .with("v", 1)
                        .with("type", "file")
                        .with("session", reference)
                        .with("path", path)
                        .with("change", word)
                        .with("diff", hunks),
                )?;
            } else if !matches!(diff, FileDiff::Unchanged) {
                out.line(&format!(
                    "{}  {}",
                    out.paint(Style::Strong, &one_line(&path)),
                    word
                ))?;
                for line in hunks.unwrap_or_default().lines() {
                    out.line(&format!("  {}", escape(line)))?;
                }
            }
        }
        Ok(())
    }

    /// Puts the files back. What they were is kept in the session first, so that
    /// it can be taken back.
    pub(crate) fn restore(
        &self,
        app: &App,
        found: &Resolved,
        force: bool,
        out: &mut Output,
    ) -> Result<ExitCode> {
        let policy = if force {
            OnConflict::Overwrite
        } else {
            OnConflict::Stop
        };
        let restored = self.checkpoints.restore(
            &self.state,
            &RealDisk,
            &self.root,
            policy,
            app.now,
            &SystemIds.hex16(),
        )?;
        for (path, done) in &restored.done {
            let word = match done {
                Done::Written => "restored",
                Done::Removed => "removed",
            };
            tell(out, path, word)?;
        }
        for (path, refusal) in &restored.refused {
            let word = match refusal {
                RestoreRefusal::Conflict => "conflict: somebody changed it since".to_owned(),
                RestoreRefusal::Skipped(why) => format!("skipped: {}", why.word()),
                RestoreRefusal::Git => "refused: it lies in git's own folder".to_owned(),
                RestoreRefusal::Failed(error) => format!("failed: {error}"),
                _ => "refused".to_owned(),
            };
            tell(out, path, &word)?;
        }
        if !restored.done.is_empty() {
            let entry = found
                .store
                .annotate(
                    &found.location.id,
                    Draft::custom(CUSTOM_TYPE, restored.undo.to_json()),
                )?
                .entry;
            if !app.quiet {
                crate::error_report::say(&format!(
                    "what the files were before is kept at entry {entry}"
                ));
            }
        }
        let conflict = restored
            .refused
            .iter()
            .any(|(_, refusal)| matches!(refusal, RestoreRefusal::Conflict));
        if conflict {
            return Err(Error::new(
                ErrorKind::Conflict,
                "some files were changed by somebody else since",
            )
            .hinting(
                "look at the difference with `--dry-run`, then put them back with `--force`",
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tell(out: &mut Output, path: &str, word: &str) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("path", path)
                .with("done", word),
        );
    }
    out.line(&format!("{word}: {}", one_line(path)))
}

fn describe(diff: &FileDiff) -> (&'static str, Option<String>) {
    match diff {
        FileDiff::Unchanged => ("unchanged", None),
        FileDiff::Changed(TextDiff::Hunks(hunks)) => ("changed", Some(hunks.clone())),
        FileDiff::Changed(TextDiff::Binary) => ("changed, not text", None),
        FileDiff::Changed(TextDiff::TooLarge) => ("changed, too large to compare", None),
        FileDiff::Mode { .. } => ("other permissions", None),
        FileDiff::Missing => ("gone", None),
        FileDiff::New => ("new since", None),
        FileDiff::Skipped(why) => (why.word(), None),
        FileDiff::Unavailable(_) => ("its former content is lost", None),
        _ => ("changed", None),
    }
}
