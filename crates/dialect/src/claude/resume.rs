//! The client's own command that resumes a session.
//!
//! The permission mode that the session last had is given only with `--same-permissions`; else a
//! session that ran without questions is resumed so that it asks.

use boswell_model::SessionMeta;

use crate::uuid::is_uuid;
use crate::{Permissions, ResumeCommand, SessionLocation};

/// The resume command by version: from that version on, the arguments before the id.
pub const RESUME_COMMANDS: &[(&str, &[&str])] = &[("1.0", &["claude", "--resume"])];

/// Permission modes that the command line accepts.
const MODES: [&str; 5] = ["default", "acceptEdits", "plan", "dontAsk", "auto"];

/// Returns the command for a session, to be run in its project folder.
///
/// Data from the session reaches the command line only as a validated id and as one of the words
/// above. A session that ran without permission checks does not do so again unless the user asks
/// for it: the client is started with permission prompts, regardless of the log.
pub(super) fn resume(
    meta: &SessionMeta,
    location: &SessionLocation,
    permissions: Permissions,
) -> Option<ResumeCommand> {
    if location.hidden.is_some() || !is_uuid(&location.id) {
        return None;
    }
    let (_, words) = RESUME_COMMANDS.last()?;
    let mut argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    argv.push(location.id.clone());
    let mode = meta.permission_mode.as_deref();
    let more: &[&str] = match (permissions, mode) {
        (Permissions::Same, Some("bypassPermissions")) => &["--dangerously-skip-permissions"],
        (Permissions::Same, Some(mode)) => match MODES.iter().find(|known| **known == mode) {
            Some(known) => &["--permission-mode", known],
            None => &[],
        },
        (Permissions::Asked, Some("bypassPermissions" | "dontAsk")) => {
            &["--permission-mode", "default"]
        }
        (_, _) => &[],
    };
    argv.extend(more.iter().map(|word| (*word).to_owned()));
    Some(ResumeCommand {
        argv,
        cwd: meta.project.clone(),
    })
}
