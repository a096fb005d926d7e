//! Changes of a session: messages behind the last one, new sessions, deletion.
//!
//! Version 2.1.0 resumed a log of such messages that was written by hand. Its prompt and its model
//! are in no file, so such a session is resumed with the model of the settings.

use boswell_model::json::{Json, set_member};
use boswell_model::{
    EntryKind, Error, ErrorKind, Instant, Log, Part, Result, SessionId, Slot, Tip,
};

use crate::{
    AssistantMessage, Body, Capability, Dialect, Draft, EditRequest, EntryStamp, Files, IdSource,
    NewSession, Plan, PlanEdits, PlanInput, Planned, Precondition, SideFiles, Step, StoreRequest,
    line_edits, refuse_unwritable_parts,
};

use super::dialect::STATE_LIMIT;
use super::{Kimi, layout, record};

const NAME: &str = "kimi";
/// The version of the log that a hand-written session was accepted with.
const PROTOCOL: &str = "1.5";

impl PlanEdits for Kimi {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Append, Delete, Fork, Title};
        matches!(operation, Append | Delete | Fork | Title)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        match request {
            EditRequest::Append(drafts) => {
                let tip = record::replayed(asked.view.log, usize::MAX).tip();
                let tip = tip.map(|slot| asked.view.log.label(slot));
                line_edits::append(NAME, asked, (drafts, tip.as_deref()), &encode)
            }
            EditRequest::Delete => {
                line_edits::delete(asked, self.side_files(asked.files, asked.location)?)
            }
            EditRequest::Fork { at, new } => fork(self, asked, *at, new),
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
        let id = new_id(self, new, id_source)?;
        let now = id_source.now();
        create(
            files,
            ("new", format!("make {NAME}:{id}")),
            (&id, new, now),
            first_line(now),
        )
    }
}

fn new_id(kimi: &Kimi, new: &NewSession, id_source: &dyn IdSource) -> Result<String> {
    let id = new.id.as_ref().map(SessionId::as_str);
    let id = id.map_or_else(|| format!("session_{}", id_source.uuid_v4()), str::to_owned);
    if kimi.id_is_valid(&id) {
        return Ok(id);
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!("`{}` cannot be the id of a session", id.escape_debug()),
    )
    .because("the id names a folder")
    .advising("give one of letters, digits and `-`, or none"))
}

fn first_line(now: Instant) -> Vec<u8> {
    let line = Json::object()
        .with("type", "metadata")
        .with("protocol_version", PROTOCOL)
        .with("created_at", now.millis());
    let mut bytes = line.to_bytes();
    bytes.push(b'\n');
    bytes
}

/// Plans the two files of a new session.
fn create(
    files: &dyn Files,
    (kind, title): (&str, String),
    (id, new, now): (&str, &NewSession, Instant),
    log: Vec<u8>,
) -> Result<Planned> {
    let folder = format!("sessions/{}/{id}", layout::workspace_of(&new.project));
    let home = format!("{folder}/agents/main");
    let agent = Json::object()
        .with("homedir", files.describe(&home))
        .with("type", "main");
    let state = Json::object()
        .with("id", id)
        .with("version", 2)
        .with("cwd", new.project.as_str())
        .with("archived", false)
        .with("agents", Json::object().with("main", agent))
        .with("custom", Json::object())
        .with("createdAt", now.millis())
        .with("updatedAt", now.millis())
        .with_some("title", new.title.as_deref())
        .with("isCustomTitle", new.title.is_some())
        .with_some("forkedFrom", new.parent.as_deref());
    let mut planned = line_edits::create(
        files,
        (kind, &title),
        (id, format!("{home}/wire.jsonl")),
        log,
    )?;
    let step = Step::put(format!("{folder}/state.json"), state.to_bytes());
    planned.plan = planned.plan.step(step);
    Ok(planned)
}

/// Returns the records that a fork at an entry copies: everything up to it, because operations and
/// settings belong to the conversation too, and what ends its step.
fn copied(log: &Log, tip: Slot) -> Vec<Slot> {
    let is_later = |slot: &Slot| slot.index() > tip.index();
    let goes_on = |slot: &Slot| matches!(log.kind(*slot), EntryKind::Progress | EntryKind::Meta);
    let slots = log.slots();
    let own = slots.take_while(|slot| !is_later(slot) || goes_on(slot));
    own.filter(|slot| log.kind(*slot) != EntryKind::Header)
        .collect()
}

