//! The settings in force at a tip, collected from the whole path to it, including the part that a
//! compaction hides.
//!
//! These are models by role, thinking level, mode with its data, and injected rules; what nothing
//! states is absent.

use boswell_model::json::{Json, Object, RawKind};
use boswell_model::{EntryKind, Result, SessionView, Settings, Slot};

use super::Flavour;
use super::js_values::{filled, json_text, model_name};
use super::settings_snapshot::{is_restated, restated};

/// Reads the settings along `path`. Of the messages, only the last assistant message with a model
/// is read.
pub(super) fn gather(flavour: Flavour, view: &SessionView<'_>, path: &[Slot]) -> Result<Settings> {
    let mut settings = Settings::default();
    let stated = path
        .iter()
        .rposition(|slot| is_restated(flavour, view.log, *slot));
    let path = path.get(stated.unwrap_or(0)..).unwrap_or_default();
    let answer = last_answer_with_model(view, path)?;
    let last_answer = answer.as_ref().map(|(at, _)| *at);
    for (at, slot) in path.iter().enumerate() {
        if view.log.kind(*slot) == EntryKind::Setting {
            // Every assistant message states its model and so overrides an earlier model change.
            let overridden = last_answer.is_some_and(|answer| at < answer);
            let word = view.log.word(*slot);
            view.with_object(*slot, |entry| {
                apply(flavour, word, entry, overridden, &mut settings)
            })?;
        } else if let Some((_, model)) = answer.as_ref().filter(|(answer, _)| *answer == at) {
            set_model(flavour, "default", model, &mut settings);
        }
    }
    Ok(settings)
}

/// Returns the last assistant message that states its model, and that model. Messages without one
/// do not change the model.
fn last_answer_with_model(
    view: &SessionView<'_>,
    path: &[Slot],
) -> Result<Option<(usize, String)>> {
    for (at, slot) in path.iter().enumerate().rev() {
        if view.log.kind(*slot) != EntryKind::Assistant {
            continue;
        }
        let model = view.with_object(*slot, |entry| {
            let message = entry.get("message")?;
            model_name(message.get("provider"), message.get("model"))
        })?;
        if let Some(model) = model.flatten() {
            return Ok(Some((at, model)));
        }
    }
    Ok(None)
}

fn context(entry: &Object<'_>) -> Json {
    Json::object()
        .with_some("contextName", entry.get("contextName"))
        .with_some("tenant", entry.get("tenant"))
        .with_some("namespace", entry.get("namespace"))
}

fn apply(
    flavour: Flavour,
    word: &str,
    entry: &Object<'_>,
    overridden: bool,
    settings: &mut Settings,
) {
    match word {
        "custom" if flavour == Flavour::Boswell => *settings = restated(flavour, entry),
        // Both `null` and a missing value mean that thinking was switched off.
        "thinking_level_change" => {
            settings.thinking_level =
                Some(entry.text("thinkingLevel").map_or("off".into(), Into::into));
        }
        "model_change" => {
            let role = filled(entry.get("role")).unwrap_or_else(|| "default".to_owned());
            let model = changed_model(entry);
            if let Some(model) = model.filter(|_| !(overridden && role == "default")) {
                set_model(flavour, &role, &model, settings);
            }
        }
        "mode_change" => {
            settings.mode = entry.text("mode").map(Into::into);
            settings.mode_data = entry.get("data").filter(|d| !d.is_null()).map(json_text);
        }
        "ttsr_injection" => inject_rules(entry, settings),
        "context_change" => settings.set_other("context", context(entry).to_string()),
        "service_tier_change" => match entry.get("serviceTier").filter(|t| !t.is_null()) {
            Some(tier) => settings.set_other("service_tier", json_text(tier)),
            None => settings.other.retain(|(name, _)| name != "service_tier"),
        },
        "mcp_tool_selection" => {
            if let Some(tools) = entry
                .get("selectedToolNames")
                .filter(|t| t.kind() == RawKind::Array)
            {
                settings.set_other("mcp_tools", json_text(tools));
            }
        }
        _ => {}
    }
}

/// Adds the rules that are not in the settings yet.
fn inject_rules(entry: &Object<'_>, settings: &mut Settings) {
    let Some(rules) = entry.get("injectedRules") else {
        return;
    };
    for rule in rules.items().filter_map(|rule| rule.text()) {
        if !settings.rules.iter().any(|known| *known == rule) {
            settings.rules.push(rule.into_owned());
        }
    }
}

