//! `secrets`: lists keys and passwords that sessions contain.

use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::scrub::ScrubScope;
use boswell_app::secrets::{SecretShape, SecretsRequest, SecretsStep};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::Args;

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, fit, one_line};
use crate::words::count;

/// Find keys and passwords in sessions, and remove them
#[derive(Debug, Args)]
#[command(
    after_help = "Finds keys of known forms, passwords in URLs, commands and headers, and values
of names such as `api_key`. Secrets are never printed. Exit code 1: some found.

Examples:
  boswell secrets @last
  boswell secrets --json | jq -r .kind | sort | uniq -c
  boswell secrets --scrub 0b7e --apply"
)]
pub(crate) struct SecretsArgs {
    /// Sessions [default: all]
    sessions: Vec<String>,
    /// Replace them in the agents' files, vault, notes and index; asks first, or needs --apply
    /// where there is no terminal
    #[arg(long)]
    scrub: bool,
    /// With --scrub: in all sessions
    #[arg(long, requires = "scrub", conflicts_with = "sessions")]
    all: bool,
    /// With --scrub: do not ask; this cannot be undone
    #[arg(long, requires = "scrub")]
    apply: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl SecretsArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        let one = self.sessions.first().filter(|_| self.sessions.len() == 1);
        let one = one.map(String::as_str);
        Elsewhere::about(&self.host, one).without("--scrub", self.scrub)
    }
}

impl SecretsArgs {
    fn scrubbed(&self) -> super::scrub::Wanted {
        let scope = if self.all {
            ScrubScope::All
        } else {
            ScrubScope::Named(self.sessions.clone())
        };
        let apply = self.apply;
        super::scrub::Wanted { scope, apply }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SecretsArgs) -> Result<ExitCode> {
    if args.scrub {
        return super::scrub::run(app, args.scrubbed());
    }
    let request = SecretsRequest {
        sessions: args.sessions.clone(),
    };
    let mut out = Output::paged(app);
    let mut progress = None;
    let mut headed = false;
    let mut print = |step| {
        match step {
            SecretsStep::Session(total) => {
                headed = false;
                let start = || Progress::new("searching for secrets, session", total, app.quiet);
                progress.get_or_insert_with(start).tick();
            }
            SecretsStep::Secret(secret) if app.json => out.object(&secret.object())?,
            SecretsStep::Secret(secret) => {
                if !std::mem::replace(&mut headed, true) {
                    out.line(&out.paint(Style::Strong, &heading(&secret)))?;
                }
                out.line(&line(&secret))?;
            }
        }
        Ok(!out.gone())
    };
    let found = app.requests.secrets(&request, &Cancel::new(), &mut print);
    drop(progress);
    let found = app.shown(found)?;
    if !app.json && found.secrets == 0 {
        let sessions = count(found.sessions, "session", "sessions");
        out.line(&format!("no secrets in {sessions}"))?;
    }
    out.finish()?;
    Ok(if found.secrets > 0 {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn heading(secret: &SecretShape) -> String {
    match &secret.path {
        Some(path) => one_line(path),
        None => secret.session.clone(),
    }
}

fn line(secret: &SecretShape) -> String {
    format!(
        "  line {:>6}  {}  {}  {}",
        secret.line.unwrap_or(0),
        fit(secret.kind, 20),
        fit(&one_line(&secret.shown), 20),
        one_line(&secret.entry)
    )
}
