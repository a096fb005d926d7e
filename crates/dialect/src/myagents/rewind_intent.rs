//! The intent of a rewind in MyAgents, and what remains to be done after a crash.
//!
//! A rewind changes two files, so the app first writes an intent into the session's row. The number
//! of rows in the transcript shows how far the rewind got.

use boswell_model::json::{Json, Raw};

/// The recorded intent of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The engine whose session is replaced.
    pub engine: Engine,
    /// The engine's session before the rewind.
    pub source: Option<String>,
    /// The engine's session after the rewind.
    pub replacement: Option<String>,
    /// Number of rows before the rewind.
    pub rows_before: u64,
    /// Number of rows after the rewind.
    pub rows_after: u64,
}

/// The engine whose session a rewind replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The Claude SDK.
    Sdk,
    /// Codex.
    Codex,
}

/// What remains to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The transcript is unchanged: drop the intent.
    RollBack,
    /// The transcript is truncated: finish the row.
    RollForward,
    /// The number of rows matches neither state: nothing may be resumed, and the intent stays.
    Inconsistent(&'static str),
}

impl Intent {
    /// Parses the intent of a row; `None` if this version of the app does not write such a record.
    pub fn parse(value: Raw<'_>) -> Option<Intent> {
        if value.get("schemaVersion")?.i64() != Some(1) {
            return None;
        }
        let (engine, source, replacement) = match value.get("kind")?.text()?.as_ref() {
            "builtin-rewind" => (Engine::Sdk, "sourceSdkSessionId", "replacementSdkSessionId"),
            "codex-rewind" => (
                Engine::Codex,
                "sourceRuntimeSessionId",
                "replacementRuntimeSessionId",
            ),
            _ => return None,
        };
        let id = |key| value.get(key).and_then(|v| v.text()).map(Into::into);
        Some(Intent {
            engine,
            source: id(source),
            replacement: id(replacement),
            rows_before: value.get("sourceMessageCount")?.u64()?,
            rows_after: value.get("targetMessageCount")?.u64()?,
        })
    }

    /// Returns the record that the app writes into the row.
    pub fn to_json(&self) -> Json {
        let (kind, source, replacement) = match self.engine {
            Engine::Sdk => (
                "builtin-rewind",
                "sourceSdkSessionId",
                "replacementSdkSessionId",
            ),
            Engine::Codex => (
                "codex-rewind",
                "sourceRuntimeSessionId",
                "replacementRuntimeSessionId",
            ),
        };
        Json::object()
            .with("schemaVersion", 1)
            .with("kind", kind)
            .with(source, self.source.as_deref())
            .with(replacement, self.replacement.as_deref())
            .with("sourceMessageCount", self.rows_before)
            .with("targetMessageCount", self.rows_after)
    }

    /// Decides what remains to be done after a crash, for a row bound to `bound` and a transcript
    /// of `rows` rows.
    pub fn recovery(&self, bound: Option<&str>, rows: u64, rows_are_sound: bool) -> Recovery {
        if !rows_are_sound {
            return Recovery::Inconsistent("the transcript has rows that do not parse");
        }
        if bound != self.source.as_deref() {
            return Recovery::Inconsistent(
                "the session is bound to another engine session than the one it began with",
            );
        }
        match rows {
            rows if rows == self.rows_before => Recovery::RollBack,
            rows if rows == self.rows_after => Recovery::RollForward,
            _ => Recovery::Inconsistent(
                "the transcript has neither the rows of before nor those of after",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent() -> Intent {
        let json = r#"{"schemaVersion":1,"kind":"builtin-rewind","sourceSdkSessionId":"3333","replacementSdkSessionId":"4444","sourceMessageCount":4,"targetMessageCount":2}"#;
        Intent::parse(Raw::parse(json.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn the_number_of_rows_tells_how_far_a_rewind_came() {
        let intent = intent();
        let written = intent.to_json().to_bytes();
        assert_eq!(
            Intent::parse(Raw::parse(&written).unwrap()),
            Some(intent.clone()),
            "what we write is read back"
        );
        assert_eq!(intent.recovery(Some("3333"), 4, true), Recovery::RollBack);
        assert_eq!(
            intent.recovery(Some("3333"), 2, true),
            Recovery::RollForward
        );
        assert!(matches!(
            intent.recovery(Some("3333"), 3, true),
            Recovery::Inconsistent(_)
        ));
        assert!(matches!(
            intent.recovery(Some("9999"), 4, true),
            Recovery::Inconsistent(_)
        ));
        assert!(matches!(
            intent.recovery(Some("3333"), 4, false),
            Recovery::Inconsistent(_)
        ));
    }

    #[test]
    fn a_codex_rewind_may_leave_no_thread_and_unknown_shapes_are_not_guessed() {
        let json = r#"{"schemaVersion":1,"kind":"codex-rewind","sourceRuntimeSessionId":"t","replacementRuntimeSessionId":null,"sourceMessageCount":1,"targetMessageCount":0}"#;
        let intent = Intent::parse(Raw::parse(json.as_bytes()).unwrap()).unwrap();
        assert_eq!(
            (intent.engine, intent.replacement.clone()),
            (Engine::Codex, None)
        );
        assert_eq!(intent.recovery(Some("t"), 0, true), Recovery::RollForward);
        for json in [
            json.replace(":1,\"kind", ":2,\"kind"),
            json.replace("codex-", "new-"),
            "{}".to_owned(),
        ] {
            assert_eq!(
                Intent::parse(Raw::parse(json.as_bytes()).unwrap()),
                None,
                "{json}"
            );
        }
    }
}
