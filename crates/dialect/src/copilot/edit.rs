//! Changes of a session: events behind the last one, new logs, deletion.
//!
//! Version 1.0.102 resumed a log of such events that was written by hand. Its other files are made
//! by the program when it resumes the session.

use boswell_model::json::{Json, set_member};
use boswell_model::{Error, ErrorKind, Part, Result, Tip};

use crate::{
    AssistantMessage, Body, Capability, Draft, EditRequest, EntryStamp, Files, IdSource,
    NewSession, Plan, PlanEdits, PlanInput, Planned, Precondition, SideFiles, Step, StoreRequest,
    line_edits, refuse_unwritable_parts, unsupported,
};

use super::{Copilot, event, layout};

const NAME: &str = "copilot";
/// The version in a new session: the newest one that took such a file.
const VERSION: &str = "1.0.102";

impl PlanEdits for Copilot {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Append, Delete, Fork, Title};
        matches!(operation, Append | Delete | Fork | Title)
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
            EditRequest::Fork { at, new } => fork(asked, *at, new),
            EditRequest::Title(title) => rename(asked, title),
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
        let log = new_log(&id, &new.project, id_source);
        let title = format!("make {NAME}:{id}");
        let made = line_edits::create(files, ("new", &title), (&id, key_of(&id)), log)?;
        Ok(named(made, &id, new))
    }
}

fn key_of(id: &str) -> String {
    format!("session-state/{id}/{}", layout::LOG)
}

/// Returns the first event of a new log.
fn new_log(id: &str, project: &str, id_source: &dyn IdSource) -> Vec<u8> {
    let now = id_source.now();
    let data = Json::object()
        .with("sessionId", id)
        .with("version", 1)
        .with("producer", "copilot-agent")
        .with("copilotVersion", VERSION)
        .with("startTime", now.to_rfc3339())
        .with("context", Json::object().with("cwd", project));
    let stamp = EntryStamp {
        id: &id_source.uuid_v4(),
        parent: None,
        at: now,
    };
    let mut bytes = event_line("session.start", data, stamp).to_bytes();
    bytes.push(b'\n');
    bytes
}

/// Adds the file with the title of a new session, if it has one.
fn named(mut planned: Planned, id: &str, new: &NewSession) -> Planned {
    if let Some(title) = &new.title {
        let key = format!("session-state/{id}/{}", layout::WORKSPACE);
        let text = layout::titled(&format!("id: {id}\n"), title);
        planned.plan = planned.plan.step(Step::put(key, text.into_bytes()));
    }
    planned
}

/// Plans a title: the program keeps it in a file beside the log.
fn rename(asked: &PlanInput<'_>, title: &str) -> Result<Planned> {
    let id = &asked.location.id;
    let Some(folder) = layout::folder(asked.location) else {
        return Err(unsupported(
            NAME,
            "name a session of an older version, which is one file",
            "resume it in Copilot CLI first",
        ));
    };
    let key = format!("{folder}/{}", layout::WORKSPACE);
    let old = asked.files.read_whole(&key, layout::WORKSPACE_LIMIT)?;
    let old = old.unwrap_or_else(|| format!("id: {id}\n").into_bytes());
    let old = String::from_utf8(old).map_err(|_| {
        Error::new(ErrorKind::Damaged, format!("`{key}` is not text"))
            .advising("repair or remove the file, and try again")
    })?;
    let plan = Plan::new("title", format!("set the title of {NAME}:{id}"))
        .requiring(Precondition::NotLive {
            key: line_edits::key_of(asked)?,
        })
        .step(Step::put(key, layout::titled(&old, title).into_bytes()));
    Ok(Planned::of(plan))
}

/// Plans a fork: a new log with the events that are in the conversation at an entry, in one chain.
fn fork(asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    let id = line_edits::new_id(new, asked.id_source)?;
    let project = Some(new.project.as_str()).filter(|it| !it.is_empty());
    let project = project.or(asked.meta.project.as_deref());
    let mut bytes = new_log(&id, project.unwrap_or_default(), asked.id_source);
    copy_events(asked, at, &mut bytes)?;
    let title = format!("fork {NAME}:{} as {id}", asked.location.id);
    let made = line_edits::create(asked.files, ("fork", &title), (&id, key_of(&id)), bytes)?;
    Ok(named(made, &id, new))
}

/// Adds the events up to a tip to a new log, each as the child of the one before.
fn copy_events(asked: &PlanInput<'_>, at: Tip, bytes: &mut Vec<u8>) -> Result<()> {
    let mut last = boswell_model::json::Raw::trusted(bytes.trim_ascii())
        .get("id")
        .map(|it| it.bytes().to_vec());
    let live = at.slot().map(|slot| event::up_to(asked.view.log, slot));
    for message in live.unwrap_or_default() {
        let record = asked.view.payload(message.slot)?;
        let fault = |fault: boswell_model::json::SyntaxError| {
            Error::new(ErrorKind::Damaged, fault.to_string())
        };
        let parent = last.as_deref().unwrap_or(b"null");
        let copy = set_member(&record, &["parentId"], parent).map_err(fault)?;
        bytes.extend(line_edits::on_one_line(&copy));
        bytes.push(b'\n');
        let own = boswell_model::json::Raw::trusted(&record).get("id");
        last = own.map(|it| it.bytes().to_vec()).or(last);
    }
    Ok(())
}

fn encode(draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
    refuse_unwritable_parts(NAME, &draft.body)?;
    let (word, data) = match &draft.body {
        Body::User(parts) => (
            "user.message",
            Json::object().with("content", line_edits::only_texts(NAME, parts)?),
        ),
        Body::Assistant(answer) => ("assistant.message", assistant(answer, stamp)?),
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => {
            let said = line_edits::only_texts(NAME, content)?;
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
        Body::Native(bytes) => return line_edits::native(bytes),
        _ => return Err(line_edits::only_messages(NAME)),
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
            _ => return Err(line_edits::no_place(NAME)),
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
