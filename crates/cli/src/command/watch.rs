//! `watch`: follows live sessions.

use std::process::ExitCode;
use std::time::Duration;

use boswell_app::shape::{EntryParts, Shape as _};
use boswell_app::watch::{LineNumbers, WatchRequest};
use boswell_model::Result;
use clap::Args;

use crate::app::{App, until};
use crate::output::Output;
use crate::terminal::{Style, cut, one_line};
use crate::time;

/// How long between two polls.
const PAUSE: Duration = Duration::from_millis(250);

/// Print new entries as agents write them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell watch --for 5s                 all sessions, for five seconds
  boswell watch @last --json --for 5s    one session, as JSON")]
pub(crate) struct WatchArgs {
    /// Watch only this session
    session: Option<String>,
    /// Stop after this time (10s, 5m)
    #[arg(long = "for", value_name = "TIME")]
    limit: Option<String>,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &WatchArgs) -> Result<ExitCode> {
    let limit = args.limit.as_deref().map(time::span).transpose()?;
    let go_on = until(limit.unwrap_or(Duration::MAX));
    let mut watch = app.shown(app.requests.watch(&WatchRequest {
        session: args.session.clone(),
        lines: if app.json {
            LineNumbers::Counted
        } else {
            LineNumbers::Unknown
        },
    }))?;
    let mut out = Output::plain(app);
    while go_on() && !out.gone() {
        std::thread::sleep(PAUSE);
        watch.look(&mut |entry| print(app, entry, &mut out))?;
        out.flush()?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(app: &App, entry: &EntryParts<'_>, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&entry.shape(false).object());
    }
    let text = entry.view.map(|view| match view.text() {
        text if text.trim().is_empty() => {
            let calls: Vec<_> = view
                .calls()
                .map(|(_, name, input)| format!("→ {name} {input}"))
                .collect();
            if calls.is_empty() {
                view.remark.clone().unwrap_or_default()
            } else {
                calls.join(" ")
            }
        }
        text => text,
    });
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        return Ok(());
    };
    let who = entry.kind.role().unwrap_or(entry.word);
    let lead = format!(
        "{} {} ",
        one_line(&cut(&entry.session.to_string(), 20)),
        one_line(who)
    );
    let room = app
        .width
        .saturating_sub(crate::terminal::columns(&lead))
        .max(20);
    out.line(&format!(
        "{}{}",
        out.paint(Style::Faint, &lead),
        cut(&one_line(&text), room)
    ))
}