/// Returns the model of a `model_change`: `model` for oh-my-pi and its forks, `provider` and
/// `modelId` for pi.
pub(super) fn changed_model(entry: &Object<'_>) -> Option<String> {
    filled(entry.get("model")).or_else(|| model_name(entry.get("provider"), entry.get("modelId")))
}

pub(super) fn set_model(flavour: Flavour, role: &str, model: &str, settings: &mut Settings) {
    // pi has no roles: one model and no table.
    if role == "default" && !flavour.has_remote_compaction() {
        settings.model = Some(model.to_owned());
    } else {
        settings.set_model(role, model);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pi;
    use super::super::fixture::{assistant, compaction, context, entry, user, v3};

    #[test]
    fn an_answer_overrides_the_model_chosen_before_it_and_not_after() {
        let change = |id, parent| entry("model_change", id, parent, r#""model":"openai/gpt-4""#);
        let before = v3(&[
            user("1", "", "a"),
            change("2", "1"),
            assistant("3", "2", "b"),
        ]);
        assert_eq!(
            context(Pi::XCSH, &before, None).settings.model.as_deref(),
            Some("anthropic/claude-test")
        );
        let after = v3(&[
            user("1", "", "a"),
            assistant("2", "1", "b"),
            change("3", "2"),
        ]);
        let settings = context(Pi::XCSH, &after, None).settings;
        assert_eq!(settings.model.as_deref(), Some("openai/gpt-4"));
        assert_eq!(
            settings.models,
            [("default".to_owned(), "openai/gpt-4".to_owned())]
        );
    }

    #[test]
    fn models_by_role_are_kept_beside_the_default() {
        let text = v3(&[
            entry(
                "model_change",
                "1",
                "",
                r#""model":"p/small","role":"smol""#,
            ),
            user("2", "1", "a"),
            assistant("3", "2", "b"),
        ]);
        let settings = context(Pi::OMP, &text, None).settings;
        assert_eq!(settings.models.len(), 2);
        assert_eq!(
            settings.models[0],
            ("smol".to_owned(), "p/small".to_owned())
        );
        assert_eq!(settings.model.as_deref(), Some("anthropic/claude-test"));
    }

    #[test]
    fn settings_hidden_by_a_compaction_still_hold() {
        let text = v3(&[
            entry(
                "thinking_level_change",
                "1",
                "",
                r#""thinkingLevel":"high""#,
            ),
            user("2", "1", "a"),
            compaction("3", "2", "sum", "none"),
        ]);
        let context = context(Pi::PI, &text, None);
        assert_eq!(context.settings.thinking_level.as_deref(), Some("high"));
        assert_eq!(context.items.len(), 1);
    }

    #[test]
    fn the_settings_of_xcsh_are_all_read() {
        let text = v3(&[
            entry(
                "mode_change",
                "1",
                "",
                r#""mode":"plan","data":{"file":"p.md"}"#,
            ),
            entry("ttsr_injection", "2", "1", r#""injectedRules":["a","b"]"#),
            entry("ttsr_injection", "3", "2", r#""injectedRules":["b","c"]"#),
            entry(
                "context_change",
                "4",
                "3",
                r#""contextName":"dev","tenant":"t1","namespace":"n""#,
            ),
            entry(
                "context_change",
                "5",
                "4",
                r#""contextName":"prod","tenant":"t2","namespace":"n""#,
            ),
            entry("service_tier_change", "6", "5", r#""serviceTier":"flex""#),
            entry(
                "mcp_tool_selection",
                "7",
                "6",
                r#""selectedToolNames":["x"]"#,
            ),
            entry("thinking_level_change", "8", "7", r#""thinkingLevel":null"#),
        ]);
        let settings = context(Pi::XCSH, &text, None).settings;
        assert_eq!(settings.mode.as_deref(), Some("plan"));
        assert_eq!(settings.mode_data.as_deref(), Some(r#"{"file":"p.md"}"#));
        assert_eq!(settings.rules, ["a", "b", "c"]);
        assert_eq!(settings.thinking_level.as_deref(), Some("off"));
        let other = |name: &str| {
            settings
                .other
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, v)| v.as_str())
        };
        assert_eq!(
            other("context"),
            Some(r#"{"contextName":"prod","tenant":"t2","namespace":"n"}"#)
        );
        assert_eq!(other("service_tier"), Some("\"flex\""));
        assert_eq!(other("mcp_tools"), Some(r#"["x"]"#));
    }

    #[test]
    fn what_nothing_states_is_absent() {
        let settings = context(Pi::XCSH, &v3(&[user("1", "", "a")]), None).settings;
        assert_eq!(settings, boswell_model::Settings::default());
    }
}
