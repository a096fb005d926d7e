//! Keeps copies of sessions as they change, so that an agent's own clean-up (retention) loses
//! nothing.
//!
//! `keep on` adds a hook to the agent's settings (`keep/hook.rs`), or with `--timer` an hourly
//! systemd timer (`keep/timer.rs`); `off` removes exactly what was added, which `keep.json`
//! records. Which files are copied is decided by the store's `keep_policy.rs`.

mod config;
mod copy;
mod hook;
mod status;
mod timer;

use std::path::PathBuf;
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Instant, Result, shell_literal};
use boswell_store::Store;

use crate::resume::ResumePlan;
use crate::shape::shape;
use crate::{Answer, App, AppResult, Cancel, RequestContext};
use config::{KeepConfig, Trigger};

pub use boswell_store::operations::KeepProgress;

/// How many days ahead sessions that will be deleted are counted.
pub use crate::sessions::expiry::AHEAD as DAYS_AHEAD;

/// A request to make copies automatically.
#[derive(Debug, Clone)]
pub struct KeepOnRequest {
    /// Use a timer of the user's system instead of the agent's own hook.
    pub by_timer: bool,
    /// Only report what would be installed.
    pub plan_only: bool,
    /// The `boswell` program that hook or timer run.
    pub program: PathBuf,
}

shape! {
    /// From `keep on` and `keep off`: a change outside boswell's own folder, applied or planned.
    KeepStep: "step" {
        /// what was or would be done
        does: String,
    }

    /// From `keep on` and `keep run`: what was copied.
    KeptShape: "kept" {
        /// sessions of which files were copied
        sessions: usize,
        /// files that were copied
        files: usize,
        /// bytes that were copied, before compression
        bytes: u64,
        /// how many files or stores could not be copied
        failed: usize,
    }

    /// A store whose agent deletes sessions, and its copies in the vault.
    KeepShape: "keep" {
        /// the format of the store
        dialect: &'static str,
        /// its folder
        root: String,
        /// whether `keep` is on
        on: bool,
        /// since when it is on
        since: Option<Instant>,
        /// what starts the copying: `hook`, `timer`
        trigger: Option<&'static str>,
        /// whether hook or timer is still installed
        installed: Option<bool>,
        /// after how many days the agent deletes sessions; `null` if its settings cannot be read
        deletes_after_days: Option<u64>,
        /// how many sessions there are
        sessions: usize,
        /// how many of them have an up-to-date copy
        kept: usize,
        /// folders that cannot be listed, so new files in them are not copied
        unreadable: Vec<String>,
        /// refs of deleted sessions that have a copy
        gone: Vec<String>,
        /// ids that will be deleted within 7 days and have no copy
        lost_soon: Vec<String>,
    }
}

/// The result of making copies.
#[derive(Debug)]
pub struct Kept {
    /// Numbers of copies.
    pub counts: KeptShape,
    /// Files that could not be copied, with the reasons.
    pub left_out: Vec<Error>,
    /// Whether the request was cancelled before everything was copied. What was copied stays, and
    /// the next request continues.
    pub unfinished: bool,
}

/// The copies of every store whose agent deletes sessions.
#[derive(Debug)]
pub struct KeepStatus {
    /// When automatic copies were switched on; `None` while they are off.
    pub since: Option<Instant>,
    /// The state of each store.
    pub stores: Vec<KeepShape>,
    /// Files that could not be read: it is unknown whether they have copies.
    pub left_out: Vec<Error>,
}

/// Receives each step when it is done, or would be.
pub type StepSink<'s> = &'s mut dyn FnMut(KeepStep) -> Result<()>;

impl App {
    /// Switches automatic copies on: installs a hook or a timer for every store whose agent deletes
    /// sessions, then copies everything once. Returns `None` for a plan. `progress` is called
    /// for each session that is copied; a cancelled request stops between two of them.
    ///
    /// # Errors
    ///
    /// NotFound if no agent deletes sessions, Unsupported if a timer is needed and the system has
    /// none, Denied if nothing may be written.
    pub fn keep_on(
        &self,
        request: &KeepOnRequest,
        cancel: &Cancel,
        sink: StepSink<'_>,
        progress: &mut dyn FnMut(KeepProgress),
    ) -> AppResult<Option<Kept>> {
        self.answer_with(cancel.clone(), |cx| on(cx, request, sink, progress))
    }

    /// Switches automatic copies off, and removes exactly what [`keep_on`](App::keep_on) installed;
    /// the copies stay. Returns whether it was on.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, Conflict if settings of an agent change concurrently.
    pub fn keep_off(&self, sink: StepSink<'_>) -> AppResult<bool> {
        self.answer(|cx| off(cx, sink))
    }

    /// Returns the state of the copies, and which sessions will be lost.
    ///
    /// # Errors
    ///
    /// Damaged if the list of copies or `keep.json` cannot be read.
    pub fn keep_status(&self) -> AppResult<KeepStatus> {
        self.answer(status::status)
    }

    /// Copies everything that changed now, whether automatic copies are on or off. `progress` is
    /// called for each session; a cancelled request stops between two of them.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, Busy while another process makes copies.
    pub fn keep_now(
        &self,
        cancel: &Cancel,
        progress: &mut dyn FnMut(KeepProgress),
    ) -> AppResult<Kept> {
        self.answer_with(cancel.clone(), |cx| {
            cx.may_write()?;
            copy::everything(cx, progress)
        })
    }

