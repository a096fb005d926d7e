//! `blame`: which session wrote each line of a file, or made a commit.

use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::blame::{
    BlameRequest, BlameShape, BlameTarget, BlamedLine, CommitBlameRequest, CommitBlameShape,
    CommitSession, trailers,
};
use boswell_app::list::SessionFilter;
use boswell_app::shape::Shape as _;
use boswell_model::{Error, ErrorKind, Result};
use clap::Args;

use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, escape, one_line};
use crate::words::count;
use crate::words::digest::short_line;

/// Show which session, entry and prompt wrote each line of a file
///
/// From edits that succeeded, through any agent, followed through later edits, renames and commits.
/// What no session explains is said to be unexplained. With a commit or a range of commits: the
/// sessions that wrote its lines, and those that worked meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell blame src/main.rs
  boswell blame src/main.rs:40-60
  boswell blame HEAD
  boswell blame main..HEAD --trailer")]
pub(crate) struct BlameArgs {
    /// File, FILE:LINE, FILE:FIRST-LAST, a commit, or a range A..B of commits
    #[arg(value_name = "FILE|COMMIT")]
    target: String,
    /// Print the lines of a commit message that name the sessions
    #[arg(long)]
    trailer: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &BlameArgs) -> Result<ExitCode> {
    let filter = SessionFilter {
        agent: app.agent.clone(),
        ..SessionFilter::default()
    };
    match app.requests.blame_target(&args.target)? {
        BlameTarget::File(..) if args.trailer => Err(Error::new(
            ErrorKind::Invalid,
            "`--trailer` is about commits, not about a file",
        )),
        BlameTarget::File(file, lines) => {
            let request = BlameRequest {
                file,
                lines,
                filter,
            };
            file_blame(app, &request)
        }
        BlameTarget::Commits(commits) => {
            let request = CommitBlameRequest { commits, filter };
            commit_blame(app, &request, args.trailer)
        }
    }
}

fn file_blame(app: &App, request: &BlameRequest) -> Result<ExitCode> {
    let blame = app.shown(app.requests.blame(request, &Cancel::new()))?;
    let is_explained = blame.unexplained < blame.lines.len();
    let mut out = Output::paged(app);
    if out.json {
        out.object(&blame.object())?;
    } else {
        print(&blame, &mut out)?;
    }
    out.finish()?;
    Ok(code(is_explained))
}

fn commit_blame(app: &App, request: &CommitBlameRequest, trailer: bool) -> Result<ExitCode> {
    let commits = app.shown(app.requests.blame_commits(request, &Cancel::new()))?;
    let mut out = Output::paged(app);
    if trailer {
        let lines = trailers(&commits);
        lines
            .iter()
            .try_for_each(|line| out.line(&one_line(line)))?;
        out.finish()?;
        return Ok(code(!lines.is_empty()));
    }
    let is_explained = commits.iter().any(|commit| !commit.sessions.is_empty());
    for (place, commit) in commits.into_iter().enumerate() {
        if out.json {
            out.object(&commit.object())?;
            continue;
        }
        if place > 0 {
            out.line("")?;
        }
        print_commit(&commit, &mut out)?;
    }
    out.finish()?;
    if !is_explained && !app.quiet && !app.json {
        error_report::say("no session had part in it");
    }
    Ok(code(is_explained))
}

fn code(is_explained: bool) -> ExitCode {
    match is_explained {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    }
}

/// Lines with numbers that the list below them explains: a number for each edit.
fn print(blame: &BlameShape, out: &mut Output) -> Result<()> {
    let mut edits: Vec<&BlamedLine> = Vec::new();
    let mut marks = Vec::new();
    for line in &blame.lines {
        let is_same = |it: &&BlamedLine| it.session == line.session && it.entry == line.entry;
        marks.push(line.session.as_ref().map(|_| {
            edits.iter().position(is_same).unwrap_or_else(|| {
                edits.push(line);
                edits.len() - 1
            })
        }));
    }
    let wide = |number: usize| number.to_string().len();
    let mark_width = wide(edits.len()) + 2;
    let number_width = blame.lines.last().map_or(1, |line| wide(line.line));
    for (line, mark) in blame.lines.iter().zip(marks) {
        let mark = mark
            .map(|mark| format!("[{}]", mark + 1))
            .unwrap_or_default();
        let mark = out.paint(Style::Faint, &format!("{mark:>mark_width$}"));
        let number = out.paint(Style::Faint, &format!("{:>number_width$}", line.line));
        out.line(&format!("{mark} {number}  {}", escape(&line.text)))?;
    }
    out.line("")?;
    for (place, edit) in edits.iter().enumerate() {
        out.line(&edit_line(place + 1, edit, blame, out))?;
    }
    let all = count(blame.lines.len(), "line", "lines");
    out.line(&format!("unexplained: {} of {all}", blame.unexplained))
}

fn edit_line(number: usize, edit: &BlamedLine, blame: &BlameShape, out: &Output) -> String {
    let session = edit.session.clone().unwrap_or_default();
    let entry = edit.entry.clone().unwrap_or_default();
    let mut words = vec![one_line(&format!("{session}#{entry}"))];
    words.extend(edit.when.map(|when| out.minute(when)));
    let mut prompts = blame.prompts.iter();
    let prompt = prompts.find(|it| {
        edit.session.as_ref() == Some(&it.session) && edit.prompt.as_ref() == Some(&it.entry)
    });
    words.extend(prompt.map(|prompt| short_line(&prompt.text)));
    format!("[{number}] {}", words.join(" · "))
}

fn print_commit(commit: &CommitBlameShape, out: &mut Output) -> Result<()> {
    let id = commit.commit.get(..12).unwrap_or(&commit.commit);
    let mut words = vec![one_line(id)];
    words.extend(commit.at.map(|at| out.minute(at)));
    words.push(short_line(&commit.subject));
    out.line(&words.join(" · "))?;
    for session in &commit.sessions {
        out.line(&format!("  {}", session_line(session)))?;
    }
    let all = count(commit.added, "added line", "added lines");
    out.line(&format!("  unexplained: {} of {all}", commit.unexplained))
}

fn session_line(session: &CommitSession) -> String {
    let how = match session.lines {
        0 => "worked in the project at that time".to_owned(),
        lines => format!(
            "{} in {}",
            count(lines, "line", "lines"),
            count(session.files.len(), "file", "files")
        ),
    };
    let name = short_line(&session.name);
    format!("{} · {how} · {name}", one_line(&session.session))
}
