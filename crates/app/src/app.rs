//! The application: opened once by each face, and then called for every request.
//!
//! `--read-only` is a property of the application; `may_write` refuses requests that write, which
//! call it first, often through `request_context.rs`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use boswell_dialect::{Dialect, Environment};
use boswell_find::SqliteDatabases;
use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result, Revision};
use boswell_store::backend::OpenDatabase;
use boswell_store::disk::{Clock, SystemIds};
use boswell_store::session::TerminalId;
use boswell_store::store::{Exclusion, Stores};
use boswell_store::{Home, Store};

use crate::changes::Looks;
use crate::config::{AddedStore, Config, expanded};
use crate::known_places::KnownPlaces;
use crate::open_sessions::OpenSessions;
use crate::outside_links::OutsideLinks;
use crate::request_context::RequestContext;
use crate::time::TimeZone;
use crate::{Answer, AppResult, Cancel, Notice, Refusal};

/// The configuration of an [`App`]. A face reads the environment and the settings; the library
/// reads neither.
#[derive(Debug)]
pub struct AppConfig {
    /// Environment variables, folders and terminal, from which the roots of agents are derived.
    pub env: Environment,
    /// Boswell's own home; `None` if nothing can be stored.
    pub home: Option<PathBuf>,
    /// Stores by dialect and folder. If empty, those of the environment are used.
    pub stores: Vec<(String, PathBuf)>,
    /// The user's settings.
    pub settings: Config,
    /// Whether anything may be written.
    pub access: Access,
    /// The time zone of the user: of days, and of times that are typed without an offset.
    pub zone: TimeZone,
    /// If two stores contain the same conversation, the dialect of the one to use.
    pub side: Option<String>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Whether the process exits after a request or two. Then the memory of large lists is not
    /// freed one by one, because the operating system reclaims it faster.
    pub exits_soon: bool,
}

impl AppConfig {
    /// Creates a configuration for an environment, with a home and no settings.
    pub fn new(env: Environment, home: Option<PathBuf>) -> AppConfig {
        AppConfig {
            env,
            home,
            stores: Vec::new(),
            settings: Config::default(),
            access: Access::ReadWrite,
            zone: TimeZone::utc(),
            side: None,
            clock: Arc::new(SystemIds),
            exits_soon: false,
        }
    }
}

/// Whether anything may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Sessions are only read, and not even a catalog is written.
    ReadOnly,
    /// Sessions may be changed.
    ReadWrite,
}

/// Answers requests about all sessions of a machine. Prints nothing, cheap to clone, `Send + Sync`.
///
/// Opening it reads no session. Each request reads the stores in their current state.
#[derive(Debug, Clone)]
pub struct App {
    state: Arc<AppState>,
    /// The revision that a session must have when it is changed.
    expected: Option<Revision>,
}

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct AppState {
    pub(crate) env: Environment,
    pub(crate) home: Option<PathBuf>,
    pub(crate) config: Config,
    pub(crate) exclusion: Option<Arc<Exclusion>>,
    pub(crate) side: Option<String>,
    pub(crate) zone: TimeZone,
    /// Whether stores were named explicitly, so that those of the environment are ignored.
    pub(crate) named_stores: bool,
    pub(crate) read_only: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) exits_soon: bool,
    /// Stores that were named; if there are none, those of environment and settings are used.
    stores: Vec<(String, PathBuf)>,
    /// Use exactly these stores.
    #[cfg(test)]
    fixed_stores: Option<Stores>,
    archived: Mutex<Option<Archived>>,
    looks: Looks,
    pub(crate) outside_links: OutsideLinks,
    pub(crate) open_sessions: OpenSessions,
    pub(crate) known_places: KnownPlaces,
}

/// Archived sessions, with the state of the file that lists them: a long `ops.jsonl` is read again
/// only when it changed.
#[derive(Debug)]
struct Archived {
    list: Option<(u64, SystemTime)>,
    stores: Vec<Store>,
}

