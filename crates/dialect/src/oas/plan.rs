//! Plans for edit requests: changes of a session's file and of its folder's index.
//!
//! The SDK uses no lock and rewrites the whole file at the end of every run, so nothing is changed
//! while a process has the file open. A process that only has the session in memory cannot be
//! detected.

use std::collections::BTreeMap;

use boswell_model::json::{Json, Raw};
use boswell_model::{
    Advice, EntryId, EntryKind, Error, ErrorKind, Flags, Instant, Remark, RequestInput, Result,
    SessionId, Slot, Tip,
};

use crate::uuid::is_uuid;
use crate::{
    Draft, EditRequest, Files, IdSource, Modified, NewSession, Parent, Plan, PlanInput, Planned,
    Precondition, Step, StoreRequest, unsupported,
};

use super::encode::{self, Bearing};
use super::index::{self, Row, Rows};
use super::{header, layout, row};

/// Returns the plan for an edit request on a session.
pub(crate) fn of_session(asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    match request {
        EditRequest::Append(drafts) => append(asked, drafts),
        EditRequest::Rewind(tip) => rewind(asked, *tip),
        EditRequest::Fork { at, new } => fork(asked, *at, new),
        EditRequest::Delete => delete(asked),
        _ => Err(unsupported(
            "oas",
            "be changed like that",
            Advice::SeeCapabilities,
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
        StoreRequest::Index | StoreRequest::IndexWith { .. } => {
            let mut plan = Plan::new(
                "index",
                "rebuild the indexes of open-agent-sdk from its sessions",
            );
            for folder in layout::folders(files)? {
                // An empty folder needs no index.
                if files.list(&folder)?.is_empty() {
                    continue;
                }
                if let Some(step) = index::step(files, &folder, &BTreeMap::new(), Rows::All)? {
                    plan = plan.step(step).deriving(index::key(&folder));
                }
            }
            Ok(Planned::of(plan))
        }
        StoreRequest::Move { .. } => Err(unsupported(
            "oas",
            "be moved yet",
            "start its program in the new folder",
        )),
    }
}

fn key_of(asked: &PlanInput<'_>) -> Result<String> {
    asked.location.key.clone().ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("the session `{}` has no file", asked.location.id),
        )
        .advising(Advice::list_all())
    })
}

fn folder_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn with_index(
    plan: Plan,
    files: &dyn Files,
    folder: &str,
    id: &str,
    row: Option<Row>,
) -> Result<Plan> {
    let changes = BTreeMap::from([(id.to_lowercase(), row)]);
    Ok(match index::step(files, folder, &changes, Rows::Changed)? {
        Some(step) => plan.step(step).deriving(index::key(folder)),
        None => plan,
    })
}

/// Returns the index row of a session after it has `messages` rows.
fn row_after(
    asked: &PlanInput<'_>,
    messages: u64,
    first_prompt: Option<String>,
    at: Instant,
) -> Result<Row> {
    let first = asked
        .view
        .log
        .entries()
        .find(|(_, head)| head.kind == EntryKind::User)
        .map(|(slot, _)| slot);
    let first_prompt = match (first, first_prompt) {
        (Some(slot), _) => index::first_prompt(&asked.view.payload(slot)?),
        (None, new) => new.unwrap_or_default(),
    };
    let created = asked.meta.created.unwrap_or(at);
    Ok(Row {
        id: asked.location.id.clone(),
        first_prompt,
        messages,
        created: created.millis(),
        modified: at.millis(),
    })
}

fn rows(asked: &PlanInput<'_>) -> impl Iterator<Item = Slot> {
    asked
        .view
        .log
        .entries()
        .filter(|(_, head)| head.kind != EntryKind::Header)
        .map(|(slot, _)| slot)
}

fn append(asked: &PlanInput<'_>, drafts: &[Draft]) -> Result<Planned> {
    let key = key_of(asked)?;
    refuse_without_header(asked)?;
    let mut bytes = Vec::new();
    let mut entries = Vec::new();
    let mut last = rows(asked)
        .last()
        .map(|slot| asked.view.log.label(slot).into_owned());
    let mut added: u64 = 0;
    let mut prompt = None;
    for draft in drafts {
        follows(&draft.parent, last.as_deref())?;
        let made = asked.id_source.uuid_v4();
        let uuid = draft.id.as_ref().map(EntryId::as_str).unwrap_or(&made);
        let at = draft.at.unwrap_or_else(|| asked.id_source.now());
        let row = encode::row(
            draft,
            Bearing {
                uuid,
                session: &asked.location.id,
                at,
            },
        )?;
        let id = Raw::trusted(&row)
            .get("uuid")
            .and_then(|id| id.text())
            .map_or_else(|| uuid.to_owned(), |id| id.into());
        if is_there(asked, &id, &row)? {
            entries.push(id);
            continue;
        }
        if Raw::trusted(&row)
            .get("type")
            .is_some_and(|kind| kind.is("user"))
        {
            prompt = prompt.or_else(|| Some(index::first_prompt(&row)));
        }
        bytes.extend_from_slice(&row);
        bytes.push(b'\n');
        added += 1;
        last = Some(id.clone());
        entries.push(id);
    }
    let mut plan = Plan::new(
        "append",
        format!("append {added} rows to oas:{}", asked.location.id),
    );
    if added > 0 {
        let row = row_after(
            asked,
            rows(asked).count() as u64 + added,
            prompt,
            asked.id_source.now(),
        )?;
        plan = plan
            .requiring(Precondition::NotLive { key: key.clone() })
            .step(Step::append(&key, bytes));
        plan = with_index(
            plan,
            asked.files,
            folder_of(&key),
            &asked.location.id,
            Some(row),
        )?;
    }
    Ok(Planned {
        plan,
        entries,
        ..Planned::default()
    })
}

