//! Files of projects, for a program that names them: a page of the server.
//!
//! A person may blame any file that they can read. A program names a project of a session that is
//! listed and a path below it, and gets an answer only if a session wrote a line of that file. In
//! every other case the error is the same, so that it does not show which files there are.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use boswell_dialect::Depth;
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::links::Conversation;
use boswell_store::store::Side;

use super::plain_path::plain;
use super::{BlameRequest, BlameShape, file_blame};
use crate::files::touched;
use crate::list::{self, ListRequest};
use crate::sessions::filter::SessionFilter;
use crate::sessions::list::last_active;
use crate::shape::shape;
use crate::{App, AppResult, Cancel, RequestContext};

/// How many sessions of a project are read for the list of its files.
const MOST_SESSIONS: usize = 50;
/// Maximum number of files in a list.
const MOST_FILES: usize = 2_000;

shape! {
    /// A file that tools of a project's sessions read or changed, and that is there.
    ProjectFile: "project_file" {
        /// the folder of the project
        project: String,
        /// the file, below that folder
        path: String,
        /// how many of the sessions name it
        sessions: usize,
        /// how often tools were called with it
        calls: usize,
        /// the last active session that names it
        session: String,
        /// the last entry there that names it
        entry: String,
        /// when that session was active last
        last_active: Option<Instant>,
    }
}

/// A request for the files that sessions of a project read or changed.
#[derive(Debug, Clone, Default)]
pub struct ProjectFilesRequest {
    /// The folder of the project, as its sessions name it.
    pub project: String,
}

/// A request for who wrote the lines of a file of a project.
#[derive(Debug, Clone, Default)]
pub struct ProjectBlameRequest {
    /// The folder of the project, as its sessions name it.
    pub project: String,
    /// The file, below that folder.
    pub file: String,
}

impl App {
    /// Returns the files that the last active sessions of a project read or changed, those of the
    /// newest first.
    ///
    /// # Errors
    ///
    /// NotFound if no session that is listed names the project.
    pub fn project_files(
        &self,
        request: &ProjectFilesRequest,
        cancel: &Cancel,
    ) -> AppResult<Vec<ProjectFile>> {
        self.answer_with(cancel.clone(), |cx| project_files(cx, request))
    }

    /// Returns who wrote the lines of a file of a project, as [`blame`](App::blame) does for a
    /// program: only if a session that is listed names the project and one wrote a line.
    ///
    /// # Errors
    ///
    /// NotFound, whatever is missing.
    pub fn blame_in_project(
        &self,
        request: &ProjectBlameRequest,
        cancel: &Cancel,
    ) -> AppResult<BlameShape> {
        self.answer_with(cancel.clone(), |cx| blame_in_project(cx, request))
    }
}

fn blame_in_project(cx: &RequestContext, request: &ProjectBlameRequest) -> Result<BlameShape> {
    let file = file_below(cx, request)?;
    let file = file.ok_or_else(|| no_such_file(&request.file))?;
    let whole = BlameRequest {
        file,
        ..BlameRequest::default()
    };
    let blame = file_blame::blame(cx, &whole).map_err(|error| match error.kind() {
        // A file that is not a text, or that may not be read, is not distinguished.
        ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Denied => no_such_file(&request.file),
        _ => error,
    })?;
    match blame.sessions.is_empty() {
        true => Err(no_such_file(&request.file)),
        false => Ok(blame),
    }
}

/// Returns the real path of a file, if it is below a project that is listed, also after every link
/// on the way was followed.
fn file_below(cx: &RequestContext, request: &ProjectBlameRequest) -> Result<Option<PathBuf>> {
    let relative = Path::new(&request.file);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_below = !request.file.is_empty() && relative.components().all(is_plain);
    if !is_below || !is_listed(cx, &request.project)? {
        return Ok(None);
    }
    let Ok(root) = Path::new(&request.project).canonicalize() else {
        return Ok(None);
    };
    let file = root.join(relative).canonicalize().ok();
    Ok(file.filter(|file| file.starts_with(&root) && file.is_file()))
}

