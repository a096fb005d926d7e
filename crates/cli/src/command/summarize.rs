//! `summarize`: titles and summaries, stored as notes.

use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::shape::Shape as _;
use boswell_app::summarize::{SummarizeEvent, SummarizeRequest, SummaryShape, WhichSessions};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::error_report::PARTLY;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, one_line};

/// Generate titles and summaries of sessions
///
/// A title has at most 8 words, a summary at most 3 sentences. Both are stored as boswell's notes;
/// a title that the session has already stays.
#[derive(Debug, Args)]
#[command(
    after_help = "By default they are extracted from the first prompt, the changed files, the
commands and the last answer. The setting `summary.command` names a program that
gets the same on stdin, without secrets, and prints a title and sentences.

Examples:
  boswell summarize @last
  boswell summarize --missing --limit 20"
)]
pub(crate) struct SummarizeArgs {
    /// Sessions: DIALECT:ID, starts of ids, paths, @last or @here
    #[arg(required_unless_present = "missing")]
    sessions: Vec<String>,
    /// Summarize all sessions without a summary, most recent first
    #[arg(long, conflicts_with = "sessions")]
    missing: bool,
    /// Summarize at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl From<&SummarizeArgs> for SummarizeRequest {
    fn from(args: &SummarizeArgs) -> SummarizeRequest {
        SummarizeRequest {
            which: if args.missing {
                WhichSessions::WithoutSummary
            } else {
                WhichSessions::Named(args.sessions.clone())
            },
            limit: args.limit,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SummarizeArgs) -> Result<ExitCode> {
    let mut out = Output::plain(app);
    let mut progress: Option<Progress> = None;
    let mut sink = |event| match event {
        SummarizeEvent::Session { total, .. } => {
            progress
                .get_or_insert_with(|| Progress::new("summarizing, session", total, app.quiet))
                .tick();
            Ok(())
        }
        SummarizeEvent::Summary(summary) => print(summary, &mut out),
    };
    let outcome = app
        .requests
        .summarize(&args.into(), &Cancel::new(), &mut sink);
    drop(progress);
    let done = app.shown(outcome)?;
    if done.sessions == 0 && !app.quiet {
        crate::error_report::say("every session has a summary");
    }
    out.finish()?;
    Ok(if done.failed > 0 {
        ExitCode::from(PARTLY)
    } else {
        ExitCode::SUCCESS
    })
}

fn print(summary: SummaryShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&summary.object());
    }
    out.line(&format!(
        "{}  {}",
        out.paint(Style::Strong, &one_line(&summary.title)),
        one_line(&summary.session)
    ))?;
    out.line(&format!("  {}", one_line(&summary.summary)))
}
