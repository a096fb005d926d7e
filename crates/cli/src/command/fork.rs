//! `fork`: a new session from a branch.

use std::process::ExitCode;

use boswell_dialect::{
    Capability, Depth, EditRequest, ForkScope, ForkStyle, NewSession, Surroundings, unsupported,
};
use boswell_model::{Error, ErrorKind, Result, SessionRef, Tip};
use boswell_store::{Outcome, Resolved};
use clap::{Args, ValueEnum};

use super::planned_change;
use crate::app::App;
use crate::json_shape;
use crate::output::Output;

/// Make a new session from a branch, with lineage
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell fork @last
  boswell fork 0b7e --at a1b2c3d4 --title 'second try'")]
pub(crate) struct ForkArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Up to this entry [default: where the conversation stands]
    #[arg(long, value_name = "E")]
    at: Option<String>,
    /// Title of the new session
    #[arg(long)]
    title: Option<String>,
    /// Id of the new session
    #[arg(long)]
    id: Option<String>,
    /// How Claude's are written: entries keep their ids (client), or get new ones (sdk)
    #[arg(long, value_enum, default_value_t = Style::Client)]
    style: Style,
    /// Every branch, with what lies beside the log
    #[arg(long, conflicts_with = "at")]
    whole: bool,
    /// Folder of the new session [default: that of the old one]
    #[arg(long, value_name = "P")]
    project: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    Client,
    Sdk,
}

impl ForkArgs {
    fn new_session(&self, app: &App) -> NewSession {
        let project = self.project.as_ref().map(|project| {
            let project = app.env.cwd.join(project);
            project
                .canonicalize()
                .unwrap_or(project)
                .display()
                .to_string()
        });
        NewSession {
            id: self.id.clone(),
            title: self.title.clone(),
            project: project.unwrap_or_default(),
            copies: if self.whole {
                ForkScope::Everything
            } else {
                ForkScope::Branch
            },
            style: match self.style {
                Style::Client => ForkStyle::Client,
                Style::Sdk => ForkStyle::Sdk,
            },
            around: Surroundings::of(&app.env),
            ..NewSession::default()
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ForkArgs) -> Result<ExitCode> {
    let found = app.resolve_for_writing(&args.session)?;
    let facts = found.store.dialect().facts();
    if args.style == Style::Sdk && !facts.has_sdk_forks {
        return Err(unsupported(
            facts.name,
            "be forked as Claude's SDK does it",
            "leave out --style",
        ));
    }
    if found.store.dialect().powers().plans(Capability::Fork) {
        return by_plan(app, args, &found);
    }
    let writer = found.store.fork(
        &found.location.id,
        args.at.as_deref(),
        args.new_session(app),
    )?;
    let reference = writer.reference().clone();
    writer.close(Outcome::Open)?;
    print(app, &found, &reference)
}

fn by_plan(app: &App, args: &ForkArgs, found: &Resolved) -> Result<ExitCode> {
    let session = found.store.read(&found.location, Depth::Heads)?;
    let at = match &args.at {
        Some(entry) => Tip::At(session.find(entry)?),
        None => session.tip()?,
    };
    let new = args.new_session(app);
    if let Some(id) = new
        .id
        .as_deref()
        .filter(|id| !found.store.dialect().id_is_valid(id))
    {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .hinting("leave --id out to have one made"));
    }
    let new = NewSession {
        parent: Some(found.store.lineage(&session, new.copies)),
        ..new
    };
    let done = planned_change::execute(app, found, &EditRequest::Fork { at, new })?;
    let id = done.planned.session.unwrap_or_default();
    print(
        app,
        found,
        &SessionRef::new(found.store.dialect().name(), &id),
    )
}

fn print(app: &App, found: &Resolved, reference: &SessionRef) -> Result<ExitCode> {
    let mut out = Output::paged(app);
    if out.json {
        let summary = found.store.summary(&found.store.find(&reference.id)?)?;
        out.object(&json_shape::session(
            &summary,
            Some(&found.store),
            &[],
            None,
        ))?;
    } else {
        out.line(&reference.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
