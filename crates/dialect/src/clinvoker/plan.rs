//! Plans for edit requests: changes of a document and of the index, both under clinvoker's own
//! lock.

use std::collections::BTreeMap;

use boswell_model::json::{Raw, RawKind};
use boswell_model::{
    Advice, Error, ErrorKind, Instant, Remark, RequestInput, Result, SessionId, SessionRef,
};

use crate::{
    EditRequest, Files, IdSource, LockSpec, Modified, NewSession, Plan, PlanInput, Planned,
    Precondition, Step, StoreRequest, json_layout, unsupported,
};

use super::edit::{Edit, LAYOUT};
use super::index::{self, Depth};
use super::status::Status;
use super::{go_json, id, layout};

const LIMIT: u64 = 256 << 20;
/// The backend that clinvoker uses by default.
const BACKEND: &str = "claude";

/// Returns the lock of the whole store.
pub(crate) fn lock() -> Vec<LockSpec> {
    vec![LockSpec::AgentFlock {
        key: "sessions/store.lock".to_owned(),
    }]
}

/// Returns the plan for an edit request on a session.
pub(crate) fn of_session(asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    match request {
        EditRequest::Title(title) => edited(asked, "rename", format!("title it {title}"), |edit| {
            set_or_remove(edit, "title", title);
            Vec::new()
        }),
        EditRequest::Tags(tags) => edited(
            asked,
            "tag",
            format!("tag it {}", tags.join(", ")),
            |edit| {
                set_tags(edit, tags);
                Vec::new()
            },
        ),
        EditRequest::Status { status, message } => {
            let Some(next) = Status::parse(status) else {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("clinvoker has no status `{}`", status.escape_debug()),
                )
                .advising("use `active`, `paused`, `completed` or `error`"));
            };
            edited(
                asked,
                "status",
                format!("set its status to {status}"),
                |edit| set_status(edit, next, message.as_deref()),
            )
        }
        EditRequest::Fork { new, .. } => fork(asked, new),
        EditRequest::Delete => delete(asked),
        _ => Err(unsupported(
            "clinvoker",
            "be changed like that",
            Advice::from("the conversation is with its backend")
                .also(Advice::ShowSession { session: None }),
        )),
    }
}

/// Returns the plan for a request on the whole store.
pub(crate) fn of_store(
    files: &dyn Files,
    request: &StoreRequest,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    match request {
        StoreRequest::Create(new) => create(files, new, id_source),
        StoreRequest::Index | StoreRequest::IndexWith { .. } => reindex(files),
        StoreRequest::Move { .. } => Err(unsupported(
            "clinvoker",
            "be moved",
            "its documents name the folder of their sessions and are filed under none",
        )),
    }
}

/// Plans a change of a document and the matching change of the index.
fn edited(
    asked: &PlanInput<'_>,
    kind: &str,
    title: String,
    change: impl FnOnce(&mut Edit) -> Vec<String>,
) -> Result<Planned> {
    let (key, bytes) = document(asked)?;
    let mut edit = Edit::of(&bytes)?;
    let remarks = change(&mut edit).into_iter().map(Remark::from).collect();
    let mut plan = Plan::new(kind, title);
    let new = edit.bytes();
    if new != bytes {
        // `old` is the whole file, so that a change by a process that does not use the lock is
        // noticed.
        plan = plan.step(Step::Edit {
            key,
            at: Some(0),
            old: bytes,
            new: new.clone(),
            modified: Modified::Now,
        });
        plan = with_index(
            plan,
            asked.files,
            BTreeMap::from([(asked.location.id.clone(), Some(new))]),
        )?;
    }
    Ok(Planned {
        plan,
        remarks,
        ..Planned::default()
    })
}

fn document(asked: &PlanInput<'_>) -> Result<(String, Vec<u8>)> {
    let key = asked
        .location
        .key
        .clone()
        .unwrap_or_else(|| layout::key(&asked.location.id));
    match asked.files.read_whole(&key, LIMIT)? {
        Some(bytes) => Ok((key, bytes)),
        None => Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "the session `{}` does not exist any more",
                asked.location.id
            ),
        )
        .advising(Advice::list_all())),
    }
}

fn with_index(
    plan: Plan,
    files: &dyn Files,
    changes: BTreeMap<String, Option<Vec<u8>>>,
) -> Result<Plan> {
    let (step, _) = index::step(files, &changes, Depth::Names)?;
    Ok(match step {
        Some(step) => plan.step(step).deriving(index::KEY),
        None => plan,
    })
}

fn set_or_remove(edit: &mut Edit, key: &str, text: &str) {
    if text.is_empty() {
        edit.remove(key)
    } else {
        edit.set_text(key, text)
    }
}