impl App {
    /// Opens the application. No session file is read.
    ///
    /// # Errors
    ///
    /// Invalid if the settings exclude projects by a pattern that is not valid.
    pub fn open(config: AppConfig) -> Result<App> {
        let exclusion = config.settings.exclusion(&config.env)?.map(Arc::new);
        let state = AppState {
            named_stores: !config.stores.is_empty(),
            read_only: config.access == Access::ReadOnly || config.settings.is_on("read_only"),
            env: config.env,
            home: config.home,
            config: config.settings,
            exclusion,
            side: config.side,
            zone: config.zone,
            clock: config.clock,
            exits_soon: config.exits_soon,
            stores: config.stores,
            #[cfg(test)]
            fixed_stores: None,
            archived: Mutex::default(),
            looks: Looks::default(),
            outside_links: OutsideLinks::default(),
            open_sessions: OpenSessions::default(),
            known_places: KnownPlaces::default(),
        };
        Ok(App {
            state: Arc::new(state),
            expected: None,
        })
    }

    /// Returns the application for a request that changes a session only if it is at this
    /// revision. It is compared under the lock of the change, so that of two such requests at most
    /// one succeeds.
    #[must_use]
    pub fn expecting(&self, revision: Option<Revision>) -> App {
        App {
            state: Arc::clone(&self.state),
            expected: revision,
        }
    }

    /// Returns the user's settings.
    pub fn settings(&self) -> &Config {
        &self.state.config
    }

    /// Returns the time zone of the user.
    pub fn zone(&self) -> &TimeZone {
        &self.state.zone
    }

    /// Returns the environment that the application was opened with.
    pub fn environment(&self) -> &Environment {
        &self.state.env
    }

    /// Returns boswell's own home, if it is known.
    pub fn home(&self) -> Option<&Path> {
        self.state.home.as_deref()
    }

    /// Whether nothing may be written.
    pub fn is_read_only(&self) -> bool {
        self.state.read_only
    }

    /// Fails if nothing may be written: for a face that shows a plan first and would be refused
    /// only afterwards.
    ///
    /// # Errors
    ///
    /// Denied if the application was opened read-only.
    pub fn may_write(&self) -> Result<()> {
        self.state.may_write()
    }

    /// Whether stores were named explicitly, so that those of the environment are ignored.
    pub fn has_named_stores(&self) -> bool {
        self.state.named_stores
    }

    pub(crate) fn state(&self) -> &AppState {
        &self.state
    }

    /// Returns the state that every change feed shares.
    pub(crate) fn looks(&self) -> &Looks {
        &self.state.looks
    }

    /// Returns one warning about all symbolic links that lead out of their stores and that requests
    /// found since the last call: the files behind them are missing from the answers.
    ///
    /// A request is counted when it is finished, so that a face that makes several for one question
    /// reports each link once.
    pub fn take_outside_links(&self) -> Option<Notice> {
        self.state.outside_links.take().map(Notice::Warning)
    }

    /// Forgets what is kept in memory of sessions that were read: for a face that runs for long,
    /// when a session is gone.
    pub fn forget_open_sessions(&self) {
        self.state.open_sessions.clear();
        self.state.known_places.forget();
    }

    /// Returns notices about purges and scrubs that an earlier run did not finish, for faces that
    /// only read. A request that writes finishes them.
    pub fn unfinished_purges(&self) -> Vec<Notice> {
        let remarks = self.home().map(crate::purge_copies::unfinished);
        let remarks = remarks.unwrap_or_default().into_iter();
        remarks.map(Notice::Remark).collect()
    }

    /// Starts a request: finds the stores and reads the clock.
    pub(crate) fn request(&self) -> Result<RequestContext> {
        self.request_with(Cancel::new())
    }

    /// As [`request`](App::request), for a request that can be cancelled.
    pub(crate) fn request_with(&self, cancel: Cancel) -> Result<RequestContext> {
        let stores = self.state.stores()?;
        let cx = RequestContext::new(Arc::clone(&self.state), stores, cancel);
        Ok(cx.expecting(self.expected))
    }

