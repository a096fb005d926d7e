//! A report about boswell's environment on this machine, which can be shared.
//!
//! With `--bundle` it is written for others: counts, kinds and versions, no text, title or id of a
//! session.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use boswell_dialect::{Capability, Environment};
use boswell_model::{Error, Result};
use boswell_store::Store;
use boswell_store::disk::{Disk, Processes, RealDisk};
use boswell_store::store::StoreId;

use crate::config::SETTINGS;
use crate::sessions::counts::SessionCounts;
use crate::shape::{Map, Shape as _, shape};
use crate::system::{free_space, new_file};
use crate::text::{json_line, size};
use crate::{App, AppResult, RequestContext, profiles};

shape! {
    /// What boswell finds on this machine.
    ReportShape: "report" {
        /// names and values
        facts: Map<String>,
        /// the stores that were found
        stores: Vec<ReportedStore>,
        /// locks that a process holds now
        locks: Vec<String>,
        /// operations that were interrupted
        unfinished: Vec<String>,
        /// kinds of errors that occurred while the report was made
        troubles: Vec<&'static str>,
        /// folders that look like other profiles of an agent; they are not read
        profiles: Vec<ReportedProfile>,
    }

    /// A store of a report.
    ReportedStore {
        /// its format
        dialect: &'static str,
        /// its folder
        root: String,
        /// how many sessions `list` shows
        sessions: usize,
        /// how many sessions `list` hides
        hidden: usize,
        /// size of their logs
        bytes: u64,
        /// how well it supports each operation
        can: Map<&'static str>,
        /// kinds of problems found while it was listed
        problems: Vec<&'static str>,
    }

    /// A folder that looks like another profile of an agent.
    ReportedProfile {
        /// its format
        dialect: &'static str,
        /// the folder
        root: String,
    }
}

/// The audience of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Audience {
    /// The user of the machine: paths are complete.
    #[default]
    Owner,
    /// The public: paths contain only parts that are the same on every machine.
    Public,
}

impl App {
    /// Reports what boswell finds on this machine. The report has no text of a session, no title
    /// and no value of a setting.
    ///
    /// # Errors
    ///
    /// Invalid if the stores of the settings cannot be used. Other read errors are listed under
    /// `troubles`.
    pub fn report(&self, audience: Audience) -> AppResult<ReportShape> {
        self.answer(|cx| Ok(Report::take(cx, audience)))
    }

    /// Writes a public report to a new file, and returns its path.
    ///
    /// # Errors
    ///
    /// Denied if nothing may be written, Invalid if the file exists.
    pub fn write_report(&self, path: &Path) -> AppResult<PathBuf> {
        self.answer(|cx| write(cx, path))
    }
}

fn write(cx: &RequestContext, path: &Path) -> Result<PathBuf> {
    let path = cx.env.cwd.join(path);
    let report = Report::take(cx, Audience::Public);
    cx.may_write()?;
    let mut file = new_file(&path)?;
    let text = format!("{}\n", json_line(&report.object()));
    file.write_all(text.as_bytes())
        .map_err(|error| Error::io(path.display(), "write the report", error))?;
    Ok(path)
}

/// A report while it is created.
struct Report<'c> {
    cx: &'c RequestContext,
    audience: Audience,
    shape: ReportShape,
}