/// Sets the tags. Tags that stay keep their bytes; items that are not strings were not written by
/// clinvoker and stay too.
fn set_tags(edit: &mut Edit, tags: &[String]) {
    let known = edit
        .get("tags")
        .filter(|known| known.kind() == RawKind::Array);
    let before: Vec<Vec<u8>> = known.map_or_else(Vec::new, |known| {
        known.items().map(|item| item.bytes().to_vec()).collect()
    });
    let was_array = known.is_some();
    let items = tag_items(&before, tags);
    if items.is_empty() {
        edit.remove("tags");
    } else if !was_array || items != before {
        let array = json_layout::array(&items, edit.gap());
        edit.set("tags", &array);
    }
}

/// Returns the new tags, each once: existing ones first, with their own bytes.
fn tag_items(before: &[Vec<u8>], tags: &[String]) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    let mut there: Vec<String> = Vec::new();
    for item in before {
        if let Some(text) = Raw::trusted(item).text() {
            if !tags.iter().any(|tag| *tag == text) || there.iter().any(|tag| *tag == text) {
                continue;
            }
            there.push(text.into_owned());
        }
        items.push(item.clone());
    }
    let added = tags.iter().filter(|tag| !there.contains(tag));
    items.extend(added.map(|tag| go_json::string(tag)));
    items
}

fn set_status(edit: &mut Edit, next: Status, message: Option<&str>) -> Vec<String> {
    let before = edit
        .get("status")
        .and_then(|status| Status::parse(&status.text()?));
    edit.set_text("status", next.word());
    // As in clinvoker, the message of an earlier failure stays unless there is a new one.
    if let Some(message) = message {
        set_or_remove(edit, "error_message", message);
    }
    match before {
        Some(before) if before != next && !before.may_become(next) => vec![format!(
            "clinvoker's design knows no way from {} to {}; it resumes the session all the same",
            before.word(),
            next.word()
        )],
        _ => Vec::new(),
    }
}

fn has_items(list: &[u8]) -> bool {
    Raw::trusted(list).items().next().is_some()
}

fn has_members(map: &[u8]) -> bool {
    Raw::trusted(map).members().next().is_some()
}

/// Plans a fork, which copies what clinvoker's own fork does: backend, folder, model, tags and
/// metadata. Title, prompt, turns and usage are not copied.
fn fork(asked: &PlanInput<'_>, new: &NewSession) -> Result<Planned> {
    let (_, bytes) = document(asked)?;
    let source = Edit::of(&bytes)?;
    let token = |key: &str| source.get(key).map(|value| value.bytes().to_vec());
    let is_text = |token: &Vec<u8>| Raw::trusted(token).kind() == RawKind::String;
    let text = |key: &str| token(key).filter(|it| is_text(it) && it != b"\"\"");
    let project = if new.project.is_empty() {
        token("working_dir")
    } else {
        Some(go_json::string(&new.project))
    };
    let fresh = Fresh {
        backend: text("backend").unwrap_or_else(|| go_json::string(BACKEND)),
        working_dir: project.filter(is_text),
        model: text("model"),
        tags: token("tags").filter(|list| has_items(list)),
        title: new.title.as_deref(),
        parent: Some(&asked.location.id),
        metadata: token("metadata").filter(|map| has_members(map)),
    };
    let (id, plan) = born(
        asked.files,
        new.id.as_ref().map(SessionId::as_str),
        &fresh,
        asked.id_source,
    )?;
    let plan = Plan {
        kind: "fork".to_owned(),
        title: format!("fork clinvoker:{} as {id}", asked.location.id),
        ..plan
    };
    let remark = "the fork starts without a transcript, as clinvoker's own forks do: its backend gives it one when it is first used";
    Ok(Planned {
        plan,
        session: Some(id),
        remarks: vec![remark.into()],
        ..Planned::default()
    })
}

fn create(files: &dyn Files, new: &NewSession, id_source: &dyn IdSource) -> Result<Planned> {
    let fresh = Fresh {
        backend: go_json::string(new.backend.as_deref().unwrap_or(BACKEND)),
        working_dir: Some(go_json::string(&new.project)),
        title: new.title.as_deref(),
        parent: new.parent.as_deref(),
        ..Fresh::default()
    };
    let (id, plan) = born(
        files,
        new.id.as_ref().map(SessionId::as_str),
        &fresh,
        id_source,
    )?;
    let title = format!("make clinvoker:{id}");
    Ok(Planned {
        plan: Plan {
            kind: "new".to_owned(),
            title,
            ..plan
        },
        session: Some(id),
        ..Planned::default()
    })
}