/// Plans a fork: a new session with a copy of the log up to an entry.
fn fork(kimi: &Kimi, asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    let id = new_id(kimi, new, asked.id_source)?;
    let now = asked.id_source.now();
    let mut bytes = first_line(now);
    for slot in at
        .slot()
        .map_or(Vec::new(), |tip| copied(asked.view.log, tip))
    {
        bytes.extend(line_edits::on_one_line(&asked.view.payload(slot)?));
        bytes.push(b'\n');
    }
    let folder = Some(new.project.clone()).filter(|it| !it.is_empty());
    let made = NewSession {
        project: folder
            .or_else(|| asked.meta.project.clone())
            .unwrap_or_default(),
        parent: Some(asked.location.id.clone()),
        ..new.clone()
    };
    let title = format!("fork {NAME}:{} as {id}", asked.location.id);
    create(asked.files, ("fork", title), (&id, &made, now), bytes)
}

/// Plans a title, which the program keeps in `state.json`.
fn rename(asked: &PlanInput<'_>, title: &str) -> Result<Planned> {
    let id = &asked.location.id;
    let folder = layout::folder(asked.location).filter(|_| asked.location.owner.is_none());
    let folder = folder.ok_or_else(|| line_edits::no_plan(NAME))?;
    let key = format!("{folder}/state.json");
    let state = asked
        .files
        .read_whole(&key, STATE_LIMIT)?
        .unwrap_or_default();
    let damaged = |fault: boswell_model::json::SyntaxError| {
        Error::new(
            ErrorKind::Damaged,
            format!("`{key}` is not valid JSON: {fault}"),
        )
    };
    let title = Json::from(title).to_bytes();
    let state = set_member(state.trim_ascii(), &["title"], &title).map_err(damaged)?;
    let state = set_member(&state, &["isCustomTitle"], b"true").map_err(damaged)?;
    let plan = Plan::new("title", format!("set the title of {NAME}:{id}"))
        .requiring(Precondition::NotLive {
            key: line_edits::key_of(asked)?,
        })
        .step(Step::put(key, state));
    Ok(Planned::of(plan))
}

fn encode(draft: &Draft, stamp: EntryStamp<'_>) -> Result<Vec<u8>> {
    refuse_unwritable_parts(NAME, &draft.body)?;
    let message = match &draft.body {
        Body::User(parts) => said("user", parts, stamp)?
            .with("toolCalls", Vec::<Json>::new())
            .with("origin", Json::object().with("kind", "user")),
        Body::Assistant(answer) => assistant(answer, stamp)?,
        Body::ToolResult {
            call,
            content,
            is_error,
            ..
        } => said("tool", content, stamp)?
            .with("toolCalls", Vec::<Json>::new())
            .with("toolCallId", call.as_str())
            .with_some("isError", is_error.then_some(true)),
        Body::Native(bytes) => return line_edits::native(bytes),
        _ => return Err(line_edits::only_messages(NAME)),
    };
    let record = Json::object()
        .with("type", "context.append_message")
        .with("agentId", "main")
        .with("message", message)
        .with("time", stamp.at.millis());
    Ok(record.to_bytes())
}

fn said(role: &str, parts: &[Part], stamp: EntryStamp<'_>) -> Result<Json> {
    let content: Result<Vec<Json>> = parts.iter().map(part).collect();
    Ok(Json::object()
        .with("role", role)
        .with("content", content?)
        .with("id", stamp.id))
}

fn part(part: &Part) -> Result<Json> {
    let block = |word: &str| Json::object().with("type", word);
    match part {
        Part::Text(text) => Ok(block("text").with("text", text.as_str())),
        Part::Thinking {
            text,
            signature: None,
        } => Ok(block("think").with("think", text.as_str())),
        _ => Err(line_edits::no_place(NAME)),
    }
}

fn assistant(answer: &AssistantMessage, stamp: EntryStamp<'_>) -> Result<Json> {
    let (mut content, mut calls) = (Vec::new(), Vec::new());
    for part in &answer.content {
        match part {
            Part::Call { id, name, input } => {
                let arguments = input.to_object().to_bytes();
                calls.push(
                    Json::object()
                        .with("type", "function")
                        .with("id", id.as_str())
                        .with("name", name.as_str())
                        .with(
                            "arguments",
                            String::from_utf8_lossy(&arguments).into_owned(),
                        ),
                );
            }
            other => content.push(other.clone()),
        }
    }
    Ok(said("assistant", &content, stamp)?.with("toolCalls", calls))
}
