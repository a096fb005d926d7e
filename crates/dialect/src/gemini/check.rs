//! Problems that only Gemini CLI has.

use boswell_model::{Advice, EntryKind, Flags, Problem, ProblemKind, SessionMeta, SessionView};

/// Name of the metadata about the empty file beside a session.
pub(super) const DOOMED_BY: &str = "doomedBy";

/// Adds the problems of a session.
pub(super) fn check(view: &SessionView<'_>, meta: &SessionMeta, problems: &mut Vec<Problem>) {
    if let Some(stub) = meta.metadata.get(DOOMED_BY) {
        let detail = format!(
            "Gemini CLI deletes this session at its next start: `{stub}`, which has the same id \
             and no message, stands beside it"
        );
        problems.push(Problem::of_file(ProblemKind::LostSoon, detail).advising(Advice::KeepNow));
    }
    let speaks = |kind: EntryKind, flags: Flags| {
        let is_said = matches!(
            kind,
            EntryKind::User | EntryKind::Assistant | EntryKind::Compaction
        );
        is_said && !flags.has(Flags::HIDDEN)
    };
    let mut heads = view.log.heads.iter();
    if !view.log.heads.is_empty() && !heads.any(|head| speaks(head.kind, head.flags)) {
        let detail = "it contains no message: Gemini CLI does not list it, and may delete it";
        problems.push(Problem::of_file(ProblemKind::Empty, detail));
    }
}
