//! The context of one request: the stores as they are now, the time, and notices.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use boswell_dialect::facts_of;
use boswell_model::{Advice, Error, ErrorKind, Instant, Remark, Result};
use boswell_store::breadcrumb::{self, TerminalId};
use boswell_store::disk::RealDisk;
use boswell_store::links::Conversation;
use boswell_store::notes::Notes;
use boswell_store::operations::{RecoveryOutcome, Runner};
use boswell_store::store::{Resolved, Selector, Side, Stores, Summaries, Summary};
use boswell_store::system_ids::SystemIds;
use boswell_store::{Home, Store};

use crate::app::{AppState, no_home};
use crate::sessions::index::{Create, SessionIndex};
use crate::sessions::newest;
use crate::sessions::notes_overlay::NotesOverlay;
use crate::{Cancel, Notice};

/// The state that the code of a request works with.
#[derive(Debug)]
pub(crate) struct RequestContext {
    state: Arc<AppState>,
    /// The stores as they are now.
    pub(crate) stores: Stores,
    /// When the request was made.
    pub(crate) now: Instant,
    /// Whether the face still wants the answer.
    pub(crate) cancel: Cancel,
    // A mutex, because sessions are read by several threads.
    notices: Mutex<Vec<Notice>>,
}

impl Deref for RequestContext {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.state
    }
}

impl Drop for RequestContext {
    fn drop(&mut self) {
        self.remember_outside_links();
    }
}

impl RequestContext {
    pub(crate) fn new(state: Arc<AppState>, stores: Stores, cancel: Cancel) -> RequestContext {
        RequestContext {
            now: state.clock.now(),
            state,
            stores,
            cancel,
            notices: Mutex::default(),
        }
    }

    /// Remembers which links were met that lead out of their stores.
    pub(crate) fn remember_outside_links(&self) {
        self.outside_links.remember(&self.stores);
    }

    /// Notes what was done or passed over on the way.
    pub(crate) fn remark(&self, remark: impl Into<Remark>) {
        self.notice(Notice::Remark(remark.into()));
    }

    /// Records a notice about what could not be read.
    pub(crate) fn warn(&self, error: Error) {
        self.notice(Notice::Warning(error));
    }

    /// Notes a part of what was asked for that could not be done.
    pub(crate) fn fail(&self, error: Error) {
        self.notice(Notice::Failure(error));
    }

    fn notice(&self, notice: Notice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.push(notice);
    }

