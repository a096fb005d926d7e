//! `tag` and `untag`.

use std::process::ExitCode;

use boswell_dialect::EditRequest;
use boswell_model::{Result, SessionMeta};
use boswell_store::NoteKind;
use clap::Args;

use super::note::annotate_or_note_again;
use crate::app::App;

/// Tag a session
#[derive(Debug, Args)]
#[command(
    after_help = "A session with the tag `pinned` stays where it is: `archive` and `clean` leave it out.

Examples:
  boswell tag @last release urgent
  boswell tag 0b7e pinned && boswell list --tag pinned"
)]
pub(crate) struct TagArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Tags to add
    #[arg(required = true)]
    tags: Vec<String>,
}

/// Take tags from a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell untag @last urgent
  boswell untag 0b7e release urgent")]
pub(crate) struct UntagArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Tags to take away
    #[arg(required = true)]
    tags: Vec<String>,
}

/// Runs `tag`.
pub(crate) fn tag(app: &App, args: &TagArgs) -> Result<ExitCode> {
    change(app, &args.session, &args.tags, &[])
}

/// Runs `untag`.
pub(crate) fn untag(app: &App, args: &UntagArgs) -> Result<ExitCode> {
    change(app, &args.session, &[], &args.tags)
}

fn change(app: &App, session: &str, add: &[String], remove: &[String]) -> Result<ExitCode> {
    let found = app.resolve_front_for_writing(session)?;
    let retagged = |meta: &SessionMeta| {
        let mut tags: Vec<String> = meta
            .tags
            .iter()
            .filter(|tag| !remove.contains(tag))
            .cloned()
            .collect();
        for tag in add {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        EditRequest::Tags(tags)
    };
    let added = add.iter().cloned().map(NoteKind::Tag);
    let notes = added
        .chain(remove.iter().cloned().map(NoteKind::Untag))
        .collect();
    let annotate = || found.store.retag(&found.location.id, add, remove);
    annotate_or_note_again(app, &found, &retagged, &annotate, notes)
}
