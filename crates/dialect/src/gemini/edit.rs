//! Changes of a session: lines behind the last one, new logs, deletion.

use boswell_model::json::{Json, Raw};
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Framing, Instant, RequestInput, Result, SessionMeta, Slot,
    Tip,
};

use crate::message_map::LiveMessage;
use crate::{
    Capability, EditRequest, Files, IdSource, NewSession, PlanEdits, PlanInput, Planned, SideFile,
    SideFiles, SideKind, StoreRequest, line_edits, unsupported,
};

use super::encode::{NAME, encode};
use super::{Gemini, context, layout, record};

impl PlanEdits for Gemini {
    fn plans(&self, operation: Capability) -> bool {
        use Capability::{Append, Branch, Delete, Fork, Rewind, Title};
        matches!(operation, Append | Branch | Delete | Fork | Rewind | Title)
    }

    fn plan(&self, asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
        let id = &asked.location.id;
        match request {
            EditRequest::Delete => line_edits::delete(asked, every_file(self, asked)?),
            EditRequest::Fork { at, new } => fork(asked, *at, new),
            _ if asked.location.framing != Framing::Lines => Err(is_document(id)),
            EditRequest::Append(drafts) => {
                let tip = tip(asked);
                line_edits::append(NAME, asked, (drafts, tip.as_deref()), &encode)
            }
            EditRequest::Title(title) => {
                let set = Json::object().with("summary", title.as_str());
                let line = Json::object().with("$set", set);
                let what = format!("set the title of {NAME}:{id}");
                line_edits::lines(asked, "title", &what, ended(&line))
            }
            EditRequest::Rewind(Tip::At(slot)) => rewind(asked, *slot),
            EditRequest::Stand(tip) => stand(asked, *tip),
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
        let (key, bytes) = new_log(files, (&id, &new.project), new, id_source.now())?;
        let title = format!("make {NAME}:{id}");
        line_edits::create(files, ("new", &title), (&id, key), bytes)
    }
}

fn is_document(id: &str) -> Error {
    unsupported(
        NAME,
        "be changed as a document of an older version",
        Advice::Fork {
            session: Some(format!("{NAME}:{id}")),
            at: None,
        },
    )
}

fn ended(line: &Json) -> Vec<u8> {
    let mut bytes = line.to_bytes();
    bytes.push(b'\n');
    bytes
}

/// Returns the label of the entry that a new one follows.
fn tip(asked: &PlanInput<'_>) -> Option<String> {
    let tip = record::replayed(asked.view.log, usize::MAX).tip();
    tip.map(|slot| asked.view.log.label(slot).into_owned())
}

/// The line that drops a message and all after it.
fn drop_from(asked: &PlanInput<'_>, slot: Slot) -> Result<Planned> {
    let log = asked.view.log;
    let id = log.head(slot).and_then(|head| head.id);
    let Some(id) = id.map(|id| log.names.text(id)) else {
        return Err(unsupported(
            NAME,
            "go back to there",
            "name a message with an id",
        ));
    };
    let line = Json::object().with("$rewindTo", id);
    let what = format!("go back in {NAME}:{}", asked.location.id);
    line_edits::lines(asked, "rewind", &what, ended(&line))
}

fn rewind(asked: &PlanInput<'_>, prompt: Slot) -> Result<Planned> {
    let live = record::replayed(asked.view.log, usize::MAX).live;
    let is_live = live.iter().any(|message| message.shown == Some(prompt));
    if asked.view.log.kind(prompt) != EntryKind::User || !is_live {
        return Err(Error::new(
            ErrorKind::Invalid,
            "only a prompt that is still in the conversation can be rewound to",
        )
        .advising(Advice::ShowSession { session: None }));
    }
    drop_from(asked, prompt)
}

/// Moves the leaf: everything behind the entry is dropped.
fn stand(asked: &PlanInput<'_>, tip: Tip) -> Result<Planned> {
    let live = record::replayed(asked.view.log, usize::MAX).live;
    let place = match tip {
        Tip::Root => Some(0),
        Tip::At(slot) => live
            .iter()
            .rposition(|message| message.shown == Some(slot))
            .map(|place| place + 1),
    };
    let Some(place) = place else {
        return Err(unsupported(
            NAME,
            "go back to an entry that is no longer in the conversation",
            Advice::Fork {
                session: None,
                at: None,
            },
        ));
    };
    let next = live.iter().skip(place).find_map(|message| message.shown);
    match next {
        Some(next) => drop_from(asked, next),
        None => line_edits::lines(asked, "branch", "it already stands there", Vec::new()),
    }
}

/// The files of a session, and the empty ones of the same id that a resumed session leaves.
fn every_file(gemini: &Gemini, asked: &PlanInput<'_>) -> Result<Vec<SideFile>> {
    let mut found = gemini.side_files(asked.files, asked.location)?;
    if let Some(stub) = layout::known(asked.location, super::check::DOOMED_BY)
        && let Some((folder, _)) = asked
            .location
            .key
            .as_deref()
            .and_then(|it| it.rsplit_once('/'))
    {
        found.push(SideFile {
            key: format!("{folder}/{stub}"),
            kind: SideKind::Meta,
            size: 0,
        });
    }
    Ok(found)
}

/// Returns key and first line of a new log. A project that the program does not know has a folder
/// with the name of its hash, whose sessions the program copies when it finds it.
fn new_log(
    files: &dyn Files,
    (id, project): (&str, &str),
    new: &NewSession,
    now: Instant,
) -> Result<(String, Vec<u8>)> {
    let hash = layout::project_hash(project);
    let folder = layout::folder_for(files, project)?.unwrap_or_else(|| hash.clone());
    let time = now.to_rfc3339();
    let minute = time.get(..16).unwrap_or(&time).replace(':', "-");
    let short = id.get(..8).unwrap_or(id);
    let key = format!("tmp/{folder}/chats/session-{minute}-{short}.jsonl");
    let header = Json::object()
        .with("sessionId", id)
        .with("projectHash", hash)
        .with("startTime", time.as_str())
        .with("lastUpdated", time.as_str())
        .with("kind", "main")
        .with_some("summary", new.title.as_deref());
    Ok((key, ended(&header)))
}

/// Plans a fork: a new log with the messages that are in the conversation at an entry.
fn fork(asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    let id = line_edits::new_id(new, asked.id_source)?;
    let project = project(asked.meta, new).ok_or_else(|| {
        Error::new(
            ErrorKind::Invalid,
            "the project of the session is not known",
        )
        .because("Gemini CLI keeps sessions by project")
        .advising(Advice::Give(RequestInput::Project))
    })?;
    let now = asked.id_source.now();
    let (key, mut bytes) = new_log(asked.files, (&id, &project), new, now)?;
    let live = at
        .slot()
        .map(|slot| context::up_to(&asked.view, slot).live)
        .unwrap_or_default();
    for message in &live {
        copy(asked, message, &mut bytes)?;
    }
    let title = format!("fork {NAME}:{} as {id}", asked.location.id);
    line_edits::create(asked.files, ("fork", &title), (&id, key), bytes)
}

fn project(meta: &SessionMeta, new: &NewSession) -> Option<String> {
    let asked = Some(new.project.clone()).filter(|it| !it.is_empty());
    asked.or_else(|| meta.project.clone())
}

/// Copies a message on a line of its own.
fn copy(asked: &PlanInput<'_>, message: &LiveMessage, out: &mut Vec<u8>) -> Result<()> {
    let payload = asked.view.payload(message.slot)?;
    let whole = Raw::trusted(&payload);
    let record = match message.part {
        Some(part) => {
            let list = whole
                .at(&["$set", "messages"])
                .or_else(|| whole.get("messages"));
            list.and_then(|list| list.items().nth(part as usize))
        }
        None => Some(whole),
    };
    let bytes = record.map(|record| record.bytes()).unwrap_or_default();
    out.extend(bytes.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
    out.push(b'\n');
    Ok(())
}
