//! What every command works with: settings, stores, home, terminal. The one place that reads the
//! environment, the clock and the terminal.

#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where environment and clock are read"
)]

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Environment, facts_of};
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::breadcrumb::{self, TerminalId};
use boswell_store::disk::{ProcessState, RealDisk, process_state};
use boswell_store::locks::Locks;
use boswell_store::{
    Conversation, Exclusion, IdSource, Notes, Owner, RecoveryOutcome, Resolved, Runner, Selector,
    Side, Store, Stores, Summaries, Summary, SystemIds,
};

use crate::args::{Color, Global};
use crate::config::{AddedStore, Config, expanded};
use crate::newest;
use crate::notes_overlay::NotesOverlay;
use crate::session_index::{Create, SessionIndex};

/// What a command needs to know about where it runs.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) env: Environment,
    pub(crate) stores: Stores,
    pub(crate) now: Instant,
    pub(crate) json: bool,
    pub(crate) color: bool,
    pub(crate) quiet: bool,
    pub(crate) side: Option<String>,
    /// Columns of the terminal, or a fixed width for pipes.
    pub(crate) width: usize,
    /// Whether stores were named on the command line.
    pub(crate) named_stores: bool,
    /// Boswell's own folder, if it is known.
    pub(crate) home: Option<PathBuf>,
    /// What the user set.
    pub(crate) config: Config,
    /// Projects that are never shown, kept or indexed.
    pub(crate) exclusion: Option<Arc<Exclusion>>,
    home_origin: &'static str,
    read_only: bool,
}

