//! `share`: pushes sessions to the server of a team.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::list::{ListRequest, SessionFilter};
use boswell_app::sharing::{PackRequest, PackedSession, Packing, SecretPlace};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_team::{PushReport, TeamManifest};
use clap::Args;

use super::team_login::TeamLogin;
use crate::app::App;
use crate::error_report::{self, say};
use crate::output::Output;
use crate::words::{count, size};

/// Push sessions to your team's server
///
/// The log and its side files are sent as they are, and only what the server does not have. A
/// pushed session is yours alone until it is shared with a project or the team. Secrets are looked
/// for first: a session that has some is refused, unless `--redact` replaces them in what is sent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell share @last                       push it: only you can fetch it
  boswell share 0b7e --to shop --redact     for the project `shop`, without secrets
  boswell share --project ~/src/shop --to team
  boswell share 0b7e --take-back shop       nobody of `shop` sees it any more")]
pub(crate) struct ShareArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    #[arg(required_unless_present = "project", conflicts_with = "project")]
    session: Option<String>,
    /// Every session of this project folder
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Share it with this project of the team, or with everybody: `team`
    #[arg(long, value_name = "PROJECT")]
    to: Vec<String>,
    /// Take it back from this project, or from `team`; nothing is pushed
    #[arg(long, value_name = "PROJECT", conflicts_with_all = ["to", "redact", "replace"])]
    take_back: Vec<String>,
    /// Replace secrets in what is sent; the session here stays as it is
    #[arg(long)]
    redact: bool,
    /// Replace what is on the server, although it is not the beginning of what is here
    #[arg(long)]
    replace: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ShareArgs) -> Result<ExitCode> {
    let login = TeamLogin::open(app)?;
    let mut out = Output::plain(app);
    let mut failed = Vec::new();
    for session in sessions(app, args)? {
        let done = match args.take_back.is_empty() {
            true => share(app, args, (&login, &session), &mut out),
            false => take_back(args, (&login, &session), &mut out),
        };
        match done {
            Ok(()) => {}
            // One of many that cannot be shared does not keep the others back.
            Err(error) if args.project.is_some() && error.kind() != ErrorKind::Unavailable => {
                failed.push(error);
            }
            Err(error) => return Err(error),
        }
    }
    out.finish()?;
    failed.iter().for_each(error_report::warn);
    Ok(error_report::left_out(app, &failed))
}

/// Returns the sessions that were named.
fn sessions(app: &App, args: &ShareArgs) -> Result<Vec<String>> {
    if let Some(session) = &args.session {
        return Ok(vec![session.clone()]);
    }
    let folder = args.project.clone().unwrap_or_default();
    let cwd = &app.requests.environment().cwd;
    let folder = cwd.join(folder);
    let folder = folder.canonicalize().unwrap_or(folder);
    let request = ListRequest {
        filter: SessionFilter {
            project: Some(folder.display().to_string()),
            ..SessionFilter::default()
        },
        ..ListRequest::default()
    };
    let page = app.shown(app.requests.list(&request))?;
    let rows = page.rows.iter().map(|row| &row.conversation.front.1);
    let names: Vec<String> = rows.map(|it| it.reference.to_string()).collect();
    if names.is_empty() {
        let what = format!("`{}` has no sessions", folder.display());
        return Err(Error::new(ErrorKind::NotFound, what)
            .advising("`boswell projects` lists folders with sessions"));
    }
    Ok(names)
}

fn share(
    app: &App,
    args: &ShareArgs,
    (login, session): (&TeamLogin, &str),
    out: &mut Output,
) -> Result<()> {
    let request = PackRequest {
        session: session.to_owned(),
        redact: args.redact,
    };
    let packed = match app.shown(app.requests.pack(&request))? {
        Packing::Ready(packed) => packed,
        Packing::Secrets(reference, places) => return Err(refused(&reference, &places)),
    };
    let name = packed.reference.to_string();
    let about = about(&packed);
    let own = (login.person.as_str(), name.as_str());
    let report = login.client.push(own, about, &packed.files, args.replace)?;
    for project in &args.to {
        login.client.share(own, project, true)?;
    }
    print(&packed, args, &report, out)
}

fn about(packed: &PackedSession) -> TeamManifest {
    TeamManifest {
        dialect: packed.reference.dialect.clone(),
        title: Some(packed.title.clone()),
        folder: packed.folder.clone(),
        redacted: packed.redacted,
        active: packed.active,
        files: Vec::new(),
    }
}

/// Names where the secrets are.
fn refused(reference: &SessionRef, places: &[SecretPlace]) -> Error {
    for place in places.iter().take(20) {
        say(&format!("{}:{}: {}", place.file, place.line, place.kind));
    }
    let many = count(places.len(), "secret", "secrets");
    let what = format!("{reference} has {many}, and nothing was sent");
    Error::new(ErrorKind::Denied, what).advising(
        "share it with `--redact`, or remove them for good with `boswell secrets --scrub`",
    )
}

fn print(
    packed: &PackedSession,
    args: &ShareArgs,
    report: &PushReport,
    out: &mut Output,
) -> Result<()> {
    if out.json {
        let object = Json::object()
            .with("ref", packed.reference.to_string())
            .with("revision", report.revision)
            .with("parts", report.parts)
            .with("bytes", report.bytes)
            .with("redacted", packed.redacted);
        return out.object(&object.with("projects", args.to.clone()));
    }
    let done = match report.same {
        true => "is there already".to_owned(),
        false => format!("was pushed ({} sent)", size(report.bytes)),
    };
    let redacted = if packed.redacted { ", redacted" } else { "" };
    let with = match args.to.is_empty() {
        true => "yours alone unless it was shared before".to_owned(),
        false => format!("shared with {}", args.to.join(", ")),
    };
    let revision = report.revision;
    out.line(&format!(
        "{} {done}{redacted}: revision {revision}, {with}",
        packed.reference
    ))
}

fn take_back(
    args: &ShareArgs,
    (login, session): (&TeamLogin, &str),
    out: &mut Output,
) -> Result<()> {
    let name = own_name(login, session)?;
    for project in &args.take_back {
        login.client.share((&login.person, &name), project, false)?;
        if !out.json {
            out.line(&format!("{name} was taken back from {project}"))?;
        }
    }
    Ok(())
}

/// Returns the full name of a session of one's own on the server: it need not be here any more.
fn own_name(login: &TeamLogin, named: &str) -> Result<String> {
    let found = super::fetch::find(login, &format!("{}/{named}", login.person))?;
    Ok(found.session)
}
