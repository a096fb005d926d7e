//! Computes the context for a tip: the path to the tip, with the last compaction on it instead of
//! everything before.

use boswell_model::json::{Object, RawKind};
use boswell_model::{
    Context, ContextForm, ContextItem, EntryKind, Head, Result, SessionView, Slot, Tip,
};

use super::compaction::first_kept;
use super::head::{SPEAKS, version_of};
use super::link_scheme::{agent_path, header};
use super::{Flavour, settings};

/// Computes the context for `tip` as the agent does.
pub(super) fn context(flavour: Flavour, view: &SessionView<'_>, tip: Tip) -> Result<Context> {
    let path = agent_path(view, tip);
    let settings = settings::gather(flavour, view, &path)?;
    let mut items = Vec::new();
    let mut sent = path.as_slice();
    // Only the last compaction counts; older ones among the entries that it preserves have no
    // effect.
    let compacted = path
        .iter()
        .rposition(|slot| view.log.kind(*slot) == EntryKind::Compaction);
    let cleared = cleared(flavour, view, &path);
    if let Some(at) = cleared.filter(|at| Some(*at) > compacted) {
        sent = path.get(at + 1..).unwrap_or(&[]);
    } else if let Some(at) = compacted
        && let Some((before, [compaction, after @ ..])) = path.split_at_checked(at)
    {
        items.push(ContextItem::with_form(
            *compaction,
            ContextForm::CompactionSummary,
        ));
        let kept = view.with_object(*compaction, |entry| {
            if flavour.has_remote_compaction() && remote_history(entry) {
                return None;
            }
            first_kept(view.log, before, entry)
        })?;
        if let Some(from) = kept.flatten() {
            speak(view, before.get(from..).unwrap_or(&[]), &mut items)?;
        }
        sent = after;
    }
    speak(view, sent, &mut items)?;
    Ok(Context {
        tip,
        items,
        settings,
    })
}

/// Returns where the user of oh-my-pi last cleared the conversation: nothing before that is sent.
/// Only oh-my-pi writes this entry, and the other programs ignore it.
fn cleared(flavour: Flavour, view: &SessionView<'_>, path: &[Slot]) -> Option<usize> {
    if flavour != Flavour::Omp {
        return None;
    }
    path.iter()
        .rposition(|slot| view.log.word(*slot) == "reset_boundary")
}

/// Whether a provider compacted the conversation itself. Then its own history replaces the
/// preserved entries.
pub(super) fn remote_history(compaction: &Object<'_>) -> bool {
    let remote = compaction
        .get("preserveData")
        .and_then(|d| d.get("openaiRemoteCompaction"));
    remote.is_some_and(|remote| {
        remote
            .get("provider")
            .and_then(|p| p.string())
            .is_some_and(|p| !p.escaped().is_empty())
            && remote
                .get("replacementHistory")
                .is_some_and(|h| h.kind() == RawKind::Array)
    })
}

fn speak(view: &SessionView<'_>, path: &[Slot], items: &mut Vec<ContextItem>) -> Result<()> {
    for slot in path {
        let Some(head) = view.log.head(*slot).filter(|h| h.flags.has(SPEAKS)) else {
            continue;
        };
        let mut item = ContextItem::stored(*slot);
        if head.kind == EntryKind::BranchSummary && view.log.word(*slot) == "branch_summary" {
            item.form = ContextForm::BranchSummary;
        }
        // Version 3 renamed a role. The header decides whether the new name applies, so it is
        // passed along for the few messages concerned.
        if may_be_renamed(view, *slot, head) {
            item.more.extend(old_header(view)?);
        }
        items.push(item);
    }
    Ok(())
}

fn may_be_renamed(view: &SessionView<'_>, slot: Slot, head: &Head) -> bool {
    head.kind == EntryKind::CustomMessage && view.log.word(slot) == "message"
}

fn old_header(view: &SessionView<'_>) -> Result<Option<Slot>> {
    let Some(slot) = header(view.log) else {
        return Ok(None);
    };
    let version = view.with_object(slot, version_of)?.flatten();
    Ok(version.is_some_and(|v| v < 3.0).then_some(slot))
}

#[cfg(test)]
mod tests {
    use boswell_model::Tip;

    use crate::Dialect;

    use super::super::Pi;
    use super::super::fixture::{
        Bytes, assistant, compaction, context, entry, read, texts, user, v3,
    };

    const BOTH: [Pi; 2] = [Pi::PI, Pi::XCSH];

    fn seven() -> Vec<String> {
        vec![
            user("1", "", "first"),
            assistant("2", "1", "response1"),
            user("3", "2", "second"),
            assistant("4", "3", "response2"),
            compaction("5", "4", "sum", "3"),
            user("6", "5", "third"),
            assistant("7", "6", "response3"),
        ]
    }

    #[test]
    fn a_compaction_stands_for_what_it_does_not_keep() {
        for pi in BOTH {
            let want = ["sum", "second", "response2", "third", "response3"];
            assert_eq!(texts(pi, &v3(&seven()), None), want);
            assert_eq!(
                texts(pi, &v3(&seven()), Some("4")).len(),
                4,
                "above it nothing is compacted"
            );
        }
    }