fn refuse_without_header(asked: &PlanInput<'_>) -> Result<()> {
    let first = asked.view.log.heads.first();
    if first.is_some_and(|head| head.kind == EntryKind::Header) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Damaged,
        format!("session {} has no header", asked.location.id),
    )
    .because("the SDK does not find it, so it would not read what is appended")
    .advising(Advice::Fork {
        session: Some(format!("oas:{}", asked.location.id)),
        at: None,
    }))
}

/// Checks that a new row follows the last one: in a list there is no other position.
fn follows(parent: &Parent, last: Option<&str>) -> Result<()> {
    match parent {
        Parent::Tip => Ok(()),
        Parent::Root if last.is_none() => Ok(()),
        Parent::Entry(entry) if Some(entry.as_str()) == last => Ok(()),
        _ => Err(unsupported(
            "oas",
            "continue from anywhere but its end",
            Advice::Fork {
                session: None,
                at: None,
            }
            .or(Advice::Rewind),
        )),
    }
}

/// Whether a row with this id exists already; a row with other content is a conflict.
fn is_there(asked: &PlanInput<'_>, id: &str, new: &[u8]) -> Result<bool> {
    let log = asked.view.log;
    let Some((slot, _)) = log
        .entries()
        .find(|(slot, head)| head.id.is_some() && log.label(*slot) == id)
    else {
        return Ok(false);
    };
    let said = |bytes: &[u8]| {
        let mut members = Vec::new();
        let end = boswell_model::json::scan_object(bytes, &mut members).ok()?;
        let object = boswell_model::json::Object::new(bytes.get(..end)?, &members);
        Some((
            object.text("type").map(std::borrow::Cow::into_owned),
            row::view(&object).parts,
        ))
    };
    if said(&asked.view.payload(slot)?) == said(new) {
        return Ok(true);
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "the id `{}` is taken by an entry with other content",
            id.escape_debug()
        ),
    )
    .advising("give the new entry an id of its own, or none"))
}

/// Plans a rewind: truncates the file before a prompt. The vault keeps the removed rows.
fn rewind(asked: &PlanInput<'_>, tip: Tip) -> Result<Planned> {
    let key = key_of(asked)?;
    let log = asked.view.log;
    let head = tip
        .slot()
        .and_then(|slot| log.head(slot))
        .filter(|head| head.kind == EntryKind::User)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                "only a prompt of the user can be rewound to",
            )
            .advising(Advice::ShowSession { session: None })
        })?;
    let len = log.bytes.saturating_sub(head.at);
    let old = asked
        .files
        .read(&key, head.at, usize::try_from(len).unwrap_or(usize::MAX))?;
    let kept = rows(asked)
        .filter(|slot| log.head(*slot).is_some_and(|it| it.at < head.at))
        .count() as u64;
    let new: &[u8] = if head.flags.has(Flags::GLUED) {
        b"\n"
    } else {
        b""
    };
    let edit = Step::Edit {
        key: key.clone(),
        at: Some(head.at),
        old,
        new: new.to_vec(),
        modified: Modified::Now,
    };
    let cut = rows(asked).count() as u64 - kept;
    let plan = Plan::new(
        "rewind",
        format!("cut {cut} rows from oas:{}", asked.location.id),
    )
    .requiring(Precondition::NotLive { key: key.clone() })
    .step(edit);
    let mut row = row_after(asked, kept, None, asked.id_source.now())?;
    if kept == 0 {
        row.first_prompt.clear();
    }
    let plan = with_index(
        plan,
        asked.files,
        folder_of(&key),
        &asked.location.id,
        Some(row),
    )?;
    Ok(Planned {
        plan,
        ..Planned::default()
    })
}