    /// The notices so far; each is returned once.
    pub(crate) fn take_notices(&self) -> Vec<Notice> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut notices)
    }

    /// Does again what was done for a plan that was shown: what is noticed on the way was noticed
    /// then. If it fails this time, the notices may say why, and stay.
    pub(crate) fn noticed_before<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let notices = || self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let known = notices().len();
        let done = work()?;
        notices().truncate(known);
        Ok(done)
    }

    /// Whether something about a project may be shown.
    pub(crate) fn shows(&self, project: Option<&str>) -> bool {
        !self
            .exclusion
            .as_ref()
            .zip(project)
            .is_some_and(|(exclusion, project)| exclusion.excludes(project))
    }

    /// Boswell's own folder. Commands that write need one.
    pub(crate) fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(no_home)
    }

    /// What is kept in boswell's own folder, which may not be there yet.
    pub(crate) fn own_home(&self) -> Result<Home> {
        self.home().map(Home::at)
    }

    /// Whether boswell may only read.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// A store made writable: its locks are kept in boswell's own folder.
    pub(crate) fn writable(&self, store: Store) -> Result<Store> {
        self.may_write()?;
        self.refuse_archived(&store)?;
        Ok(self.own_home()?.writable(store))
    }

    /// Fails for a session that is in the vault: there it can only be read.
    pub(crate) fn refuse_archived(&self, store: &Store) -> Result<()> {
        store.archived().map_or(Ok(()), |session| {
            Err(
                Error::new(ErrorKind::Conflict, format!("{session} is archived"))
                    .because("what is in the vault can be read, but not changed or resumed")
                    .advising(Advice::restore(session)),
            )
        })
    }

    /// A store for which plans can be made, but nothing be written.
    pub(crate) fn planning(&self, store: Store) -> Store {
        store.writable(
            Arc::new(RealDisk),
            Arc::new(SystemIds),
            Path::new("/dev/null/locks"),
        )
    }

    /// What carries out plans. What an earlier run left unfinished is finished or undone first,
    /// interrupted purges too.
    pub(crate) fn runner(&self) -> Result<Runner> {
        let runner = self.reading_runner()?;
        for recovered in runner.recover()? {
            let what = match recovered.outcome {
                RecoveryOutcome::Forward => "was finished now".to_owned(),
                RecoveryOutcome::Back => "was rolled back".to_owned(),
                RecoveryOutcome::Unsettled(error) => {
                    format!("could be neither finished nor rolled back: {error}")
                }
            };
            self.remark(format!(
                "operation {} of an earlier run stopped in the middle and {what}",
                recovered.op
            ));
        }
        if !self.read_only {
            crate::purge_copies::resume(self, &runner)?;
        }
        Ok(runner)
    }

    /// As above, for reading only.
    pub(crate) fn reading_runner(&self) -> Result<Runner> {
        Ok(self.own_home()?.runner())
    }

    /// Notes of sessions.
    pub(crate) fn notes(&self) -> Result<Notes> {
        self.own_home()?.notes()
    }

    /// Conversations of all stores, with their notes.
    pub(crate) fn conversations(&self) -> Result<(Vec<Conversation>, Summaries)> {
        let (mut conversations, rest) = match SessionIndex::open(self, Create::No)? {
            Some(mut session_index) => session_index.conversations(self)?,
            None => self.stores.conversations(),
        };
        self.annotate(&mut conversations)?;
        Ok((conversations, rest))
    }

    /// Adds the notes of sessions.
    pub(crate) fn annotate(&self, conversations: &mut [Conversation]) -> Result<()> {
        conversations
            .iter_mut()
            .for_each(|conversation| self.add_status(conversation));
        let sides = conversations
            .iter_mut()
            .flat_map(|it| std::iter::once(&mut it.front).chain(&mut it.linked));
        self.add_notes(sides.map(|(_, summary)| summary))
    }

    /// Returns the state of a session of our own.
    pub(crate) fn add_status(&self, conversation: &mut Conversation) {
        let (_, summary) = &mut conversation.front;
        if has_open_status(summary) {
            summary.meta.status = Some(self.open_status(summary.last_active()));
        }
    }

    /// The status of a session of our own that was not ended: active, and paused once nothing
    /// happened for that long.
    pub(crate) fn open_status(&self, last_active: Option<Instant>) -> String {
        let idle = self.config.span("idle");
        let idle = idle
            .and_then(|idle| i64::try_from(idle.as_millis()).ok())
            .unwrap_or(i64::MAX);
        let is_idle = last_active.is_some_and(|at| self.now.millis() - at.millis() > idle);
        if is_idle { "paused" } else { "active" }.to_owned()
    }

    /// Adds the notes of sessions, before they are joined.
    pub(crate) fn add_notes<'s>(
        &self,
        summaries: impl Iterator<Item = &'s mut Summary>,
    ) -> Result<()> {
        NotesOverlay::read(self)?.add_to(summaries);
        Ok(())
    }

    /// Finds the session that is meant, in a store that can be written.
    pub(crate) fn resolve_for_writing(&self, session: &str) -> Result<Resolved> {
        self.may_write()?;
        let found = self.resolve(session)?;
        Ok(Resolved {
            store: self.writable(found.store)?,
            location: found.location,
        })
    }

    /// The same for what is said about a conversation, not in it: that is kept by the program
    /// that the user talks to.
    pub(crate) fn resolve_front_for_writing(&self, session: &str) -> Result<Resolved> {
        self.may_write()?;
        let found = self.resolve_front(session)?;
        Ok(Resolved {
            store: self.writable(found.store)?,
            location: found.location,
        })
    }

    /// Finds the session that is meant, of linked ones the front, for showing
    /// what would be written.
    pub(crate) fn resolve_front(&self, session: &str) -> Result<Resolved> {
        self.resolve_side(session, Side::Front)
    }

    /// Finds the session that is meant, of linked ones the fuller side.
    pub(crate) fn resolve(&self, session: &str) -> Result<Resolved> {
        self.resolve_side(session, Side::Fuller)
    }

    fn resolve_side(&self, session: &str, otherwise: Side<'_>) -> Result<Resolved> {
        let selector = Selector::parse(session)?;
        if selector == Selector::Last
            && let Some(found) = self.breadcrumb()
        {
            return Ok(found);
        }
        let side = self.side.as_deref().map_or(otherwise, Side::Of);
        let found = match newest::in_catalog(self, &selector) {
            Some(newest) => newest?.side(self, side)?,
            None => self.stores.resolve(&selector, &self.env.cwd, side)?,
        };
        if self.exclusion.is_some() && matches!(selector, Selector::Ref(..) | Selector::Path(_)) {
            let project = found
                .store
                .summary(&found.location)
                .ok()
                .and_then(|summary| summary.meta.project);
            if !self.shows(project.as_deref()) {
                self.remark(
                    "this session is of an excluded project; it is found because it was named in full",
                );
            }
        }
        Ok(found)
    }

    /// The session that this terminal was last used for in this folder.
    fn breadcrumb(&self) -> Option<Resolved> {
        let terminal = TerminalId::of(&self.env)?;
        let agents = self
            .stores
            .iter()
            .filter(|(_, store)| store.dialect().facts().keeps_breadcrumbs);
        let folders = agents.map(|(_, store)| store.root().join("terminal-sessions"));
        let state = self
            .env
            .path_var("XDG_STATE_HOME")
            .map(|state| state.join("xcsh/terminal-sessions"));
        let own = self
            .home
            .as_ref()
            .map(|home| home.join("terminal-sessions"));
        // Several programs may have recorded this terminal: the newest record is the last one used.
        let mut crumbs: Vec<PathBuf> = own.into_iter().chain(folders).chain(state).collect();
        let noted = |folder: &PathBuf| {
            std::fs::metadata(folder.join(terminal.as_str()))
                .and_then(|it| it.modified())
                .ok()
        };
        crumbs.sort_by_key(|folder| std::cmp::Reverse(noted(folder)));
        for folder in crumbs {
            let Ok(Some(path)) = breadcrumb::read(&RealDisk, &folder, &terminal, &self.env.cwd)
            else {
                continue;
            };
            // A crumb of a store that was not asked for leads nowhere.
            let below = self
                .stores
                .iter()
                .any(|(_, store)| path.starts_with(store.root()));
            if let Ok((store, location)) = self.stores.at_path(&path)
                && below
                && location.hidden.is_none()
                && (self.exclusion.is_none()
                    || self.shows(
                        store
                            .summary(&location)
                            .ok()
                            .and_then(|it| it.meta.project)
                            .as_deref(),
                    ))
            {
                return Some(Resolved { store, location });
            }
        }
        None
    }
}

/// Whether how a session stands follows from the time that passed: it is one of our own, and was
/// not ended.
pub(crate) fn has_open_status(summary: &Summary) -> bool {
    facts_of(&summary.reference.dialect).is_some_and(|facts| facts.is_own)
        && (summary.meta.status.as_deref()).is_none_or(|status| status == "active")
}
