//! A snapshot of all settings in one entry, so that a reader that starts at the end of the log does
//! not have to read further back for a setting that was never set.
//!
//! Boswell's own sessions contain such an entry after every compaction: a `custom` entry, which pi
//! and xcsh ignore. They do not need it, because the settings are also written as their own
//! entries. A snapshot replaces all settings before it, also for a reader of the whole log; so both
//! readers get the same result regardless of what a program writes into it.

use boswell_model::json::{Json, Object, Raw};
use boswell_model::{EntryKind, Head, Log, Settings, Slot};

use super::Flavour;
use super::js_values::{filled, json_text};
use super::settings::set_model;
use crate::{Body, Draft};

/// The `customType` of the entry.
pub(super) const WORD: &str = "boswell.settings";

/// Returns the entry that states exactly these settings.
pub fn restate(settings: &Settings) -> Draft {
    let pairs = |pairs: &[(String, String)], value: &dyn Fn(&String) -> Json| {
        Json::Array(
            pairs
                .iter()
                .map(|(name, text)| Json::Array(vec![Json::from(name), value(text)]))
                .collect(),
        )
    };
    let raw = |json: &String| Json::Raw(json.clone().into_bytes());
    let data = Json::object()
        .with("model", settings.model.as_deref())
        .with(
            "models",
            pairs(&settings.models, &|model| Json::from(model)),
        )
        .with("thinkingLevel", settings.thinking_level.as_deref())
        .with("mode", settings.mode.as_deref())
        .with(
            "modeData",
            settings.mode_data.as_ref().map_or(Json::Null, raw),
        )
        .with("rules", settings.rules.clone())
        .with("other", pairs(&settings.other, &raw));
    Draft::new(Body::Custom {
        kind: WORD.to_owned(),
        data: Some(data),
    })
}

/// Whether an entry is a settings snapshot. Only boswell's own sessions are read that way; in a
/// session of an agent, only entries that the agent reads count.
pub(super) fn is_restated(flavour: Flavour, log: &Log, slot: Slot) -> bool {
    flavour == Flavour::Boswell
        && log
            .head(slot)
            .is_some_and(|head: &Head| head.kind == EntryKind::Setting)
        && log.word(slot) == "custom"
}

/// Returns the settings of a snapshot.
pub(super) fn restated(flavour: Flavour, entry: &Object<'_>) -> Settings {
    let mut settings = Settings::default();
    let Some(data) = entry.get("data") else {
        return settings;
    };
    for (role, model) in pairs_of(data, "models") {
        if let Some(model) = Raw::trusted(model.as_bytes()).text() {
            set_model(flavour, &role, &model, &mut settings);
        }
    }
    if let Some(model) = filled(data.get("model")) {
        set_model(flavour, "default", &model, &mut settings);
    }
    let text = |key: &str| Some(data.get(key)?.text()?.into_owned());
    settings.thinking_level = text("thinkingLevel");
    settings.mode = text("mode");
    settings.mode_data = data.get("modeData").filter(|d| !d.is_null()).map(json_text);
    if let Some(rules) = data.get("rules") {
        let texts = rules.items().filter_map(|rule| rule.text());
        settings.rules = texts.map(Into::into).collect();
    }
    settings.other = pairs_of(data, "other");
    settings
}

/// Reads a list of names, each with a JSON value.
fn pairs_of(data: Raw<'_>, key: &str) -> Vec<(String, String)> {
    let Some(pairs) = data.get(key) else {
        return Vec::new();
    };
    let read = |pair: Raw<'_>| {
        let mut two = pair.items();
        Some((filled(two.next())?, json_text(two.next()?)))
    };
    pairs.items().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use crate::Append;
    use boswell_model::json::scan_object;

    use super::super::Pi;
    use super::super::fixture::{assistant, context, entry, user, v3};
    use super::*;
    use crate::EntryStamp;

    fn written(settings: &Settings, id: &str, parent: &str) -> String {
        let settled = EntryStamp {
            id,
            parent: Some(parent),
            at: boswell_model::Instant::from_millis(1),
        };
        String::from_utf8(Pi::BOSWELL.encoded(&restate(settings), settled).unwrap()).unwrap()
    }

    fn settings() -> Settings {
        Settings {
            model: Some("p/m".to_owned()),
            models: vec![("smol".to_owned(), "p/s".to_owned())],
            thinking_level: Some("high".to_owned()),
            mode: Some("plan".to_owned()),
            mode_data: Some("{\"file\":\"p.md\"}".to_owned()),
            rules: vec!["a".to_owned(), "会话".to_owned()],
            permission_mode: None,
            other: vec![("service_tier".to_owned(), "\"flex\"".to_owned())],
        }
    }

    #[test]
    fn what_is_restated_is_read_back() {
        for settings in [settings(), Settings::default()] {
            let text = written(&settings, "1", "0");
            let mut members = Vec::new();
            scan_object(text.as_bytes(), &mut members).unwrap();
            assert_eq!(
                restated(Flavour::Boswell, &Object::new(text.as_bytes(), &members)),
                settings
            );
        }
    }

    #[test]
    fn it_counts_instead_of_all_before_it_in_our_own_sessions_only() {
        let text = v3(&[
            user("1", "", "a"),
            entry("mode_change", "2", "1", r#""mode":"plan""#),
            assistant("3", "2", "b"),
            written(&Settings::default(), "4", "3"),
            entry(
                "thinking_level_change",
                "5",
                "4",
                r#""thinkingLevel":"low""#,
            ),
        ]);
        let own = context(Pi::BOSWELL, &text, None).settings;
        assert_eq!(
            own,
            Settings {
                thinking_level: Some("low".to_owned()),
                ..Settings::default()
            }
        );
        let pis = context(Pi::PI, &text, None).settings;
        assert_eq!(
            (pis.mode.as_deref(), pis.model.is_some()),
            (Some("plan"), true)
        );
    }

    #[test]
    fn an_answer_after_it_says_which_model_answers() {
        let text = v3(&[
            user("1", "", "a"),
            written(&settings(), "2", "1"),
            assistant("3", "2", "b"),
        ]);
        let found = context(Pi::BOSWELL, &text, None).settings;
        assert_eq!(found.model.as_deref(), Some("anthropic/claude-test"));
        assert_eq!(found.mode.as_deref(), Some("plan"));
    }
}