impl App {
    /// Reads the machine and finds the stores.
    pub(crate) fn new(global: &Global) -> Result<App> {
        let env = environment()?;
        let config = Config::load(&env)?;
        let home = home(global, &env);
        let mut stores = all_stores(global, &env, &config, home.as_deref())?;
        if let Some(home) = &home {
            let runner = Runner::new(
                Arc::new(RealDisk),
                home,
                Arc::new(SystemIds),
                Owner::this("boswell"),
            );
            // A record of operations that cannot be read is told by `ops`; everything
            // else can do without.
            stores = stores
                .with_home(home)
                .with_archived(runner.archived().unwrap_or_default());
        }
        let exclusion = config.exclusion(&env)?.map(Arc::new);
        stores = stores.excluding(exclusion.as_ref());
        let terminal = std::io::stdout().is_terminal();
        let color = match (global.color, config.word("color")) {
            (Color::Always, _) | (Color::Auto, Some("always")) => true,
            (Color::Never, _) | (Color::Auto, Some("never")) => false,
            (Color::Auto, _) => {
                terminal && env.var("NO_COLOR").is_none() && env.var("TERM") != Some("dumb")
            }
        };
        Ok(App {
            now: now(),
            json: global.json,
            color,
            quiet: global.quiet,
            side: global.side.clone(),
            width: width(terminal, &env),
            named_stores: !global.stores.is_empty(),
            home,
            home_origin: if global.home.is_some() {
                "option or BOSWELL_HOME"
            } else {
                "built in"
            },
            read_only: global.read_only || config.is_on("read_only"),
            config,
            exclusion,
            env,
            stores,
        })
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
        self.home.as_deref().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "boswell has no folder of its own")
                .because("neither HOME nor XDG_DATA_HOME is set")
                .hinting("name one with `--home DIR` or BOSWELL_HOME")
        })
    }

    /// Where the place of that folder comes from.
    pub(crate) fn home_origin(&self) -> &'static str {
        self.home_origin
    }

    /// Whether boswell was told to write nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Fails before anything is written when nothing may be.
    pub(crate) fn may_write(&self) -> Result<()> {
        if !self.read_only {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Denied,
            "this command writes, and boswell was told to write nothing",
        )
        .hinting("leave out --read-only, and unset BOSWELL_READ_ONLY"))
    }

    /// A store made writable: its locks are kept in boswell's own folder.
    pub(crate) fn writable(&self, store: Store) -> Result<Store> {
        self.may_write()?;
        self.refuse_archived(&store)?;
        let locks = self.home()?.join("locks");
        Ok(store.writable(Arc::new(RealDisk), Arc::new(SystemIds), locks))
    }

    /// Fails for a session that is in the vault: there it can only be read.
    pub(crate) fn refuse_archived(&self, store: &Store) -> Result<()> {
        store.archived().map_or(Ok(()), |session| {
            Err(
                Error::new(ErrorKind::Conflict, format!("{session} is archived"))
                    .because("what is in the vault can be read, but not changed or resumed")
                    .hinting(format!(
                        "put it back first with `boswell restore {}`",
                        session.to_argument()
                    )),
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

    /// What carries out plans. What an earlier run left unfinished is finished or taken back first,
    /// interrupted purges too.
    pub(crate) fn runner(&self) -> Result<Runner> {
        let runner = self.reading_runner()?;
        for recovered in runner.recover()? {
            if !self.quiet {
                let what = match recovered.outcome {
                    RecoveryOutcome::Forward => "was finished now".to_owned(),
                    RecoveryOutcome::Back => "was taken back".to_owned(),
                    RecoveryOutcome::Unsettled(error) => {
                        format!("could be neither finished nor taken back: {error}")
                    }
                };
                crate::error_report::say(&format!(
                    "operation {} of an earlier run stopped in the middle and {what}",
                    recovered.op
                ));
            }
        }
        if !self.read_only {
            crate::purge_copies::resume(self, &runner)?;
        }
        Ok(runner)
    }

    /// The same, for looking only.
    pub(crate) fn reading_runner(&self) -> Result<Runner> {
        Ok(Runner::new(
            Arc::new(RealDisk),
            self.home()?,
            Arc::new(SystemIds),
            Owner::this("boswell"),
        ))
    }

    /// Notes of sessions.
    pub(crate) fn notes(&self) -> Result<Notes> {
        let home = self.home()?;
        let locks = Locks::new(
            Arc::new(RealDisk),
            home.join("locks"),
            Owner::this("boswell"),
            Arc::new(SystemIds),
        );
        Notes::load(Arc::new(RealDisk), home, locks)
    }

    /// Conversations of all stores, with what notes say of them.
    pub(crate) fn conversations(&self) -> Result<(Vec<Conversation>, Summaries)> {
        let (mut conversations, rest) = match SessionIndex::open(self, Create::No)? {
            Some(mut session_index) => session_index.conversations(self)?,
            None => self.stores.conversations(),
        };
        self.annotate(&mut conversations)?;
        Ok((conversations, rest))
    }

    /// Adds what notes say of sessions.
    pub(crate) fn annotate(&self, conversations: &mut [Conversation]) -> Result<()> {
        conversations
            .iter_mut()
            .for_each(|conversation| self.add_status(conversation));
        let sides = conversations
            .iter_mut()
            .flat_map(|it| std::iter::once(&mut it.front).chain(&mut it.linked));
        self.add_notes(sides.map(|(_, summary)| summary))
    }

    /// Says how a session of our own stands.
    pub(crate) fn add_status(&self, conversation: &mut Conversation) {
        let (_, summary) = &mut conversation.front;
        if facts_of(&summary.reference.dialect).is_some_and(|facts| facts.is_own) {
            summary.meta.status = Some(own_status(summary, self.now, self.config.span("idle")));
        }
    }

    /// Adds what notes say of sessions, before they are joined.
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
        if self.exclusion.is_some()
            && !self.quiet
            && matches!(selector, Selector::Ref(..) | Selector::Path(_))
        {
            let project = found
                .store
                .summary(&found.location)
                .ok()
                .and_then(|summary| summary.meta.project);
            if !self.shows(project.as_deref()) {
                crate::error_report::say(
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
        // Several programs may have noted this terminal: whoever did so last was used last.
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

    /// Notes that this terminal is used for a session from now on: in boswell's own
    /// folder, for `continue`.
    ///
    /// Best effort: a session is taken up whether or not it can be noted.
    pub(crate) fn note_terminal(&self, found: &Resolved, cwd: &Path) {
        let (Some(terminal), Some(home), Some(key)) =
            (TerminalId::of(&self.env), &self.home, &found.location.key)
        else {
            return;
        };
        if !self.read_only {
            let path = PathBuf::from(found.store.backend().describe(key));
            let unique = SystemIds.hex16();
            let _ = breadcrumb::write(
                &RealDisk,
                &home.join("terminal-sessions"),
                &terminal,
                cwd,
                &path,
                &unique,
            );
        }
    }
}

#[cfg(test)]
impl App {
    /// A machine with these stores on which nothing is set, an hour from now: what was written
    /// just now can be trusted.
    pub(crate) fn of_test(stores: Stores, home: PathBuf, cwd: PathBuf) -> App {
        let (tmp, vars) = (cwd.clone(), std::collections::BTreeMap::new());
        App {
            env: Environment {
                home: None,
                cwd,
                tmp,
                terminal: None,
                vars,
            },
            stores,
            now: Instant::from_millis(now().millis() + 3_600_000),
            json: false,
            color: false,
            quiet: true,
            side: None,
            width: 80,
            named_stores: true,
            home: Some(home),
            config: Config::default(),
            exclusion: None,
            home_origin: "a test",
            read_only: false,
        }
    }
}

/// The stores that were named on the command line; else those that are found, and those
/// that the settings add.
fn all_stores(
    global: &Global,
    env: &Environment,
    config: &Config,
    home: Option<&Path>,
) -> Result<Stores> {
    let added = config.stores();
    if global.stores.is_empty() {
        let mut stores = Stores::discover(env, home.unwrap_or(Path::new(".boswell")));
        for it in &added {
            stores.add_labelled(&it.dialect, expanded(&it.path, env), it.label.as_deref())?;
        }
        return Ok(stores);
    }
    let mut stores = Stores::default();
    for named in &global.stores {
        let Some((dialect, path)) = named.split_once('=').filter(|(_, path)| !path.is_empty())
        else {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("`--store {}` names no place", named.escape_debug()),
            )
            .hinting("write `--store claude=/path/to/.claude`"));
        };
        stores.add(dialect, path)?;
        let is_it = |it: &&AddedStore| {
            it.dialect == dialect && expanded(&it.path, env) == env.cwd.join(path)
        };
        if let Some(label) = added.iter().find(is_it).and_then(|it| it.label.as_deref()) {
            stores.add_labelled(dialect, PathBuf::from(path), Some(label))?;
        }
    }
    Ok(stores)
}

/// The status of one of our own sessions: active unless it was ended, and paused once nothing
/// happened for that long.
fn own_status(summary: &Summary, now: Instant, idle: Option<std::time::Duration>) -> String {
    let idle = idle
        .and_then(|idle| i64::try_from(idle.as_millis()).ok())
        .unwrap_or(i64::MAX);
    match summary.meta.status.as_deref() {
        Some(status) if status != "active" => status.to_owned(),
        _ if summary
            .last_active()
            .is_some_and(|at| now.millis() - at.millis() > idle) =>
        {
            "paused".to_owned()
        }
        _ => "active".to_owned(),
    }
}

/// Answers true until so much time has passed.
pub(crate) fn until(limit: std::time::Duration) -> impl Fn() -> bool + Sync {
    let start = std::time::Instant::now();
    move || start.elapsed() < limit
}

/// Whether a process of that number runs, and began when it should; where the system tells no
/// times, its number counts.
pub(crate) fn runs_since(pid: u32, start: Option<&str>) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    match (stat, start) {
        // The name of a program may hold anything: numbers are counted from behind it.
        (Ok(stat), Some(start)) => {
            let numbers = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            numbers
                .split_whitespace()
                .nth(19)
                .is_none_or(|began| began == start)
        }
        (Ok(_), None) => true,
        (Err(_), _) => !cfg!(target_os = "linux") && process_state(pid) == ProcessState::Yes,
    }
}

/// The path of this program.
pub(crate) fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| Error::io("boswell", "find the program", error))
}

/// How many threads may read at once.
pub(crate) fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get().min(8))
}