    /// Answers a request, with the notices that occurred on the way.
    pub(crate) fn answer<T>(
        &self,
        work: impl FnOnce(&RequestContext) -> Result<T>,
    ) -> AppResult<T> {
        self.answer_with(Cancel::new(), work)
    }

    /// As [`answer`](App::answer), for a request that needs no store.
    pub(crate) fn answer_unlooked<T>(
        &self,
        work: impl FnOnce(&RequestContext) -> Result<T>,
    ) -> AppResult<T> {
        let state = Arc::clone(&self.state);
        let cx = RequestContext::new(state, Stores::default(), Cancel::new());
        finish(&cx, work)
    }

    /// As [`answer`](App::answer), for a request that can be cancelled.
    pub(crate) fn answer_with<T>(
        &self,
        cancel: Cancel,
        work: impl FnOnce(&RequestContext) -> Result<T>,
    ) -> AppResult<T> {
        let cx = self.request_with(cancel)?;
        finish(&cx, work)
    }
}

/// Runs a request and returns its answer with the notices.
fn finish<T>(cx: &RequestContext, work: impl FnOnce(&RequestContext) -> Result<T>) -> AppResult<T> {
    let done = work(cx);
    let notices = cx.take_notices();
    match done {
        Ok(value) => Ok(Answer { value, notices }),
        Err(error) => Err(Refusal { error, notices }),
    }
}

impl AppState {
    /// Records that this terminal is used for the session with this log, where the agent runs in
    /// `cwd`. Write errors are ignored.
    pub(crate) fn note_terminal(&self, log: &Path, cwd: &Path) {
        let (Some(terminal), Some(home)) = (TerminalId::of(&self.env), &self.home) else {
            return;
        };
        if !self.read_only {
            let _ = Home::at(home).breadcrumbs().write(&terminal, cwd, log);
        }
    }