    /// Copies the sessions of an agent that may delete what it resumes, before it resumes one.
    /// Without such an agent nothing is done. If no copy can be made, that is a warning: the user
    /// decided to resume.
    ///
    /// # Errors
    ///
    /// Only those of finding the session.
    pub fn keep_before_resume(&self, plan: &ResumePlan) -> AppResult<()> {
        if !plan.endangers {
            return Ok(Answer {
                value: (),
                notices: Vec::new(),
            });
        }
        self.answer(|cx| {
            let found = cx.resolve(&plan.session.to_string())?;
            copy::before_resume(cx, &found.store);
            Ok(())
        })
    }

    /// Copies some of what changed, for a limited time, if automatic copies are on. Failures are
    /// retried next time, so only a failing disk is a warning.
    ///
    /// # Errors
    ///
    /// Only those of finding the stores.
    pub fn keep_a_little(&self, limit: Duration) -> AppResult<()> {
        let is_on = |home| matches!(KeepConfig::load(home), Ok(Some(_)));
        // Checked before stores are discovered, because this runs after every command.
        if self.is_read_only() || !self.home().is_some_and(is_on) {
            return Ok(Answer {
                value: (),
                notices: Vec::new(),
            });
        }
        self.answer(|cx| {
            copy::a_little(cx, limit);
            Ok(())
        })
    }
}

/// Returns the stores whose agents delete sessions. If its settings cannot be read, an agent is
/// assumed to delete sessions.
fn keepable(cx: &RequestContext) -> Vec<&Store> {
    let stores = cx.stores.iter().map(|(_, store)| store);
    stores
        .filter(|store| !matches!(store.deletes_after(), Ok(None)))
        .collect()
}

fn on(
    cx: &RequestContext,
    request: &KeepOnRequest,
    sink: StepSink<'_>,
    progress: &mut dyn FnMut(KeepProgress),
) -> Result<Option<Kept>> {
    if !request.plan_only {
        cx.may_write()?;
    }
    let stores = keepable(cx);
    if stores.is_empty() {
        return Err(nothing_deletes());
    }
    let lock = if request.plan_only {
        None
    } else {
        Some(KeepConfig::lock(cx.home()?)?)
    };
    let mut state = KeepConfig::load(cx.home()?)?.unwrap_or_else(|| KeepConfig::since(cx.now));
    for store in stores {
        let is_served = |trigger: &Trigger| trigger.serves(store.root());
        if state.triggers.iter().any(is_served) {
            continue;
        }
        state.triggers.push(install(cx, store, request, sink)?);
        if !request.plan_only {
            state.save(cx.home()?)?;
        }
    }
    if request.plan_only {
        return Ok(None);
    }
    state.save(cx.home()?)?;
    // The first copies may take minutes, and have their own locks.
    drop(lock);
    copy::everything(cx, progress).map(Some)
}

fn nothing_deletes() -> Error {
    Error::new(
        ErrorKind::NotFound,
        "no agent on this machine deletes sessions by itself",
    )
    .because("only Claude Code and Gemini CLI are known to, and their folders are not there")
    .advising(Advice::ListStores.or(Advice::NameStore {
        dialect: Some("claude".to_owned()),
    }))
}

/// Installs the agent's own hook for a store, else a timer.
fn install(
    cx: &RequestContext,
    store: &Store,
    request: &KeepOnRequest,
    sink: StepSink<'_>,
) -> Result<Trigger> {
    let command = command(cx, store, request)?;
    let hook = if request.by_timer {
        None
    } else {
        hook::install(cx, store, &command, request.plan_only, sink)?
    };
    match hook {
        Some(trigger) => Ok(trigger),
        None => timer::install(cx, store, &command, request.plan_only, sink),
    }
}

/// Returns the shell command that copies this store.
fn command(cx: &RequestContext, store: &Store, request: &KeepOnRequest) -> Result<String> {
    let place = format!("{}={}", store.dialect().name(), store.root().display());
    let words = [
        shell_literal(&request.program.display().to_string()),
        "--home".to_owned(),
        shell_literal(&cx.home()?.display().to_string()),
        "--store".to_owned(),
        shell_literal(&place),
        "keep".to_owned(),
        "run".to_owned(),
        "--quiet".to_owned(),
    ];
    Ok(words.join(" "))
}

fn off(cx: &RequestContext, sink: StepSink<'_>) -> Result<bool> {
    cx.may_write()?;
    let home = cx.home()?;
    // A first read without the lock, which would create a home if there is none.
    let lock = KeepConfig::load(home)?
        .map(|_| KeepConfig::lock(home))
        .transpose()?;
    let state = if lock.is_some() {
        KeepConfig::load(home)?
    } else {
        None
    };
    let Some(mut state) = state else {
        cx.remark("keeping is off already");
        return Ok(false);
    };
    while let Some(trigger) = state.triggers.pop() {
        match &trigger {
            Trigger::Hook {
                root,
                command,
                inserted,
            } => hook::remove(cx, root, command, inserted, sink)?,
            Trigger::Timer { folder, .. } => timer::remove(cx, folder, sink)?,
        }
        // Without triggers the whole file is removed: automatic copies without a trigger are not a
        // valid state.
        if !state.triggers.is_empty() {
            state.save(home)?;
        }
    }
    KeepConfig::forget(home)?;
    step(
        sink,
        "keeping is off; copies that were kept stay in the vault",
    )?;
    Ok(true)
}

fn step(sink: StepSink<'_>, does: impl Into<String>) -> Result<()> {
    sink(KeepStep { does: does.into() })
}
