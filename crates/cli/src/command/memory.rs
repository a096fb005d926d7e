//! `memory`: memory files of agents about a project.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::memory::{
    MemoryChange, MemoryChangeRequest, MemoryFound, MemoryHit, MemoryProblemShape, MemoryRequest,
    MemoryScope, MemorySearchRequest, MemoryShape,
};
use boswell_app::shape::{Maybe, Shape as _};
use boswell_model::{Error, ErrorKind, Result};
use clap::Args;

use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};
use crate::words::{count, phrase};

/// Show, search, check and edit the memory files of agents
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell memory                    list the memory files of this project
  boswell memory ~/proj/api show    print their text
  boswell memory add build 'use make -j2 here' --agent claude")]
pub(crate) struct MemoryArgs {
    /// show, search TEXT or check, after an optional PROJECT (a folder or `all`; the current folder
    /// without it); or add PAGE TEXT, edit PAGE TEXT, rm PAGE
    #[arg(value_name = "WORDS", num_args = 0..=4)]
    words: Vec<String>,
    /// Project folder for add, edit and rm
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// With rm: do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

enum Action<'a> {
    Read(Question<'a>),
    Change(&'a str, MemoryChange),
}

enum Question<'a> {
    List,
    Show,
    Search(&'a str),
    Check,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &MemoryArgs) -> Result<ExitCode> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let (project, action) = parse(&words)?;
    let scope = match args.project.as_deref().or(project) {
        Some("all") => MemoryScope::EveryProject,
        Some(project) => MemoryScope::Project(PathBuf::from(project)),
        None => MemoryScope::CurrentFolder,
    };
    match action {
        Action::Read(question) => read(app, scope, &question),
        Action::Change(page, change) => {
            let request = MemoryChangeRequest {
                scope,
                dialect: app.agent.clone().unwrap_or_else(|| "boswell".to_owned()),
                page: page.to_owned(),
                change,
            };
            if request.change == MemoryChange::Remove && !args.apply {
                let mut out = Output::plain(app);
                if !out.json {
                    out.line(&format!("would remove the page {}", one_line(page)))?;
                }
                out.finish()?;
                if let Agreed::No(code) = ask(app, false, Planned::RemovePage)? {
                    return Ok(code);
                }
            }
            change_page(app, &request)
        }
    }
}

fn read(app: &App, scope: MemoryScope, question: &Question<'_>) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    let found = match question {
        Question::Check => app
            .requests
            .check_memory(&scope, &mut |problem| show_problem(problem, &mut out)),
        Question::Search(text) => {
            let text = (*text).to_owned();
            let request = MemorySearchRequest { scope, text };
            app.requests
                .search_memory(&request, &mut |hit| show_hit(hit, &mut out))
        }
        Question::List | Question::Show => {
            let with_text = matches!(question, Question::Show);
            let request = MemoryRequest { scope, with_text };
            app.requests
                .memory(&request, &mut |page| show_page(page, &mut out))
        }
    };
    let found = app.shown(found)?;
    out.finish()?;
    if found.found > 0 || !found.left_out.is_empty() {
        return Ok(error_report::left_out(app, &found.left_out));
    }
    let is_check = matches!(question, Question::Check);
    if !app.quiet {
        warn_of_nothing(&found, is_check);
    }
    Ok(ExitCode::from(u8::from(!is_check)))
}

fn warn_of_nothing(found: &MemoryFound, is_check: bool) {
    let place = found.project.as_ref().map_or_else(
        || "any project".to_owned(),
        |folder| format!("`{}`", folder.display()),
    );
    let what = if is_check {
        "no problems found in the memory of"
    } else {
        "no memory found for"
    };
    error_report::warn(
        &Error::new(ErrorKind::NotFound, format!("{what} {place}"))
            .advising("see all of it with `boswell memory all`"),
    );
}

fn parse<'a>(words: &[&'a str]) -> Result<(Option<&'a str>, Action<'a>)> {
    Ok(match words {
        [] => (None, Action::Read(Question::List)),
        ["show"] => (None, Action::Read(Question::Show)),
        ["check"] => (None, Action::Read(Question::Check)),
        ["search", text] => (None, Action::Read(Question::Search(text))),
        ["add", page, text] => (
            None,
            Action::Change(page, MemoryChange::Add((*text).to_owned())),
        ),
        ["edit", page, text] => (
            None,
            Action::Change(page, MemoryChange::Edit((*text).to_owned())),
        ),
        ["rm", page] => (None, Action::Change(page, MemoryChange::Remove)),
        [project] => (Some(project), Action::Read(Question::List)),
        [project, "show"] | ["show", project] => (Some(project), Action::Read(Question::Show)),
        [project, "check"] | ["check", project] => (Some(project), Action::Read(Question::Check)),
        [project, "search", text] => (Some(project), Action::Read(Question::Search(text))),
        _ => {
            return Err(Error::new(ErrorKind::Invalid, format!("`memory {}` is not a command", words.join(" ").escape_debug()))
                .advising("write `boswell memory [PROJECT] [show|search TEXT|check]`, or `boswell memory add|edit PAGE TEXT`, `rm PAGE`"));
        }
    })
}

/// Carries out a change of one page.
fn change_page(app: &App, request: &MemoryChangeRequest) -> Result<ExitCode> {
    let changed = app.shown(app.requests.change_memory(request))?;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&changed.object())?;
    } else {
        out.line(&escape(&changed.path))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a page, with its text if it has come along. Whether to go on.
fn show_page(page: MemoryShape, out: &mut Output) -> Result<bool> {
    if out.json {
        out.object(&page.object())?;
        return Ok(!out.gone());
    }
    let MemoryShape {
        lines,
        loaded_lines,
        ..
    } = page;
    let note = if page.index {
        let lines = count(lines, "line is", "lines are");
        format!("{loaded_lines} of {lines} loaded at start")
    } else {
        format!("{}, read on demand", count(lines, "line", "lines"))
    };
    out.line(&format!(
        "{}  {}  {}",
        out.paint(Style::Strong, &fit(page.dialect, 8)),
        escape(&page.path),
        out.paint(Style::Faint, &note)
    ))?;
    if let Maybe::Given(text) = &page.text {
        for (number, line) in text.lines().enumerate() {
            if page.index && number == loaded_lines {
                out.line(&out.paint(Style::Warning, "  ── not loaded from here on ──"))?;
            }
            out.line(&format!("  {}", escape(line)))?;
        }
        out.line("")?;
    }
    Ok(!out.gone())
}

fn show_hit(hit: MemoryHit, out: &mut Output) -> Result<bool> {
    if out.json {
        out.object(&hit.object())?;
    } else {
        out.line(&format!(
            "{}:{}: {}",
            escape(&hit.path),
            hit.line,
            one_line(&hit.text)
        ))?;
    }
    Ok(!out.gone())
}

fn show_problem(mut problem: MemoryProblemShape, out: &mut Output) -> Result<bool> {
    problem.detail = problem.detail.phrased(phrase).into();
    if out.json {
        out.object(&problem.object())?;
    } else {
        out.line(&format!(
            "{} {}: {}",
            problem.dialect,
            one_line(&problem.project_key),
            one_line(&problem.detail.text)
        ))?;
    }
    Ok(!out.gone())
}
