//! Copies a session of a host into the store of its agent here, with its side files, so that the
//! agent resumes it.
//!
//! The host is only read. What it sent is complete and checked before a plan exists, and the plan
//! is executed by the runner: a crash leaves the old state or the new one, and it can be undone.

use std::path::{Path, PathBuf};

use boswell_dialect::{
    BlobPolicy, Dialect, ExpectedState, LockSpec, Modified, Plan, Precondition, Step,
};
use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result, SessionRef};
use boswell_store::Store;
use boswell_store::vault::{Digest, Reason};

use super::copied::CopiedSession;
use super::setting::Host;
use crate::planned_change::{OperationShape, PlanStep};
use crate::shape::{self, SessionShape};
use crate::text::{cut, one_line};
use crate::{App, AppResult, RequestContext, convert};

/// A larger file here is not compared.
const LONGEST: u64 = 1 << 30;

/// A request to copy a session.
#[derive(Debug, Clone, Default)]
pub struct CopyRequest {
    /// The session: `HOST:SESSION`.
    pub session: String,
    /// The project folder here, if it is not the same path as there.
    pub project: Option<PathBuf>,
}

/// A session of a host that was received, and what it changes here.
#[derive(Debug)]
pub struct CopyPlan {
    /// Name of the host, or whose session of the team it is.
    pub host: String,
    /// The session, here as there.
    pub target: SessionRef,
    /// The project folder there and here, if they differ.
    pub moved: Option<(String, String)>,
    /// The steps; empty if the session is here already.
    pub steps: Vec<PlanStep>,
    store: Store,
    plan: Plan,
}

/// A session that was copied.
#[derive(Debug)]
pub struct CopiedHere {
    /// The session.
    pub reference: SessionRef,
    /// Its JSON shape.
    pub session: SessionShape,
    /// The operation; `None` if the session was here already.
    pub op: Option<OperationShape>,
}

impl App {
    /// Receives a session of a host, and plans its copy. Nothing is written.
    ///
    /// # Errors
    ///
    /// Invalid if no host is named, Unavailable if it cannot be reached, NotFound if the session
    /// does not exist there or its folder not here, Damaged if what came is not whole, Unsupported
    /// if sessions of its agent cannot be copied, Conflict if another state of it is here.
    pub fn plan_copy(&self, request: &CopyRequest) -> AppResult<CopyPlan> {
        self.answer(|cx| plan(cx, request))
    }

    /// Writes a session that was received.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, Conflict if something changed since the plan.
    pub fn copy(&self, plan: &CopyPlan) -> AppResult<CopiedHere> {
        self.answer(|cx| copy(cx, plan))
    }
}

fn plan(cx: &RequestContext, request: &CopyRequest) -> Result<CopyPlan> {
    cx.may_write()?;
    let (host, session) = named(cx, &request.session)?;
    let received = CopiedSession::receive(&host, &session)?;
    planned(cx, received, (&host.name, request.project.as_deref()))
}

/// Plans to write a session that came from elsewhere: a host, or a team's server.
pub(crate) fn planned(
    cx: &RequestContext,
    received: CopiedSession,
    (from, wanted): (&str, Option<&Path>),
) -> Result<CopyPlan> {
    refuse_uncopied(received.dialect)?;
    warn_about_refused(cx, from, &received);
    let store = convert::target_store(cx, received.dialect.name())?;
    let project = received.project()?;
    let moved = moved(cx, project, wanted)?;
    let received = match &moved {
        Some((old, new)) => received.moved(old, new)?,
        None => received,
    };
    let target = SessionRef::new(received.dialect.name(), &received.id);
    let title = format!("copy {target} from {from}");
    let plan = steps(&store, &received, &target, Plan::new("copy", title))?;
    let shown = plan.steps.iter().map(|step| PlanStep {
        does: step.to_string(),
        keys: step.keys().into_iter().map(str::to_owned).collect(),
    });
    Ok(CopyPlan {
        host: from.to_owned(),
        target,
        moved,
        steps: shown.collect(),
        store,
        plan,
    })
}

fn copy(cx: &RequestContext, copy: &CopyPlan) -> Result<CopiedHere> {
    let writable = cx.writable(copy.store.clone())?;
    let mut op = None;
    if !copy.plan.steps.is_empty() {
        let name = [copy.target.dialect.as_str(), &copy.target.id].join("-");
        let locks = [
            LockSpec::Os { name: name.clone() },
            LockSpec::Append { name },
        ];
        let plan = || Ok(copy.plan.clone());
        let runner = cx.runner()?;
        let done = runner.run_with(writable.root(), &copy.target, Reason::Before, &locks, &plan)?;
        op = Some(OperationShape::new(&done.id, &done.kind, &copy.target));
    }
    let location = writable.whole().find(&copy.target.id)?;
    let mut summary = writable.summary(&location)?;
    cx.add_notes(std::iter::once(&mut summary))?;
    Ok(CopiedHere {
        session: shape::session(&summary, Some(&writable)),
        reference: copy.target.clone(),
        op,
    })
}

