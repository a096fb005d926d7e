//! The document that `opencode import` takes: the one that `opencode export` prints.

use boswell_model::json::Json;
use boswell_model::{Instant, MediaSource, Part};

use crate::{ChatMessage, Role};

/// What a document states besides its messages.
#[derive(Debug, Clone)]
pub(super) struct OpenCodeExport<'a> {
    /// Id of the session: `ses_` and letters or digits.
    pub(super) id: &'a str,
    /// The title.
    pub(super) title: &'a str,
    /// The project folder.
    pub(super) directory: &'a str,
    /// The version of the program.
    pub(super) version: &'a str,
    /// The model, as provider and name.
    pub(super) model: (&'a str, &'a str),
    /// When the conversation began; each message is a millisecond later than the one before.
    pub(super) created: Instant,
}

impl OpenCodeExport<'_> {
    /// Returns the document. Messages of the system are left out: the program has its own.
    ///
    /// A result becomes part of its call, so a result without a call is left out, and a call
    /// without a result is an error, as the program itself records it. Equal input gives equal
    /// bytes.
    pub(super) fn encode(&self, messages: &[ChatMessage]) -> Json {
        let mut written = Vec::new();
        let mut last_prompt = String::new();
        let all = messages.iter().enumerate();
        for (nth, message) in all.filter(|(_, it)| matches!(it.role, Role::User | Role::Assistant))
        {
            let id = self.id_of("msg", nth, 0);
            let is_user = message.role == Role::User;
            let info = match is_user {
                true => self.prompt(&id, nth),
                false => self.answer(&id, nth, &last_prompt, message),
            };
            let parts = message.parts.iter().enumerate();
            let parts: Vec<Json> = parts
                .filter_map(|(place, part)| {
                    let part = self.part(part, messages.get(nth + 1..).unwrap_or_default(), nth)?;
                    let part = part.with("id", self.id_of("prt", nth, place + 1).as_str());
                    let part = part.with("sessionID", self.id);
                    Some(part.with("messageID", id.as_str()))
                })
                .collect();
            if is_user {
                last_prompt.clone_from(&id);
            }
            written.push(Json::object().with("info", info).with("parts", parts));
        }
        Json::object()
            .with("info", self.session(messages.len()))
            .with("messages", written)
    }

    fn time(&self, nth: usize) -> i64 {
        let later = i64::try_from(nth).unwrap_or(i64::MAX);
        self.created.millis().saturating_add(later)
    }

    /// Ids ascend with their messages, because the program sorts by them: a prefix, twelve
    /// hexadecimal digits of the time and a counter, and fourteen characters that tell sessions
    /// apart.
    fn id_of(&self, prefix: &str, nth: usize, place: usize) -> String {
        let counter = i64::try_from(place).unwrap_or(0) & 0xfff;
        let time = self.time(nth).wrapping_mul(4096).wrapping_add(counter);
        let digits = time.cast_unsigned() & 0xffff_ffff_ffff;
        let own = self.id.strip_prefix("ses_").unwrap_or(self.id);
        let own: String = own.chars().rev().take(14).collect();
        format!("{prefix}_{digits:012x}{own:0>14}")
    }

    fn session(&self, count: usize) -> Json {
        let time = Json::object()
            .with("created", self.time(0))
            .with("updated", self.time(count));
        Json::object()
            .with("id", self.id)
            .with("slug", self.id)
            .with("projectID", "global")
            .with("directory", self.directory)
            .with("title", self.title)
            .with("version", self.version)
            .with("time", time)
    }

    fn prompt(&self, id: &str, nth: usize) -> Json {
        let (provider, model) = self.model;
        let model = Json::object()
            .with("providerID", provider)
            .with("modelID", model);
        Json::object()
            .with("role", "user")
            .with("time", Json::object().with("created", self.time(nth)))
            .with("agent", "build")
            .with("model", model)
            .with("id", id)
            .with("sessionID", self.id)
    }

    fn answer(&self, id: &str, nth: usize, prompt: &str, message: &ChatMessage) -> Json {
        let (provider, model) = self.model;
        let cache = Json::object().with("read", 0).with("write", 0);
        let tokens = Json::object()
            .with("input", 0)
            .with("output", 0)
            .with("reasoning", 0)
            .with("cache", cache);
        let time = Json::object()
            .with("created", self.time(nth))
            .with("completed", self.time(nth));
        let path = Json::object()
            .with("cwd", self.directory)
            .with("root", self.directory);
        let finish = match message.calls().next() {
            Some(_) => "tool-calls",
            None => "stop",
        };
        Json::object()
            .with("role", "assistant")
            .with("parentID", prompt)
            .with("mode", "build")
            .with("agent", "build")
            .with("path", path)
            .with("cost", 0)
            .with("tokens", tokens)
            .with("modelID", model)
            .with("providerID", provider)
            .with("time", time)
            .with("finish", finish)
            .with("id", id)
            .with("sessionID", self.id)
    }

    fn part(&self, part: &Part, later: &[ChatMessage], nth: usize) -> Option<Json> {
        let of = |word: &str| Json::object().with("type", word);
        let span = || {
            Json::object()
                .with("start", self.time(nth))
                .with("end", self.time(nth))
        };
        match part {
            Part::Text(text) => Some(of("text").with("text", text.as_str())),
            Part::Thinking { text, .. } => Some(
                of("reasoning")
                    .with("text", text.as_str())
                    .with("time", span()),
            ),
            Part::Media {
                mime: Some(mime),
                source: MediaSource::Inline(data),
            } => {
                let url = format!("data:{mime};base64,{data}");
                Some(
                    of("file")
                        .with("mime", mime.as_str())
                        .with("url", url.as_str()),
                )
            }
            Part::Call { id, name, input } => {
                let state = Json::object().with("input", input.to_object());
                let state = match answer_of(id, later) {
                    Some((said, false)) => state
                        .with("status", "completed")
                        .with("output", said.as_str())
                        .with("title", "")
                        .with("metadata", Json::object()),
                    Some((said, true)) => {
                        state.with("status", "error").with("error", said.as_str())
                    }
                    None => state
                        .with("status", "error")
                        .with("error", super::parts::INTERRUPTED),
                };
                let tool = of("tool").with("tool", name.as_str());
                let tool = tool.with("callID", id.as_str());
                Some(tool.with("state", state.with("time", span())))
            }
            _ => None,
        }
    }
}

