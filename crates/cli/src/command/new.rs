//! `new`: make a session.

use std::process::ExitCode;

use boswell_dialect::{NewSession, StoreRequest, Surroundings, facts_of};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{Outcome, Store};
use clap::Args;

use super::planned_change;
use crate::app::App;
use crate::json_shape;
use crate::output::Output;

/// Make a session and print its ref
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell new --project . --title 'red build'
  boswell new --dialect boswell --project /proj/api --json")]
pub(crate) struct NewArgs {
    /// How it is written
    #[arg(long, alias = "agent", default_value = "boswell")]
    dialect: String,
    /// The folder that it is about
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: String,
    /// Its title
    #[arg(long)]
    title: Option<String>,
    /// Its id, if you have one already
    #[arg(long)]
    id: Option<String>,
    /// Who answers, where the dialect drives other programs: claude, codex, gemini
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &NewArgs) -> Result<ExitCode> {
    app.may_write()?;
    let store = store_for(app, &args.dialect)?;
    let project = app.env.cwd.join(&args.project);
    let project = project
        .canonicalize()
        .unwrap_or(project)
        .display()
        .to_string();
    let new = NewSession {
        project,
        id: args.id.clone(),
        title: args.title.clone(),
        backend: args.backend.clone(),
        around: Surroundings::of(&app.env),
        ..NewSession::default()
    };
    let reference = if store.dialect().facts().creates_by_plan {
        by_plan(app, &store, new)?
    } else {
        let writer = store.create(new)?;
        let reference = writer.reference().clone();
        writer.close(Outcome::Open)?;
        reference
    };
    let mut out = Output::paged(app);
    if out.json {
        let summary = store.summary(&store.find(&reference.id)?)?;
        out.object(&json_shape::session(&summary, Some(&store)))?;
    } else {
        out.line(&reference.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn by_plan(app: &App, store: &Store, new: NewSession) -> Result<SessionRef> {
    let done = app
        .runner()?
        .execute_store(store, &StoreRequest::Create(new))?;
    planned_change::remark(app, &done.planned);
    Ok(SessionRef::new(
        store.dialect().name(),
        done.planned.session.unwrap_or_default(),
    ))
}

/// The store of a dialect that a new session goes to: the one named or found; for
/// boswell's own, its home.
pub(crate) fn store_for(app: &App, dialect: &str) -> Result<Store> {
    if let Some((_, store)) = app
        .stores
        .iter()
        .find(|(_, store)| store.dialect().name() == dialect)
    {
        return app.writable(store.clone());
    }
    if facts_of(dialect).is_some_and(|facts| facts.is_own) {
        return Store::open(app.home()?);
    }
    if boswell_dialect::by_name(dialect).is_none() {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("there is no dialect `{}`", dialect.escape_debug()),
        )
        .hinting("see those that there are with `boswell stores`"));
    }
    Err(Error::new(
        ErrorKind::NotFound,
        format!("no store of the dialect `{dialect}` was found"),
    )
    .hinting(format!("say where it is with `--store {dialect}=PATH`")))
}
