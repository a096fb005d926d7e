//! `summarize`: titles and summaries, kept as notes.

use std::process::ExitCode;

use boswell_find::Secrets;
use boswell_model::json::Json;
use boswell_model::{Result, SessionRef};
use boswell_store::{Conversation, Note, NoteKind, Resolved};
use clap::Args;

use crate::app::App;
use crate::linked_transcript::{self, LinkedTranscript};
use crate::output::Output;
use crate::progress::Progress;
use crate::summary::{ExternalProgram, SummaryInput, Summed, extract};
use crate::terminal::{Style, one_line};

/// Give sessions a title of at most 8 words and a summary of at most 3 sentences
#[derive(Debug, Args)]
#[command(
    after_help = "Built in is an extract of the first prompt, the files changed, the commands run and the last answer. With
`summary.command` in the settings that program is handed the same, without secrets, and answers a title and sentences.
Both are kept as notes; a title that a session has already stays.

Examples:
  boswell summarize @last
  boswell summarize --missing --limit 20"
)]
pub(crate) struct SummarizeArgs {
    /// Sessions: refs DIALECT:ID, beginnings of ids, paths, @last, @here
    #[arg(required_unless_present = "missing")]
    sessions: Vec<String>,
    /// All sessions that have no summary yet, last active first
    #[arg(long, conflicts_with = "sessions")]
    missing: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only show what would be kept
    #[arg(long)]
    dry_run: bool,
}

/// A conversation to sum up: where to read it, and the sessions that it is.
struct Wanted {
    found: Resolved,
    sides: Vec<SessionRef>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SummarizeArgs) -> Result<ExitCode> {
    if !args.dry_run {
        app.may_write()?;
    }
    let (conversations, _) = app.conversations()?;
    let mut wanted = if args.missing {
        missing(app, &conversations)
    } else {
        let named = |session: &String| Ok(wanted(app.resolve(session)?, &conversations));
        args.sessions.iter().map(named).collect::<Result<_>>()?
    };
    wanted.truncate(args.limit.unwrap_or(usize::MAX));
    let mut out = Output::paged(app);
    let secrets = Secrets::new()?;
    let mut failed = false;
    let mut progress = Progress::new("summarising, session", wanted.len(), app.quiet);
    for it in &wanted {
        progress.tick();
        match summed(app, it, &secrets) {
            Ok(Some(summed)) => {
                if !args.dry_run {
                    keep(app, it, &summed)?;
                }
                print(it, &summed, !args.dry_run, &mut out)?;
            }
            Ok(None) => {}
            Err(error) => {
                failed = true;
                crate::error_report::warn(&error);
            }
        }
    }
    drop(progress);
    if wanted.is_empty() && !app.quiet {
        crate::error_report::say("every session has a summary");
    }
    out.finish()?;
    Ok(if failed {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    })
}

/// Sums up a session that was closed, if the settings say so. The session is closed
/// whether or not that works.
pub(crate) fn at_close(app: &App, found: &Resolved) {
    if !app.config.is_on("summary.at_close") {
        return;
    }
    let done = || -> Result<()> {
        let (conversations, _) = app.conversations()?;
        let it = wanted(found.clone(), &conversations);
        match summed(app, &it, &Secrets::new()?)? {
            Some(summed) => keep(app, &it, &summed),
            None => Ok(()),
        }
    };
    if let Err(error) = done() {
        crate::error_report::warn(&error);
    }
}

fn missing(app: &App, conversations: &[Conversation]) -> Vec<Wanted> {
    let mut bare: Vec<&Conversation> = conversations
        .iter()
        .filter(|it| it.front.1.location.hidden.is_none() && it.front.1.meta.summary.is_none())
        .collect();
    bare.sort_by_key(|it| std::cmp::Reverse(it.front.1.last_active()));
    let found = |it: &&Conversation| app.resolve(&it.front.1.reference.to_string()).ok();
    bare.iter()
        .filter_map(found)
        .map(|found| wanted(found, conversations))
        .collect()
}

/// The conversation that a session belongs to; itself where it stands alone.
fn wanted(found: Resolved, conversations: &[Conversation]) -> Wanted {
    let own = SessionRef::new(found.store.dialect().name(), &found.location.id);
    let all = |it: &Conversation| -> Vec<SessionRef> {
        std::iter::once(&it.front)
            .chain(&it.linked)
            .map(|(_, summary)| summary.reference.clone())
            .collect()
    };
    let sides = conversations
        .iter()
        .map(all)
        .find(|sides| sides.contains(&own))
        .unwrap_or_else(|| vec![own]);
    Wanted { found, sides }
}

fn summed(app: &App, it: &Wanted, secrets: &Secrets) -> Result<Option<Summed>> {
    let summary_input = match linked_transcript::of(app, &it.found)? {
        LinkedTranscript::There(there) => SummaryInput::read(&there, secrets)?,
        _ => SummaryInput::read(&it.found, secrets)?,
    };
    if summary_input.is_empty() {
        return Ok(None);
    }
    match ExternalProgram::of(&app.config) {
        Some(program) => program.sum_up(&summary_input).map(Some),
        None => Ok(Some(extract(&summary_input))),
    }
}

/// Keeps it for every side of the conversation, in one write.
fn keep(app: &App, it: &Wanted, summed: &Summed) -> Result<()> {
    let note = |session: &SessionRef, kind| Note {
        session: session.clone(),
        at: app.now,
        kind,
    };
    let mut notes = Vec::new();
    for side in &it.sides {
        if !summed.title.is_empty() {
            notes.push(note(side, NoteKind::Proposed(summed.title.clone())));
        }
        notes.push(note(side, NoteKind::Summary(summed.summary.clone())));
    }
    app.notes()?.add_all(notes)
}

fn print(it: &Wanted, summed: &Summed, kept: bool, out: &mut Output) -> Result<()> {
    let Some(front) = it.sides.first() else {
        return Ok(());
    };
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "summary")
                .with("session", front.to_string())
                .with("title", &summed.title)
                .with("summary", &summed.summary)
                .with("kept", kept),
        );
    }
    out.line(&format!(
        "{}  {}",
        out.paint(Style::Strong, &one_line(&summed.title)),
        one_line(&front.to_string())
    ))?;
    out.line(&format!("  {}", one_line(&summed.summary)))
}
