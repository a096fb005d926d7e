//! `context`: the messages that a model would be sent.

use std::process::ExitCode;

use boswell_app::context::{ContextPart, ContextRequest, ContextShape, MessageShape};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use boswell_model::json::{Json, Raw};
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::{LateOutput, Output};
use crate::terminal::{Style, escape};
use crate::words::count;

/// Show the messages that the model would be sent next
///
/// Everything before the last compaction is left out. Model and permission mode are shown first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell context @last
  boswell context 0b7e --leaf a1b2c3d4 --json")]
pub(crate) struct ContextArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Show the context as it was at this entry
    #[arg(long, value_name = "E")]
    leaf: Option<String>,
    /// Convert to what a provider accepts: its roles only, every tool call answered
    #[arg(long)]
    sent: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl ContextArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::about(&self.host, Some(&self.session))
    }
}

impl From<&ContextArgs> for ContextRequest {
    fn from(args: &ContextArgs) -> ContextRequest {
        ContextRequest {
            session: args.session.clone(),
            leaf: args.leaf.clone(),
            sent: args.sent,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ContextArgs) -> Result<ExitCode> {
    let mut out = LateOutput::paged(app);
    let shown = app.requests.context(&args.into(), &mut |part| {
        let out = out.open()?;
        match part {
            ContextPart::Settings(settings) if out.json => out.object(&settings.object())?,
            ContextPart::Settings(settings) => heading(&settings.shape, out)?,
            ContextPart::Message(message) => print(message, out)?,
        }
        Ok(!out.gone())
    });
    out.shown(shown)?;
    Ok(ExitCode::SUCCESS)
}

fn print(message: MessageShape, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&message.object());
    }
    out.line(&out.paint(Style::Strong, &escape(&message.role)))?;
    for part in &message.content {
        out.line(&escape(&plain(part)))?;
    }
    out.line("")
}

/// The text of a part, or its JSON if it is something else.
fn plain(part: &Json) -> String {
    let bytes = part.to_bytes();
    let raw = Raw::trusted(&bytes);
    match raw.get("text").and_then(|text| text.text()) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn heading(settings: &ContextShape, out: &mut Output) -> Result<()> {
    let named =
        |word: &str, value: &Option<String>| value.as_ref().map(|value| format!("{word} {value}"));
    let mut parts = vec![count(settings.messages, "message", "messages")];
    parts.extend(named("model", &settings.model));
    parts.extend(named("thinking", &settings.thinking_level));
    parts.extend(named("mode", &settings.mode));
    parts.extend(named("permissions", &settings.permission_mode));
    out.line(&out.paint(Style::Faint, &escape(&parts.join(" · "))))?;
    out.line("")
}