    #[test]
    fn a_compaction_that_keeps_all_keeps_all() {
        let text = v3(&[
            user("1", "", "first"),
            assistant("2", "1", "response"),
            compaction("3", "2", "sum", "1"),
            user("4", "3", "second"),
        ]);
        assert_eq!(
            texts(Pi::PI, &text, None),
            ["sum", "first", "response", "second"]
        );
    }

    #[test]
    fn of_two_compactions_the_last_counts() {
        let two = |kept: &str| {
            v3(&[
                user("1", "", "a"),
                assistant("2", "1", "b"),
                compaction("3", "2", "first", "1"),
                user("4", "3", "c"),
                assistant("5", "4", "d"),
                compaction("6", "5", "second", kept),
                user("7", "6", "e"),
            ])
        };
        assert_eq!(texts(Pi::PI, &two("4"), None), ["second", "c", "d", "e"]);
        assert_eq!(
            texts(Pi::PI, &two("2"), None),
            ["second", "b", "c", "d", "e"],
            "the older one says nothing"
        );
    }

    #[test]
    fn an_unknown_kept_entry_keeps_nothing() {
        let text = v3(&[
            user("1", "", "a"),
            user("x", "", "aside"),
            compaction("3", "1", "sum", "x"),
            user("4", "3", "b"),
        ]);
        assert_eq!(texts(Pi::PI, &text, None), ["sum", "b"]);
    }

    #[test]
    fn a_compaction_by_the_provider_replaces_the_kept_entries_in_xcsh_only() {
        let data = r#""summary":"sum","firstKeptEntryId":"1","tokensBefore":1,"preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[1,2]}}"#;
        let text = v3(&[
            user("1", "", "a"),
            assistant("2", "1", "b"),
            entry("compaction", "3", "2", data),
            user("4", "3", "c"),
        ]);
        assert_eq!(texts(Pi::XCSH, &text, None), ["sum", "c"]);
        assert_eq!(texts(Pi::PI, &text, None), ["sum", "a", "b", "c"]);
    }

    #[test]
    fn branches_see_their_own_path_and_the_summary_of_the_other() {
        let mut lines = seven();
        lines.extend([
            user("8", "3", "wrong"),
            assistant("9", "8", "way"),
            entry(
                "branch_summary",
                "10",
                "3",
                r#""summary":"tried","fromId":"3""#,
            ),
            user("11", "10", "better"),
        ]);
        for pi in BOTH {
            assert_eq!(texts(pi, &v3(&lines), Some("7")).len(), 5);
            assert_eq!(
                texts(pi, &v3(&lines), Some("11")),
                ["first", "response1", "second", "tried", "better"]
            );
        }
    }

    #[test]
    fn a_branch_summary_without_text_says_nothing() {
        let text = v3(&[
            user("1", "", "a"),
            entry("branch_summary", "2", "1", r#""summary":"","fromId":"1""#),
        ]);
        assert_eq!(texts(Pi::PI, &text, None), ["a"]);
    }

    #[test]
    fn oh_my_pi_sends_nothing_from_before_a_clearing() {
        let cleared = |id, parent| entry("reset_boundary", id, parent, "");
        let text = v3(&[
            user("1", "", "a"),
            compaction("2", "1", "sum", "1"),
            cleared("3", "2"),
            user("4", "3", "b"),
        ]);
        assert_eq!(texts(Pi::OMP, &text, None), ["b"]);
        assert_eq!(texts(Pi::XCSH, &text, None), ["sum", "a", "b"]);
        let later = v3(&[
            user("1", "", "a"),
            cleared("2", "1"),
            user("3", "2", "b"),
            compaction("4", "3", "sum", "3"),
        ]);
        assert_eq!(texts(Pi::OMP, &later, None), ["sum", "b"]);
        assert_eq!(
            texts(Pi::OMP, &v3(&[user("1", "", "a"), cleared("2", "1")]), None),
            [] as [&str; 0]
        );
    }

    #[test]
    fn before_the_first_entry_there_is_nothing() {
        let text = v3(&seven());
        let read = read(Pi::XCSH, &text);
        let context = Pi::XCSH
            .context(&read.view(&Bytes(&text)), Tip::Root)
            .unwrap();
        assert!(context.items.is_empty());
        assert_eq!(context.settings, boswell_model::Settings::default());
    }

    #[test]
    fn an_orphan_is_the_start_of_its_own_path() {
        assert_eq!(
            texts(
                Pi::PI,
                &v3(&[user("1", "", "a"), assistant("2", "missing", "b")]),
                None
            ),
            ["b"]
        );
    }

    #[test]
    fn metadata_never_reaches_the_model() {
        let text = v3(&[
            user("1", "", "a"),
            entry("label", "2", "1", r#""targetId":"1","label":"x""#),
            entry("custom", "3", "2", r#""customType":"t","data":1"#),
            entry("session_info", "4", "3", r#""name":"n""#),
            entry("brand_new", "5", "4", ""),
        ]);
        assert_eq!(texts(Pi::PI, &text, None), ["a"]);
        assert_eq!(
            context(Pi::PI, &text, None).tip,
            Tip::At(boswell_model::Slot(5))
        );
    }
}
