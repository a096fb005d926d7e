//! Forks a session: the rows up to an assistant message become a new session.

use boswell_model::json::Json;
use boswell_model::{EntryKind, Result, Tip};

use crate::{NewSession, Planned, Step};

use super::super::index_file::RowEdit;
use super::super::rewind_intent::Engine;
use super::super::row::Row;
use super::super::{attachment, indent};
use super::create::is_free;
use super::input::{Work, one_line, set_or_remove};
use super::recover_rewind::bound;
use super::transcript::key_of;

/// Members that a fork copies from the row of its source: settings, never credentials.
const INHERITED: [&str; 12] = [
    "runtime",
    "runtimeSource",
    "model",
    "reasoningEffort",
    "permissionMode",
    "mcpEnabledServers",
    "enabledPluginIds",
    "enabledOfficialToolIds",
    "providerId",
    "providerRoute",
    "providerExecutionIdentity",
    "configSnapshotAt",
];
/// Size of the largest attachment that is copied.
const LARGEST: u64 = 1 << 30;

pub(super) fn plan(mut work: Work<'_>, at: Tip, new: &NewSession) -> Result<Planned> {
    work.refuse_operations()?;
    let id = new
        .id
        .clone()
        .unwrap_or_else(|| work.asked.id_source.uuid_v4().into());
    is_free(work.asked.files, &work.index, id.as_str())?;
    let count = at.slot().map_or(0, |slot| slot.index() + 1);
    let source = work.index.row(work.id());
    let mut row = base(&work, source.as_ref(), id.as_str(), new)?;
    if let Some(origin) = origin(&work, source.as_ref(), count)? {
        row.set("forkFrom", origin)?;
    } else if source.is_some() {
        work.remarks
            .push("the engine starts this session without a memory of the conversation".into());
    }
    work.stats(count)?.write(&mut row)?;
    set_or_remove(&mut row, "lastMessagePreview", work.preview(count)?)?;
    let rows = copied(&mut work, id.as_str(), count)?;
    if !rows.is_empty() {
        work.steps.push(Step::put(key_of(id.as_str()), rows));
    }
    work.index.put(id.as_str(), row);
    let title = format!("fork {count} rows of {} into {id}", work.id());
    work.session = Some(id.to_string());
    work.finish_index_first("fork", &title)
}

fn base(work: &Work<'_>, source: Option<&RowEdit>, id: &str, new: &NewSession) -> Result<RowEdit> {
    let now = work.now().to_rfc3339();
    let titled = new.title.as_deref().map(one_line).transpose()?;
    let (title, title_source) = match (titled, source.and_then(|row| row.text("title"))) {
        (Some(title), _) => (title, "user"),
        (None, Some(title)) => (format!("🌿 {title}"), "auto"),
        (None, None) => ("🌿".to_owned(), "auto"),
    };
    let project = if new.project.is_empty() {
        source.and_then(|row| row.text("agentDir"))
    } else {
        Some(new.project.clone())
    };
    let json = Json::object()
        .with("id", id)
        .with("agentDir", project.unwrap_or_default())
        .with("title", title)
        .with("createdAt", now.as_str())
        .with("lastActiveAt", now.as_str())
        .with("unifiedSession", true)
        .with("titleSource", title_source)
        .with(
            "origin",
            Json::object()
                .with("kind", "desktop")
                .with("surface", "session_fork"),
        );
    let mut row = RowEdit::of(&json);
    for key in INHERITED {
        if let Some(value) = source.and_then(|source| source.raw().get(key)) {
            row.set(key, Json::from(value))?;
        }
    }
    Ok(row)
}

/// Returns the members that make the app fork the engine's session with the first prompt.
fn origin(work: &Work<'_>, source: Option<&RowEdit>, count: usize) -> Result<Option<Json>> {
    let Some(source) = source.filter(|row| Row(row.raw()).runtime() == "builtin") else {
        return Ok(None);
    };
    let Some(engine) = bound(source, Engine::Sdk) else {
        return Ok(None);
    };
    let view = work.view();
    let Some(last) = view.log.slots().take(count).next_back() else {
        return Ok(None);
    };
    let uuid = view
        .with_object(last, |row| {
            row.text("sdkUuid").map(std::borrow::Cow::into_owned)
        })?
        .flatten();
    let uuid = uuid.filter(|uuid| !uuid.is_empty() && view.log.kind(last) == EntryKind::Assistant);
    let json = Json::object().with("sourceSessionId", engine);
    Ok(match uuid {
        Some(uuid) => Some(json.with("messageUuid", uuid)),
        // Without a message to stop at, the engine forks its whole session; this is correct only if
        // all rows were copied.
        None => (count == view.log.heads.len()).then_some(json),
    })
}

/// Returns the rows unchanged, except that attachments are copied into the fork's own folder.
fn copied(work: &mut Work<'_>, id: &str, count: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for slot in work.view().log.slots().take(count) {
        let mut row = indent::compact(&work.view().payload(slot)?);
        let found = work.view().with_object(slot, |row| {
            let files = row.get("attachments");
            files.map(|files| {
                files
                    .items()
                    .map(|item| item.bytes().to_vec())
                    .collect::<Vec<_>>()
            })
        })?;
        if let Some(items) = found.flatten() {
            let items = items
                .into_iter()
                .map(|item| attached(work, id, item))
                .collect::<Result<Vec<_>>>()?;
            let value = [b"[".as_slice(), &items.join(&b','), b"]"].concat();
            if let Ok(changed) = boswell_model::json::set_member(&row, &["attachments"], &value) {
                row = changed;
            }
        }
        out.extend(row);
        out.push(b'\n');
    }
    Ok(out)
}

fn attached(work: &mut Work<'_>, id: &str, item: Vec<u8>) -> Result<Vec<u8>> {
    let raw = boswell_model::json::Raw::trusted(&item);
    let path = raw
        .get("path")
        .and_then(|path| path.text())
        .unwrap_or_default()
        .into_owned();
    let own = path
        .strip_prefix(work.id())
        .and_then(|rest| rest.strip_prefix('/'));
    let Some(name) = own.filter(|name| attachment::stays_inside(name)) else {
        return Ok(item);
    };
    let Some(bytes) = work
        .asked
        .files
        .read_whole(&format!("attachments/{path}"), LARGEST)?
    else {
        return Ok(item);
    };
    let copy = format!("{id}/{name}");
    work.steps
        .push(Step::put(format!("attachments/{copy}"), bytes));
    let path = Json::from(copy).to_bytes();
    Ok(boswell_model::json::set_member(&item, &["path"], &path).unwrap_or(item))
}
