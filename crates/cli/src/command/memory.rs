//! `memory`: what agents remember of a project.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use boswell_dialect::MemoryFile;
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::disk::RealDisk;
use boswell_store::memory::{self, Page};
use boswell_store::{IdSource, Memories, Store, SystemIds};
use clap::Args;

use super::{memory_change, memory_check};
use crate::app::App;
use crate::git_repository;
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};

/// How many lines of the index page agents load at the start of a session.
const LOADED_LINES: usize = 200;

/// The largest memory file that is shown.
const LARGEST: u64 = 16 << 20;

/// Show, search, check and change what agents remember of a project
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell memory                                what there is for this project
  boswell memory ~/proj/api show                what that project's agent loads first
  boswell memory add build 'use make -j2 here' --dialect claude")]
pub(crate) struct MemoryArgs {
    /// A project and `show`, `search TEXT` or `check`; or `add PAGE TEXT`, `edit PAGE TEXT`,
    /// `rm PAGE`. The project is the current folder unless given, `all` for every project
    #[arg(value_name = "WORDS", num_args = 0..=4)]
    words: Vec<String>,
    /// The project, for add, edit and rm
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Change the memory of this agent instead of boswell's own, for add, edit and rm
    #[arg(long, value_name = "DIALECT", default_value = "boswell")]
    dialect: String,
}

pub(crate) enum Action<'a> {
    List,
    Show,
    Search(&'a str),
    Check,
    Add(&'a str, &'a str),
    Edit(&'a str, &'a str),
    Remove(&'a str),
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MemoryArgs) -> Result<ExitCode> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let (project, action) = parse(&words)?;
    let folder = match args.project.as_deref().or(project) {
        Some("all") => None,
        Some(project) => Some(app.env.cwd.join(project)),
        None => Some(app.env.cwd.clone()),
    };
    let folder = folder.map(|f| f.canonicalize().unwrap_or(f));
    if let Action::Add(..) | Action::Edit(..) | Action::Remove(_) = action {
        return memory_change::run(app, folder, &args.dialect, &action);
    }
    let mut out = Output::paged(app);
    let mut left_out = Vec::new();
    let shown = match action {
        Action::Check => memory_check::run(app, folder.as_deref(), &mut out, &mut left_out)?,
        _ => {
            agents_pages(app, folder.as_ref(), &action, &mut out, &mut left_out)?
                + own_pages(app, folder.as_ref(), &action, &mut out)?
        }
    };
    out.finish()?;
    if shown > 0 || !left_out.is_empty() {
        return Ok(crate::error_report::left_out(app, &left_out));
    }
    if !app.quiet {
        let place = folder.map_or_else(
            || "any project".to_owned(),
            |f| format!("`{}`", f.display()),
        );
        let what = if matches!(action, Action::Check) {
            "nothing is wrong with the memory of"
        } else {
            "nothing like that is remembered of"
        };
        crate::error_report::warn(
            &Error::new(ErrorKind::NotFound, format!("{what} {place}"))
                .hinting("see all of it with `boswell memory all`"),
        );
    }
    Ok(if matches!(action, Action::Check) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn parse<'a>(words: &[&'a str]) -> Result<(Option<&'a str>, Action<'a>)> {
    Ok(match words {
        [] => (None, Action::List),
        ["show"] => (None, Action::Show),
        ["check"] => (None, Action::Check),
        ["search", text] => (None, Action::Search(text)),
        ["add", page, text] => (None, Action::Add(page, text)),
        ["edit", page, text] => (None, Action::Edit(page, text)),
        ["rm", page] => (None, Action::Remove(page)),
        [project] => (Some(project), Action::List),
        [project, "show"] | ["show", project] => (Some(project), Action::Show),
        [project, "check"] | ["check", project] => (Some(project), Action::Check),
        [project, "search", text] => (Some(project), Action::Search(text)),
        _ => {
            return Err(Error::new(ErrorKind::Invalid, format!("memory cannot `{}`", words.join(" ").escape_debug()))
                .hinting("write `boswell memory [PROJECT] [show|search TEXT|check]`, or `boswell memory add|edit PAGE TEXT`, `rm PAGE`"));
        }
    })
}

/// Memory files of agents. How many were shown.
fn agents_pages(
    app: &App,
    folder: Option<&PathBuf>,
    action: &Action<'_>,
    out: &mut Output,
    left_out: &mut Vec<Error>,
) -> Result<usize> {
    let keys = folder.map(|folder| git_repository::keys(folder));
    let mut shown = 0;
    for (_, store) in app.stores.iter() {
        for file in pages(store, left_out) {
            if keys
                .as_ref()
                .is_none_or(|keys| keys.contains(&file.project_key))
            {
                match agents_page(store, &file, action, out) {
                    Ok(count) => shown += count,
                    Err(error) if out.gone() => return Err(error),
                    Err(error) => left_out.push(error),
                }
            }
        }
    }
    Ok(shown)
}

