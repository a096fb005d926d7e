//! The document that `goose session import` takes: the one that `goose session export` prints.

use boswell_model::json::Json;
use boswell_model::{Instant, MediaSource, Part};

use crate::{ChatMessage, Role};

/// What a document states besides its messages.
#[derive(Debug, Clone)]
pub(super) struct GooseExport<'a> {
    /// Id of the session; the program gives it another one.
    pub(super) id: &'a str,
    /// The name.
    pub(super) name: &'a str,
    /// The project folder.
    pub(super) working_dir: &'a str,
    /// When the conversation began; each message is a second later than the one before.
    pub(super) created: Instant,
}

impl GooseExport<'_> {
    /// Returns the document. Messages of the system are left out: the program has its own. Equal
    /// input gives equal bytes.
    pub(super) fn encode(&self, messages: &[ChatMessage]) -> Json {
        let mut written = Vec::new();
        for (nth, message) in messages.iter().enumerate() {
            let role = match &message.role {
                Role::System => continue,
                Role::Assistant => "assistant",
                Role::User | Role::Tool { .. } => "user",
            };
            let content = content(message);
            if content.is_empty() {
                continue;
            }
            let metadata = Json::object()
                .with("userVisible", true)
                .with("agentVisible", true);
            written.push(
                Json::object()
                    .with("id", format!("msg_{}_{nth}", self.id).as_str())
                    .with("role", role)
                    .with("created", self.time(nth).millis() / 1000)
                    .with("content", content)
                    .with("metadata", metadata),
            );
        }
        let count = i64::try_from(written.len()).unwrap_or(i64::MAX);
        let usage = || Json::object();
        Json::object()
            .with("id", self.id)
            .with("working_dir", self.working_dir)
            .with("name", self.name)
            .with("user_set_name", true)
            .with("session_type", "user")
            .with("created_at", self.created.to_rfc3339().as_str())
            .with(
                "updated_at",
                self.time(messages.len()).to_rfc3339().as_str(),
            )
            .with("extension_data", Json::object())
            .with("usage", usage())
            .with("accumulated_usage", usage())
            .with("message_count", count)
            .with("goose_mode", "auto")
            .with("conversation", written)
    }

    fn time(&self, nth: usize) -> Instant {
        let later = i64::try_from(nth).unwrap_or(0).saturating_mul(1000);
        Instant::from_millis(self.created.millis().saturating_add(later))
    }
}

fn content(message: &ChatMessage) -> Vec<Json> {
    let of = |word: &str| Json::object().with("type", word);
    if let Role::Tool { call, is_error, .. } = &message.role {
        let said = |part: &Part| item(part).filter(|_| !matches!(part, Part::Call { .. }));
        let value = Json::object()
            .with(
                "content",
                message.parts.iter().filter_map(said).collect::<Vec<_>>(),
            )
            .with("isError", *is_error);
        let result = Json::object()
            .with("status", "success")
            .with("value", value);
        return vec![
            of("toolResponse")
                .with("id", call.as_str())
                .with("toolResult", result),
        ];
    }
    message.parts.iter().filter_map(item).collect()
}

fn item(part: &Part) -> Option<Json> {
    let of = |word: &str| Json::object().with("type", word);
    match part {
        Part::Text(text) => Some(of("text").with("text", text.as_str())),
        Part::Thinking { text, signature } => Some(
            of("thinking")
                .with("thinking", text.as_str())
                .with("signature", signature.as_deref().unwrap_or_default()),
        ),
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } => Some(
            of("image")
                .with("data", data.as_str())
                .with("mimeType", mime.as_str()),
        ),
        Part::Call { id, name, input } => {
            let value = Json::object()
                .with("name", name.as_str())
                .with("arguments", input.to_object());
            let call = Json::object()
                .with("status", "success")
                .with("value", value);
            Some(
                of("toolRequest")
                    .with("id", id.as_str())
                    .with("toolCall", call),
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_answers_are_paired_by_their_ids() {
        let call = Part::Call {
            id: "c".to_owned(),
            name: "shell".to_owned(),
            input: "{\"command\":\"ls\"}".into(),
        };
        let tool = Role::Tool {
            call: "c".to_owned(),
            tool: "shell".to_owned(),
            is_error: true,
        };
        let messages = [
            ChatMessage::new(Role::System, vec![Part::Text("secret".to_owned())]),
            ChatMessage::new(Role::User, vec![Part::Text("list".to_owned())]),
            ChatMessage::new(Role::Assistant, vec![call]),
            ChatMessage::new(tool, vec![Part::Text("denied".to_owned())]),
        ];
        let export = GooseExport {
            id: "s",
            name: "A red build",
            working_dir: "/proj",
            created: Instant::from_millis(1_767_254_400_000),
        };
        let text = export.encode(&messages).to_string();
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains(r#""type":"toolRequest","id":"c""#), "{text}");
        assert!(text.contains(r#""type":"toolResponse","id":"c""#), "{text}");
        assert!(text.contains(r#""isError":true"#), "{text}");
        assert!(text.contains(r#""message_count":3"#), "{text}");
    }
}
