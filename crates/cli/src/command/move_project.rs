//! `move`: a project folder was moved, and what agents file under it follows.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::claude::active_processes;
use boswell_dialect::{Plan, Precondition, Step, StoreRequest};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{Reason, Store, memory};
use clap::Args;

use super::store_change::{self, Outcome};
use crate::app::{App, runs_since};
use crate::output::Output;
use crate::terminal::one_line;

/// Let sessions, memory and history follow a project folder that moved
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell move ~/old/api ~/new/api            what would change
  boswell move ~/old/api ~/new/api --apply    do it; `boswell undo` takes it back")]
pub(crate) struct MoveArgs {
    /// Where the project was
    old: PathBuf,
    /// Where it is now
    new: PathBuf,
    /// Do it
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MoveArgs) -> Result<ExitCode> {
    if args.apply {
        app.may_write()?;
    }
    let (from, to) = (
        text(&real(&app.env.cwd.join(&args.old)))?,
        text(&real(&app.env.cwd.join(&args.new)))?,
    );
    for (_, store) in app.stores.iter() {
        refuse_live(store, &from)?;
    }
    let request = StoreRequest::Move {
        from: from.clone(),
        to: to.clone(),
    };
    let mut out = Output::paged(app);
    let mut outcome = store_change::each(app, &request, args.apply, &mut out)?;
    own_memory(app, &from, &to, args.apply, &mut outcome, &mut out)?;
    out.finish()?;
    if !app.quiet {
        if outcome.changed == 0 {
            crate::error_report::say(&format!(
                "no agent has filed anything under `{}`",
                one_line(&from)
            ));
            crate::error_report::say(
                "see the folders that sessions were held in with `boswell projects`",
            );
        } else if !Path::new(&to).is_dir() {
            crate::error_report::say(&format!(
                "`{}` is not there yet: agents find the sessions once it is",
                one_line(&to)
            ));
        }
        if !outcome.left_out.is_empty() {
            crate::error_report::say(&format!(
                "left as they are, because boswell cannot move there: {}",
                outcome.left_out.join(", ")
            ));
        }
    }
    store_change::say_next(app, args.apply, &outcome);
    Ok(ExitCode::SUCCESS)
}

/// The path with links resolved as far as it exists: agents file projects under their real paths.
fn real(path: &Path) -> PathBuf {
    for folder in path.ancestors() {
        if let Ok(found) = folder.canonicalize() {
            return path
                .strip_prefix(folder)
                .map(|rest| found.join(rest))
                .unwrap_or(found);
        }
    }
    path.to_owned()
}

fn text(path: &Path) -> Result<String> {
    // A trailing separator that an empty rest left behind is no part of the path.
    let path: PathBuf = path.components().collect();
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not Unicode", path.display()),
        )
        .because("agents name projects in JSON, which cannot hold such a path")
    })
}

/// A client that runs in the folder would go on writing where its sessions were.
fn refuse_live(store: &Store, from: &str) -> Result<()> {
    if !store.dialect().facts().lists_open_sessions {
        return Ok(());
    }
    for info in store
        .backend()
        .list("sessions")?
        .iter()
        .filter(|info| info.name().ends_with(".json"))
    {
        let Some(process) = store
            .file(&info.key, 1 << 20)?
            .as_deref()
            .and_then(active_processes::parse)
        else {
            continue;
        };
        let inside = process
            .cwd
            .as_deref()
            .is_some_and(|cwd| Path::new(cwd).starts_with(from));
        if inside && runs_since(process.pid, process.proc_start.as_deref()) {
            return Err(Error::new(
                ErrorKind::Busy,
                format!(
                    "session {} is held by pid {}",
                    process.session_id, process.pid
                ),
            )
            .because(format!(
                "a client runs in `{}`, which is to be moved",
                process.cwd.unwrap_or_default()
            ))
            .hinting("end it, then move the project"));
        }
    }
    Ok(())
}

/// Boswell's own memory of the project.
fn own_memory(
    app: &App,
    from: &str,
    to: &str,
    apply: bool,
    outcome: &mut Outcome,
    out: &mut Output,
) -> Result<()> {
    let Some(home) = app.home.as_ref() else {
        return Ok(());
    };
    let old = format!("memory/{}", memory::project_key(from));
    let new = format!("memory/{}", memory::project_key(to));
    if !home.join(&old).is_dir() {
        return Ok(());
    }
    if home.join(&new).exists() {
        crate::error_report::say(&format!(
            "boswell's own memory of `{}` stays: there is one of the new folder",
            one_line(from)
        ));
        return Ok(());
    }
    outcome.changed += 1;
    let mut plan = Plan::new("move", format!("move boswell's memory of {from} to {to}"))
        .requiring(Precondition::Absent { key: new.clone() })
        .step(Step::rename(&old, &new));
    plan.steps
        .push(Step::put(format!("{new}/.project"), format!("{to}\n")));
    if !apply {
        return plan
            .to_string()
            .lines()
            .try_for_each(|line| store_change::step(out, line));
    }
    let operation = app.runner()?.run(
        home,
        &plan,
        &SessionRef::new("boswell", "*"),
        Reason::Before,
    )?;
    outcome.operations.push(operation.id);
    store_change::step(out, &plan.title)
}
