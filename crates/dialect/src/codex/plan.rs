//! Plans for edit requests: new sessions, entries, forks and titles.
//!
//! New logs have the legacy form, which contains its whole history and needs no other file. Codex
//! continues it as it is.

use boswell_model::json::{Json, Raw, RawKind, remove_member, set_member};
use boswell_model::{
    Advice, EntryKind, Error, ErrorKind, Instant, RequestInput, Result, SessionId, Tip,
};

use super::layout::{INDEX, discover, log_ids};
use super::meta::text;
use super::{delete, encode, provider, thread_rows};
use crate::uuid::is_uuid;
use crate::{
    Draft, EditRequest, Expected, Files, IdSource, NewSession, Parent, Plan, PlanInput, Planned,
    Precondition, Step, StoreRequest, unsupported,
};

/// Returns the plan for an edit request on a session.
pub(super) fn of_session(asked: &PlanInput<'_>, request: &EditRequest) -> Result<Planned> {
    match request {
        EditRequest::Append(drafts) => append(asked, drafts),
        EditRequest::AppendAfter { expect, drafts } => {
            refuse_unexpected(asked, expect)?;
            append(asked, drafts)
        }
        EditRequest::Title(title) => set_title(asked, title),
        EditRequest::Fork { at, new } => fork(asked, *at, new, "fork"),
        EditRequest::Provider => change_provider(asked),
        EditRequest::Delete => delete::plan(asked),
        _ => Err(unsupported(
            "codex",
            "be changed like that",
            Advice::SeeCapabilities,
        )),
    }
}

/// Returns the plan for a request on the whole store.
pub(super) fn of_store(
    files: &dyn Files,
    request: &StoreRequest,
    id_source: &dyn IdSource,
) -> Result<Planned> {
    match request {
        StoreRequest::Create(new) => create(files, new, id_source),
        _ => Err(unsupported(
            "codex",
            "be changed like that",
            Advice::SeeCapabilities,
        )),
    }
}

pub(super) fn key_of(asked: &PlanInput<'_>) -> Result<String> {
    let id = &asked.location.id;
    asked.location.key.clone().ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!("the session `{id}` has no log"),
        )
        .advising(Advice::list_all())
    })
}

/// The conditions under which a log may be changed: no process has it open, and none has taken
/// Codex's lock of the session, which it holds as long as the session is loaded.
pub(super) fn unused(asked: &PlanInput<'_>, key: &str) -> Vec<Precondition> {
    let lock = format!("thread-writer-locks/{}.lock", asked.location.id);
    [key.to_owned(), lock]
        .into_iter()
        .map(|key| Precondition::NotLive { key })
        .collect()
}

fn refuse_unexpected(asked: &PlanInput<'_>, expect: &Expected) -> Result<()> {
    let log = asked.view.log;
    let (fits, now) = match expect {
        Expected::Revision(revision) => {
            let now = asked.location.revision();
            (revision.fits(&now), now.to_string())
        }
        Expected::Leaf(leaf) => {
            let last = log.slots().next_back();
            let now = last.map_or_else(|| "the root".into(), |slot| log.label(slot));
            (now == *leaf, now.into_owned())
        }
    };
    if fits {
        return Ok(());
    }
    let id = &asked.location.id;
    let what = format!("session {id} is not where it was expected");
    Err(Error::new(ErrorKind::Conflict, what)
        .because(format!("it is at {now}"))
        .advising(Advice::show(format!("codex:{id}")).then("append again")))
}

fn append(asked: &PlanInput<'_>, drafts: &[Draft]) -> Result<Planned> {
    let key = key_of(asked)?;
    refuse_unappendable(asked, &key)?;
    let id = &asked.location.id;
    let (mut bytes, mut entries) = (Vec::new(), Vec::new());
    let mut line = asked.view.log.lines;
    for draft in drafts {
        refuse_elsewhere(asked, &draft.parent, entries.last())?;
        if draft.id.is_some() {
            let what = "keep the id of an entry, because its format has no ids";
            return Err(unsupported("codex", what, "leave the id out"));
        }
        let at = draft.at.unwrap_or_else(|| asked.id_source.now());
        let made = format!("resp_{}", asked.id_source.hex16());
        let lines = encode::lines(draft, id, at, &made)?;
        entries.push(format!("#{}", line + 1));
        line += lines.count;
        bytes.extend(lines.bytes);
    }
    let mut plan = Plan::new(
        "append",
        format!("append {} entries to codex:{id}", drafts.len()),
    );
    if !bytes.is_empty() {
        plan.preconditions = unused(asked, &key);
        plan.steps.push(Step::append(&key, bytes));
    }
    Ok(Planned {
        plan,
        entries,
        ..Planned::default()
    })
}