/// The host and the session there.
fn named(cx: &RequestContext, session: &str) -> Result<(Host, String)> {
    cx.named_on_host(session).ok_or_else(|| {
        let what = format!("`{}` names no session of a host", session.escape_debug());
        let known: Vec<String> = cx.config.hosts().into_iter().map(|it| it.name).collect();
        let hint = match known.is_empty() {
            true => "add a table [[hosts]] with name and ssh to the settings".to_owned(),
            false => format!("write HOST:SESSION; hosts are {}", known.join(", ")),
        };
        Error::new(ErrorKind::Invalid, what).advising(hint)
    })
}

impl CopiedSession {
    /// The project folder that the session states.
    fn project(&self) -> Result<Option<String>> {
        let store = self.store();
        let location = self.location(&store)?;
        Ok(store.summary(&location)?.meta.project)
    }
}

/// Refuses agents that would not find the files of a copied session.
pub(crate) fn refuse_uncopied(dialect: &dyn Dialect) -> Result<()> {
    let facts = dialect.facts();
    let by_files = facts.intake.is_some()
        && facts.rows.is_none()
        && !facts.is_own
        && dialect.powers().import.is_none();
    if by_files {
        return Ok(());
    }
    let what = format!("sessions of {} cannot be copied", facts.title);
    Err(Error::new(ErrorKind::Unsupported, what)
        .because("its agent would not find the files")
        .advising("export it there, and import the file here"))
}

fn warn_about_refused(cx: &RequestContext, from: &str, received: &CopiedSession) {
    if let Some(first) = received.refused.first() {
        let what = format!(
            "{} files of {from} were left out, `{}` first",
            received.refused.len(),
            cut(&one_line(first), 80)
        );
        let error = Error::new(ErrorKind::Invalid, what);
        cx.fail(error.because("they are no files of the session"));
    }
    if received.dialect.facts().blobs != BlobPolicy::Inline {
        let title = received.dialect.facts().title;
        cx.remark(format!(
            "images and long texts that {title} keeps outside of its sessions are not copied"
        ));
    }
}

/// Returns the project folder there and here, if they differ.
fn moved(
    cx: &RequestContext,
    project: Option<String>,
    wanted: Option<&Path>,
) -> Result<Option<(String, String)>> {
    let Some(from) = project else {
        return Ok(None);
    };
    let Some(wanted) = wanted else {
        return match Path::new(&from).is_dir() {
            true => Ok(None),
            false => Err(
                no_folder(&from, "the session's project is in that folder there")
                    .advising(Advice::Give(RequestInput::Project)),
            ),
        };
    };
    let folder = cx.env.cwd.join(wanted);
    let folder = folder.canonicalize().unwrap_or(folder);
    let to = folder.to_str().map(str::to_owned);
    let to = to.filter(|_| folder.is_dir()).ok_or_else(|| {
        no_folder(&folder.display().to_string(), "the agent is started in it")
            .advising("make it first, or name another")
    })?;
    Ok(Some((from, to)).filter(|(from, to)| from != to))
}

fn no_folder(folder: &str, why: &'static str) -> Error {
    let what = format!("there is no folder `{}` here", folder.escape_debug());
    Error::new(ErrorKind::NotFound, what).because(why)
}

/// Adds the steps that write the files which are not here as they came.
fn steps(
    store: &Store,
    received: &CopiedSession,
    target: &SessionRef,
    mut plan: Plan,
) -> Result<Plan> {
    if let Ok(here) = store.whole().find(&received.id)
        && here.key.as_deref() != Some(&received.log)
    {
        return Err(is_here(target, "it is here in another folder"));
    }
    let modified = last_active(received)?;
    for (key, bytes) in &received.files {
        let old = store.file(key, LONGEST)?;
        if old.as_ref() == Some(bytes) {
            continue;
        }
        let is_log = *key == received.log;
        match old {
            None => plan = plan.requiring(Precondition::Absent { key: key.clone() }),
            Some(old) if is_log && !bytes.starts_with(&old) => {
                return Err(is_here(
                    target,
                    "it went on here, or was copied differently",
                ));
            }
            Some(old) => {
                plan = plan.requiring(unchanged(key, &old));
                if is_log {
                    plan = plan.requiring(Precondition::NotLive { key: key.clone() });
                }
            }
        }
        plan = plan.step(Step::Put {
            key: key.clone(),
            bytes: bytes.clone(),
            mode: None,
            modified: if is_log { modified } else { Modified::Now },
        });
    }
    Ok(plan)
}

fn unchanged(key: &str, old: &[u8]) -> Precondition {
    Precondition::Unchanged {
        key: key.to_owned(),
        was: ExpectedState {
            len: Some(old.len() as u64),
            sha256: Some(Digest::of(old).to_string()),
            identity: None,
        },
    }
}

/// The time of the last entry: agents order sessions by the times of their files.
fn last_active(received: &CopiedSession) -> Result<Modified> {
    let store = received.store();
    let summary = store.summary(&received.location(&store)?)?;
    let nanos = summary.meta.last_active;
    let nanos = nanos.and_then(|at| at.millis().checked_mul(1_000_000));
    Ok(nanos.map_or(Modified::Now, Modified::At))
}

fn is_here(target: &SessionRef, why: &'static str) -> Error {
    Error::new(ErrorKind::Conflict, format!("{target} is here already"))
        .because(why)
        .advising(Advice::show(target).or("undo its earlier copy, or delete it here first"))
}
