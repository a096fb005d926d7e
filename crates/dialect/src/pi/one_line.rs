//! One-line descriptions of entries that are not messages.

use boswell_model::json::Object;

use super::js_values::{filled, json_text};
use super::settings::changed_model;

/// Returns the description of an entry of type `word`.
pub(super) fn remark(word: &str, entry: &Object<'_>) -> String {
    let text = |key: &str| entry.text(key).unwrap_or_default().into_owned();
    match word {
        "session" => match filled(entry.get("cwd")) {
            Some(cwd) => format!("session {} in {cwd}", text("id")),
            None => format!("session {}", text("id")),
        },
        "title" | "title_change" => titled(&text("title")),
        "session_info" => titled(text("name").trim()),
        "model_change" => {
            let model = changed_model(entry).unwrap_or_else(|| "unknown".to_owned());
            match filled(entry.get("role")) {
                Some(role) => format!("model for {role} is now {model}"),
                None => format!("model is now {model}"),
            }
        }
        "thinking_level_change" => {
            format!(
                "thinking level is now {}",
                entry.text("thinkingLevel").unwrap_or("off".into())
            )
        }
        "mode_change" => format!("mode is now {}", text("mode")),
        "service_tier_change" => {
            let tier = entry.get("serviceTier").filter(|t| !t.is_null());
            format!(
                "service tier is now {}",
                tier.map_or("unset".into(), |t| t
                    .text()
                    .map_or(json_text(t), Into::into))
            )
        }
        "context_change" => format!(
            "context is now {} of {}",
            text("contextName"),
            text("tenant")
        ),
        "ttsr_injection" => format!("rules injected: {}", names(entry, "injectedRules")),
        "mcp_tool_selection" => format!("tools selected: {}", names(entry, "selectedToolNames")),
        "label" => match filled(entry.get("label")) {
            Some(label) => format!("label `{label}` on {}", text("targetId")),
            None => format!("label of {} cleared", text("targetId")),
        },
        "custom" => format!("state of `{}`", text("customType")),
        "session_init" => format!("task for a subagent: {}", text("task")),
        "model_usage" => format!(
            "{} used {}/{}",
            text("purpose"),
            text("provider"),
            text("model")
        ),
        "archive" => match entry.get("archived").and_then(|a| a.bool()) {
            Some(false) => format!("{} taken out of the archive", text("targetId")),
            _ => format!("{} archived", text("targetId")),
        },
        _ => json_text(entry.raw()),
    }
}

fn titled(title: &str) -> String {
    if title.is_empty() {
        "title cleared".to_owned()
    } else {
        format!("title is `{title}`")
    }
}

fn names(entry: &Object<'_>, key: &str) -> String {
    let list = entry.get(key);
    let texts: Vec<_> = list
        .iter()
        .flat_map(|l| l.items())
        .filter_map(|t| t.text())
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::with_object;
    use super::*;

    fn says(word: &str, json: &str) -> String {
        with_object(json, |entry| remark(word, entry))
    }

    #[test]
    fn changes_are_told_in_a_line() {
        assert_eq!(
            says("model_change", r#"{"provider":"p","modelId":"m"}"#),
            "model is now p/m"
        );
        assert_eq!(
            says("model_change", r#"{"model":"p/m","role":"smol"}"#),
            "model for smol is now p/m"
        );
        assert_eq!(
            says("thinking_level_change", r#"{"thinkingLevel":null}"#),
            "thinking level is now off"
        );
        assert_eq!(
            says("label", r#"{"targetId":"a","label":"x"}"#),
            "label `x` on a"
        );
        assert_eq!(says("label", r#"{"targetId":"a"}"#), "label of a cleared");
        assert_eq!(says("session_info", r#"{"name":" "}"#), "title cleared");
        assert_eq!(
            says("ttsr_injection", r#"{"injectedRules":["a","b"]}"#),
            "rules injected: a, b"
        );
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        assert_eq!(
            says("turn_ctx_v9", r#"{"type":"turn_ctx_v9","a":[1]}"#),
            r#"{"type":"turn_ctx_v9","a":[1]}"#
        );
    }
}