/// Plans a fork: a new session with a copy of the rows. Keys and tokens in the header are not
/// copied.
fn fork(asked: &PlanInput<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    let source = key_of(asked)?;
    let id = settled_id(new.id.as_ref().map(SessionId::as_str), asked.id_source)?;
    let key = format!("{}/{id}.jsonl", folder_of(&source));
    free(asked.files, &key, &id)?;
    let now = asked.id_source.now();
    let old = asked
        .view
        .log
        .entries()
        .find(|(_, head)| head.kind == EntryKind::Header)
        .map(|(slot, _)| slot);
    let old = old
        .map(|slot| asked.view.payload(slot))
        .transpose()?
        .unwrap_or_default();
    let old = Raw::parse(&old).unwrap_or(Raw::trusted(b"{}"));
    let (options, left) = header::harmless_options(old);
    let copied = |key: &str| old.get(key).map_or(Json::from(""), Json::from);
    let line = Json::object()
        .with("type", "session_header")
        .with("id", id.as_str())
        .with("model", copied("model"))
        .with("provider", copied("provider"))
        .with("createdAt", now.millis())
        .with("updatedAt", now.millis())
        .with("options", options)
        .with("parentSessionId", asked.location.id.as_str())
        .with("forkedAt", now.millis());
    let mut bytes = line.to_bytes();
    bytes.push(b'\n');
    let path = at
        .slot()
        .map(|slot| asked.view.tree.path(slot))
        .unwrap_or_default();
    let mut prompt = None;
    for slot in &path {
        let row = asked.view.payload(*slot)?;
        if asked.view.log.kind(*slot) == EntryKind::User {
            prompt = prompt.or_else(|| Some(index::first_prompt(&row)));
        }
        bytes.extend(
            row.iter()
                .copied()
                .filter(|byte| !matches!(byte, b'\n' | b'\r')),
        );
        bytes.push(b'\n');
    }
    let mut plan = Plan::new("fork", format!("fork oas:{} as {id}", asked.location.id));
    plan = plan
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, bytes));
    let row = Row {
        id: id.clone(),
        first_prompt: prompt.unwrap_or_default(),
        messages: path.len() as u64,
        created: now.millis(),
        modified: now.millis(),
    };
    plan = with_index(plan, asked.files, folder_of(&source), &id, Some(row))?;
    let mut remarks = Vec::new();
    if left > 0 {
        remarks.push(Remark::new(format!(
            "{left} options that may hold keys were not copied into the fork"
        )));
    }
    if new.title.is_some() {
        remarks.push(
            Remark::new("open-agent-sdk has no titles: a title can only be kept as a note")
                .advising(Advice::Rename),
        );
    }
    Ok(Planned {
        plan,
        session: Some(id),
        remarks,
        ..Planned::default()
    })
}

fn create(files: &dyn Files, new: &NewSession, id_source: &dyn IdSource) -> Result<Planned> {
    let asked = new
        .backend
        .as_deref()
        .and_then(|backend| backend.split_once('/'));
    let Some((provider, model)) =
        asked.filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
    else {
        return Err(Error::new(
            ErrorKind::Invalid,
            "a session of open-agent-sdk names its provider and model",
        )
        .advising(Advice::Give(RequestInput::Backend)));
    };
    let id = settled_id(new.id.as_ref().map(SessionId::as_str), id_source)?;
    let folder = layout::folder_for(&new.project);
    let key = format!("{folder}/{id}.jsonl");
    free(files, &key, &id)?;
    let now = id_source.now();
    let options = Json::object()
        .with("model", model)
        .with("provider", provider)
        .with("cwd", new.project.as_str());
    let line = Json::object()
        .with("type", "session_header")
        .with("id", id.as_str())
        .with("model", model)
        .with("provider", provider)
        .with("createdAt", now.millis())
        .with("updatedAt", now.millis())
        .with("options", options)
        .with_some("parentSessionId", new.parent.as_deref());
    let mut bytes = line.to_bytes();
    bytes.push(b'\n');
    let row = Row {
        id: id.clone(),
        first_prompt: String::new(),
        messages: 0,
        created: now.millis(),
        modified: now.millis(),
    };
    let plan = Plan::new("new", format!("make oas:{id}"))
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, bytes));
    let plan = with_index(plan, files, &folder, &id, Some(row))?;
    Ok(Planned {
        plan,
        session: Some(id),
        ..Planned::default()
    })
}

fn settled_id(asked: Option<&str>, id_source: &dyn IdSource) -> Result<String> {
    let id = asked.map_or_else(|| id_source.uuid_v4(), str::to_owned);
    if is_uuid(&id) {
        return Ok(id);
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!("`{}` cannot be the id of a session", id.escape_debug()),
    )
    .because("open-agent-sdk takes UUIDs only")
    .advising(Advice::Omit(RequestInput::SessionId)))
}

fn free(files: &dyn Files, key: &str, id: &str) -> Result<()> {
    let taken = layout::discover(files)?
        .sessions
        .iter()
        .any(|location| location.id.eq_ignore_ascii_case(id));
    if !taken && files.stat(key)?.is_none() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("there is a session {id} already"),
    )
    .advising(Advice::Omit(RequestInput::SessionId)))
}

fn delete(asked: &PlanInput<'_>) -> Result<Planned> {
    let key = key_of(asked)?;
    let plan = Plan::new("delete", format!("delete oas:{}", asked.location.id))
        .requiring(Precondition::NotLive { key: key.clone() })
        .step(Step::remove(&key));
    let plan = with_index(plan, asked.files, folder_of(&key), &asked.location.id, None)?;
    Ok(Planned::of(plan))
}