    /// Fails if nothing may be written.
    pub(crate) fn may_write(&self) -> Result<()> {
        if !self.read_only {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Denied,
            "this command writes, and boswell may only read",
        )
        .advising(Advice::AllowWriting))
    }

    /// Returns the stores that were named, which are used instead of those of the environment.
    pub(crate) fn named_places(&self) -> &[(String, PathBuf)] {
        &self.stores
    }

    /// Returns the stores in their current state.
    fn stores(&self) -> Result<Stores> {
        #[cfg(test)]
        if let Some(stores) = &self.fixed_stores {
            return Ok(stores.clone());
        }
        let named = &self.stores;
        let mut stores = if named.is_empty() {
            self.found_stores()?
        } else {
            self.named_stores(named)?
        };
        let databases: Arc<dyn OpenDatabase> = Arc::new(SqliteDatabases::new(&self.env.tmp));
        stores = stores.with_databases(&databases);
        if let Some(home) = &self.home {
            stores = stores
                .with_home(home)
                .with_archived(self.archived_stores(home));
        }
        Ok(stores.excluding(self.exclusion.as_ref()))
    }

    /// Returns the stores of the environment, and those that the settings add.
    fn found_stores(&self) -> Result<Stores> {
        let home = self.home.as_deref().unwrap_or(Path::new(".boswell"));
        let mut stores = Stores::discover(&self.env, home);
        for it in &self.config.stores() {
            let path = expanded(&it.path, &self.env);
            stores.add_labelled(&it.dialect, path, it.label.as_deref())?;
        }
        Ok(stores)
    }

    /// Returns the named stores, with the labels from the settings.
    fn named_stores(&self, named: &[(String, PathBuf)]) -> Result<Stores> {
        let added = self.config.stores();
        let mut stores = Stores::default();
        for (dialect, path) in named {
            stores.add(dialect, path)?;
            let is_it = |it: &&AddedStore| {
                it.dialect == *dialect && expanded(&it.path, &self.env) == self.env.cwd.join(path)
            };
            if let Some(label) = added.iter().find(is_it).and_then(|it| it.label.as_deref()) {
                stores.add_labelled(dialect, path.clone(), Some(label))?;
            }
        }
        Ok(stores)
    }

    /// Returns an identifier of the stores and settings for which conversations of the catalog were
    /// computed. It is a hash, so that the catalog contains no names that the user removed from the
    /// settings.
    pub(crate) fn conversation_scope(&self) -> String {
        let mut parts = self.store_names();
        let added = self.config.stores().into_iter();
        parts.extend(added.map(|it| format!("added {it:?}")));
        let excluded = self.config.words("exclude").into_iter();
        parts.extend(excluded.map(|it| format!("excluded {it}")));
        boswell_store::vault::Digest::of(parts.join("\n").as_bytes()).to_string()
    }

    /// Returns where requests look for sessions, one line per place.
    fn store_names(&self) -> Vec<String> {
        #[cfg(test)]
        if let Some(stores) = &self.fixed_stores {
            let name =
                |store: &Store| format!("{} {}", store.dialect().name(), store.root().display());
            return stores.iter().map(|(_, store)| name(store)).collect();
        }
        if self.stores.is_empty() {
            let roots = |dialect: &dyn Dialect| -> Vec<String> {
                let name = dialect.name();
                let roots = dialect.roots(&self.env).into_iter();
                roots
                    .map(|root| format!("found {name} {}", root.display()))
                    .collect()
            };
            return boswell_dialect::all()
                .iter()
                .flat_map(|it| roots(*it))
                .collect();
        }
        let place = |path: &Path| self.env.cwd.join(path).display().to_string();
        let named = self.stores.iter();
        named
            .map(|(dialect, path)| format!("named {dialect} {}", place(path)))
            .collect()
    }

    fn archived_stores(&self, home: &Path) -> Vec<Store> {
        let list = std::fs::metadata(home.join("ops.jsonl"))
            .and_then(|it| Ok((it.len(), it.modified()?)))
            .ok();
        let mut known = self.archived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref().filter(|known| known.list == list) {
            return known.stores.clone();
        }
        // An unreadable list of operations is reported by `ops`; all other requests work without
        // it.
        let stores = Home::at(home).runner().archived().unwrap_or_default();
        *known = Some(Archived {
            list,
            stores: stores.clone(),
        });
        stores
    }
}

/// Returns the error of a request that needs a home.
pub(crate) fn no_home() -> Error {
    Error::new(ErrorKind::Invalid, "boswell has no folder of its own")
        .because("neither HOME nor XDG_DATA_HOME is set")
        .advising(Advice::Give(RequestInput::Home))
}

#[cfg(test)]
impl App {
    /// Creates an application with these stores and no settings, and a clock that is an hour ahead,
    /// so that files that were just written are old enough to be trusted.
    pub(crate) fn of_test(stores: Stores, home: Option<PathBuf>, cwd: PathBuf) -> App {
        let env = Environment {
            home: None,
            tmp: cwd.clone(),
            cwd,
            terminal: None,
            vars: std::collections::BTreeMap::new(),
        };
        App {
            state: Arc::new(AppState {
                env,
                home,
                config: Config::default(),
                exclusion: None,
                side: None,
                zone: TimeZone::utc(),
                named_stores: true,
                read_only: false,
                clock: Arc::new(HourAhead),
                exits_soon: false,
                stores: Vec::new(),
                fixed_stores: Some(stores),
                archived: Mutex::default(),
                looks: Looks::default(),
                outside_links: OutsideLinks::default(),
                open_sessions: OpenSessions::default(),
                known_places: KnownPlaces::default(),
            }),
            expected: None,
        }
    }
}

#[cfg(test)]
#[derive(Debug)]
struct HourAhead;

#[cfg(test)]
impl Clock for HourAhead {
    fn now(&self) -> boswell_model::Instant {
        boswell_model::Instant::from_millis(SystemIds.now().millis() + 3_600_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_can_be_shared_between_threads() {
        fn shared<T: Send + Sync + Clone>() {}
        shared::<App>();
    }
}
