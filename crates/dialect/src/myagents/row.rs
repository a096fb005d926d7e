//! A row of `sessions.json`: the metadata of a session without its transcript.
//!
//! It has the title, times, the SDK's id and whether it is unified with the own one, the scheduled
//! task, and statistics; some members are secret.

use boswell_model::json::Raw;
use boswell_model::{Instant, SessionMeta, Settings, Usage};

use crate::resume_decision::ResumeFacts;

use super::title;

/// Member that may contain credentials in clear text. It is never copied out of the index.
pub(crate) const SECRET: &str = "providerEnvJson";
/// Member that records an unfinished rewind, as JSON.
pub(crate) const PENDING: &str = "pendingConversationMutation";

/// A parsed row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a>(pub(crate) Raw<'a>);

impl<'a> Row<'a> {
    /// Parses the bytes of a row.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Raw::parse(bytes).ok().map(Row)
    }

    fn text(&self, key: &str) -> Option<String> {
        self.0
            .get(key)?
            .text()
            .filter(|text| !text.is_empty())
            .map(Into::into)
    }

    fn time(&self, key: &str) -> Option<Instant> {
        Instant::parse(&self.text(key)?)
    }

    /// Returns the engine. One version wrote an impossible pair of values, which means Codex: the
    /// app corrects it in the same way.
    pub(crate) fn runtime(&self) -> String {
        let stated = self.text("runtime").unwrap_or_else(|| "builtin".to_owned());
        let managed = self
            .0
            .get("runtimeSource")
            .is_some_and(|source| source.is("managed-provider"));
        if stated == "builtin" && managed {
            "codex".to_owned()
        } else {
            stated
        }
    }

    /// Returns the id of the Claude SDK's transcript.
    fn sdk_session(&self) -> Option<String> {
        let (id, sdk) = (self.text("id")?, self.text("sdkSessionId"));
        let unified = self.0.get("unifiedSession").and_then(|v| v.bool()) == Some(true);
        let meta = ResumeFacts {
            id: &id,
            sdk_id: sdk.as_deref(),
            unified,
            ..ResumeFacts::default()
        };
        meta.sdk_session().map(Into::into)
    }

    /// Returns all metadata in the row.
    pub(crate) fn meta(&self) -> SessionMeta {
        let mut meta = SessionMeta {
            title: self.title(),
            title_source: self.text("titleSource"),
            last_prompt: self.text("lastMessagePreview"),
            project: self.text("agentDir"),
            created: self.time("createdAt"),
            last_active: self.time("lastActiveAt"),
            permission_mode: self.text("permissionMode"),
            parent: self
                .0
                .at(&["forkFrom", "sourceSessionId"])
                .and_then(|p| p.text())
                .map(Into::into),
            pinned: self.0.get("favorite").and_then(|v| v.bool()) == Some(true),
            ..SessionMeta::default()
        };
        if meta.created.is_some() && meta.last_active.is_some() {
            meta.id = self.text("id");
        }
        if let Some(model) = self.text("model") {
            meta.saw_model(&model);
        }
        self.stats(&mut meta);
        self.identities(&mut meta);
        self.metadata(&mut meta);
        meta
    }

    /// Returns the title, unless it is the default of every new session: then the prompt is more
    /// useful.
    fn title(&self) -> Option<String> {
        let source = self.text("titleSource");
        self.text("title")
            .filter(|title| !title::is_placeholder(title, source.as_deref()))
    }

    fn stats(&self, meta: &mut SessionMeta) {
        let Some(stats) = self.0.get("stats") else {
            return;
        };
        let count = |key: &str| stats.get(key).and_then(|n| n.u64());
        // Despite its name, this counts only the user's rows.
        meta.stated.turns = count("messageCount");
        meta.stated.usage = Usage {
            input: count("totalInputTokens"),
            output: count("totalOutputTokens"),
            cache_read: count("totalCacheReadTokens"),
            cache_write: count("totalCacheCreationTokens"),
            ..Usage::default()
        };
    }

    fn identities(&self, meta: &mut SessionMeta) {
        let ids = [
            ("sdk", self.sdk_session()),
            ("runtime", self.text("runtimeSessionId")),
        ];
        meta.external_ids.extend(
            ids.into_iter()
                .filter_map(|(what, id)| Some((what.to_owned(), id?))),
        );
    }

    fn metadata(&self, meta: &mut SessionMeta) {
        meta.metadata.insert("runtime".to_owned(), self.runtime());
        for key in [
            "runtimeSource",
            "source",
            "cronTaskId",
            "providerId",
            "systemMaintenanceKind",
        ] {
            meta.metadata
                .extend(self.text(key).map(|value| (key.to_owned(), value)));
        }
        let origin = |key| self.0.at(&["origin", key]).and_then(|v| v.text());
        if let Some(kind) = origin("kind") {
            let surface = origin("surface")
                .map(|surface| format!("/{surface}"))
                .unwrap_or_default();
            meta.metadata
                .insert("origin".to_owned(), format!("{kind}{surface}"));
        }
        if let Some(intent) = self.0.get(PENDING).filter(|v| !v.is_null()) {
            meta.metadata
                .insert(PENDING.to_owned(), super::content::lossy(intent.bytes()));
        }
    }

    /// Adds the settings in the row.
    pub(crate) fn settings(&self, settings: &mut Settings) {
        if let Some(model) = self.text("model") {
            settings.set_model("default", &model);
        }
        settings.permission_mode = self
            .text("permissionMode")
            .or(settings.permission_mode.take());
        settings.thinking_level = self
            .text("reasoningEffort")
            .or(settings.thinking_level.take());
        for key in [
            "providerId",
            "mcpEnabledServers",
            "enabledPluginIds",
            "enabledOfficialToolIds",
        ] {
            if let Some(value) = self.0.get(key).filter(|v| !v.is_null()) {
                settings.set_other(key, super::content::lossy(value.bytes()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(row: &str) -> SessionMeta {
        Row::parse(row.as_bytes()).unwrap().meta()
    }

    #[test]
    fn every_fact_of_a_row_is_taken_and_its_secrets_are_not() {
        let row = r#"{"id":"a","agentDir":"/p","title":"T","createdAt":"2026-02-01T00:00:00.000Z","lastActiveAt":"2026-02-02T00:00:00.000Z",
            "sdkSessionId":"s","unifiedSession":false,"stats":{"messageCount":3,"totalInputTokens":5,"totalOutputTokens":7,"totalCacheReadTokens":1},
            "source":"telegram_private","origin":{"kind":"agent-channel","surface":"im"},"favorite":true,"titleSource":"user","model":"m","permissionMode":"plan",
            "forkFrom":{"sourceSessionId":"p","messageUuid":"u"},"runtimeSessionId":"r","providerEnvJson":"{\"apiKey\":\"hunter2\"}","cronTaskId":"c"}"#;
        let meta = meta(row);
        assert_eq!(meta.title.as_deref(), Some("T"));
        assert_eq!(
            (meta.stated.turns, meta.stated.usage.input),
            (Some(3), Some(5))
        );
        assert_eq!(
            (meta.stated.usage.cache_read, meta.stated.usage.cache_write),
            (Some(1), None)
        );
        assert_eq!(meta.external_ids.get("sdk").map(String::as_str), Some("s"));
        assert_eq!(
            meta.external_ids.get("runtime").map(String::as_str),
            Some("r")
        );
        assert_eq!(
            meta.metadata.get("origin").map(String::as_str),
            Some("agent-channel/im")
        );
        assert_eq!(
            (meta.parent.as_deref(), meta.pinned, meta.status.as_deref()),
            (Some("p"), true, None)
        );
        assert_eq!(meta.project.as_deref(), Some("/p"));
        assert!(!format!("{meta:?}").contains("hunter2"));
    }

    #[test]
    fn a_session_that_nobody_named_has_no_title() {
        assert_eq!(meta(r#"{"id":"a","title":"New Chat"}"#).title, None);
        assert_eq!(
            meta(r#"{"id":"a","title":"New Chat","titleSource":"user"}"#)
                .title
                .as_deref(),
            Some("New Chat")
        );
    }

    #[test]
    fn a_unified_session_is_known_to_the_sdk_by_its_own_id() {
        let sdk = |row: &str| meta(row).external_ids.get("sdk").cloned();
        assert_eq!(
            sdk(r#"{"id":"a","unifiedSession":true}"#).as_deref(),
            Some("a")
        );
        assert_eq!(sdk(r#"{"id":"a"}"#), None);
        assert_eq!(
            sdk(r#"{"id":"a","unifiedSession":true,"sdkSessionId":"b"}"#).as_deref(),
            Some("b")
        );
    }

    #[test]
    fn a_managed_provider_means_codex_even_where_the_row_says_builtin() {
        let runtime = |row: &str| Row::parse(row.as_bytes()).unwrap().runtime();
        assert_eq!(
            runtime(r#"{"runtime":"builtin","runtimeSource":"managed-provider"}"#),
            "codex"
        );
        assert_eq!(
            runtime(r#"{"runtimeSource":"managed-provider"}"#),
            "codex",
            "a managed provider without a runtime"
        );
        assert_eq!(runtime(r#"{"runtime":"gemini"}"#), "gemini");
        assert_eq!(runtime("{}"), "builtin");
    }

    #[test]
    fn counts_that_are_not_stated_stay_unknown() {
        let meta = meta(r#"{"id":"a","createdAt":"yesterday"}"#);
        assert_eq!(
            (
                meta.stated.turns,
                meta.created,
                meta.stated.usage.is_unknown()
            ),
            (None, None, true)
        );
    }
}
