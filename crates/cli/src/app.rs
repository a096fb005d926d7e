//! The environment of every command: the application and the output. The one place that reads the
//! environment and the terminal.
//!
//! Here `--home`, `BOSWELL_HOME`, `--store DIALECT=PATH`, `--color` and `NO_COLOR` take effect, and
//! `--quiet` silences warnings and remarks.

#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where environment and terminal are read"
)]

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use boswell_app::time::TimeZone;
use boswell_app::{Access, AppConfig, Config, Environment, Notice, SystemClock};
use boswell_model::{Error, ErrorKind, Result};

pub(crate) use boswell_app::system::{new_file, program, until};

use crate::args::{Color, Global};
use crate::error_report;
use crate::words::phrase;

/// How long the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stay {
    /// For a request or two: memory is not freed.
    Short,
    /// Until the user leaves.
    Long,
    /// Until the server ends; other programs ask, so that no terminal is that of a request.
    #[cfg(any(feature = "serve", feature = "mcp"))]
    Server,
}

/// What a command needs to know about where it runs.
#[derive(Debug)]
pub(crate) struct App {
    /// What answers requests.
    pub(crate) requests: boswell_app::App,
    pub(crate) json: bool,
    pub(crate) color: bool,
    pub(crate) quiet: bool,
    /// The agent or dialect that was asked for.
    pub(crate) agent: Option<String>,
    /// Whether long answers may go through a pager.
    pub(crate) pages: bool,
    /// Whether a person reads the answer on a terminal.
    pub(crate) terminal: bool,
    /// Columns of the terminal, or a fixed width for pipes.
    pub(crate) width: usize,
    home_origin: &'static str,
}

impl App {
    /// Reads the machine and finds the stores. A command that makes many requests stays; all others
    /// exit after one or two.
    pub(crate) fn new(global: &Global, stay: Stay) -> Result<App> {
        #[cfg_attr(
            not(any(feature = "serve", feature = "mcp")),
            expect(unused_mut, reason = "a server changes it")
        )]
        let mut env = environment()?;
        #[cfg(any(feature = "serve", feature = "mcp"))]
        if stay == Stay::Server {
            env.terminal = None;
        }
        let settings = Config::load(&env)?;
        let terminal = std::io::stdout().is_terminal();
        let color = match (global.color, settings.word("color")) {
            (Color::Always, _) | (Color::Auto, Some("always")) => true,
            (Color::Never, _) | (Color::Auto, Some("never")) => false,
            (Color::Auto, _) => {
                terminal && env.var("NO_COLOR").is_none() && env.var("TERM") != Some("dumb")
            }
        };
        let width = width(terminal, &env);
        let requests = boswell_app::App::open(AppConfig {
            home: home(global, &env),
            stores: named_stores(&global.stores)?,
            access: if global.read_only {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            },
            zone: if global.utc {
                TimeZone::utc()
            } else {
                settings.zone(&env)
            },
            side: global.agent.clone(),
            settings,
            clock: Arc::new(SystemClock),
            exits_soon: stay == Stay::Short,
            env,
        })?;
        Ok(App {
            requests,
            json: global.json,
            color,
            quiet: global.quiet,
            agent: global.agent.clone(),
            pages: !global.json && !global.no_pager,
            terminal: terminal && !global.json,
            width,
            home_origin: if global.home.is_some() {
                "option or BOSWELL_HOME"
            } else {
                "built in"
            },
        })
    }

    /// The answer to a request, once what was noticed on the way is shown.
    pub(crate) fn shown<T>(&self, outcome: boswell_app::AppResult<T>) -> Result<T> {
        match outcome {
            Ok(answer) => {
                self.show(answer.notices);
                Ok(answer.value)
            }
            Err(refusal) => {
                self.show(refusal.notices);
                Err(refusal.error)
            }
        }
    }

    /// Shows what was noticed on the way to an answer.
    pub(crate) fn show(&self, notices: Vec<Notice>) {
        for notice in notices {
            match notice {
                Notice::Failure(error) => error_report::warn(&error),
                Notice::Warning(error) if !self.quiet => error_report::warn(&error),
                Notice::Remark(remark) if !self.quiet => error_report::say(&remark.phrased(phrase)),
                _ => {}
            }
        }
    }

    /// Where the place of boswell's folder comes from.
    pub(crate) fn home_origin(&self) -> &'static str {
        self.home_origin
    }
}

/// Reads `--store DIALECT=PATH`.
fn named_stores(named: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let parse = |named: &String| match named.split_once('=').filter(|(_, path)| !path.is_empty()) {
        Some((dialect, path)) => Ok((dialect.to_owned(), PathBuf::from(path))),
        None => Err(Error::new(
            ErrorKind::Invalid,
            format!("`--store {}` has no path", named.escape_debug()),
        )
        .advising("write `--store claude=/path/to/.claude`")),
    };
    named.iter().map(parse).collect()
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
        // `/dev/null` is a device too, but no user reads it.
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

fn width(terminal: bool, env: &Environment) -> usize {
    let asked = env.var("COLUMNS").and_then(|columns| columns.parse().ok());
    let real = terminal
        .then(|| terminal_size::terminal_size().map(|(w, _)| usize::from(w.0)))
        .flatten();
    asked.or(real).unwrap_or(120).clamp(40, 500)
}