/// Refuses logs that Codex would not continue as we would write them.
fn refuse_unappendable(asked: &PlanInput<'_>, key: &str) -> Result<()> {
    let fork = || Advice::Fork {
        session: Some(format!("codex:{}", asked.location.id)),
        at: None,
    };
    let refused =
        |what: &str, why: &'static str| Err(unsupported("codex", what, fork()).because(why));
    if !key.ends_with(".jsonl") {
        return refused(
            "be appended to while it is compressed or one document",
            "lines can only follow lines",
        );
    }
    let Some(header) = header(asked)? else {
        return refused(
            "be appended to without a header",
            "Codex resumes only logs that begin with one",
        );
    };
    let mode = payload(&header).and_then(|payload| text(payload, "history_mode"));
    if mode.as_deref() == Some("paginated") {
        return refused(
            "be appended to if it is paginated",
            "every line of it has a number, and Codex keeps a copy of it in a database; \
             a fork has neither",
        );
    }
    Ok(())
}

/// In a log there is no other place for an entry than the end.
fn refuse_elsewhere(asked: &PlanInput<'_>, parent: &Parent, last: Option<&String>) -> Result<()> {
    let log = asked.view.log;
    let tip = log
        .entries()
        .rev()
        .find(|(_, head)| head.kind != EntryKind::Header)
        .map(|(slot, _)| log.label(slot).into_owned());
    let last = last.or(tip.as_ref());
    match parent {
        Parent::Tip => Ok(()),
        Parent::Root if last.is_none() => Ok(()),
        Parent::Entry(entry) if last.is_some_and(|last| entry.as_str() == last) => Ok(()),
        _ => Err(unsupported(
            "codex",
            "continue from anywhere but its end",
            Advice::Fork {
                session: None,
                at: None,
            },
        )),
    }
}

/// Returns the first line of the session's own log, if it is a header.
fn header(asked: &PlanInput<'_>) -> Result<Option<Vec<u8>>> {
    let log = asked.view.log;
    let own = log.entries().nth(log.inherited);
    let slot = own.filter(|(_, head)| head.kind == EntryKind::Header);
    slot.map(|(slot, _)| asked.view.payload(slot).map(|it| it.into_owned()))
        .transpose()
}

fn payload(line: &[u8]) -> Option<Raw<'_>> {
    let payload = Raw::parse(line).ok()?.get("payload")?;
    (payload.kind() == RawKind::Object).then_some(payload)
}

fn set_title(asked: &PlanInput<'_>, title: &str) -> Result<Planned> {
    let id = thread_id(asked);
    let line = title_line(&id, title, asked.id_source.now())?;
    let plan = Plan::new("rename", format!("call {id} `{}`", title.trim()));
    Ok(Planned::of(plan.step(Step::append(INDEX, line))))
}

/// The id that Codex knows a session by.
fn thread_id(asked: &PlanInput<'_>) -> String {
    let stated = asked.meta.id.as_ref().filter(|id| is_uuid(id));
    stated.unwrap_or(&asked.location.id).clone()
}

fn title_line(id: &str, title: &str, now: Instant) -> Result<Vec<u8>> {
    let title: Vec<&str> = title.split_whitespace().collect();
    if title.is_empty() {
        return Err(Error::new(
            ErrorKind::Invalid,
            "a title has at least one word",
        ));
    }
    let mut line = Json::object()
        .with("id", id)
        .with("thread_name", title.join(" "))
        .with("updated_at", now.to_rfc3339())
        .to_bytes();
    line.push(b'\n');
    Ok(line)
}

