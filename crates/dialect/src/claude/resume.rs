//! The client's own command that takes a session up again.

use boswell_model::Facts;

use crate::{Located, ResumeCommand};

/// How each version is told to resume: from that version on, the words before the id.
///
/// Never more than the id is passed on: a session that ran without permission checks does not do so again unasked.
pub const RESUME_COMMANDS: &[(&str, &[&str])] = &[("1.0", &["claude", "--resume"])];

/// The command for a session in the folder that it was held in.
pub(super) fn resume(facts: &Facts, located: &Located) -> Option<ResumeCommand> {
    if located.hidden.is_some() || !super::discover::is_uuid(&located.id) {
        return None;
    }
    let (_, words) = RESUME_COMMANDS.last()?;
    let mut argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    argv.push(located.id.clone());
    Some(ResumeCommand { argv, cwd: facts.project.clone() })
}
