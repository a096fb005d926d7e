//! Sessions that read or changed a file, newest first.
//!
//! The search index finds calls that contain the name of the file; each of them is then read, and
//! counts only if it names the file as an argument. A file that is only mentioned was not touched.

use std::collections::HashMap;

use boswell_dialect::Depth;
use boswell_model::{Error, ErrorKind, Instant, Result, View};
use boswell_store::Session;
use boswell_store::store::{Selector, Side};

use crate::search::{self, HitShape, Order, QueryForm, SearchRequest};
use crate::sessions::filter::SessionFilter;
use crate::tool_line::changed_files;
use crate::{App, AppResult, Cancel, RequestContext};

/// How many calls with the name are looked at.
const MOST_CALLS: usize = 400;

/// A request for the sessions that read or changed a file.
#[derive(Debug, Clone, Default)]
pub struct FileHistoryRequest {
    /// The file: its path, or the end of it.
    pub path: String,
    /// The sessions to look at.
    pub filter: SessionFilter,
    /// Maximum number of sessions.
    pub limit: usize,
}

/// A session that read or changed a file.
#[derive(Debug, Clone)]
pub struct FileUser {
    /// The session.
    pub session: String,
    /// Its name.
    pub name: String,
    /// The agent that wrote it.
    pub agent: String,
    /// Its project folder.
    pub project: Option<String>,
    /// The calls, newest first.
    pub uses: Vec<FileUse>,
}

/// A call that read or changed a file.
#[derive(Debug, Clone)]
pub struct FileUse {
    /// The entry with the call.
    pub entry: String,
    /// When it was made.
    pub at: Option<Instant>,
    /// The tool.
    pub tool: String,
    /// The file, as the call names it.
    pub path: String,
    /// Whether the call changes the file.
    pub is_change: bool,
    /// Lines that it adds and removes, if they are known.
    pub lines: Option<(usize, usize)>,
}

/// Sessions that read or changed a file.
#[derive(Debug, Clone, Default)]
pub struct FileUseHistory {
    /// The sessions, that of the newest call first.
    pub users: Vec<FileUser>,
    /// Whether every call was looked at.
    pub is_complete: bool,
}

impl App {
    /// Returns the sessions that read or changed a file.
    ///
    /// # Errors
    ///
    /// Invalid if the path is empty, or for a filter that is not valid.
    pub fn file_history(
        &self,
        request: &FileHistoryRequest,
        cancel: &Cancel,
    ) -> AppResult<FileUseHistory> {
        self.answer_with(cancel.clone(), |cx| file_history(cx, request))
    }
}

fn file_history(cx: &RequestContext, request: &FileHistoryRequest) -> Result<FileUseHistory> {
    let wanted = request.path.replace('\\', "/");
    let wanted = wanted.trim_start_matches("./").trim_end_matches('/');
    let name = wanted.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "the path is empty"));
    }
    let found = search::search(
        cx,
        &SearchRequest {
            query: name.to_owned(),
            form: QueryForm::Substring,
            fields: vec!["calls".to_owned()],
            filter: request.filter.clone(),
            order: Order::Newest,
            limit: MOST_CALLS,
            ..SearchRequest::default()
        },
    )?;
    let mut history = FileUseHistory {
        users: Vec::new(),
        is_complete: found.page.complete && found.page.cursor.is_none(),
    };
    let mut open: HashMap<String, Option<Session>> = HashMap::new();
    for hit in &found.hits {
        if cx.cancel.is_cancelled() {
            history.is_complete = false;
            break;
        }
        let is_full = history.users.len() >= request.limit;
        if is_full && !history.users.iter().any(|it| it.session == hit.session) {
            history.is_complete = false;
            continue;
        }
        let session = open
            .entry(hit.session.clone())
            .or_insert_with(|| read(cx, &hit.session));
        let uses = session.as_ref().map(|it| uses(it, hit, wanted));
        add(&mut history, hit, uses.unwrap_or_default());
    }
    found.index_a_little();
    Ok(history)
}

/// Reads the session of a hit; `None` if it is gone, or if the hit is not in a session.
fn read(cx: &RequestContext, reference: &str) -> Option<Session> {
    let (dialect, id) = reference.split_once(':')?;
    let selector = Selector::Ref(dialect.to_owned(), id.to_owned());
    let side = Side::Of(dialect);
    let found = cx.stores.resolve(&selector, &cx.env.cwd, side).ok()?;
    found.store.read(&found.location, Depth::Heads).ok()
}

/// Returns the calls of an entry that name the file as an argument.
fn uses(session: &Session, hit: &HitShape, wanted: &str) -> Vec<FileUse> {
    let view = || -> Option<(String, View)> {
        let entry = hit.entry.clone()?;
        let slot = session.find(&entry).ok()?;
        Some((entry, session.entry(slot).ok()?.view?))
    };
    let Some((entry, view)) = view() else {
        return Vec::new();
    };
    let refine = session.dialect().powers().refine;
    let mut uses = Vec::new();
    for part in &view.parts {
        let call = View::of([part.clone()]);
        let Some((_, tool, input)) = call.calls().next() else {
            continue;
        };
        let touched: Vec<String> = refine
            .touched_files(&call)
            .into_iter()
            .map(|it| it.0)
            .collect();
        let changed = changed_files(tool, input, touched.clone());
        let path = touched.into_iter().find(|it| is_same_file(it, wanted));
        let change = changed.into_iter().find(|it| is_same_file(&it.0, wanted));
        let Some(path) = change.as_ref().map(|it| it.0.clone()).or(path) else {
            continue;
        };
        uses.push(FileUse {
            entry: entry.clone(),
            at: hit.at,
            tool: tool.to_owned(),
            path,
            is_change: change.is_some(),
            lines: change.and_then(|it| it.1),
        });
    }
    uses
}

/// Adds calls to their session.
fn add(history: &mut FileUseHistory, hit: &HitShape, uses: Vec<FileUse>) {
    if uses.is_empty() {
        return;
    }
    let known = history
        .users
        .iter()
        .position(|it| it.session == hit.session);
    if let Some(user) = known.and_then(|place| history.users.get_mut(place)) {
        let is_new = |it: &FileUse| !user.uses.iter().any(|known| known.entry == it.entry);
        let new: Vec<FileUse> = uses.into_iter().filter(is_new).collect();
        user.uses.extend(new);
        return;
    }
    history.users.push(FileUser {
        session: hit.session.clone(),
        name: hit.name.clone(),
        agent: hit.agent.clone(),
        project: hit.project.clone(),
        uses,
    });
}

/// Whether two paths name the same file, as far as the shorter one says.
fn is_same_file(path: &str, wanted: &str) -> bool {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends(path, wanted) || ends(wanted, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_end_of_another_at_the_border_of_a_folder() {
        assert!(is_same_file("/w/src/a.rs", "src/a.rs"));
        assert!(is_same_file("a.rs", "/w/src/a.rs"));
        assert!(is_same_file("./src/a.rs", "src/a.rs"));
        assert!(is_same_file("C:\\w\\a.rs", "a.rs"));
        assert!(!is_same_file("/w/src/aa.rs", "a.rs"));
        assert!(!is_same_file("/w/src/a.rs", "lib/a.rs"));
    }
}
