//! What Claude Code passes to the program of its status line, as one JSON object on stdin.
//!
//! Other agents that run such a program pass the same members, or some of them.

use boswell_model::json::Raw;

/// What an agent says about the session that its status line is for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusInput {
    /// The id of the session.
    pub session: Option<String>,
    /// The path of its log.
    pub transcript: Option<String>,
    /// The working folder.
    pub folder: Option<String>,
    /// The model as the agent shows it.
    pub model: Option<String>,
    /// What the session cost so far, in dollars.
    pub cost: Option<f64>,
    /// Tokens in the context.
    pub context: Option<u64>,
    /// The size of the context window in tokens.
    pub window: Option<u64>,
    /// How much of the window is used, in percent.
    pub used_percent: Option<f64>,
}

impl StatusInput {
    /// Parses the object; `None` if it is none. Members of another type are ignored.
    pub fn parse(bytes: &[u8]) -> Option<StatusInput> {
        let raw = Raw::parse(bytes).ok()?;
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let text = |path: &[&str]| Some(raw.at(path)?.text()?.into_owned());
        let count = |path: &[&str]| raw.at(path)?.u64();
        let amount = |path: &[&str]| {
            let number = raw.at(path)?.f64()?;
            (number.is_finite() && number >= 0.0).then_some(number)
        };
        let folder = text(&["workspace", "current_dir"]);
        Some(StatusInput {
            session: text(&["session_id"]),
            transcript: text(&["transcript_path"]),
            folder: folder.or_else(|| text(&["cwd"])),
            model: text(&["model", "display_name"]).or_else(|| text(&["model", "id"])),
            cost: amount(&["cost", "total_cost_usd"]),
            context: count(&["context_window", "total_input_tokens"]),
            window: count(&["context_window", "context_window_size"]),
            used_percent: amount(&["context_window", "used_percentage"]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_another_type_are_ignored() {
        let input = StatusInput::parse(
            br#"{"session_id":7,"cwd":"/w","model":{"id":"m"},"cost":{"total_cost_usd":-1},
                "context_window":{"total_input_tokens":5,"used_percentage":null}}"#,
        );
        let expected = StatusInput {
            folder: Some("/w".to_owned()),
            model: Some("m".to_owned()),
            context: Some(5),
            ..StatusInput::default()
        };
        assert_eq!(input, Some(expected));
        assert_eq!(StatusInput::parse(b"[]"), None);
        assert_eq!(StatusInput::parse(b"{"), None);
    }
}
