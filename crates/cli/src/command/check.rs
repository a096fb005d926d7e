//! `check`: what is wrong, and what that costs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::{Depth, Located};
use boswell_model::json::Json;
use boswell_model::{Error, Problem, ProblemKind, Result};
use boswell_store::{Backend, FsBackend, LinkTable, Report, Session, Store, check};
use clap::Args;

use crate::machine::Machine;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, escape, one_line};

/// Report damage: exit code 0 clean, 1 damaged
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell check                 everything found on this machine
  boswell check ~/backup/*.jsonl")]
pub(crate) struct CheckArgs {
    /// Sessions, files or folders [default: everything found]
    sessions: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(machine: &Machine, args: &CheckArgs) -> Result<ExitCode> {
    let mut out = Output::paged(machine);
    let mut tally = Tally::default();
    let targets = if args.sessions.is_empty() {
        everything(machine, &mut out, &mut tally)?
    } else {
        named(machine, &args.sessions)?
    };
    let links = machine.stores.link_table();
    let mut progress = Progress::new("checked", targets.len(), machine.quiet);
    for (store, located) in &targets {
        if out.gone() {
            break;
        }
        one(machine, &links, (store, located), &mut out, &mut tally)?;
        progress.tick();
    }
    drop(progress);
    if !out.json {
        out.line(&tally.verdict())?;
    }
    out.finish()?;
    // Nothing that was asked for could be read: that is more than damage.
    if tally.unreadable == tally.sessions && tally.sessions > 0 && tally.problems == tally.unreadable {
        return Ok(ExitCode::from(4));
    }
    Ok(if tally.problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[derive(Default)]
struct Tally {
    sessions: usize,
    damaged: usize,
    problems: usize,
    unreadable: usize,
}

impl Tally {
    fn verdict(&self) -> String {
        match (self.sessions, self.problems) {
            (sessions, 0) => format!("{sessions} checked, all clean"),
            (sessions, problems) => format!("{sessions} checked, {} damaged, {problems} problems", self.damaged),
        }
    }
}

fn everything(machine: &Machine, out: &mut Output, tally: &mut Tally) -> Result<Vec<(Store, Located)>> {
    let mut targets = Vec::new();
    for (_, store) in machine.stores.iter() {
        match store.list() {
            Ok(listing) => {
                for (key, problem) in &listing.problems {
                    tally.problems += 1;
                    let path = store.backend().describe(key);
                    if out.json {
                        out.object(&shape(None, Some(&path), problem, None, None))?;
                    } else {
                        out.line(&out.paint(Style::Strong, &escape(&path)))?;
                        text_line(problem, out)?;
                    }
                }
                targets.extend(
                    listing
                        .sessions
                        .into_iter()
                        .filter(|l| l.key.is_some() && l.hidden != Some("empty"))
                        .map(|l| (store.clone(), l)),
                );
            }
            Err(error) => {
                tally.problems += 1;
                unreadable(None, &store.root().display().to_string(), &error, out)?;
            }
        }
    }
    Ok(targets)
}

fn named(machine: &Machine, sessions: &[String]) -> Result<Vec<(Store, Located)>> {
    let mut targets = Vec::new();
    for name in sessions {
        let path = machine.env.cwd.join(name);
        // An empty name would be the working folder.
        if !name.is_empty() && path.is_dir() {
            for file in files_below(&path)? {
                targets.push(machine.stores.at_path(&file)?);
            }
        } else {
            let found = machine.resolve(name)?;
            targets.push((found.store, found.located));
        }
    }
    Ok(targets)
}

/// Every file below a folder that may hold records. Links to folders are not followed, so that it ends.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let backend = FsBackend::new(&folder);
        for info in backend.list("")? {
            let path = folder.join(&info.key);
            if info.is_folder() && !path.is_symlink() {
                open.push(path);
            } else if info.is_file() && (info.key.ends_with(".json") || info.key.contains(".jsonl")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn one(
    machine: &Machine,
    links: &LinkTable,
    (store, located): (&Store, &Located),
    out: &mut Output,
    tally: &mut Tally,
) -> Result<()> {
    tally.sessions += 1;
    let checked = store.read(located, Depth::Facts).and_then(|session| {
        let mut report = check(&session)?;
        report.problems.extend(machine.stores.check_links(links, &session, !machine.named_stores)?);
        Ok((session, report))
    });
    let (session, report) = match checked {
        Ok(both) => both,
        Err(error) => {
            tally.problems += 1;
            tally.damaged += 1;
            tally.unreadable += 1;
            let path = located.key.as_deref().map(|key| store.backend().describe(key)).unwrap_or_default();
            let reference = format!("{}:{}", store.dialect().name(), located.id);
            return unreadable(Some(&reference), &path, &error, out);
        }
    };
    if report.problems.is_empty() {
        return Ok(());
    }
    tally.damaged += 1;
    tally.problems += report.problems.len();
    if out.json {
        for problem in &report.problems {
            out.object(&shape(
                Some(&session.reference().to_string()),
                session.path(),
                problem,
                Some(&session),
                Some(&report),
            ))?;
        }
        return Ok(());
    }
    let name = format!("{}  {}", session.reference(), session.path().unwrap_or_default());
    out.line(&out.paint(Style::Strong, &escape(&name)))?;
    for problem in &report.problems {
        text_line(problem, out)?;
    }
    if report.reachable < report.total {
        out.line(&format!("  its agent would see {} of {} entries", report.reachable, report.total))?;
    }
    out.line("")
}

fn unreadable(reference: Option<&str>, path: &str, error: &Error, out: &mut Output) -> Result<()> {
    let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
    let problem = Problem::of_file(ProblemKind::Unreadable, format!("{error}{cause}"));
    if out.json {
        return out.object(&shape(reference, Some(path), &problem, None, None));
    }
    out.line(&out.paint(Style::Strong, &escape(&format!("{}  {path}", reference.unwrap_or("store")))))?;
    text_line(&problem, out)
}

fn text_line(problem: &Problem, out: &mut Output) -> Result<()> {
    let place = problem.line.map_or_else(String::new, |line| format!("line {line}: "));
    let text = format!("  {place}{}: {}", out.paint(Style::Warning, problem.kind.word()), one_line(&problem.detail));
    out.line(&text)
}

fn shape(
    reference: Option<&str>,
    path: Option<&str>,
    problem: &Problem,
    session: Option<&Session>,
    report: Option<&Report>,
) -> Json {
    let entry = problem.slot.zip(session).map(|(slot, session)| session.log().label(slot).into_owned());
    Json::object()
        .with("v", 1)
        .with("type", "damage")
        .with("session", reference)
        .with("path", path)
        .with("line", problem.line)
        .with("entry", entry)
        .with("problem", problem.kind.word())
        .with("detail", &problem.detail)
        .with("reachable", report.map(|r| r.reachable))
        .with("total", report.map(|r| r.total))
        .with("repair", problem.kind.repair().word())
}
