//! The context of one request: the current stores, the time, and notices.
//!
//! It resolves the session that a request names, and so decides which side of a conversation in two
//! stores is used. `resolve` and `resolve_for_writing` take the fuller (more complete) side: for
//! reading, and for requests that refer to entries or add one (`append`, `branch`, `rewind`,
//! `fork`, `label`, `migrate`, `repair`). `resolve_front` and `resolve_front_for_writing` take the
//! front side, the program that the user talks to: for `rename`, `tag`, `untag`, `status`, `close`
//! and `delete`. A ref or `--agent` overrides both. `side_of` in the store's `resolve.rs` does the
//! choosing.
//!
//! It is also where `--read-only` refuses to write, where archived sessions are refused, where
//! operations that a crash interrupted are finished first, and where a boswell session becomes
//! `paused`.

use std::cmp::Reverse;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use boswell_dialect::{SessionLocation, facts_of};
use boswell_model::{Advice, Error, ErrorKind, Instant, Remark, Result, Revision};
use boswell_store::links::Conversation;
use boswell_store::notes::Notes;
use boswell_store::operations::{RecoveryOutcome, Runner};
use boswell_store::session::{Breadcrumbs, TerminalId};
use boswell_store::store::{Resolved, Selector, Side, Stores, Summaries, Summary};
use boswell_store::{Home, Store, WritableStore};

use crate::app::{AppState, no_home};
use crate::real_folders::RealFolders;
use crate::sessions::index::{Create, SessionIndex};
use crate::sessions::newest;
use crate::sessions::notes_overlay::NotesOverlay;
use crate::{Cancel, Notice};