/// The encoded members of a new session.
#[derive(Debug, Default)]
struct Fresh<'a> {
    backend: Vec<u8>,
    working_dir: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    tags: Option<Vec<u8>>,
    title: Option<&'a str>,
    parent: Option<&'a str>,
    metadata: Option<Vec<u8>>,
}

impl Fresh<'_> {
    /// The document, with its members in the order of clinvoker's struct.
    fn document(&self, id: &str, now: Instant) -> Vec<u8> {
        let now = go_json::time(now);
        let zero = || b"0".to_vec();
        let usage = [("input_tokens", zero()), ("output_tokens", zero())];
        let no_folder = || b"\"\"".to_vec();
        let title = self.title.filter(|title| !title.is_empty());
        let members = [
            ("id", Some(go_json::string(id))),
            ("backend", Some(self.backend.clone())),
            ("created_at", Some(now.clone())),
            ("last_used", Some(now)),
            (
                "working_dir",
                self.working_dir.clone().or_else(|| Some(no_folder())),
            ),
            ("model", self.model.clone()),
            ("status", Some(go_json::string(Status::Active.word()))),
            ("token_usage", Some(json_layout::object(&usage, LAYOUT))),
            ("tags", self.tags.clone()),
            ("title", title.map(go_json::string)),
            ("parent_id", self.parent.map(go_json::string)),
            ("metadata", self.metadata.clone()),
        ];
        let mut stated = Vec::new();
        for (key, value) in members {
            stated.extend(value.map(|value| (key, value)));
        }
        Edit::new(&stated).bytes()
    }
}

fn born(
    files: &dyn Files,
    asked: Option<&str>,
    fresh: &Fresh<'_>,
    id_source: &dyn IdSource,
) -> Result<(String, Plan)> {
    let id = asked.map_or_else(
        || format!("{}{}", id_source.hex16(), id_source.hex16()),
        str::to_owned,
    );
    if !id::is_valid(&id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .because("clinvoker's ids are 32 hex digits, and `index` is the name of its index")
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let key = layout::key(&id);
    if files.stat(&key)?.is_some() {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("there is a session {id} already"),
        )
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let bytes = fresh.document(&id, id_source.now());
    let plan = Plan::default()
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::Put {
            key,
            bytes: bytes.clone(),
            mode: Some(0o600),
            modified: Modified::Now,
        });
    Ok((
        id.clone(),
        with_index(plan, files, BTreeMap::from([(id, Some(bytes))]))?,
    ))
}

fn delete(asked: &PlanInput<'_>) -> Result<Planned> {
    let id = &asked.location.id;
    let key = asked
        .location
        .key
        .clone()
        .unwrap_or_else(|| layout::key(id));
    let plan = Plan::new("delete", format!("delete clinvoker:{id}")).step(Step::remove(key));
    let plan = with_index(plan, asked.files, BTreeMap::from([(id.clone(), None)]))?;
    let mut remarks = Vec::new();
    if let Some((backend, session)) = asked
        .meta
        .agent
        .as_ref()
        .zip(asked.meta.external_ids.get("backend"))
    {
        let stays = format!("the transcript stays with {}", backend.escape_debug());
        remarks.push(Remark::new(stays).advising(Advice::Delete {
            session: SessionRef::new(backend, session).to_string(),
        }));
    }
    let side_files = format!("sessions/{id}");
    if asked
        .files
        .stat(&side_files)?
        .is_some_and(|info| info.is_folder())
    {
        remarks.push(Remark::new(format!(
            "the folder `{}` next to it does not belong to clinvoker and is kept",
            side_files.escape_debug()
        )));
    }
    Ok(Planned {
        plan,
        remarks,
        ..Planned::default()
    })
}

fn reindex(files: &dyn Files) -> Result<Planned> {
    let (step, fixed) = index::step(files, &BTreeMap::new(), Depth::Everything)?;
    let plan = Plan::new("index", "rebuild clinvoker's index from its documents");
    let Some(step) = step else {
        return Ok(Planned::of(plan));
    };
    let mut remarks = Vec::new();
    remarks.extend(
        fixed
            .remake
            .map(|why| Remark::new(format!("{why}: made from the documents"))),
    );
    for (count, what) in [
        (fixed.added, "documents had no row"),
        (fixed.deleted_sessions, "rows had no document"),
        (fixed.stale, "rows were stale"),
    ] {
        if count > 0 {
            remarks.push(Remark::new(format!("{count} {what}")));
        }
    }
    Ok(Planned {
        plan: plan.step(step).deriving(index::KEY),
        remarks,
        ..Planned::default()
    })
}
