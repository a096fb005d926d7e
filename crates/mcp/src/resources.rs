//! Resources: sessions, entries and memory by address, as templates whose parts can be completed.
//! None is listed: a list of ten thousand helps no client.

use boswell_app::list::{ListRequest, SessionFilter};
use boswell_app::memory::{MemoryRequest, MemoryScope};
use boswell_app::outline::OutlineRequest;
use boswell_app::shape::Maybe;
use boswell_model::{Error, ErrorKind, SessionRef};
use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference, ResourceTemplate};

use crate::cursor;
use crate::frame::safe_head;
use crate::scope::Scope;
use crate::tool::{LONGEST, ToolContext, ToolResult, asked, of_session, one_entry};

const SESSION: &str = "boswell://session/{ref}";
const ENTRY: &str = "boswell://session/{ref}/entry/{id}";
const MEMORY: &str = "boswell://project/{key}/memory";

/// How many sessions are offered.
const OFFERED: usize = 100;

/// Returns the templates as clients list them.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |address: &str, name: &str, about: &str| {
        ResourceTemplate::new(address, name)
            .with_description(about)
            .with_mime_type("text/plain")
    };
    vec![
        template(SESSION, "session", "The outline of a session"),
        template(ENTRY, "entry", "An entry of a session"),
        template(MEMORY, "memory", "What agents remember about a project"),
    ]
}

/// The parts of an address; `None` if it is not one of ours.
fn parts(uri: &str) -> Option<Vec<String>> {
    let path = uri.strip_prefix("boswell://")?;
    path.split('/').map(cursor::decode_part).collect()
}

/// Whether an address is that of a session. Others cannot be subscribed to.
pub(crate) fn is_session(uri: &str) -> bool {
    parts(uri)
        .is_some_and(|parts| parts.len() == 2 && parts.first().is_some_and(|it| it == "session"))
}

/// The session of an address, if it is shown.
pub(crate) fn session(scope: &Scope, uri: &str) -> Option<SessionRef> {
    let name = parts(uri).filter(|_| is_session(uri))?.pop()?;
    Some(scope.session(&name).ok()?.reference)
}

/// Reads a resource.
pub(crate) fn read(cx: &ToolContext<'_>, uri: &str) -> ToolResult {
    let missing = || Error::new(ErrorKind::NotFound, "there is no such resource");
    let parts = parts(uri).ok_or_else(missing)?;
    match parts
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["session", name] => {
            let session = cx.scope.session(name)?;
            of_session(cx, &session.reference.to_string())
        }
        ["session", name, "entry", entry] => {
            let reference = cx.scope.session(name)?.reference.to_string();
            one_entry(cx, &reference, (*entry).to_owned(), (0, LONGEST))
        }
        ["project", key, "memory"] => memory(cx, key),
        _ => Err(missing().into()),
    }
}

/// The pages that agents keep about a project.
fn memory(cx: &ToolContext<'_>, key: &str) -> ToolResult {
    let request = MemoryRequest {
        // Only keys of the current folder are found in its own memory.
        scope: match cx.scope.is_only_here() {
            true => MemoryScope::CurrentFolder,
            false => MemoryScope::EveryProject,
        },
        with_text: true,
    };
    let mut pages = Vec::new();
    let walked = cx.scope.app.memory(&request, &mut |page| {
        if page.project_key == key {
            pages.push(page);
        }
        Ok(!cx.cancel.is_cancelled())
    });
    asked(walked)?;
    if pages.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "there is no such memory").into());
    }
    let mut answer = crate::frame::FramedText::new(cx.redactor);
    let mut room = LONGEST - 1_000;
    for page in pages {
        let Maybe::Given(text) = page.text else {
            continue;
        };
        let name = page.path.rsplit(['/', '\\']).next().unwrap_or_default();
        let text: String = answer.clean(&text).chars().take(room).collect();
        room -= text.chars().count();
        answer.quote(&format!("memory {name}"), text);
    }
    Ok(answer.finish()?)
}

