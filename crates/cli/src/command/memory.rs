//! `memory`: what agents remember of a project.

use std::process::ExitCode;

use boswell_dialect::MemoryFile;
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::Store;
use clap::Args;

use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{Style, escape, fit};

/// How many lines of the index page agents load at the start of a session.
const LOADED_LINES: usize = 200;

/// The largest memory file that is shown.
const LARGEST: u64 = 16 << 20;

/// Show memory files, and what gets loaded at the start of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell memory                  memory of this project
  boswell memory ~/work/api show  what that project's agent loads first")]
pub(crate) struct MemoryArgs {
    /// A project folder [default: the current one; `all` for every project], then `show`
    #[arg(value_name = "[PROJECT] [show]", num_args = 0..=2)]
    words: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &MemoryArgs) -> Result<ExitCode> {
    let (project, action) = parse(&args.words)?;
    let folder = match project {
        Some("all") => None,
        Some(project) => Some(machine.env.cwd.join(project)),
        None => Some(machine.env.cwd.clone()),
    };
    let key = folder.as_ref().map(|f| {
        boswell_dialect::claude::project_key(&f.canonicalize().unwrap_or_else(|_| f.clone()).display().to_string())
    });
    let mut out = Output::paged(machine);
    let mut shown = 0;
    for (_, store) in machine.stores.iter() {
        for file in store.memory()? {
            if key.as_ref().is_some_and(|key| *key != file.project_key) {
                continue;
            }
            shown += 1;
            show(store, &file, action, &mut out)?;
        }
    }
    out.finish()?;
    if shown == 0 && !machine.quiet {
        let place = folder.map_or_else(|| "any project".to_owned(), |f| format!("`{}`", f.display()));
        crate::failure::warn(
            &Error::new(ErrorKind::NotFound, format!("no agent has memory of {place}"))
                .hinting("see all of it with `boswell memory all`"),
        );
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    List,
    Show,
}

fn parse(words: &[String]) -> Result<(Option<&str>, Action)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok((None, Action::List)),
        ["show"] => Ok((None, Action::Show)),
        [project] => Ok((Some(project), Action::List)),
        [project, "show"] | ["show", project] => Ok((Some(project), Action::Show)),
        [_, other, ..] => Err(Error::new(ErrorKind::Invalid, format!("memory cannot `{}`", other.escape_debug()))
            .hinting("write `boswell memory [PROJECT] [show]`")),
    }
}

fn show(store: &Store, file: &MemoryFile, action: Action, out: &mut Output) -> Result<()> {
    let text =
        store.file(&file.key, LARGEST)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines = text.lines().count();
    let loaded = if file.is_index { lines.min(LOADED_LINES) } else { 0 };
    let path = store.backend().describe(&file.key);
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "memory")
                .with("dialect", store.dialect().name())
                .with("project_key", &file.project_key)
                .with("path", path)
                .with("index", file.is_index)
                .with("bytes", file.size)
                .with("lines", lines)
                .with("loaded_lines", loaded)
                .with_some("text", (action == Action::Show).then_some(text)),
        );
    }
    let note = if file.is_index {
        format!("{loaded} of {lines} lines loaded at start")
    } else {
        format!("{lines} lines, read on demand")
    };
    out.line(&format!(
        "{}  {}  {}",
        out.paint(Style::Strong, &fit(store.dialect().name(), 8)),
        escape(&path),
        out.paint(Style::Faint, &note)
    ))?;
    if action == Action::Show {
        for (number, line) in text.lines().enumerate() {
            if file.is_index && number == LOADED_LINES {
                out.line(&out.paint(Style::Warning, "  ── from here on nothing is loaded ──"))?;
            }
            out.line(&format!("  {}", escape(line)))?;
        }
        out.line("")?;
    }
    Ok(())
}
