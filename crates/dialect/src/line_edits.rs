//! Plans for logs of lines that several dialects share: lines are appended, a log is made, and a
//! session is deleted with its files.

use boswell_model::{Advice, EntryId, Error, ErrorKind, Part, Result, SessionId};

use crate::{
    Draft, EntryStamp, Files, IdSource, NewSession, Parent, Plan, PlanInput, Planned, Precondition,
    SideFile, Step, one_object, unsupported,
};

/// Encodes a draft as a record, without a line end.
pub(crate) type EncodeLine<'e> = &'e dyn Fn(&Draft, EntryStamp<'_>) -> Result<Vec<u8>>;

/// Plans to append drafts behind the last entry: these logs have no other place.
pub(crate) fn append(
    dialect: &str,
    asked: &PlanInput<'_>,
    (drafts, tip): (&[Draft], Option<&str>),
    encode: EncodeLine<'_>,
) -> Result<Planned> {
    let mut last = tip.map(str::to_owned);
    let (mut bytes, mut entries, mut already) = (Vec::new(), Vec::new(), 0);
    for draft in drafts {
        follows(dialect, &draft.parent, last.as_deref())?;
        let made = asked.id_source.uuid_v4();
        let id = draft.id.as_ref().map_or(made.as_str(), EntryId::as_str);
        let stamp = EntryStamp {
            id,
            parent: last.as_deref(),
            at: draft.at.unwrap_or_else(|| asked.id_source.now()),
        };
        if is_known(asked, id) {
            already += usize::from(entries.len() == already);
        } else {
            bytes.extend(encode(draft, stamp)?);
            bytes.push(b'\n');
            last = Some(id.to_owned());
        }
        entries.push(id.to_owned());
    }
    let title = format!(
        "append {} entries to {dialect}:{}",
        entries.len(),
        asked.location.id
    );
    Ok(Planned {
        entries,
        already,
        ..lines(asked, "append", &title, bytes)?
    })
}

fn is_known(asked: &PlanInput<'_>, id: &str) -> bool {
    let log = asked.view.log;
    let name = log.names.find(id);
    name.is_some_and(|name| log.heads.iter().any(|head| head.id == Some(name)))
}

fn follows(dialect: &str, parent: &Parent, last: Option<&str>) -> Result<()> {
    match parent {
        Parent::Tip => Ok(()),
        Parent::Root if last.is_none() => Ok(()),
        Parent::Entry(entry) if Some(entry.as_str()) == last => Ok(()),
        _ => Err(unsupported(
            dialect,
            "continue from anywhere but its end",
            Advice::Rewind.or(Advice::Fork {
                session: None,
                at: None,
            }),
        )),
    }
}

/// Plans to append lines to the log.
pub(crate) fn lines(
    asked: &PlanInput<'_>,
    kind: &str,
    title: &str,
    bytes: Vec<u8>,
) -> Result<Planned> {
    let key = key_of(asked)?;
    let mut plan = Plan::new(kind, title);
    if !bytes.is_empty() {
        plan = plan
            .requiring(Precondition::NotLive { key: key.clone() })
            .step(Step::append(key, bytes));
    }
    Ok(Planned::of(plan))
}

/// Plans a new log.
pub(crate) fn create(
    files: &dyn Files,
    (kind, title): (&str, &str),
    (id, key): (&str, String),
    bytes: Vec<u8>,
) -> Result<Planned> {
    if files.stat(&key)?.is_some() {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("the session `{id}` exists already"),
        )
        .advising("choose another id, or none"));
    }
    let plan = Plan::new(kind, title)
        .requiring(Precondition::Absent { key: key.clone() })
        .step(Step::put(key, bytes));
    Ok(Planned {
        session: Some(id.to_owned()),
        ..Planned::of(plan)
    })
}

/// Returns the id of a new session: the one that is asked for, or a new UUID.
///
/// # Errors
///
/// If the agent would not take the id.
pub(crate) fn new_id(new: &NewSession, id_source: &dyn IdSource) -> Result<String> {
    let id = new.id.as_ref().map(SessionId::as_str);
    let id = id.map_or_else(|| id_source.uuid_v4(), str::to_owned);
    if crate::uuid::is_uuid(&id) {
        return Ok(id);
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!("`{}` is not a UUID", id.escape_debug()),
    )
    .because("the agent takes no other ids")
    .advising("give a UUID, or none"))
}

/// Plans to delete a session: its log, and the files that belong to it alone.
pub(crate) fn delete(asked: &PlanInput<'_>, side_files: Vec<SideFile>) -> Result<Planned> {
    let key = key_of(asked)?;
    let mut plan = Plan::new(
        "delete",
        format!("delete the session {}", asked.location.id),
    )
    .requiring(Precondition::NotLive { key: key.clone() })
    .step(Step::remove(key));
    for file in side_files {
        plan = plan.step(Step::remove(file.key));
    }
    Ok(Planned::of(plan))
}

/// Returns a record that the caller wrote, on one line.
pub(crate) fn native(bytes: &[u8]) -> Result<Vec<u8>> {
    let record = one_object(bytes)?;
    Ok(on_one_line(record.bytes()))
}

/// Returns JSON without line ends: between its tokens they mean nothing, and inside strings they
/// are escaped.
pub(crate) fn on_one_line(json: &[u8]) -> Vec<u8> {
    let bytes = json.iter().copied();
    bytes.filter(|it| !matches!(it, b'\n' | b'\r')).collect()
}

/// Returns the texts of a message that has a place for text alone.
///
/// # Errors
///
/// If it has other parts.
pub(crate) fn only_texts(dialect: &str, parts: &[Part]) -> Result<String> {
    let mut said = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => said.push(text.as_str()),
            _ => return Err(no_place(dialect)),
        }
    }
    Ok(said.join("\n"))
}

/// Refuses a part that a format has no place for.
pub(crate) fn no_place(dialect: &str) -> Error {
    unsupported(dialect, "hold such a part here", "append its text alone")
}

/// Refuses an entry of a kind that a log of messages has no place for.
pub(crate) fn only_messages(dialect: &str) -> Error {
    let instead = "it has messages of user and model, and answers of tools";
    unsupported(
        dialect,
        "hold an entry of this kind",
        Advice::from(instead).also(Advice::Rename),
    )
}

/// Returns the key of the session's log.
pub(crate) fn key_of(asked: &PlanInput<'_>) -> Result<String> {
    asked.location.key.clone().ok_or_else(|| {
        let id = &asked.location.id;
        Error::new(
            ErrorKind::NotFound,
            format!("the session `{id}` has no log"),
        )
        .advising(Advice::list_all())
    })
}

/// Refuses a request that a dialect has no plan for.
pub(crate) fn no_plan(dialect: &str) -> Error {
    unsupported(dialect, "be changed like that", Advice::SeeCapabilities)
}
