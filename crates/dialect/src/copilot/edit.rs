//! Changes of a session: events behind the last one, new logs, deletion.
//!
//! Version 1.0.102 resumed a log of such events that was written by hand. Its other files are made
//! by the program when it resumes the session.

use boswell_model::json::Json;
use boswell_model::{Advice, Error, Part, Result};

use crate::{
    AssistantMessage, Body, Capability, Draft, EditRequest, EntryStamp, Files, IdSource, PlanEdits,
    PlanInput, Planned, SideFiles, StoreRequest, line_edits, one_object, refuse_unwritable_parts,
    unsupported,
};

use super::{Copilot, event};

const NAME: &str = "copilot";
/// The version in a new session: the newest one that took such a file.
const VERSION: &str = "1.0.102";

impl PlanEdits for Copilot {
    fn plans(&self, operation: Capability) -> bool {
        matches!(operation, Capability::Append | Capability::Delete)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        match request {
            EditRequest::Append(drafts) => {
                let tip = event::replayed(asked.view.log, usize::MAX).tip();
                let tip = tip.map(|slot| asked.view.log.label(slot));
                line_edits::append(NAME, asked, (drafts, tip.as_deref()), &encode)
            }
            EditRequest::Delete => {
                line_edits::delete(asked, self.side_files(asked.files, asked.location)?)
            }
            _ => Err(line_edits::no_plan(NAME)),
        }
    }

    fn plan_store(
        &self,
        files: &dyn Files,
        request: &StoreRequest,
        id_source: &dyn IdSource,
    ) -> Result<Planned> {
        let StoreRequest::Create(new) = request else {
            return Err(line_edits::no_plan(NAME));
        };
        let id = line_edits::new_id(new, id_source)?;
        let now = id_source.now();
        let data = Json::object()
            .with("sessionId", id.as_str())
            .with("version", 1)
            .with("producer", "copilot-agent")
            .with("copilotVersion", VERSION)
            .with("startTime", now.to_rfc3339())
            .with("context", Json::object().with("cwd", new.project.as_str()));
        let stamp = EntryStamp {
            id: &id_source.uuid_v4(),
            parent: None,
            at: now,
        };
        let mut bytes = event_line("session.start", data, stamp).to_bytes();
        bytes.push(b'\n');
        let title = format!("make {NAME}:{id}");
        let key = format!("session-state/{id}/{}", super::layout::LOG);
        line_edits::create(files, ("new", &title), (&id, key), bytes)
    }
}

fn encode(draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
    refuse_unwritable_parts(NAME, &draft.body)?;
    let (word, data) = match &draft.body {
        Body::User(parts) => (
            "user.message",
            Json::object().with("content", texts(parts)?),
        ),
        Body::Assistant(answer) => ("assistant.message", assistant(answer, stamp)?),
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => {
            let said = texts(content)?;
            let data = Json::object()
                .with("toolCallId", call.as_str())
                .with("toolName", tool.as_str())
                .with("success", !*is_error);
            let data = match is_error {
                true => data.with("error", Json::object().with("message", said)),
                false => data.with("result", Json::object().with("content", said)),
            };
            ("tool.execution_complete", data)
        }
        Body::Native(bytes) => {
            let raw = one_object(bytes)?;
            let bytes = raw.bytes().iter().copied();
            return Ok(bytes.filter(|it| !matches!(it, b'\n' | b'\r')).collect());
        }
        _ => {
            let instead = "it has messages of user and model, and answers of tools";
            return Err(unsupported(
                NAME,
                "hold an entry of this kind",
                Advice::from(instead),
            ));
        }
    };
    Ok(event_line(word, data, stamp).to_bytes())
}

fn event_line(word: &str, data: Json, stamp: EntryStamp<'_>) -> Json {
    Json::object()
        .with("type", word)
        .with("data", data)
        .with("id", stamp.id)
        .with("timestamp", stamp.at.to_rfc3339())
        .with("parentId", stamp.parent)
}

fn assistant(answer: &AssistantMessage, stamp: EntryStamp<'_>) -> Result<Json> {
    let (mut said, mut calls, mut thought) = (Vec::new(), Vec::new(), Vec::new());
    for part in &answer.content {
        match part {
            Part::Text(text) => said.push(text.as_str()),
            Part::Thinking {
                text,
                signature: None,
            } => thought.push(text.as_str()),
            Part::Call { id, name, input } => calls.push(
                Json::object()
                    .with("toolCallId", id.as_str())
                    .with("name", name.as_str())
                    .with("arguments", input.to_object())
                    .with("type", "function"),
            ),
            _ => return Err(no_place()),
        }
    }
    let thought = (!thought.is_empty()).then(|| thought.join("\n"));
    Ok(Json::object()
        .with("messageId", stamp.id)
        .with_some("model", answer.model.as_deref())
        .with("content", said.join("\n"))
        .with("toolRequests", calls)
        .with_some("reasoningText", thought)
        .with_some("outputTokens", answer.usage.output))
}

fn texts(parts: &[Part]) -> Result<String> {
    let mut said = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => said.push(text.as_str()),
            _ => return Err(no_place()),
        }
    }
    Ok(said.join("\n"))
}

fn no_place() -> Error {
    unsupported(NAME, "hold such a part here", "append its text alone")
}
