//! `statusline`: one line for the status line of an agent.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use boswell_app::shape::Shape as _;
use boswell_app::statusline::{StatuslineRequest, StatuslineShape};
use boswell_model::{Error, Result};
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::terminal::one_line;

/// Maximum length of the input; agents pass a few kilobytes.
const INPUT: u64 = 1 << 20;

/// Print one line for an agent's status line: cost, today's cost, context
///
/// Reads the JSON object that Claude Code passes on stdin; without one, the last known session of
/// the current folder is meant. Nothing is listed or indexed: today's cost is as of the last
/// `stats` or `index`, plus the session itself.
#[derive(Debug, Args)]
#[command(after_help = "In ~/.claude/settings.json:
  \"statusLine\": {\"type\": \"command\", \"command\": \"boswell statusline\"}

Examples:
  boswell statusline
  boswell statusline --json < input.json")]
pub(crate) struct StatuslineArgs {}

/// Runs the command.
pub(crate) fn run(app: &App, _args: &StatuslineArgs) -> Result<ExitCode> {
    let mut input = Vec::new();
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let read = stdin.lock().take(INPUT).read_to_end(&mut input);
        read.map_err(|error| Error::io("stdin", "read", error))?;
    }
    let line = app.shown(app.requests.statusline(&StatuslineRequest { input }))?;
    let mut out = Output::plain(app);
    if out.json {
        out.object(&line.object())?;
    } else {
        out.line(&words(&line))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn words(line: &StatuslineShape) -> String {
    let mut words = Vec::new();
    words.extend(line.model.as_deref().map(one_line));
    words.extend(line.cost_usd.map(|cost| format!("${cost:.2}")));
    if words.is_empty() && line.session.is_none() {
        words.push("no session".to_owned());
    }
    words.extend(line.today_usd.map(|cost| format!("${cost:.2} today")));
    match (line.context_percent, line.context_tokens) {
        (Some(percent), _) => words.push(format!("{percent:.0} % of context")),
        (None, Some(tokens)) => words.push(format!("{} k tokens", tokens.div_ceil(1000))),
        (None, None) => {}
    }
    if words.is_empty() {
        words.push("nothing known yet".to_owned());
    }
    words.join(" · ")
}
