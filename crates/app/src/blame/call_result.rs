//! Whether a call succeeded, when, and for which prompt.

use boswell_model::{EntryKind, Flags, Instant, Part, Slot};
use boswell_store::Session;

/// How far behind a call its result is looked for, in entries.
const RESULT_WITHIN: u32 = 400;

/// The result of a call that succeeded.
#[derive(Debug)]
pub(super) struct CallResult {
    /// The entry with it; `None` if the agent records no results.
    pub(super) slot: Option<Slot>,
    pub(super) text: String,
}

impl CallResult {
    /// Finds the result of a call; `None` if it failed, or was never finished. `has_results` is
    /// whether the log has results of calls, once that was looked up.
    pub(super) fn of(
        session: &Session,
        call: Slot,
        id: &str,
        has_results: &mut Option<bool>,
    ) -> Option<CallResult> {
        let end = u32::try_from(session.log().heads.len()).unwrap_or(u32::MAX);
        let end = end.min(call.0.saturating_add(RESULT_WITHIN));
        for slot in (call.0..end).map(Slot) {
            let Some(view) = session.entry(slot).ok().and_then(|entry| entry.view) else {
                continue;
            };
            for part in view.parts {
                if let Part::Result {
                    call,
                    text,
                    is_error,
                } = part
                    && call == id
                {
                    let slot = Some(slot);
                    let is_done = !is_error && !says_failure(&text);
                    return is_done.then_some(CallResult { slot, text });
                }
            }
        }
        // Some agents record no results. With others a call without one was interrupted.
        let has_results = *has_results.get_or_insert_with(|| records_results(session));
        (!has_results).then(|| CallResult {
            slot: None,
            text: String::new(),
        })
    }
}

/// Whether a result says that nothing was done. Not every agent marks such results.
fn says_failure(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let first = first.to_lowercase();
    let begins = [
        "error",
        "failed",
        "rejected",
        "denied",
        "aborted",
        "cancelled",
        "canceled",
    ];
    let contains = [
        "verification failed",
        "user rejected",
        "rejected by user",
        "user denied",
        "doesn't want to proceed",
        "exit code: 1",
        "no replacement was performed",
        "string not found",
        "string to replace not found",
    ];
    begins.iter().any(|word| first.starts_with(word))
        || contains.iter().any(|words| first.contains(words))
}

fn records_results(session: &Session) -> bool {
    let views = session.log().slots().take(RESULT_WITHIN as usize);
    let mut views = views.filter_map(|slot| session.entry(slot).ok()?.view);
    views.any(|view| view.results().next().is_some())
}

/// The time of an entry, else that of the one before it.
pub(super) fn head_time(session: &Session, slot: Slot) -> Option<Instant> {
    let heads = (0..=slot.0).rev().map(Slot);
    let mut times = heads.map(|slot| session.log().head(slot)?.instant());
    times.find_map(|time| time)
}

/// The prompt that a call belongs to.
pub(super) fn prompt_of(session: &Session, slot: Slot) -> Option<Slot> {
    let view = session.view();
    let mut above = view.tree.ancestors(slot).skip(1);
    above.find(|slot| {
        let is_user = session
            .log()
            .head(*slot)
            .is_some_and(|head| head.kind == EntryKind::User && !head.flags.has(Flags::HIDDEN));
        let view = || session.entry(*slot).ok()?.view;
        is_user
            && view().is_some_and(|view| {
                let is_text = |part: &Part| matches!(part, Part::Text(it) if !it.trim().is_empty());
                !view.hidden && view.parts.iter().any(is_text)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_say_that_nothing_was_done_are_failures() {
        assert!(says_failure("Error: no such file"));
        assert!(says_failure(
            "apply_patch verification failed: expected lines"
        ));
        assert!(says_failure(
            "The user doesn't want to proceed with this tool use."
        ));
        assert!(!says_failure(
            "Success. Updated the following files:\nM error.rs"
        ));
        assert!(!says_failure("The file /w/errors.rs has been updated."));
    }
}
