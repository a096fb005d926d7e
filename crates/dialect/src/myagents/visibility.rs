//! Which sessions MyAgents omits from its history.

use boswell_model::json::Raw;

use super::row::Row;
use super::title;

/// The provider whose early versions wrote empty rows.
const CODEX_SUBSCRIPTION: &str = "codex-sub";

/// The chores whose sessions the app hides.
const MAINTENANCE: [&str; 2] = ["memory_gardener", "memory_molt"];

/// Whether a session has a transcript on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transcript {
    /// No file, or an empty one.
    Absent,
    /// A file that is not empty. It is not read: a session without prompts may be shown.
    Present,
}

/// Returns why the app's history omits the session of this row; `None` if it is shown.
pub fn hidden(row: Raw<'_>, transcript: Transcript) -> Option<&'static str> {
    if row
        .get("materializationState")
        .is_some_and(|state| state.is("prepared"))
    {
        return Some("prepared");
    }
    if is_maintenance(row) {
        return Some("maintenance");
    }
    (transcript == Transcript::Absent && is_draft(row)).then_some("draft")
}

/// Whether the session is one of the app's own chores. Of kinds that the app does not list it shows
/// the session like any other.
pub(crate) fn is_maintenance(row: Raw<'_>) -> bool {
    let kind = row.get("systemMaintenanceKind");
    kind.is_some_and(|kind| MAINTENANCE.iter().any(|known| kind.is(known)))
}

/// Whether the app wrote the row before the first prompt, and did not change it since.
fn is_draft(row: Raw<'_>) -> bool {
    row.get("transcriptFormat").is_none()
        && is_managed_codex(row)
        && is_desktop(row)
        && row.get("favorite").and_then(|v| v.bool()) != Some(true)
        && text_of(row, "cronTaskId").is_none()
        && row.get("title").is_some_and(|t| t.is(title::NEW_CHAT))
        && !row.get("titleSource").is_some_and(|s| s.is("user"))
        && text_of(row, "lastMessagePreview").is_none()
        && ["lastContextUsage", "runtimeUsageTotals"]
            .iter()
            .all(|key| row.get(key).is_none_or(|v| v.is_null()))
        && !stats_show_activity(row)
}

fn is_managed_codex(row: Raw<'_>) -> bool {
    let fits = |of: Raw<'_>| {
        // The engine of a managed provider is Codex, also where the row does not say so.
        Row(of).runtime() == "codex"
            && of
                .get("runtimeSource")
                .is_some_and(|v| v.is("managed-provider"))
            && of
                .get("providerId")
                .is_some_and(|v| v.is(CODEX_SUBSCRIPTION))
    };
    let backed = |identity: Raw<'_>| {
        identity
            .get("kind")
            .is_some_and(|k| k.is("runtime-backed-provider"))
    };
    fits(row)
        || row
            .get("providerExecutionIdentity")
            .is_some_and(|identity| backed(identity) && fits(identity))
}

fn is_desktop(row: Raw<'_>) -> bool {
    let origin = row.at(&["origin", "kind"]).and_then(|k| k.text());
    let source = text_of(row, "source");
    origin
        .as_deref()
        .is_none_or(|kind| matches!(kind, "" | "desktop" | "unknown"))
        && source.as_deref().is_none_or(|source| source == "desktop")
}

fn stats_show_activity(row: Raw<'_>) -> bool {
    row.get("stats").is_some_and(|stats| {
        stats
            .members()
            .any(|(_, count)| count.f64().is_some_and(|n| n > 0.0))
    })
}

fn text_of(row: Raw<'_>, key: &str) -> Option<String> {
    row.get(key)?
        .text()
        .filter(|text| !text.is_empty())
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: &str = r#"{"id":"a","title":"New Chat","runtime":"codex","runtimeSource":"managed-provider","providerId":"codex-sub","origin":{"kind":"desktop","surface":"x"},"stats":{"messageCount":0,"totalInputTokens":0}}"#;

    fn why(row: &str, transcript: Transcript) -> Option<&'static str> {
        hidden(Raw::parse(row.as_bytes()).unwrap(), transcript)
    }

    #[test]
    fn prepared_and_maintenance_rows_are_hidden() {
        assert_eq!(
            why(
                r#"{"id":"a","materializationState":"prepared"}"#,
                Transcript::Present
            ),
            Some("prepared")
        );
        assert_eq!(
            why(
                r#"{"id":"a","systemMaintenanceKind":"memory_molt"}"#,
                Transcript::Present
            ),
            Some("maintenance")
        );
        assert_eq!(
            why(
                r#"{"id":"a","systemMaintenanceKind":null}"#,
                Transcript::Absent
            ),
            None
        );
        assert_eq!(
            why(r#"{"id":"a","title":"New Chat"}"#, Transcript::Absent),
            None
        );
    }

    #[test]
    fn unknown_maintenance_kinds_are_shown_and_only_the_two_known_ones_hidden() {
        for (kind, hidden) in [
            ("memory_gardener", Some("maintenance")),
            ("memory_molt", Some("maintenance")),
            ("memory", None),
            ("compaction", None),
            ("", None),
        ] {
            let row = format!(r#"{{"id":"a","systemMaintenanceKind":"{kind}"}}"#);
            assert_eq!(why(&row, Transcript::Present), hidden, "{kind}");
        }
    }

    #[test]
    fn a_draft_of_a_managed_provider_is_one_of_codex_without_a_runtime() {
        let without = DRAFT.replace(r#""runtime":"codex","#, "");
        assert_eq!(why(&without, Transcript::Absent), Some("draft"));
    }

    #[test]
    fn an_empty_managed_codex_draft_is_hidden_until_there_is_a_transcript() {
        assert_eq!(why(DRAFT, Transcript::Absent), Some("draft"));
        assert_eq!(why(DRAFT, Transcript::Present), None);
        let nested = r#"{"id":"a","title":"New Chat","providerExecutionIdentity":{"kind":"runtime-backed-provider","runtime":"codex","runtimeSource":"managed-provider","providerId":"codex-sub"}}"#;
        assert_eq!(why(nested, Transcript::Absent), Some("draft"));
    }

    #[test]
    fn any_sign_of_use_keeps_a_draft_in_the_history() {
        for (from, to) in [
            ("\"New Chat\"", "\"Mine\""),
            ("\"id\":\"a\"", "\"favorite\":true"),
            ("\"id\":\"a\"", "\"cronTaskId\":\"c\""),
            ("\"id\":\"a\"", "\"titleSource\":\"user\""),
            ("\"id\":\"a\"", "\"lastMessagePreview\":\"hi\""),
            ("\"id\":\"a\"", "\"lastContextUsage\":{}"),
            ("\"id\":\"a\"", "\"runtimeUsageTotals\":{}"),
            ("\"id\":\"a\"", "\"source\":\"telegram_private\""),
            ("\"id\":\"a\"", "\"transcriptFormat\":2"),
            ("\"kind\":\"desktop\"", "\"kind\":\"agent-channel\""),
            ("\"totalInputTokens\":0", "\"totalInputTokens\":1"),
            ("codex-sub", "other"),
        ] {
            assert_eq!(
                why(&DRAFT.replace(from, to), Transcript::Absent),
                None,
                "{to}"
            );
        }
    }
}
