//! `fetch`: a session of the team, for its agent here.

use std::path::PathBuf;
use std::process::ExitCode;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_app::sharing::{FetchRequest, FetchedFiles};
use boswell_model::{Error, ErrorKind, Result};
use boswell_team::{TeamClient, TeamManifest, TeamSession};
use clap::Args;

use super::copy;
use super::team_login::TeamLogin;
use crate::app::App;
use crate::confirm::{Agreed, Planned, ask};
use crate::output::Output;

/// How often a fetch is begun that a push overtakes.
const TRIES: u32 = 3;

/// Fetch a session of your team, for its agent here
///
/// The log and its side files go into the agent's own folder. Settings, hooks, plugins and memory
/// are never written, and permission modes are set back to the one that asks. A redacted session
/// becomes a session of its own with the tag `redacted`, so that it never replaces an original.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell fetch 0b7e                        show what is written, and ask
  boswell fetch alice/claude:0b7e --project ~/src/shop --apply")]
pub(crate) struct FetchArgs {
    /// Session of the team: DIALECT:ID or the start of an id, with `OWNER/` before it if needed
    session: String,
    /// The project folder here, if it is another than there
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Do it without asking; needed where there is no terminal
    #[arg(long)]
    apply: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &FetchArgs) -> Result<ExitCode> {
    let login = TeamLogin::open(app)?;
    let found = find(&login, &args.session)?;
    let (manifest, files) = receive(&login, &found)?;
    let request = FetchRequest {
        session: found.session.clone(),
        owner: found.owner.clone(),
        redacted: manifest.redacted,
        files,
        project: args.project.clone(),
    };
    let plan = app.shown(app.requests.plan_fetch(&request))?;
    let mut out = Output::plain(app);
    copy::show(&plan, &mut out)?;
    if !plan.steps.is_empty()
        && let Agreed::No(code) = ask(app, args.apply, Planned::Copy)?
    {
        out.finish()?;
        return Ok(code);
    }
    let copied = app.shown(app.requests.copy(&plan))?;
    login.clear_incoming();
    if manifest.redacted {
        mark(app, &copied.reference.to_string())?;
    }
    copy::print(copied, &mut out)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Marks a session whose secrets were replaced.
fn mark(app: &App, session: &str) -> Result<()> {
    let request = AnnotateRequest {
        session: session.to_owned(),
        annotation: Annotation::Tags {
            add: vec!["redacted".to_owned()],
            remove: Vec::new(),
        },
    };
    app.shown(app.requests.annotate(&request)).map(drop)
}

/// Receives a session as a whole. A push meanwhile may take parts away: then it is begun again.
fn receive(login: &TeamLogin, found: &TeamSession) -> Result<(TeamManifest, FetchedFiles)> {
    let mut tries = 1;
    loop {
        let (manifest, _) = login.client.read(&found.owner, &found.session)?;
        let mut part = |name: &str| login.part(&found.owner, &found.session, name);
        let files: Result<FetchedFiles> = manifest
            .files
            .iter()
            .map(|file| Ok((file.name.clone(), TeamClient::assemble(file, &mut part)?)))
            .collect();
        match files {
            Err(error) if error.is_not_found() && tries < TRIES => tries += 1,
            files => return Ok((manifest, files?)),
        }
    }
}

/// Finds the one session of the team that a name names: `[OWNER/][DIALECT:]BEGINNING-OF-ID`.
pub(crate) fn find(login: &TeamLogin, named: &str) -> Result<TeamSession> {
    let (owner, rest) = match named.split_once('/') {
        Some((owner, rest)) => (Some(owner), rest),
        None => (None, named),
    };
    let fits = |it: &TeamSession| {
        let id = it.session.split_once(':').map_or("", |(_, id)| id);
        let is_named = it.session.starts_with(rest) || id.starts_with(rest);
        is_named && owner.is_none_or(|owner| owner == it.owner)
    };
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let (rows, next) = login.client.sessions(None, Some(rest), after.as_deref())?;
        found.extend(rows.into_iter().filter(fits));
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let exact = found.iter().position(|it| it.session == rest);
    match (exact.filter(|_| owner.is_some()), found.len()) {
        (Some(at), _) => Ok(found.swap_remove(at)),
        (None, 1) => Ok(found.swap_remove(0)),
        (None, 0) => {
            let what = format!("the team has no session `{}`", named.escape_debug());
            Err(Error::new(ErrorKind::NotFound, what)
                .because("there is none, or it is not shared with you")
                .advising("`boswell team list` lists those that you can fetch"))
        }
        (None, many) => {
            let names = found
                .iter()
                .take(5)
                .map(|it| format!("{}/{}", it.owner, it.session));
            let names: Vec<String> = names.collect();
            let what = format!("`{}` names {many} sessions", named.escape_debug());
            Err(Error::new(ErrorKind::Invalid, what)
                .advising(format!("write one of {}", names.join(", "))))
        }
    }
}
