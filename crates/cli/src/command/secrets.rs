//! `secrets`: keys and passwords that sessions hold.

use std::process::ExitCode;

use boswell_app::scrub::ScrubScope;
use boswell_dialect::Depth;
use boswell_find::Secrets;
use boswell_model::json::Json;
use boswell_model::{Result, Slot};
use boswell_store::{Resolved, Session};
use clap::Args;

use crate::app::App;
use crate::output::Output;
use crate::progress::Progress;
use crate::terminal::{Style, fit, one_line};

/// List keys and passwords that sessions hold, or replace them; never shows them
#[derive(Debug, Args)]
#[command(
    after_help = "Found are keys of known forms, passwords in addresses, commands and headers, and what names such as `api_key` are set to.
Exit code 1 says that some were found.

Examples:
  boswell secrets @last
  boswell secrets --json | jq -r .kind | sort | uniq -c
  boswell secrets --scrub 0b7e --apply"
)]
pub(crate) struct SecretsArgs {
    /// Sessions [default: all that are found]
    sessions: Vec<String>,
    /// Replace them: in the agents' own files, the vault, notes and index; asks on a terminal,
    /// elsewhere a plan unless --apply
    #[arg(long)]
    scrub: bool,
    /// With --scrub: all sessions
    #[arg(long, requires = "scrub", conflicts_with = "sessions")]
    all: bool,
    /// With --scrub: do it without being asked; it cannot be undone
    #[arg(long, requires = "scrub")]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SecretsArgs) -> Result<ExitCode> {
    let secrets = Secrets::new()?;
    if args.scrub {
        let scope = if args.all {
            ScrubScope::All
        } else {
            ScrubScope::Named(args.sessions.clone())
        };
        let apply = args.apply;
        return super::scrub::run(app, super::scrub::Wanted { scope, apply });
    }
    let found: Vec<Resolved> = if args.sessions.is_empty() {
        let (held, errors) = app.stores.held();
        errors
            .iter()
            .for_each(|(_, error)| crate::error_report::warn(error));
        let with_store = |held: boswell_store::StoredSession| {
            Some(Resolved {
                store: app.stores.get(held.store)?.clone(),
                location: held.location,
            })
        };
        held.into_iter()
            .filter(|held| held.location.key.is_some())
            .filter_map(with_store)
            .collect()
    } else {
        args.sessions
            .iter()
            .map(|session| app.resolve(session))
            .collect::<Result<_>>()?
    };
    let mut out = Output::paged(app);
    let mut progress = Progress::new("looking for secrets, session", found.len(), app.quiet);
    let mut total = 0;
    for it in &found {
        progress.tick();
        if out.gone() {
            break;
        }
        match it.store.read(&it.location, Depth::Heads) {
            Ok(session) => total += look(&secrets, &session, &mut out)?,
            Err(error) => crate::error_report::warn(&error),
        }
    }
    drop(progress);
    if !out.json && total == 0 {
        out.line(&format!("no secrets in {} sessions", found.len()))?;
    }
    out.finish()?;
    Ok(if total > 0 {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn look(secrets: &Secrets, session: &Session, out: &mut Output) -> Result<usize> {
    let mut count = 0;
    for slot in session.log().slots() {
        let bytes = session.view().payload(slot)?;
        for secret in secrets.find(&bytes) {
            if bytes
                .get(secret.range.clone())
                .is_some_and(boswell_find::is_removed)
            {
                continue;
            }
            if count == 0 && !out.json {
                let name = session
                    .path()
                    .map_or_else(|| session.reference().to_string(), one_line);
                out.line(&out.paint(Style::Strong, &name))?;
            }
            count += 1;
            print(session, slot, secret.kind, &secret.masked(&bytes), out)?;
        }
    }
    Ok(count)
}

fn print(session: &Session, slot: Slot, kind: &str, shown: &str, out: &mut Output) -> Result<()> {
    let log = session.log();
    let line = log.head(slot).map(|head| u64::from(head.line));
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "secret")
                .with("session", session.reference().to_string())
                .with("path", session.path())
                .with("entry", log.label(slot))
                .with("line", line)
                .with("kind", kind)
                .with("shown", shown),
        );
    }
    out.line(&format!(
        "  line {:>6}  {}  {}  {}",
        line.unwrap_or(0),
        fit(kind, 20),
        fit(&one_line(shown), 20),
        one_line(&log.label(slot))
    ))
}
