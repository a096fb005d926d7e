//! Updates the stores of agents after a project folder was moved.
//!
//! It is refused while a client runs there or a program has one of the sessions open; the error
//! names its pid. What moves is planned by `move_project.rs` of each dialect.

use std::path::{Path, PathBuf};

use boswell_dialect::claude::active_processes;
use boswell_dialect::{Plan, Precondition, Step, StoreRequest};
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::vault::Reason;
use boswell_store::{Store, memory};

use crate::store_change::{
    self, ChangeMode, ChangeStep, OnStoreError, StoreChange, StoreChangeSink, StoreChanges,
};
use crate::system::runs_since;
use crate::{App, AppResult, RequestContext};

/// The old and the new folder of a project.
#[derive(Debug, Clone, Default)]
pub struct MoveRequest {
    /// The old folder.
    pub old: PathBuf,
    /// The new folder.
    pub new: PathBuf,
}

/// The result of a move.
#[derive(Debug)]
pub struct MovedProject {
    /// The old folder, with symbolic links resolved.
    pub from: String,
    /// The new folder, with symbolic links resolved.
    pub to: String,
    /// Whether the new folder exists; agents find the sessions only then.
    pub is_there: bool,
    /// Whether boswell's own memory of the project stays, because the new folder already has one.
    pub memory_stays: bool,
    /// The changes in stores and in boswell's home.
    pub changes: StoreChanges,
}

impl App {
    /// Passes the plan of each store to the sink. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Busy if a client runs in the folder or a program has one of its sessions open.
    pub fn plan_move(
        &self,
        request: &MoveRequest,
        sink: &mut StoreChangeSink<'_>,
    ) -> AppResult<MovedProject> {
        self.answer(|cx| move_project(cx, request, ChangeMode::Plan, sink))
    }

    /// Moves sessions, memory and history to the new folder. Each store is passed to the sink when
    /// it is done.
    ///
    /// # Errors
    ///
    /// As [`plan_move`](App::plan_move). Stores that were already reported are changed.
    pub fn move_project(
        &self,
        request: &MoveRequest,
        sink: &mut StoreChangeSink<'_>,
    ) -> AppResult<MovedProject> {
        self.answer(|cx| {
            cx.may_write()?;
            move_project(cx, request, ChangeMode::Apply, sink)
        })
    }
}

fn move_project(
    cx: &RequestContext,
    request: &MoveRequest,
    mode: ChangeMode,
    sink: &mut StoreChangeSink<'_>,
) -> Result<MovedProject> {
    let from = text(&real(&cx.env.cwd.join(&request.old)))?;
    let to = text(&real(&cx.env.cwd.join(&request.new)))?;
    for (_, store) in cx.stores.iter() {
        refuse_live(store, &from)?;
    }
    let wanted = |_: &Store| StoreRequest::Move {
        from: from.clone(),
        to: to.clone(),
    };
    let changes = store_change::each(cx, &wanted, mode, OnStoreError::Stop, sink)?;
    let mut moved = MovedProject {
        is_there: Path::new(&to).is_dir(),
        memory_stays: false,
        changes,
        from,
        to,
    };
    own_memory(cx, &mut moved, mode, sink)?;
    Ok(moved)
}

/// Resolves symbolic links as far as the path exists: agents use the real paths of projects.
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
    // Removes a trailing separator that an empty rest left.
    let path: PathBuf = path.components().collect();
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            format!("`{}` is not Unicode", path.display()),
        )
        .because("agents name projects in JSON, which cannot hold such a path")
    })
}

/// Refuses if a client runs in the folder: it would continue to write to the old place.
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
                    "session {} is in use by pid {}",
                    process.session_id, process.pid
                ),
            )
            .because(format!(
                "a client runs in `{}`, which is to be moved",
                process.cwd.unwrap_or_default()
            ))
            .advising(Advice::CloseAgent.then("move the project")));
        }
    }
    Ok(())
}

/// Moves boswell's own memory of the project.
fn own_memory(
    cx: &RequestContext,
    moved: &mut MovedProject,
    mode: ChangeMode,
    sink: &mut StoreChangeSink<'_>,
) -> Result<()> {
    let Some(home) = cx.home.as_ref() else {
        return Ok(());
    };
    let (from, to) = (&moved.from, &moved.to);
    let old = format!("memory/{}", memory::project_key(from));
    let new = format!("memory/{}", memory::project_key(to));
    if !home.join(&old).is_dir() {
        return Ok(());
    }
    if home.join(&new).exists() {
        moved.memory_stays = true;
        return Ok(());
    }
    let mut plan = Plan::new("move", format!("move boswell's memory of {from} to {to}"))
        .requiring(Precondition::Absent { key: new.clone() })
        .step(Step::rename(&old, &new));
    plan.steps
        .push(Step::put(format!("{new}/.project"), format!("{to}\n")));
    moved.changes.changed += 1;
    let mut step = |does: &str| sink(StoreChange::Step(ChangeStep::new(does)));
    if mode == ChangeMode::Plan {
        return plan.to_string().lines().try_for_each(step);
    }
    let operation = cx.runner()?.run(
        home,
        &plan,
        &SessionRef::new("boswell", "*"),
        Reason::Before,
    )?;
    moved.changes.operations.push(operation.id);
    step(&plan.title)
}