/// Memory files of one store. What cannot be listed is left out and told.
pub(super) fn pages(store: &Store, left_out: &mut Vec<Error>) -> Vec<MemoryFile> {
    match store.memory() {
        Ok((files, skipped)) => {
            left_out.extend(skipped.into_iter().map(|(_, error)| error));
            files
        }
        Err(error) => {
            left_out.push(error);
            Vec::new()
        }
    }
}

fn agents_page(
    store: &Store,
    file: &MemoryFile,
    action: &Action<'_>,
    out: &mut Output,
) -> Result<usize> {
    let bytes = store.file(&file.key, LARGEST)?.unwrap_or_default();
    let shown = Shown {
        dialect: store.dialect().name(),
        project: &file.project_key,
        path: store.backend().describe(&file.key),
        is_index: file.is_index,
        text: &String::from_utf8_lossy(&bytes),
    };
    shown.print(action, out)
}

/// Boswell's own pages of a project. How many were shown.
fn own_pages(
    app: &App,
    folder: Option<&PathBuf>,
    action: &Action<'_>,
    out: &mut Output,
) -> Result<usize> {
    let (Some(home), Some(folder)) = (&app.home, folder) else {
        return Ok(0);
    };
    let memories = Memories::new(Arc::new(RealDisk), home, &SystemIds.hex16());
    let project = folder.display().to_string();
    if !app.shows(Some(&project)) {
        return Ok(0);
    }
    let memory = memories.load(&project)?;
    let mut shown = 0;
    for Page { name, text, .. } in &memory.pages {
        let path = memories.folder(&project).join(name).display().to_string();
        let page = Shown {
            dialect: "boswell",
            project: &project,
            path,
            is_index: name == memory::INDEX,
            text,
        };
        shown += page.print(action, out)?;
    }
    Ok(shown)
}

struct Shown<'a> {
    dialect: &'a str,
    project: &'a str,
    path: String,
    is_index: bool,
    text: &'a str,
}

impl Shown<'_> {
    /// Prints the page, or the lines of it that were asked for; gives 1 if it was shown.
    fn print(&self, action: &Action<'_>, out: &mut Output) -> Result<usize> {
        if let Action::Search(query) = action {
            return self.matches(query, out);
        }
        let lines = self.text.lines().count();
        let loaded = if self.is_index {
            lines.min(LOADED_LINES)
        } else {
            0
        };
        let whole = matches!(action, Action::Show);
        if out.json {
            let shape = Json::object()
                .with("v", 1)
                .with("type", "memory")
                .with("dialect", self.dialect)
                .with("project_key", self.project)
                .with("path", &self.path)
                .with("index", self.is_index)
                .with("bytes", self.text.len())
                .with("lines", lines)
                .with("loaded_lines", loaded)
                .with_some("text", whole.then_some(self.text));
            out.object(&shape)?;
            return Ok(1);
        }
        let note = if self.is_index {
            format!("{loaded} of {lines} lines loaded at start")
        } else {
            format!("{lines} lines, read on demand")
        };
        out.line(&format!(
            "{}  {}  {}",
            out.paint(Style::Strong, &fit(self.dialect, 8)),
            escape(&self.path),
            out.paint(Style::Faint, &note)
        ))?;
        if whole {
            for (number, line) in self.text.lines().enumerate() {
                if self.is_index && number == LOADED_LINES {
                    out.line(&out.paint(Style::Warning, "  ── from here on nothing is loaded ──"))?;
                }
                out.line(&format!("  {}", escape(line)))?;
            }
            out.line("")?;
        }
        Ok(1)
    }

    fn matches(&self, query: &str, out: &mut Output) -> Result<usize> {
        let wanted = query.to_lowercase();
        let mut found = 0;
        for (number, line) in self
            .text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.to_lowercase().contains(&wanted))
        {
            found = 1;
            if out.json {
                let shape = Json::object()
                    .with("v", 1)
                    .with("type", "memory_hit")
                    .with("dialect", self.dialect);
                out.object(
                    &shape
                        .with("path", &self.path)
                        .with("line", number + 1)
                        .with("text", line),
                )?;
            } else {
                out.line(&format!(
                    "{}:{}: {}",
                    escape(&self.path),
                    number + 1,
                    one_line(line)
                ))?;
            }
        }
        Ok(found)
    }
}
