//! `check`: damage of sessions and stores, and its effect.

use std::collections::BTreeSet;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::check::{
    CheckEvent, CheckRequest, CheckSummary, CheckVerdict, CheckedSession, CheckedStore, Finding,
    StoreFinding, UncheckedPlace,
};
use boswell_app::shape::Shape as _;
use boswell_model::{Problem, Repair, Result, shell_quote};
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, escape, one_line};
use crate::words::{as_called, command, count, phrase};

/// How many sessions that will be deleted soon are listed.
const NAMED: usize = 5;

/// Check sessions and stores for damage
///
/// Nothing is changed. The exit code is 1 if a known reader, such as a version of the agent, loses
/// or refuses something, and 0 otherwise. Other findings are marked `info`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell check                 everything found on this machine
  boswell check ~/backup/*.jsonl")]
pub(crate) struct CheckArgs {
    /// Sessions, files or folders [default: everything found]
    sessions: Vec<String>,
    #[command(flatten)]
    host: HostArgs,
}

impl CheckArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        let one = self.sessions.first().filter(|_| self.sessions.len() == 1);
        Elsewhere::about(&self.host, one.map(String::as_str))
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &CheckArgs) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    let mut progress = None;
    let request = CheckRequest {
        sessions: args.sessions.clone(),
    };
    let summary = app.requests.check(&request, &Cancel::new(), &mut |event| {
        let is_session = matches!(&event, CheckEvent::Session(_))
            || matches!(&event, CheckEvent::Unchecked(place) if place.session.is_some());
        match &event {
            CheckEvent::Begin { sessions } => {
                progress = Some(Progress::new("checked", *sessions, app.quiet));
            }
            CheckEvent::Session(session) => print_session(session, &mut out)?,
            CheckEvent::Store(store) => print_store(store, &mut out)?,
            CheckEvent::Unchecked(place) => print_unchecked(place, &mut out)?,
        }
        if let Some(progress) = progress.as_mut().filter(|_| is_session) {
            progress.tick();
        }
        Ok(!out.gone())
    });
    drop(progress);
    let summary = app.shown(summary)?;
    if !out.json {
        out.line(&verdict(&summary))?;
    }
    out.finish()?;
    Ok(match summary.verdict() {
        CheckVerdict::Clean => ExitCode::SUCCESS,
        CheckVerdict::Damaged => ExitCode::from(1),
        // Nothing that was asked for could be read: that is more than damage.
        CheckVerdict::Unreadable => ExitCode::from(4),
    })
}

fn verdict(summary: &CheckSummary) -> String {
    let soon = match summary.lost_soon {
        0 => String::new(),
        number => format!("; their agent will delete {number} of them soon"),
    };
    let sessions = |number| count(number, "session", "sessions");
    match (summary.sessions, summary.problems) {
        (checked, 0) if summary.infos > 0 => format!(
            "{} checked, nothing is lost, {} for information{soon}",
            sessions(checked),
            count(summary.infos, "finding", "findings")
        ),
        (checked, 0) => format!("{} checked, all clean{soon}", sessions(checked)),
        (checked, problems) => format!(
            "{} checked, {} damaged, {}{soon}",
            sessions(checked),
            summary.damaged,
            count(problems, "problem", "problems")
        ),
    }
}

fn print_session(session: &CheckedSession, out: &mut Output) -> Result<()> {
    if out.json {
        return session
            .shapes(command)
            .try_for_each(|shape| out.object(&shape.object()));
    }
    let reference = &session.reference;
    match &session.superseded_by {
        Some(fork) if session.findings.is_empty() => {
            return out.line(&format!("{reference} was repaired as {fork}"));
        }
        Some(fork) => out.line(&format!(
            "{reference} was repaired as {fork}, and written to since:"
        ))?,
        None if session.findings.is_empty() => return Ok(()),
        None => {}
    }
    let path = session.path.as_deref().unwrap_or_default();
    heading(&session.reference, path, out)?;
    for finding in &session.findings {
        problem_line(&finding.problem, finding.is_info(), out)?;
    }
    if session.reachable < session.total {
        out.line(&format!(
            "  its agent would see {} of {} entries",
            session.reachable, session.total
        ))?;
    }
    if !session.hurts.is_empty() {
        let readers = session.hurts.join(", ");
        out.line(&format!("  affected readers: {readers}"))?;
    }
    ways_out(session, out)?;
    out.line("")
}

/// What helps against the findings of a session.
fn ways_out(session: &CheckedSession, out: &mut Output) -> Result<()> {
    let harmful = session.findings.iter().filter(|it| !it.is_info());
    let (indexes, others): (Vec<&Finding>, Vec<&Finding>) =
        harmful.partition(|it| it.is_of_index());
    // An index is of the whole store, and is written again from all of its sessions.
    if let Some(rebuild) = indexes.first().and_then(|it| it.next.as_ref()) {
        out.line(&format!("  {}", phrase(rebuild)))?;
    }
    for finding in others.iter().filter(|it| it.repair == Repair::None) {
        if let Some(next) = &finding.next {
            out.line(&format!("  {}", phrase(next)))?;
        }
    }
    if !others.iter().any(|finding| finding.repair != Repair::None) {
        return Ok(());
    }
    let name = shell_quote(&session.argument);
    out.line(&as_called(&match session.archived {
        true => {
            format!("  it is archived: restore it with `boswell restore {name}`, then repair it")
        }
        false => format!("  repair it with `boswell repair {name}`"),
    }))
}

/// Prints what was found about a store: each as a line of JSON, or below the place of the store
/// with what helps at the end.
fn print_store(store: &CheckedStore, out: &mut Output) -> Result<()> {
    if out.json {
        return store
            .shapes(command)
            .try_for_each(|shape| out.object(&shape.object()));
    }
    heading(store.dialect, &store.root, out)?;
    let (warnings, damage): (Vec<&StoreFinding>, Vec<&StoreFinding>) =
        store.findings.iter().partition(|it| it.is_warning());
    for finding in damage.iter().chain(warnings.iter().take(NAMED)) {
        let name = finding.session.as_ref().unwrap_or(&finding.path);
        let kind = kind(&finding.problem, finding.is_info(), out);
        out.line(&format!(
            "  {}: {kind}: {}",
            one_line(name),
            one_line(&finding.problem.detail)
        ))?;
    }
    if let Some(more) = warnings.len().checked_sub(NAMED).filter(|more| *more > 0) {
        out.line(&format!("  and {more} more that will be deleted soon"))?;
    }
    // Each way out once, however often it helps.
    let advice = store.findings.iter().filter_map(|it| it.advice.as_ref());
    let ways: BTreeSet<String> = advice.map(phrase).collect();
    ways.iter()
        .try_for_each(|way| out.line(&format!("  {way}")))?;
    out.line("")
}

fn print_unchecked(place: &UncheckedPlace, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&place.shape().object());
    }
    heading(
        place.session.as_deref().unwrap_or("store"),
        &place.path,
        out,
    )?;
    problem_line(&place.problem, false, out)
}

fn heading(name: &str, path: &str, out: &mut Output) -> Result<()> {
    let text = escape(&format!("{name}  {path}"));
    out.line(&out.paint(Style::Strong, &text))
}

fn problem_line(problem: &Problem, is_info: bool, out: &mut Output) -> Result<()> {
    let place = problem
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
    let text = format!(
        "  {place}{}: {}",
        kind(problem, is_info, out),
        one_line(&problem.detail)
    );
    out.line(&text)
}

/// Returns the word for a problem; what harms no reader is marked.
fn kind(problem: &Problem, is_info: bool, out: &Output) -> String {
    let word = problem.kind.word();
    match is_info {
        true => format!("info: {word}"),
        false => out.paint(Style::Warning, word),
    }
}
