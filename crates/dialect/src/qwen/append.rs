//! New records at the end of a log.

use boswell_model::json::Json;
use boswell_model::{Advice, Error, Instant, MediaSource, Part, Result, SessionMeta};

use crate::{
    Append, AssistantMessage, Body, Draft, EntryStamp, IdSource, NewLog, NewSession, SessionFacts,
    one_object, refuse_unwritable_parts, unsupported,
};

use super::{Qwen, layout};

/// The version in new records: the newest one whose program took such a file.
pub(super) const VERSION: &str = "0.15.10";

impl Append for Qwen {
    fn can_append(&self, _meta: &SessionMeta) -> Result<()> {
        Ok(())
    }

    fn encode(
        &self,
        draft: &Draft,
        stamp: EntryStamp<'_>,
        session: Option<SessionFacts<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        refuse_unwritable_parts("qwen", &draft.body)?;
        let frame = frame(stamp, session);
        let record = match &draft.body {
            Body::User(parts) => frame
                .with("type", "user")
                .with("message", message("user", encoded_parts(parts)?)),
            Body::Assistant(answer) => assistant(frame.with("type", "assistant"), answer)?,
            Body::ToolResult {
                call,
                tool,
                content,
                is_error,
            } => {
                let response = response(call, tool, content, *is_error)?;
                let status = if *is_error { "error" } else { "success" };
                let result = Json::object()
                    .with("callId", call.as_str())
                    .with("status", status);
                frame
                    .with("type", "tool_result")
                    .with("message", message("user", vec![response]))
                    .with("toolCallResult", result)
            }
            Body::Title(title) => {
                let payload = Json::object()
                    .with("customTitle", title.as_str())
                    .with("titleSource", "manual");
                frame
                    .with("type", "system")
                    .with("subtype", "custom_title")
                    .with("systemPayload", payload)
            }
            Body::Native(bytes) => return native(bytes, out),
            _ => {
                return Err(unsupported(
                    "qwen",
                    "hold an entry of this kind",
                    Advice::from("it has messages of user and model, answers of tools, and titles"),
                ));
            }
        };
        record.write(out);
        Ok(())
    }

    /// A log has no header. The first record states the folder, by which Qwen Code decides whose
    /// session it is, so it is written at once; its id is that of the session.
    fn new_log(&self, new: &NewSession, id: &str, now: Instant) -> Result<NewLog> {
        let folder = layout::project_key(&new.project);
        let (subtype, payload) = match &new.parent {
            Some(parent) => (
                "parent_session",
                Json::object().with("parentSessionId", parent.as_str()),
            ),
            None => ("session_source", Json::object()),
        };
        let record = Json::object()
            .with("uuid", id)
            .with("parentUuid", Json::Null)
            .with("sessionId", id)
            .with("timestamp", now.to_rfc3339())
            .with("type", "system")
            .with("cwd", new.project.as_str())
            .with("version", VERSION)
            .with("subtype", subtype)
            .with("systemPayload", payload);
        let mut bytes = record.to_bytes();
        bytes.push(b'\n');
        Ok(NewLog {
            key: format!("projects/{folder}/chats/{id}.jsonl"),
            bytes,
        })
    }

    fn session_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v4()
    }

    fn entry_id(&self, id_source: &dyn IdSource) -> String {
        id_source.uuid_v4()
    }
}

/// The members that every record has.
fn frame(stamp: EntryStamp<'_>, session: Option<SessionFacts<'_>>) -> Json {
    let project = session.and_then(|session| session.meta.project.as_deref());
    let version = session.and_then(|session| session.meta.agent_version.as_deref());
    Json::object()
        .with("uuid", stamp.id)
        .with("parentUuid", stamp.parent)
        .with_some("sessionId", session.map(|session| session.id))
        .with("timestamp", stamp.at.to_rfc3339())
        .with_some("cwd", project)
        .with("version", version.unwrap_or(VERSION))
}

fn message(role: &str, parts: Vec<Json>) -> Json {
    Json::object().with("role", role).with("parts", parts)
}

fn assistant(frame: Json, answer: &AssistantMessage) -> Result<Json> {
    let usage = &answer.usage;
    let cached = usage.cache_read.unwrap_or(0);
    let prompt = usage.input.map(|input| input.saturating_add(cached));
    let total = prompt.zip(usage.output).map(|(a, b)| a.saturating_add(b));
    let counts = Json::object()
        .with_some("promptTokenCount", prompt)
        .with_some("candidatesTokenCount", usage.output)
        .with_some("thoughtsTokenCount", usage.reasoning)
        .with_some("totalTokenCount", total)
        .with_some("cachedContentTokenCount", usage.cache_read);
    Ok(frame
        .with_some("model", answer.model.as_deref())
        .with("message", message("model", encoded_parts(&answer.content)?))
        .with_some("usageMetadata", prompt.map(|_| counts)))
}

fn encoded_parts(parts: &[Part]) -> Result<Vec<Json>> {
    parts.iter().map(encoded_part).collect()
}

fn encoded_part(part: &Part) -> Result<Json> {
    Ok(match part {
        Part::Text(text) => Json::object().with("text", text.as_str()),
        Part::Thinking { text, signature } => Json::object()
            .with("text", text.as_str())
            .with("thought", true)
            .with_some("thoughtSignature", signature.as_deref()),
        Part::Call { id, name, input } => {
            let call = Json::object()
                .with("id", id.as_str())
                .with("name", name.as_str())
                .with("args", input.to_object());
            Json::object().with("functionCall", call)
        }
        Part::Media {
            mime: Some(mime),
            source: MediaSource::Inline(data),
        } => {
            let data = Json::object()
                .with("mimeType", mime.as_str())
                .with("data", data.as_str());
            Json::object().with("inlineData", data)
        }
        _ => return Err(no_place()),
    })
}

fn response(call: &str, tool: &str, content: &[Part], is_error: bool) -> Result<Json> {
    let mut texts = Vec::new();
    for part in content {
        match part {
            Part::Text(text) => texts.push(text.as_str()),
            _ => return Err(no_place()),
        }
    }
    let key = if is_error { "error" } else { "output" };
    let response = Json::object()
        .with("id", call)
        .with("name", tool)
        .with("response", Json::object().with(key, texts.join("\n")));
    Ok(Json::object().with("functionResponse", response))
}

fn no_place() -> Error {
    unsupported("qwen", "hold such a part here", "append its text alone")
}

/// A record that the caller wrote.
fn native(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let raw = one_object(bytes)?;
    out.extend(
        raw.bytes()
            .iter()
            .filter(|byte| !matches!(byte, b'\n' | b'\r')),
    );
    Ok(())
}