fn create(files: &dyn Files, new: &NewSession, id_source: &dyn IdSource) -> Result<Planned> {
    let now = id_source.now();
    let (id, key) = place(files, new, id_source)?;
    let header = Json::object()
        .with("id", id.as_str())
        .with("timestamp", now.to_rfc3339())
        .with("cwd", new.project.as_str())
        .with("originator", "boswell")
        .with("cli_version", env!("CARGO_PKG_VERSION"))
        .with("source", "cli")
        .with("model_provider", provider::current(files)?)
        .with_some("forked_from_id", new.parent.as_deref());
    let plan = Plan::new("new", format!("make codex:{id}"))
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, header_line(&header, now)));
    titled(plan, &id, new, now)
}

/// Adds the title of a new session, and returns the plan with its id.
fn titled(plan: Plan, id: &str, new: &NewSession, now: Instant) -> Result<Planned> {
    let plan = match &new.title {
        Some(title) => plan.step(Step::append(INDEX, title_line(id, title, now)?)),
        None => plan,
    };
    Ok(Planned {
        plan,
        session: Some(id.to_owned()),
        ..Planned::default()
    })
}

fn header_line(payload: &Json, now: Instant) -> Vec<u8> {
    let mut line = Json::object()
        .with("timestamp", now.to_rfc3339())
        .with("type", "session_meta")
        .with("payload", payload.clone())
        .to_bytes();
    line.push(b'\n');
    line
}

/// Returns id and key of a new log. Codex finds a log by the form of its name.
fn place(
    files: &dyn Files,
    new: &NewSession,
    id_source: &dyn IdSource,
) -> Result<(String, String)> {
    let given = new.id.as_ref().map(SessionId::as_str);
    let id = given.map_or_else(|| id_source.uuid_v7(), str::to_owned);
    if !is_uuid(&id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("`{}` cannot be the id of a session", id.escape_debug()),
        )
        .because("Codex takes UUIDs only")
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    let is_taken = |it: &crate::SessionLocation| {
        it.id == id
            || it
                .key
                .as_deref()
                .is_some_and(|key| log_ids(key).contains(&id.as_str()))
    };
    if given.is_some() && discover(files)?.sessions.iter().any(is_taken) {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("there is a session {id} already"),
        )
        .advising(Advice::Omit(RequestInput::SessionId)));
    }
    // In UTC, because a dialect knows no time zone; Codex takes times from the logs.
    let now = id_source.now().to_rfc3339();
    let (day, time) = (
        now.get(..10).unwrap_or_default(),
        now.get(..19).unwrap_or_default(),
    );
    let (day, time) = (day.replace('-', "/"), time.replace(':', "-"));
    Ok((
        id.clone(),
        format!("sessions/{day}/rollout-{time}-{id}.jsonl"),
    ))
}

/// Plans a session with a copy of the lines of a branch, also of those that the session inherits.
fn fork(asked: &PlanInput<'_>, at: Tip, new: &NewSession, kind: &str) -> Result<Planned> {
    let now = asked.id_source.now();
    let (id, key) = place(asked.files, new, asked.id_source)?;
    let mut bytes = fork_header(asked, &id, now)?;
    let path = at.slot().map(|slot| asked.view.tree.path(slot));
    for slot in path.unwrap_or_default() {
        // A rollback must not be repeated: its branch is not copied.
        if asked.view.log.kind(slot) == EntryKind::Leaf {
            continue;
        }
        let line = asked.view.payload(slot)?;
        let Some(line) = legacy_line(&line, now) else {
            continue;
        };
        bytes.extend(
            line.into_iter()
                .filter(|byte| !matches!(byte, b'\n' | b'\r')),
        );
        bytes.push(b'\n');
    }
    let title = format!("fork codex:{} as {id}", asked.location.id);
    let plan = Plan::new(kind, title)
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(&key, bytes));
    titled(plan, &id, new, now)
}

