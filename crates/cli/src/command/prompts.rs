//! `prompts`: the prompts to every agent.

use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::prompts::{PromptShape, PromptsRequest};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use super::filter_args::FilterArgs;
use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, columns, cut, one_line};
use crate::words::short_path;
use crate::words::table::cut_left;

/// List your prompts to all agents, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell prompts --limit 50
  boswell prompts deadlock --here")]
pub(crate) struct PromptsArgs {
    /// Only prompts that contain these words
    query: Vec<String>,
    #[command(flatten)]
    narrow: FilterArgs,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    host: HostArgs,
}

impl PromptsArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::of(&self.host)
    }
}

impl PromptsArgs {
    fn request(&self, app: &App) -> PromptsRequest {
        PromptsRequest {
            query: self.query.join(" "),
            filter: self.narrow.filter(app),
            limit: self.limit,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &PromptsArgs) -> Result<ExitCode> {
    let prompts = app.shown(app.requests.prompts(&args.request(app), &Cancel::new()))?;
    let is_empty = prompts.is_empty();
    let mut out = Output::paged(app);
    for prompt in prompts {
        if out.json {
            out.object(&prompt.object())?;
        } else {
            out.line(&line(app, &prompt, &out))?;
        }
    }
    out.finish()?;
    if is_empty && !app.quiet && !app.json {
        error_report::say("no prompt matches");
    }
    Ok(if is_empty {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn line(app: &App, prompt: &PromptShape, out: &Output) -> String {
    let at = prompt
        .at
        .map_or_else(|| "-".to_owned(), |at| out.minute(at));
    let project = prompt
        .project
        .as_deref()
        .map(|project| short_path(app, project))
        .unwrap_or_default();
    let agent = one_line(&prompt.agent);
    // On a narrow terminal the prompt matters more than where it was typed.
    let mut lead = format!(
        "{at}  {agent}  {}  ",
        cut_left(&one_line(&project), app.width / 4)
    );
    if columns(&lead) * 2 > app.width {
        lead = format!("{at}  {agent}  ");
    }
    if columns(&lead) * 2 > app.width {
        lead = format!("{at}  ");
    }
    let room = app.width.saturating_sub(columns(&lead));
    format!(
        "{}{}",
        out.paint(Style::Faint, &lead),
        cut(&one_line(&prompt.text), room)
    )
}