/// A small file of the user's, as text.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

/// A file that was not there before, for the owner's eyes alone.
pub(crate) fn new_file(path: &Path) -> Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::new(
            ErrorKind::Invalid,
            format!("there is a file `{}` already", path.display()),
        )
        .hinting("give another name, or remove it first"),
        _ => Error::io(path.display(), "make the file", error),
    })
}

/// A script that was not there before and that its owner may run.
pub(crate) fn new_script(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut file = new_file(path)?;
    let written = file.write_all(text.as_bytes());
    #[cfg(unix)]
    let written = written
        .and_then(|()| file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700)));
    written.map_err(|error| Error::io(path.display(), "write the script", error))
}

/// Bytes that may still be written where a path is, or would be; none where the
/// system does not say.
#[cfg(unix)]
pub(crate) fn free_space(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|it| it.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes that may still be written; other systems are not asked.
#[cfg(not(unix))]
pub(crate) fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Whether nothing is at a path yet, or a folder with nothing in it.
pub(crate) fn is_new_or_empty(path: &Path) -> Result<bool> {
    match std::fs::read_dir(path) {
        Ok(mut inside) => Ok(inside.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Error::io(path.display(), "look into the folder", error)),
    }
}

fn environment() -> Result<Environment> {
    let cwd = std::env::current_dir()
        .map_err(|error| Error::io(".", "find the working folder", error))?;
    // Variables that are not Unicode cannot name a place that we could print or pass on.
    let vars = std::env::vars_os()
        .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
        .collect();
    let terminal = std::fs::read_link("/proc/self/fd/0")
        .ok()
        .and_then(|p| p.to_str().map(str::to_owned))
        // `/dev/null` is a device too, but nobody sits there.
        .filter(|p| p.starts_with("/dev/") && std::io::stdin().is_terminal());
    Ok(Environment {
        home: std::env::home_dir().filter(|h| !h.as_os_str().is_empty()),
        cwd,
        tmp: std::env::temp_dir(),
        terminal,
        vars,
    })
}

fn home(global: &Global, env: &Environment) -> Option<PathBuf> {
    if let Some(home) = &global.home {
        return Some(home.clone());
    }
    if cfg!(target_os = "macos") {
        return env.in_home("Library/Application Support/boswell");
    }
    if cfg!(windows) {
        return env
            .path_var("LOCALAPPDATA")
            .map(|data| data.join("boswell"));
    }
    env.path_var("XDG_DATA_HOME")
        .map(|data| data.join("boswell"))
        .or_else(|| env.in_home(".local/share/boswell"))
}

fn now() -> Instant {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn width(terminal: bool, env: &Environment) -> usize {
    let asked = env.var("COLUMNS").and_then(|columns| columns.parse().ok());
    let real = terminal
        .then(|| terminal_size::terminal_size().map(|(w, _)| usize::from(w.0)))
        .flatten();
    asked.or(real).unwrap_or(120).clamp(40, 500)
}