/// Returns the answer to a call: its text, and whether the call failed.
fn answer_of(id: &str, later: &[ChatMessage]) -> Option<(String, bool)> {
    later.iter().find_map(|message| match &message.role {
        Role::Tool { call, is_error, .. } if call == id => Some((message.text(), *is_error)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export() -> OpenCodeExport<'static> {
        OpenCodeExport {
            id: "ses_abc123",
            title: "A red build",
            directory: "/proj",
            version: "1.18.33",
            model: ("p", "m"),
            created: Instant::from_millis(1_767_254_400_000),
        }
    }

    fn conversation() -> Vec<ChatMessage> {
        let call = Part::Call {
            id: "c".to_owned(),
            name: "bash".to_owned(),
            input: "{\"command\":\"ls\"}".into(),
        };
        let lost = Part::Call {
            id: "lost".to_owned(),
            name: "bash".to_owned(),
            input: "{}".into(),
        };
        let tool = Role::Tool {
            call: "c".to_owned(),
            tool: "bash".to_owned(),
            is_error: false,
        };
        vec![
            ChatMessage::new(Role::System, vec![Part::Text("secret".to_owned())]),
            ChatMessage::new(Role::User, vec![Part::Text("list".to_owned())]),
            ChatMessage::new(Role::Assistant, vec![Part::thinking("hm"), call, lost]),
            ChatMessage::new(tool, vec![Part::Text("a.rs".to_owned())]),
            ChatMessage::new(Role::Assistant, vec![Part::Text("one file".to_owned())]),
        ]
    }

    #[test]
    fn a_result_is_part_of_its_call_and_the_system_prompt_is_left_out() {
        let text = export().encode(&conversation()).to_string();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(text.matches("\"role\":\"user\"").count(), 1);
        assert_eq!(text.matches("\"role\":\"assistant\"").count(), 2);
        assert!(text.contains("\"output\":\"a.rs\""), "{text}");
        assert_eq!(text.matches("interrupted").count(), 1, "{text}");
        assert_eq!(text, export().encode(&conversation()).to_string());
    }

    #[test]
    fn ids_ascend_with_their_messages() {
        let export = export();
        let ids: Vec<String> = (0..4).map(|nth| export.id_of("msg", nth, 0)).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert!(
            ids.iter().all(|id| id.len() == "msg_".len() + 26),
            "{ids:?}"
        );
    }
}