/// The state of one request.
#[derive(Debug)]
pub(crate) struct RequestContext {
    state: Arc<AppState>,
    /// The stores in their current state.
    pub(crate) stores: Stores,
    /// Time of the request.
    pub(crate) now: Instant,
    /// Whether the face still needs the answer.
    pub(crate) cancel: Cancel,
    // A mutex, because several threads read sessions.
    notices: Mutex<Vec<Notice>>,
    /// Real paths that this request looked up.
    pub(crate) real_folders: RealFolders,
    /// The revision that the session must have when it is changed.
    expected: Option<Revision>,
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
            real_folders: RealFolders::default(),
            expected: None,
        }
    }

    /// Requires a revision of the session that the request changes.
    pub(crate) fn expecting(mut self, revision: Option<Revision>) -> RequestContext {
        self.expected = revision;
        self
    }

    /// Records the links that lead out of their stores.
    pub(crate) fn remember_outside_links(&self) {
        self.outside_links.remember(&self.stores);
    }

    /// Adds a notice about something that was done or skipped.
    pub(crate) fn remark(&self, remark: impl Into<Remark>) {
        self.notice(Notice::Remark(remark.into()));
    }

    /// Adds a notice about something that could not be read.
    pub(crate) fn warn(&self, error: Error) {
        self.notice(Notice::Warning(error));
    }

    /// Adds a notice about a part of the request that failed.
    pub(crate) fn fail(&self, error: Error) {
        self.notice(Notice::Failure(error));
    }

    fn notice(&self, notice: Notice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.push(notice);
    }

    /// Returns the notices so far, and clears them.
    pub(crate) fn take_notices(&self) -> Vec<Notice> {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut notices)
    }

    /// Repeats work that was done for a shown plan, without its notices, which were returned then.
    /// If it fails this time, the notices may contain the reason and are kept.
    pub(crate) fn noticed_before<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let notices = || self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let known = notices().len();
        let done = work()?;
        notices().truncate(known);
        Ok(done)
    }

    /// Whether data of a project may be shown.
    pub(crate) fn shows(&self, project: Option<&str>) -> bool {
        !self
            .exclusion
            .as_ref()
            .zip(project)
            .is_some_and(|(exclusion, project)| exclusion.excludes(project))
    }

    /// Returns boswell's own home. Requests that write need one.
    pub(crate) fn home(&self) -> Result<&Path> {
        self.home.as_deref().ok_or_else(no_home)
    }

    /// Returns boswell's own home, which may not exist yet.
    pub(crate) fn own_home(&self) -> Result<Home> {
        self.home().map(Home::at)
    }

    /// Whether the application was opened read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Makes a store writable: its locks are in boswell's own home.
    pub(crate) fn writable(&self, store: Store) -> Result<WritableStore> {
        self.may_write()?;
        self.refuse_archived(&store)?;
        Ok(self.own_home()?.writable(store))
    }

    /// Fails for a session in the vault, which can only be read.
    pub(crate) fn refuse_archived(&self, store: &Store) -> Result<()> {
        store.archived().map_or(Ok(()), |session| {
            Err(
                Error::new(ErrorKind::Conflict, format!("{session} is archived"))
                    .because("what is in the vault can be read, but not changed or resumed")
                    .advising(Advice::restore(session)),
            )
        })
    }

    /// Returns the runner of plans. Unfinished operations of earlier runs are finished or undone
    /// first, including interrupted purges.
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

    /// As above, read-only.
    pub(crate) fn reading_runner(&self) -> Result<Runner> {
        Ok(self.own_home()?.runner())
    }

    /// Returns the notes about sessions.
    pub(crate) fn notes(&self) -> Result<Notes> {
        self.own_home()?.notes()
    }

    /// Returns the conversations of all stores, with their notes.
    pub(crate) fn conversations(&self) -> Result<(Vec<Conversation>, Summaries)> {
        let (mut conversations, rest) = match SessionIndex::open(self, Create::No)? {
            Some(mut session_index) => session_index.conversations(self)?,
            None => self.stores.conversations(),
        };
        self.annotate(&mut conversations)?;
        Ok((conversations, rest))
    }

    /// Adds the notes about sessions.
    pub(crate) fn annotate(&self, conversations: &mut [Conversation]) -> Result<()> {
        conversations
            .iter_mut()
            .for_each(|conversation| self.add_status(conversation));
        let sides = conversations
            .iter_mut()
            .flat_map(|it| std::iter::once(&mut it.front).chain(&mut it.linked));
        self.add_notes(sides.map(|(_, summary)| summary))
    }

    /// Sets the status of a boswell session.
    pub(crate) fn add_status(&self, conversation: &mut Conversation) {
        let (_, summary) = &mut conversation.front;
        if has_open_status(summary) {
            summary.meta.status = Some(self.open_status(summary.last_active()));
        }
    }

    /// Returns the status of a boswell session that was not ended: active, and paused after a time
    /// without activity.
    pub(crate) fn open_status(&self, last_active: Option<Instant>) -> String {
        let idle = self.config.span("idle");
        let idle = idle
            .and_then(|idle| i64::try_from(idle.as_millis()).ok())
            .unwrap_or(i64::MAX);
        let is_idle = last_active.is_some_and(|at| self.now.millis() - at.millis() > idle);
        if is_idle { "paused" } else { "active" }.to_owned()
    }

    /// Adds the notes about sessions, before they are joined to conversations.
    pub(crate) fn add_notes<'s>(
        &self,
        summaries: impl Iterator<Item = &'s mut Summary>,
    ) -> Result<()> {
        NotesOverlay::read(self)?.add_to(summaries);
        Ok(())
    }

    /// Resolves a session, in a store that can be written.
    pub(crate) fn resolve_for_writing(&self, session: &str) -> Result<Resolved<WritableStore>> {
        self.may_write()?;
        self.refuse_number(session)?;
        let found = self.resolve_side(session, Side::Fuller)?;
        Ok(Resolved {
            store: self.writable(found.store)?.expecting(self.expected),
            location: found.location,
        })
    }

    /// As above, for data about a conversation instead of its entries: those are stored by the
    /// front program.
    pub(crate) fn resolve_front_for_writing(
        &self,
        session: &str,
    ) -> Result<Resolved<WritableStore>> {
        self.may_write()?;
        self.refuse_number(session)?;
        let found = self.resolve_front(session)?;
        Ok(Resolved {
            store: self.writable(found.store)?.expecting(self.expected),
            location: found.location,
        })
    }

    /// Fails for a number of the last list: what another list meanwhile shows there must not be
    /// changed by mistake.
    fn refuse_number(&self, session: &str) -> Result<()> {
        match self.numbered(session, Side::Front) {
            Some(Ok(found)) => Err(Error::new(
                ErrorKind::Invalid,
                format!("`{session}` is a number of the last list"),
            )
            .because("numbers are for reading and resuming")
            .advising(format!("name the session: {}", found.reference()))),
            _ => Ok(()),
        }
    }

    /// Resolves a session to the front of its conversation, to show what would be written.
    pub(crate) fn resolve_front(&self, session: &str) -> Result<Resolved> {
        self.resolve_side(session, Side::Front)
    }

    /// Resolves a session to the more complete side of its conversation.
    pub(crate) fn resolve(&self, session: &str) -> Result<Resolved> {
        // What another request found counts only if the settings cannot choose differently.
        if self.exits_soon || self.exclusion.is_some() || self.side.is_some() {
            return self.resolve_side(session, Side::Fuller);
        }
        if let Some(found) = self.known_places.find(&self.stores, session) {
            return Ok(found);
        }
        self.resolve_side(session, Side::Fuller)
    }

    fn resolve_side(&self, session: &str, otherwise: Side<'_>) -> Result<Resolved> {
        if let Some(found) = self.numbered(session, otherwise) {
            return found;
        }
        crate::hosts::refuse_host(self, session)?;
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

    /// Returns the session with that number in the last list of this terminal. A session whose
    /// whole id is the number is meant rather.
    fn numbered(&self, session: &str, otherwise: Side<'_>) -> Option<Result<Resolved>> {
        let is_number = !session.is_empty()
            && session.len() < 6
            && session.bytes().all(|byte| byte.is_ascii_digit());
        let listed = self.listed(session.parse().ok().filter(|_| is_number)?)?;
        let (held, _) = self.stores.held();
        if held.iter().any(|held| held.location.id == session) {
            return None;
        }
        Some(self.resolve_side(&listed, otherwise))
    }

    /// Returns the session that this terminal was last used for in this folder.
    fn breadcrumb(&self) -> Option<Resolved> {
        let terminal = TerminalId::of(&self.env)?;
        // Several programs may have recorded this terminal: the newest record counts.
        let mut folders = self.breadcrumb_folders();
        folders.sort_by_key(|folder| Reverse(modified(&folder.join(terminal.as_str()))));
        for folder in folders {
            let noted = Breadcrumbs::in_folder(folder).read(&terminal, &self.env.cwd);
            let Ok(Some(path)) = noted else {
                continue;
            };
            // A breadcrumb of a store that was not requested is ignored.
            let mut stores = self.stores.iter();
            let is_below = stores.any(|(_, store)| path.starts_with(store.root()));
            if let Ok((store, location)) = self.stores.at_path(&path)
                && is_below
                && location.hidden.is_none()
                && self.shows_session(&store, &location)
            {
                return Some(Resolved { store, location });
            }
        }
        None
    }

    /// Where programs note which session a terminal was used for.
    fn breadcrumb_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if let Some(home) = &self.home {
            folders.push(home.join("terminal-sessions"));
        }
        for (_, store) in self.stores.iter() {
            if store.dialect().facts().keeps_breadcrumbs {
                folders.push(store.root().join("terminal-sessions"));
            }
        }
        if let Some(state) = self.env.path_var("XDG_STATE_HOME") {
            folders.push(state.join("xcsh/terminal-sessions"));
        }
        folders
    }

    /// Whether the project of a session is not excluded.
    fn shows_session(&self, store: &Store, location: &SessionLocation) -> bool {
        if self.exclusion.is_none() {
            return true;
        }
        let summary = store.summary(location).ok();
        let project = summary.and_then(|summary| summary.meta.project);
        self.shows(project.as_deref())
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}

/// Whether the status of a session depends on the time: it is a boswell session that was not ended.
pub(crate) fn has_open_status(summary: &Summary) -> bool {
    facts_of(&summary.reference.dialect).is_some_and(|facts| facts.is_own)
        && (summary.meta.status.as_deref()).is_none_or(|status| status == "active")
}
