//! `doctor`: what boswell finds on this machine, and a file for bug reports.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::{Capability, Support};
use boswell_model::json::Json;
use boswell_model::{Error, Result};
use boswell_store::Store;
use boswell_store::disk::{Disk, Processes, RealDisk};
use clap::Args;

use super::stores::size;
use crate::app::{App, free_space, new_file};
use crate::config::SETTINGS;
use crate::output::{Output, json_line};
use crate::terminal::{Style, fit, one_line};

/// Say what boswell finds here, and write a file for bug reports
#[derive(Debug, Args)]
#[command(
    after_help = "The file holds counts, versions and places. It holds no text of a session, no title, no value of a setting, and instead
of your home folder and of project folders it says `~` and `…`. Look at it before you send it.

Examples:
  boswell doctor
  boswell doctor --bundle boswell-report.json"
)]
pub(crate) struct DoctorArgs {
    /// Write the report to this file, which is not there yet
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &DoctorArgs) -> Result<ExitCode> {
    if let Some(path) = &args.bundle {
        return write(
            app,
            &Report::take(app, Eyes::Strangers),
            &app.env.cwd.join(path),
        );
    }
    let report = Report::take(app, Eyes::Own);
    let mut out = Output::paged(app);
    if out.json {
        out.object(&report.shape())?;
    } else {
        report.print(&mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn write(app: &App, report: &Report, path: &Path) -> Result<ExitCode> {
    use std::io::Write;
    app.may_write()?;
    let mut file = new_file(path)?;
    let text = format!("{}\n", json_line(&report.shape()));
    file.write_all(text.as_bytes())
        .map_err(|error| Error::io(path.display(), "write the report", error))?;
    if !app.quiet {
        crate::error_report::say(&format!(
            "written to {}: look at it before you send it",
            path.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Who reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Eyes {
    /// Whoever sits at the machine: places are named in full.
    Own,
    /// Anybody: places are named only as far as they are the same everywhere.
    Strangers,
}

/// What was found.
struct Report {
    eyes: Eyes,
    meta: Vec<(&'static str, String)>,
    stores: Vec<StoreReport>,
    locks: Vec<String>,
    unfinished: Vec<String>,
    troubles: Vec<String>,
    /// Folders that look like second profiles: dialect and place.
    profiles: Vec<(&'static str, String)>,
}

struct StoreReport {
    dialect: &'static str,
    root: String,
    sessions: usize,
    hidden: usize,
    bytes: u64,
    can: Vec<(&'static str, Support)>,
    problems: Vec<&'static str>,
}

impl Report {
    fn take(app: &App, eyes: Eyes) -> Report {
        let mut report = Report {
            eyes,
            meta: vec![
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
                (
                    "system",
                    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
                ),
                ("read_only", app.is_read_only().to_string()),
            ],
            stores: Vec::new(),
            locks: Vec::new(),
            unfinished: Vec::new(),
            troubles: Vec::new(),
            profiles: Vec::new(),
        };
        let profiles = crate::profiles::others(&app.env, &app.stores);
        report.profiles = profiles
            .iter()
            .map(|it| (it.dialect, report.named(app, &it.root)))
            .collect();
        report.look_at_home(app);
        report.look_at_settings(app);
        for (_, store) in app.stores.iter() {
            report.look_at_store(app, store);
        }
        report
    }

    fn look_at_home(&mut self, app: &App) {
        let Some(home) = &app.home else {
            self.meta.push((
                "home",
                "none: neither HOME nor XDG_DATA_HOME is set".to_owned(),
            ));
            return;
        };
        let state = if home.is_dir() { "" } else { " (not made yet)" };
        self.meta
            .push(("home", format!("{}{state}", self.named(app, home))));
        if let Some(free) = free_space(home) {
            self.meta.push(("free_space", size(free)));
        }
        for name in ["catalog.db", "notes.jsonl", "ops.jsonl"] {
            let bytes = RealDisk
                .stat(&home.join(name))
                .ok()
                .flatten()
                .map(|stat| stat.len);
            self.meta
                .push((name, bytes.map_or_else(|| "none".to_owned(), size)));
        }
        let index = boswell_find::Index::open(&home.join("index")).size();
        self.meta.push((
            "index",
            format!("{} sources in {}", index.sources, size(index.bytes)),
        ));
        self.look_at_locks(&home.join("locks"));
        match app.reading_runner().and_then(|runner| runner.unfinished()) {
            Ok(unfinished) => self.unfinished = unfinished,
            Err(error) => self.trouble(&error),
        }
    }

    /// Locks that a process holds now. They are asked for, never taken.
    fn look_at_locks(&mut self, folder: &Path) {
        for (name, _) in RealDisk.list(folder).unwrap_or_default() {
            let held = RealDisk.stat(&folder.join(&name)).ok().flatten();
            if let Some((pid, program)) = held.and_then(|stat| RealDisk.lock_holder(stat.identity))
            {
                self.locks
                    .push(format!("{} by {program} (pid {pid})", kind_of_lock(&name)));
            }
        }
    }

    fn look_at_settings(&mut self, app: &App) {
        let path = app.config.path.as_deref();
        self.meta.push((
            "config",
            path.map_or_else(|| "none".to_owned(), |path| self.named(app, path)),
        ));
        let set = SETTINGS
            .iter()
            .filter(|setting| app.config.get(setting.key).is_some());
        let keys: Vec<&str> = set.map(|setting| setting.key).collect();
        self.meta.push((
            "settings",
            if keys.is_empty() {
                "none".to_owned()
            } else {
                keys.join(" ")
            },
        ));
    }

    fn look_at_store(&mut self, app: &App, store: &Store) {
        let can = Capability::ALL
            .iter()
            .map(|operation| (operation.word(), store.support(*operation)))
            .collect();
        let mut found = StoreReport {
            dialect: store.dialect().name(),
            root: self.named(app, store.root()),
            sessions: 0,
            hidden: 0,
            bytes: 0,
            can,
            problems: Vec::new(),
        };
        match store.list() {
            Ok(listing) => {
                found.sessions = listing.sessions.len();
                found.hidden = listing
                    .sessions
                    .iter()
                    .filter(|location| location.hidden.is_some())
                    .count();
                found.bytes = listing.sessions.iter().map(|location| location.size).sum();
                found.problems = listing
                    .problems
                    .iter()
                    .map(|(_, problem)| problem.kind.word())
                    .collect();
            }
            Err(error) => self.trouble(&error),
        }
        self.stores.push(found);
    }

    fn named(&self, app: &App, path: &Path) -> String {
        match self.eyes {
            Eyes::Own => path.display().to_string(),
            Eyes::Strangers => tame(app, path),
        }
    }

    /// What went wrong, by its kind: the text of an error may name what is nobody's business.
    fn trouble(&mut self, error: &Error) {
        self.troubles.push(error.kind().word().to_owned());
    }

    fn shape(&self) -> Json {
        let meta = self
            .meta
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Json::from(value.as_str())))
            .collect();
        Json::object()
            .with("v", 1)
            .with("type", "report")
            .with("facts", Json::Object(meta))
            .with(
                "stores",
                self.stores
                    .iter()
                    .map(StoreReport::shape)
                    .collect::<Vec<_>>(),
            )
            .with("locks", self.locks.clone())
            .with("unfinished", self.unfinished.clone())
            .with("troubles", self.troubles.clone())
            .with(
                "profiles",
                self.profiles.iter().map(profile_shape).collect::<Vec<_>>(),
            )
    }

    fn print(&self, out: &mut Output) -> Result<()> {
        for (key, value) in &self.meta {
            out.line(&format!("{} {}", fit(key, 12), one_line(value)))?;
        }
        for store in &self.stores {
            let name = out.paint(Style::Strong, &fit(store.dialect, 12));
            let about = format!(
                "{} sessions, {} hidden, {}",
                store.sessions,
                store.hidden,
                size(store.bytes)
            );
            out.line(&format!("{name} {about}  {}", one_line(&store.root)))?;
            for problem in &store.problems {
                out.line(&out.paint(Style::Warning, &format!("             {problem}")))?;
            }
        }
        let or_none = |all: &[String]| {
            if all.is_empty() {
                "none".to_owned()
            } else {
                one_line(&all.join(", "))
            }
        };
        out.line(&format!(
            "{} {}",
            fit("locks held", 12),
            or_none(&self.locks)
        ))?;
        out.line(&format!(
            "{} {}",
            fit("unfinished", 12),
            or_none(&self.unfinished)
        ))?;
        if !self.troubles.is_empty() {
            out.line(&format!(
                "{} {}",
                fit("troubles", 12),
                or_none(&self.troubles)
            ))?;
        }
        for (dialect, root) in &self.profiles {
            let what = format!(
                "{} looks like another profile and is not read",
                one_line(root)
            );
            out.line(&format!("{} {what}", fit("profile", 12)))?;
            let add = format!(
                "to add it: [[stores]] dialect = \"{dialect}\", path = \"{}\", label = \"…\"",
                one_line(root)
            );
            out.line(&out.paint(
                Style::Faint,
                &format!("             {add} in the settings (`boswell config --path`)"),
            ))?;
        }
        Ok(())
    }
}

impl StoreReport {
    fn shape(&self) -> Json {
        let can = self
            .can
            .iter()
            .map(|(word, support)| ((*word).to_owned(), Json::from(support.word())))
            .collect();
        Json::object()
            .with("dialect", self.dialect)
            .with("root", &self.root)
            .with("sessions", self.sessions)
            .with("hidden", self.hidden)
            .with("bytes", self.bytes)
            .with("can", Json::Object(can))
            .with(
                "problems",
                self.problems
                    .iter()
                    .map(|word| Json::from(*word))
                    .collect::<Vec<_>>(),
            )
    }
}

fn profile_shape((dialect, root): &(&'static str, String)) -> Json {
    Json::object().with("dialect", *dialect).with("root", root)
}

/// The name of a lock says which session it is of: only its kind is told.
fn kind_of_lock(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    match stem {
        "runner" | "ops" | "vault" | "notes" => stem,
        _ if name.ends_with("append-lock") => "a session's log",
        _ => "a session",
    }
}

/// A path that says nothing of its owner: the home folder is `~`, and what is neither there nor a
/// well-known name is left out.
fn tame(app: &App, path: &Path) -> String {
    let below_home = app
        .env
        .home
        .as_deref()
        .and_then(|home| path.strip_prefix(home).ok());
    let is_known = |name: &str| {
        matches!(
            name,
            ".local"
                | "share"
                | "boswell"
                | ".config"
                | "config.toml"
                | "agent"
                | ".claude"
                | ".pi"
        ) || matches!(
            name,
            ".omp" | ".xcsh" | ".myagents" | ".clinvk" | ".open-agent" | ".codex" | "Library"
        ) || name == "Application Support"
    };
    let names: Vec<String> = below_home
        .unwrap_or(path)
        .components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .map(|name| {
            if is_known(&name) {
                name
            } else {
                "…".to_owned()
            }
        })
        .collect();
    format!(
        "{}/{}",
        if below_home.is_some() { "~" } else { "" },
        names.join("/")
    )
}
