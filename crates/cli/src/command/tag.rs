//! `tag` and `untag`.

use std::process::ExitCode;

use boswell_app::annotate::{AnnotateRequest, Annotation};
use boswell_model::Result;
use clap::Args;

use crate::app::App;
use crate::words::acknowledgement;

/// Add tags to a session
#[derive(Debug, Args)]
#[command(
    after_help = "`archive` and `clean` skip sessions with the tag `pinned`.

Examples:
  boswell tag @last release urgent
  boswell tag 0b7e pinned && boswell list --tag pinned"
)]
pub(crate) struct TagArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Tags to add
    #[arg(required = true)]
    tags: Vec<String>,
}

/// Remove tags from a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell untag @last urgent
  boswell untag 0b7e release urgent")]
pub(crate) struct UntagArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Tags to remove
    #[arg(required = true)]
    tags: Vec<String>,
}

/// Runs `tag`.
pub(crate) fn tag(app: &App, args: &TagArgs) -> Result<ExitCode> {
    let annotation = Annotation::Tags {
        add: args.tags.clone(),
        remove: Vec::new(),
    };
    change(app, &args.session, annotation)
}

/// Runs `untag`.
pub(crate) fn untag(app: &App, args: &UntagArgs) -> Result<ExitCode> {
    let annotation = Annotation::Tags {
        add: Vec::new(),
        remove: args.tags.clone(),
    };
    change(app, &args.session, annotation)
}

fn change(app: &App, session: &str, annotation: Annotation) -> Result<ExitCode> {
    let request = AnnotateRequest {
        session: session.to_owned(),
        annotation,
    };
    let done = app.shown(app.requests.annotate(&request))?;
    acknowledgement::answer(app, done)
}
