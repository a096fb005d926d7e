//! `outline`: what was asked and done in a session.

use std::process::ExitCode;

use boswell_app::outline::{OutlineRequest, OutlineShape};
use boswell_app::shape::{Maybe, Shape as _};
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{escape, one_line};
use crate::words::digest::{file_line, heading, short_line};
use crate::words::{count, short_path};

/// Outline a session: prompts, changed files, failures, open ends
///
/// Prompts are numbered and have their entries, for `show --around`. All text is the session's own,
/// without keys and passwords.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell outline @last
  boswell outline 0b7e --json
  boswell outline @last --with 'my-digest --short'")]
pub(crate) struct OutlineArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    #[arg(default_value = "@last")]
    session: String,
    /// Let this program digest the outline, which it gets on stdin
    #[arg(long, value_name = "PROGRAM")]
    with: Option<String>,
    #[command(flatten)]
    host: HostArgs,
}

impl OutlineArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        let asked = Elsewhere::about(&self.host, Some(&self.session));
        asked.without("--with", self.with.is_some())
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &OutlineArgs) -> Result<ExitCode> {
    let request = OutlineRequest {
        session: args.session.clone(),
        with: args.with.clone(),
    };
    let outline = app.shown(app.requests.outline(&request))?;
    let mut out = Output::paged(app);
    if out.json {
        out.object(&outline.object())?;
    } else {
        print(app, &outline, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(app: &App, outline: &OutlineShape, out: &mut Output) -> Result<()> {
    out.line(&format!("# {}", one_line(&outline.name)))?;
    out.line(&about(app, outline, out))?;
    if let Some(summary) = &outline.summary {
        out.line("")?;
        summary
            .lines()
            .try_for_each(|line| out.line(&escape(line)))?;
    }
    if let Maybe::Given(digest) = &outline.digest {
        out.line("")?;
        digest
            .lines()
            .try_for_each(|line| out.line(&escape(line)))?;
    }
    heading("Prompts", outline.prompts.len(), out)?;
    for prompt in &outline.prompts {
        let text = short_line(&prompt.text);
        let entry = one_line(&prompt.entry);
        out.line(&format!("{}. {text} ({entry})", prompt.number))?;
    }
    heading("Files changed", outline.files.len(), out)?;
    for file in &outline.files {
        out.line(&file_line(file, outline.project.as_deref()))?;
    }
    heading("Failed last", outline.failures.len(), out)?;
    for failure in &outline.failures {
        let (subject, said) = (short_line(&failure.subject), short_line(&failure.said));
        let (tool, entry) = (one_line(&failure.tool), one_line(&failure.entry));
        out.line(&format!("- {tool} {subject} ({entry}): {said}"))?;
    }
    heading("Open ends", outline.open_ends.len(), out)?;
    for open in &outline.open_ends {
        out.line(&format!("- {}", one_line(open)))?;
    }
    if let Some(answer) = &outline.last_answer {
        heading("Last answer", 1, out)?;
        answer
            .text
            .lines()
            .try_for_each(|line| out.line(&escape(line)))?;
    }
    Ok(())
}

/// The session, its agent, folder and time, and what is unusual about it.
fn about(app: &App, outline: &OutlineShape, out: &Output) -> String {
    let mut words = vec![one_line(&outline.session), one_line(&outline.agent)];
    words.extend(
        outline
            .project
            .as_ref()
            .map(|it| one_line(&short_path(app, it))),
    );
    let times = [outline.created, outline.last_active];
    let times: Vec<String> = times.iter().flatten().map(|at| out.minute(*at)).collect();
    if !times.is_empty() {
        words.push(times.join(" – "));
    }
    if !outline.compactions.is_empty() {
        let entries = one_line(&outline.compactions.join(", "));
        let often = count(outline.compactions.len(), "compaction", "compactions");
        words.push(format!("{often} ({entries})"));
    }
    if outline.other_branches > 0 {
        words.push(count(
            outline.other_branches,
            "other branch",
            "other branches",
        ));
    }
    words.join(" · ")
}
