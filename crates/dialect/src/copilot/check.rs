//! What Copilot CLI refuses: measured with version 1.0.102.

use boswell_model::{EntryKind, Problem, ProblemKind, Result, SessionView};

use crate::uuid::is_uuid;

/// Adds the problems that make the program refuse a session.
pub(super) fn check(view: &SessionView<'_>, problems: &mut Vec<Problem>) -> Result<()> {
    let log = view.log;
    if log.heads.is_empty() {
        return Ok(());
    }
    if !log.heads.iter().any(|head| head.kind == EntryKind::Header) {
        let detail = "no event `session.start`: Copilot CLI refuses the session as corrupted";
        problems.push(Problem::of_file(ProblemKind::BadHeader, detail));
    }
    let is_named =
        |head: &boswell_model::Head| head.id.is_some_and(|id| is_uuid(log.names.text(id)));
    if let Some((slot, head)) = log.entries().find(|(_, head)| !is_named(head)) {
        let detail = "its `id` is not a UUID: Copilot CLI refuses the whole session".to_owned();
        problems.push(Problem {
            kind: ProblemKind::MissingId,
            line: Some(head.line.into()),
            slot: Some(slot),
            detail,
            advice: None,
        });
    }
    Ok(())
}
