//! `clean --leftovers`: what agents left behind, into the vault.

use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::{Leftovers, Store};

use super::ops::way_back;
use super::planned_change;
use crate::app::App;
use crate::output::Output;
use crate::terminal::one_line;

/// Shows what is left in the stores of a dialect; with `apply` moves it into the vault and breaks
/// locks that nobody holds.
pub(crate) fn run(app: &App, dialect: &str, apply: bool) -> Result<ExitCode> {
    if boswell_dialect::by_name(dialect).is_none() {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("there is no dialect `{}`", dialect.escape_debug()),
        )
        .hinting("see the dialects with `boswell stores`"));
    }
    if apply {
        app.may_write()?;
    }
    let mut out = Output::paged(app);
    let (mut count, mut operations) = (0, Vec::new());
    for (_, store) in app
        .stores
        .iter()
        .filter(|(_, store)| store.dialect().name() == dialect)
    {
        count += if apply {
            clear(app, store, &mut operations, &mut out)?
        } else {
            show(app, store, &mut out)?
        };
    }
    if count == 0 && !out.json {
        out.line("nothing is left behind")?;
    }
    out.finish()?;
    if count > 0 && !app.quiet {
        crate::error_report::say(&match (apply, operations.is_empty()) {
            (true, false) => way_back(&operations),
            (true, true) => "locks leave nothing that could be put back".to_owned(),
            (false, _) => {
                "`--apply` moves the files into the vault and breaks the locks".to_owned()
            }
        });
    }
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App, store: &Store, out: &mut Output) -> Result<usize> {
    let (found, planned) = app.planning(store.clone()).plan_clearing()?;
    if !found.orphans.is_empty() {
        planned_change::show(&planned, out)?;
    }
    for lock in &found.locks {
        tell(out, "would break", &store.backend().describe(&lock.key))?;
    }
    leave_alone(app, store, &found);
    Ok(found.orphans.len() + found.locks.len())
}

fn clear(
    app: &App,
    store: &Store,
    operations: &mut Vec<String>,
    out: &mut Output,
) -> Result<usize> {
    let (found, done) = app
        .runner()?
        .clear_leftovers(&app.writable(store.clone())?)?;
    if !done.operation.files().is_empty() {
        operations.push(done.operation.id.clone());
        let session = SessionRef::new(store.dialect().name(), "*");
        if out.json {
            planned_change::report(&done, &session, out)?;
        } else {
            let files = done.operation.files().len();
            out.line(&format!(
                "{}: {} ({files} files)",
                session.dialect,
                one_line(&done.operation.title)
            ))?;
        }
    }
    for lock in &found.locks {
        tell(out, "broke", &store.backend().describe(&lock.key))?;
    }
    leave_alone(app, store, &found);
    Ok(done.operation.files().len() + found.locks.len())
}

fn leave_alone(app: &App, store: &Store, found: &Leftovers) {
    for (orphan, why) in found.left_alone.iter().filter(|_| !app.quiet) {
        let path = store.backend().describe(&orphan.key);
        crate::error_report::say(&format!("`{}` is left alone: {why}", one_line(&path)));
    }
}

fn tell(out: &mut Output, done: &str, path: &str) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "step")
                .with("done", done)
                .with("path", path),
        );
    }
    out.line(&format!("{done} the lock {}", one_line(path)))
}