/// Returns values that an argument of a template or a prompt may have.
pub(crate) fn complete(cx: &ToolContext<'_>, request: &CompleteRequestParams) -> Vec<String> {
    let typed = request.argument.value.as_str();
    let values = match (request.argument.name.as_str(), &request.r#ref) {
        ("ref" | "session", _) => sessions(cx),
        ("id", Reference::Resource(_)) => {
            let context = request.context.as_ref();
            let given = context.and_then(|it| it.arguments.as_ref());
            let session = given.and_then(|it| it.get("ref"));
            session.map(|it| entries(cx, it)).unwrap_or_default()
        }
        ("key", Reference::Resource(_)) => keys(cx),
        ("project", _) => projects(cx),
        _ => Vec::new(),
    };
    let is_wanted = |value: &String| {
        let id = value.split_once(':').map_or("", |(_, id)| id);
        value.starts_with(typed) || (!typed.is_empty() && id.starts_with(typed))
    };
    let values = values.into_iter().filter(is_wanted);
    values.take(CompletionInfo::MAX_VALUES).collect()
}

/// Refs of the last sessions. Ids with odd characters are left out: a value stands in no frame.
fn sessions(cx: &ToolContext<'_>) -> Vec<String> {
    let request = ListRequest {
        filter: SessionFilter {
            here: cx.scope.is_only_here(),
            ..SessionFilter::default()
        },
        limit: Some(OFFERED),
        ..ListRequest::default()
    };
    let asking = cx.scope.asking();
    let page = cx.scope.app.list(&request).map(|it| it.value.rows);
    let rows = page.unwrap_or_default().into_iter();
    let refs = rows.map(|row| row.conversation.front.1.reference.to_string());
    refs.filter(|it| safe_head(it) == *it && !asking.contains(it))
        .collect()
}

/// The entries of the prompts of a session.
fn entries(cx: &ToolContext<'_>, name: &str) -> Vec<String> {
    let Ok(session) = cx.scope.session(name) else {
        return Vec::new();
    };
    let request = OutlineRequest {
        session: session.reference.to_string(),
        ..OutlineRequest::default()
    };
    let outline = cx.scope.app.outline(&request).map(|it| it.value.prompts);
    let prompts = outline.unwrap_or_default().into_iter();
    let entries = prompts.map(|prompt| prompt.entry);
    entries.filter(|it| safe_head(it) == *it).collect()
}

/// The keys of projects that have memory.
fn keys(cx: &ToolContext<'_>) -> Vec<String> {
    let request = MemoryRequest {
        scope: match cx.scope.is_only_here() {
            true => MemoryScope::CurrentFolder,
            false => MemoryScope::EveryProject,
        },
        with_text: false,
    };
    let answer = crate::frame::FramedText::new(cx.redactor);
    let is_shown = |key: &String| safe_head(key) == *key && answer.key_line(key) == *key;
    let mut keys: Vec<String> = Vec::new();
    // What cannot be read is not offered.
    let _ = cx.scope.app.memory(&request, &mut |page| {
        if !keys.contains(&page.project_key) && is_shown(&page.project_key) {
            keys.push(page.project_key);
        }
        Ok(keys.len() < OFFERED)
    });
    keys
}

/// Project folders of plain characters: a value stands in no frame, so that no sentence may be one.
fn projects(cx: &ToolContext<'_>) -> Vec<String> {
    let answer = crate::frame::FramedText::new(cx.redactor);
    let is_plain = |it: &String| {
        it.chars()
            .all(|c| c.is_alphanumeric() || "/\\:._-".contains(c))
    };
    let all = cx.scope.app.projects().map(|it| it.value.projects);
    let folders = all
        .unwrap_or_default()
        .into_iter()
        .filter_map(|it| it.project);
    let is_near = |it: &String| cx.scope.app.is_in_reach(Some(it), cx.scope.reach);
    let folders = folders.filter(is_near).filter(is_plain);
    let folders = folders.filter(|it| answer.line(it) == *it);
    folders.collect()
}