/// Whether a session that is listed names exactly this folder.
fn is_listed(cx: &RequestContext, project: &str) -> Result<bool> {
    if !Path::new(project).is_absolute() || !cx.shows(Some(project)) {
        return Ok(false);
    }
    let (conversations, _) = cx.conversations()?;
    let names = |it: &Conversation| {
        let sides = std::iter::once(&it.front).chain(&it.linked);
        sides
            .filter(|(_, summary)| summary.hidden().is_none())
            .any(|(_, summary)| summary.meta.project.as_deref() == Some(project))
    };
    Ok(conversations.iter().any(names))
}

fn no_such_file(file: &str) -> Error {
    let shown: String = file.chars().take(200).collect();
    let what = format!("no session wrote a line of `{}`", shown.escape_debug());
    Error::new(ErrorKind::NotFound, what)
        .because("only files of projects that a session wrote lines of are shown here")
}

fn project_files(cx: &RequestContext, request: &ProjectFilesRequest) -> Result<Vec<ProjectFile>> {
    if !is_listed(cx, &request.project)? {
        let shown: String = request.project.chars().take(200).collect();
        let what = format!("no session names the project `{}`", shown.escape_debug());
        return Err(Error::new(ErrorKind::NotFound, what));
    }
    let listed = ListRequest {
        filter: SessionFilter {
            project: Some(request.project.clone()),
            ..SessionFilter::default()
        },
        limit: Some(MOST_SESSIONS),
        ..ListRequest::default()
    };
    let page = list::list(cx, &listed)?;
    if page.page.cursor.is_some() {
        cx.remark(format!(
            "these are the files of the {MOST_SESSIONS} sessions that were active last"
        ));
    }
    let mut files = FoundFiles::new(&request.project);
    for row in page.rows {
        if cx.cancel.is_cancelled() {
            cx.remark("not every session was looked at");
            break;
        }
        if let Err(error) = files.add(cx, row.conversation) {
            cx.warn(error);
        }
    }
    Ok(files.all)
}

/// Files below a project, in the order in which they were found.
struct FoundFiles<'r> {
    project: &'r str,
    all: Vec<ProjectFile>,
    places: HashMap<String, usize>,
}

impl<'r> FoundFiles<'r> {
    fn new(project: &'r str) -> FoundFiles<'r> {
        FoundFiles {
            project,
            all: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds the files of a session.
    fn add(&mut self, cx: &RequestContext, conversation: Conversation) -> Result<()> {
        let active = last_active(&conversation);
        let front = conversation.front.1.reference.to_string();
        let found = cx.stores.side_of(conversation, Side::Fuller, |_, _| None)?;
        let session = found
            .store
            .read_conversation(&found.location, Depth::Heads)?;
        let folder = session.meta().project.clone();
        let folder = PathBuf::from(folder.unwrap_or_else(|| self.project.to_owned()));
        for file in touched(&session)? {
            let path = plain(&folder.join(&file.path));
            let Ok(below) = path.strip_prefix(self.project) else {
                continue;
            };
            let below = below.display().to_string();
            let calls: usize = file.tools.0.iter().map(|(_, count)| count).sum();
            if let Some(known) = self.places.get(&below) {
                if let Some(known) = self.all.get_mut(*known) {
                    known.sessions += 1;
                    known.calls += calls;
                }
            } else if self.all.len() < MOST_FILES && path.is_file() {
                self.places.insert(below.clone(), self.all.len());
                self.all.push(ProjectFile {
                    project: self.project.to_owned(),
                    path: below,
                    sessions: 1,
                    calls,
                    session: front.clone(),
                    entry: file.last,
                    last_active: active,
                });
            }
        }
        Ok(())
    }
}