/// Returns a line in the legacy form: without a number, and an item of the first versions in an
/// envelope. `None` for bookkeeping of those versions, which Codex cannot read any more.
fn legacy_line(line: &[u8], now: Instant) -> Option<Vec<u8>> {
    let raw = Raw::parse(line).ok()?;
    if raw.get("payload").is_some() {
        return remove_member(line, "ordinal").ok();
    }
    let is_item = raw.get("type").or_else(|| raw.get("role")).is_some();
    let stamp = raw.get("timestamp").and_then(|time| time.text());
    let stamp = stamp.map_or_else(|| now.to_rfc3339(), |time| time.into_owned());
    let envelope = Json::object()
        .with("timestamp", stamp)
        .with("type", "response_item")
        .with("payload", Json::Raw(line.to_vec()));
    is_item.then(|| envelope.to_bytes())
}

/// The header of a fork: that of the session, under the new id and for the current provider,
/// without what makes it a page of another log.
fn fork_header(asked: &PlanInput<'_>, id: &str, now: Instant) -> Result<Vec<u8>> {
    let mut new = header_of_no_page(asked)?;
    let provider = provider::current(asked.files)?;
    let (stamp, parent) = (now.to_rfc3339(), thread_id(asked));
    let project = asked.meta.project.as_deref().unwrap_or("/");
    let has = |new: &[u8], key: &str| Raw::trusted(new).get(key).is_some();
    let always = [
        ("id", id),
        ("timestamp", &stamp),
        ("forked_from_id", &parent),
        ("model_provider", &provider),
        // A session that a person forked is one that a person resumes.
        ("source", "cli"),
    ];
    let missing = [
        ("cwd", project),
        ("originator", "boswell"),
        ("cli_version", env!("CARGO_PKG_VERSION")),
    ];
    let missing = missing.into_iter().filter(|(key, _)| !has(&new, key));
    let members: Vec<_> = always
        .into_iter()
        .chain(missing.collect::<Vec<_>>())
        .collect();
    for (key, value) in members {
        let value = Json::from(value).to_bytes();
        new = set_member(&new, &[key], &value)
            .map_err(|fault| Error::new(ErrorKind::Damaged, fault.to_string()))?;
    }
    Ok(header_line(&Json::Raw(new), now))
}

/// Returns the payload of the session's header without what makes it a page of another log.
fn header_of_no_page(asked: &PlanInput<'_>) -> Result<Vec<u8>> {
    let old = header(asked)?.unwrap_or_default();
    let old = payload(&old).map_or_else(|| b"{}".to_vec(), |payload| payload.bytes().to_vec());
    let mut new = old;
    for gone in PAGES {
        new = remove_member(&new, gone).unwrap_or(new);
    }
    Ok(new)
}

/// Members of a header that describe how its log continues another one, or who started it.
const PAGES: [&str; 9] = [
    "session_id",
    "history_mode",
    "history_base",
    "forked_from_ordinal_exclusive",
    "subagent_history_start_ordinal",
    "parent_thread_id",
    "thread_source",
    "agent_nickname",
    "agent_role",
];

/// Plans a fork for the current provider, for a session of another one. The session itself cannot
/// be changed: Codex goes by the row in its database, which is its own.
fn change_provider(asked: &PlanInput<'_>) -> Result<Planned> {
    let now = provider::current(asked.files)?;
    let before = asked.meta.metadata.get("model_provider");
    if before.is_none_or(|before| *before == now) {
        return Ok(Planned::of(Plan::new(
            "repair",
            format!(
                "codex:{} is of the current provider `{now}`",
                asked.location.id
            ),
        )));
    }
    let last = asked.view.log.entries().rev();
    let tip = last
        .into_iter()
        .find(|(_, head)| head.kind != EntryKind::Header)
        .map_or(Tip::Root, |(slot, _)| Tip::At(slot));
    let mut planned = fork(asked, tip, &NewSession::default(), "repair")?;
    let key = key_of(asked)?;
    planned.plan.preconditions.extend(unused(asked, &key));
    // Every process of Codex has the database open.
    let state = thread_rows::newest(asked.files)?;
    let is_free = state.map(|key| Precondition::NotLive { key });
    planned.plan.preconditions.extend(is_free);
    Ok(planned)
}