impl Report<'_> {
    fn take(cx: &RequestContext, audience: Audience) -> ReportShape {
        let shape = ReportShape {
            facts: Map::default(),
            stores: Vec::new(),
            locks: Vec::new(),
            unfinished: Vec::new(),
            troubles: Vec::new(),
            profiles: Vec::new(),
        };
        let mut report = Report {
            cx,
            audience,
            shape,
        };
        report.look_at_program();
        report.look_at_profiles();
        report.look_at_home();
        report.look_at_settings();
        let counts = SessionCounts::of(cx).unwrap_or_else(|error| {
            report.trouble(&error);
            SessionCounts::default()
        });
        for (id, store) in cx.stores.iter() {
            report.look_at_store(id, store, &counts);
        }
        report.shape
    }

    fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.shape.facts.0.push((name.to_owned(), value.into()));
    }

    fn look_at_program(&mut self) {
        self.fact("version", env!("CARGO_PKG_VERSION"));
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        self.fact("system", format!("{os} {arch}"));
        self.fact("read_only", self.cx.is_read_only().to_string());
    }

    fn look_at_profiles(&mut self) {
        let others = profiles::others(&self.cx.env, &self.cx.stores);
        let named = others.iter().map(|it| ReportedProfile {
            dialect: it.dialect,
            root: self.named(&it.root),
        });
        self.shape.profiles = named.collect();
    }

    fn look_at_home(&mut self) {
        let Some(home) = &self.cx.home else {
            self.fact("home", "none: neither HOME nor XDG_DATA_HOME is set");
            return;
        };
        let state = if home.is_dir() { "" } else { " (not made yet)" };
        self.fact("home", format!("{}{state}", self.named(home)));
        if let Some(free) = free_space(home) {
            self.fact("free_space", size(free));
        }
        for name in ["catalog.db", "notes.jsonl", "ops.jsonl"] {
            let stat = RealDisk.stat(&home.join(name)).ok().flatten();
            self.fact(
                name,
                stat.map_or_else(|| "none".to_owned(), |stat| size(stat.len)),
            );
        }
        let index = boswell_find::Index::open(&home.join("index")).size();
        let index = format!("{} sources in {}", index.sources, size(index.bytes));
        self.fact("index", index);
        self.look_at_locks(&home.join("locks"));
        match self
            .cx
            .reading_runner()
            .and_then(|runner| runner.unfinished())
        {
            Ok(unfinished) => self.shape.unfinished = unfinished,
            Err(error) => self.trouble(&error),
        }
    }

    /// Lists locks that a process holds now. They are queried, never acquired.
    fn look_at_locks(&mut self, folder: &Path) {
        for (name, _) in RealDisk.list(folder).unwrap_or_default() {
            let held = RealDisk.stat(&folder.join(&name)).ok().flatten();
            let holder = held.and_then(|stat| RealDisk.lock_holder(stat.identity));
            if let Some((pid, program)) = holder {
                let lock = format!("{} by {program} (pid {pid})", kind_of_lock(&name));
                self.shape.locks.push(lock);
            }
        }
    }

    fn look_at_settings(&mut self) {
        let config = &self.cx.config;
        let path = config.path.as_deref();
        let place = path.map_or_else(|| "none".to_owned(), |path| self.named(path));
        self.fact("config", place);
        let set = SETTINGS.iter().filter(|it| config.is_set(it.key));
        let keys: Vec<&str> = set.map(|setting| setting.key).collect();
        let keys = if keys.is_empty() {
            "none".to_owned()
        } else {
            keys.join(" ")
        };
        self.fact("settings", keys);
    }

    fn look_at_store(&mut self, id: StoreId, store: &Store, counts: &SessionCounts) {
        let can = Capability::ALL.iter();
        let can = can.map(|it| (it.word().to_owned(), store.support(*it).word()));
        let mut found = ReportedStore {
            dialect: store.dialect().name(),
            root: self.named(store.root()),
            sessions: 0,
            hidden: 0,
            bytes: 0,
            can: can.collect(),
            problems: Vec::new(),
        };
        match store.list() {
            Ok(listing) => {
                let sessions = &listing.sessions;
                (found.sessions, found.hidden) = counts.split(id, sessions.len());
                found.bytes = sessions.iter().map(|location| location.size).sum();
                let problems = listing.problems.iter();
                found.problems = problems.map(|(_, it)| it.kind.word()).collect();
            }
            Err(error) => self.trouble(&error),
        }
        self.shape.stores.push(found);
    }

    fn named(&self, path: &Path) -> String {
        match self.audience {
            Audience::Owner => path.display().to_string(),
            Audience::Public => public_name(&self.cx.env, path),
        }
    }

    /// Records an error by its kind: its text may contain private data.
    fn trouble(&mut self, error: &Error) {
        self.shape.troubles.push(error.kind().word());
    }
}

/// Returns the kind of a lock. Its name contains the session, which is not reported.
fn kind_of_lock(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        "runner" | "ops" | "vault" | "notes" => stem,
        _ if name.ends_with("append-lock") => "a session's log",
        _ => "a session",
    }
}

/// Returns a path without private parts: the home folder becomes `~`, and other folders are omitted
/// unless they are well known.
fn public_name(env: &Environment, path: &Path) -> String {
    let home = env.home.as_deref();
    let below_home = home.and_then(|home| path.strip_prefix(home).ok());
    let names: Vec<String> = below_home
        .unwrap_or(path)
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .map(|name| match is_well_known(&name) {
            true => name,
            false => "…".to_owned(),
        })
        .collect();
    let start = if below_home.is_some() { "~" } else { "" };
    format!("{start}/{}", names.join("/"))
}

fn is_well_known(name: &str) -> bool {
    [
        ".local",
        "share",
        "boswell",
        ".config",
        "config.toml",
        "agent",
        ".claude",
        ".pi",
        ".omp",
        ".xcsh",
        ".myagents",
        ".clinvk",
        ".open-agent",
        ".codex",
        "Library",
        "Application Support",
    ]
    .contains(&name)
}
