//! New records at the end of a log.

use boswell_model::json::Json;
use boswell_model::{Advice, Instant, Result, SessionMeta};

use crate::{
    Append, AssistantMessage, Body, Draft, EntryStamp, IdSource, NewLog, NewSession, SessionFacts,
    google_parts, line_edits, refuse_unwritable_parts, unsupported,
};

use super::{Qwen, layout};

pub(super) const NAME: &str = "qwen";
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
        refuse_unwritable_parts(NAME, &draft.body)?;
        let frame = frame(stamp, session);
        let record = match &draft.body {
            Body::User(parts) => frame.with("type", "user").with(
                "message",
                message("user", google_parts::encoded(NAME, parts)?),
            ),
            Body::Assistant(answer) => assistant(frame.with("type", "assistant"), answer)?,
            Body::ToolResult {
                call,
                tool,
                content,
                is_error,
            } => {
                let response =
                    google_parts::encoded_result(NAME, (call, tool), content, *is_error)?;
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
            Body::Native(bytes) => {
                out.extend(line_edits::native(bytes)?);
                return Ok(());
            }
            _ => {
                return Err(unsupported(
                    NAME,
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
        .with(
            "message",
            message("model", google_parts::encoded(NAME, &answer.content)?),
        )
        .with_some("usageMetadata", prompt.map(|_| counts)))
}
