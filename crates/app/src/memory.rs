//! The memory of agents about a project: pages of text that they load or read on demand.

mod change;
mod check;

use std::path::{Path, PathBuf};

use boswell_dialect::MemoryFile;
use boswell_model::{Error, Remark, Result};
use boswell_store::memory::{self, LOADED_LINES, Page};
use boswell_store::{Home, Store};

use crate::shape::{Maybe, shape};
use crate::{App, AppResult, RequestContext, git_repository};

pub use change::{MemoryChange, MemoryChangeRequest};

/// Maximum size of a page that is read.
const LARGEST: u64 = 16 << 20;

/// The projects whose memory is requested.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MemoryScope {
    /// The project of the current folder.
    #[default]
    CurrentFolder,
    /// This project; a path is relative to the current folder.
    Project(PathBuf),
    /// Every project.
    EveryProject,
}

/// A request for memory pages.
#[derive(Debug, Clone, Default)]
pub struct MemoryRequest {
    /// The projects.
    pub scope: MemoryScope,
    /// Whether pages contain their text.
    pub with_text: bool,
}

/// A request to search memory pages.
#[derive(Debug, Clone, Default)]
pub struct MemorySearchRequest {
    /// The projects.
    pub scope: MemoryScope,
    /// The text; case is ignored.
    pub text: String,
}

/// The result of a walk through memory.
#[derive(Debug)]
pub struct MemoryFound {
    /// Number of pages, pages with hits, or problems.
    pub found: usize,
    /// The project; `None` for every project.
    pub project: Option<PathBuf>,
    /// Pages that could not be read, with the reasons.
    pub left_out: Vec<Error>,
}

shape! {
    /// A memory file.
    MemoryShape: "memory" {
        /// whose memory it is
        dialect: &'static str,
        /// the agent's key of the project; for boswell's own memory the folder
        project_key: String,
        /// the file
        path: String,
        /// whether it is the index page, which links to the others
        index: bool,
        /// size of the file
        bytes: usize,
        /// how many lines it has
        lines: usize,
        /// how many of them are loaded at the start of a session
        loaded_lines: usize,
        /// with `show`: the text
        text: Maybe<String>,
    }

    /// A memory file that `add`, `edit` or `rm` changed.
    MemoryChanged: "memory" {
        /// whose memory it is
        dialect: &'static str,
        /// the agent's key of the project; for boswell's own memory the folder
        project_key: String,
        /// the file
        path: String,
        /// size of the file; `null` if it was removed
        bytes: Option<usize>,
        /// the operation, for `undo`
        op: String,
    }

    /// A line of a memory file that contains the text.
    MemoryHit: "memory_hit" {
        /// whose memory it is
        dialect: &'static str,
        /// the file
        path: String,
        /// number of the line, from 1
        line: usize,
        /// the line
        text: String,
    }

    /// A problem of the memory of a project.
    MemoryProblemShape: "memory_problem" {
        /// whose memory it is
        dialect: &'static str,
        /// the agent's key of the project; for boswell's own memory the folder
        project_key: String,
        /// kind of problem
        problem: &'static str,
        /// details, in one sentence
        detail: Remark,
    }
}

/// Receives each item; returns false to end the walk.
pub type MemorySink<'s, T> = &'s mut dyn FnMut(T) -> Result<bool>;

impl App {
    /// Passes the memory pages of a project, or of all, to the sink.
    ///
    /// # Errors
    ///
    /// Those of the sink. Read errors are in the answer.
    pub fn memory(
        &self,
        request: &MemoryRequest,
        sink: MemorySink<'_, MemoryShape>,
    ) -> AppResult<MemoryFound> {
        self.answer(|cx| {
            walk(cx, &request.scope, &mut |page| {
                Ok((1, sink(page.shape(request.with_text))?))
            })
        })
    }

    /// Passes the lines of pages that contain a text to the sink.
    ///
    /// # Errors
    ///
    /// Those of the sink. Read errors are in the answer.
    pub fn search_memory(
        &self,
        request: &MemorySearchRequest,
        sink: MemorySink<'_, MemoryHit>,
    ) -> AppResult<MemoryFound> {
        let wanted = request.text.to_lowercase();
        self.answer(|cx| walk(cx, &request.scope, &mut |page| page.search(&wanted, sink)))
    }

    /// Passes problems of the memory of a project, or of all, to the sink.
    ///
    /// # Errors
    ///
    /// Those of the sink. Read errors are in the answer.
    pub fn check_memory(
        &self,
        scope: &MemoryScope,
        sink: MemorySink<'_, MemoryProblemShape>,
    ) -> AppResult<MemoryFound> {
        self.answer(|cx| check::check(cx, scope, sink))
    }

    /// Appends to a page, replaces or removes one. This can be undone.
    ///
    /// # Errors
    ///
    /// Invalid for every project or an invalid page name, NotFound if the page to remove is
    /// missing, Unsupported if the memory of an agent cannot be changed, Denied if it is behind a
    /// link or nothing may be written.
    pub fn change_memory(&self, request: &MemoryChangeRequest) -> AppResult<MemoryChanged> {
        self.answer(|cx| change::change(cx, request))
    }
}

impl MemoryScope {
    /// Returns the project folder; `None` for every project.
    fn folder(&self, cx: &RequestContext) -> Option<PathBuf> {
        let folder = match self {
            MemoryScope::CurrentFolder => cx.env.cwd.clone(),
            MemoryScope::Project(project) => cx.env.cwd.join(project),
            MemoryScope::EveryProject => return None,
        };
        Some(folder.canonicalize().unwrap_or(folder))
    }
}

/// Receives each page; returns what it counts for, and whether to continue.
type Visit<'v> = &'v mut dyn FnMut(FoundPage<'_>) -> Result<(usize, bool)>;

/// Visits the pages of agents, then boswell's own.
fn walk(cx: &RequestContext, scope: &MemoryScope, visit: Visit<'_>) -> Result<MemoryFound> {
    let project = scope.folder(cx);
    let mut found = MemoryFound {
        found: 0,
        project: project.clone(),
        left_out: Vec::new(),
    };
    if agents_pages(cx, project.as_deref(), &mut found, visit)?
        && let (Some(home), Some(folder)) = (&cx.home, &project)
    {
        own_pages(cx, home, folder, &mut found, visit)?;
    }
    Ok(found)
}

/// Visits memory files of agents; returns whether to continue.
fn agents_pages(
    cx: &RequestContext,
    folder: Option<&Path>,
    found: &mut MemoryFound,
    visit: Visit<'_>,
) -> Result<bool> {
    let keys = folder.map(git_repository::keys);
    let is_meant = |file: &MemoryFile| {
        keys.as_ref()
            .is_none_or(|keys| keys.contains(&file.project_key))
    };
    for (_, store) in cx.stores.iter() {
        for file in pages(store, &mut found.left_out) {
            if !is_meant(&file) {
                continue;
            }
            let bytes = match store.file(&file.key, LARGEST) {
                Ok(bytes) => bytes.unwrap_or_default(),
                Err(error) => {
                    found.left_out.push(error);
                    continue;
                }
            };
            let (count, goes_on) = visit(FoundPage {
                dialect: store.dialect().name(),
                project: &file.project_key,
                path: store.backend().describe(&file.key),
                is_index: file.is_index,
                text: &String::from_utf8_lossy(&bytes),
            })?;
            found.found += count;
            if !goes_on {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns the memory files of one store. Folders that cannot be listed are reported.
fn pages(store: &Store, left_out: &mut Vec<Error>) -> Vec<MemoryFile> {
    match store.memory() {
        Ok((files, skipped)) => {
            left_out.extend(skipped.into_iter().map(|(_, error)| error));
            files
        }
        Err(error) => {
            left_out.push(error);
            Vec::new()
        }
    }
}

/// Visits boswell's own pages of a project.
fn own_pages(
    cx: &RequestContext,
    home: &Path,
    folder: &Path,
    found: &mut MemoryFound,
    visit: Visit<'_>,
) -> Result<()> {
    let project = folder.display().to_string();
    if !cx.shows(Some(&project)) {
        return Ok(());
    }
    let own = Home::at(home).memory(&project);
    let memory = own.load()?;
    for Page { name, text, .. } in &memory.pages {
        let (count, goes_on) = visit(FoundPage {
            dialect: "boswell",
            project: &project,
            path: own.folder().join(name).display().to_string(),
            is_index: name == memory::INDEX,
            text,
        })?;
        found.found += count;
        if !goes_on {
            break;
        }
    }
    Ok(())
}

/// A page while it is visited.
struct FoundPage<'a> {
    dialect: &'static str,
    project: &'a str,
    path: String,
    is_index: bool,
    text: &'a str,
}

impl FoundPage<'_> {
    fn shape(self, with_text: bool) -> MemoryShape {
        let lines = self.text.lines().count();
        MemoryShape {
            dialect: self.dialect,
            project_key: self.project.to_owned(),
            path: self.path,
            index: self.is_index,
            bytes: self.text.len(),
            lines,
            loaded_lines: if self.is_index {
                lines.min(LOADED_LINES)
            } else {
                0
            },
            text: with_text.then(|| self.text.to_owned()).into(),
        }
    }

    /// Passes on the lines that contain `wanted`, which is lower case; returns 1 if there are any.
    fn search(&self, wanted: &str, sink: MemorySink<'_, MemoryHit>) -> Result<(usize, bool)> {
        let mut found = 0;
        let lines = self.text.lines().enumerate();
        for (number, line) in lines.filter(|(_, line)| line.to_lowercase().contains(wanted)) {
            found = 1;
            let hit = MemoryHit {
                dialect: self.dialect,
                path: self.path.clone(),
                line: number + 1,
                text: line.to_owned(),
            };
            if !sink(hit)? {
                return Ok((found, false));
            }
        }
        Ok((found, true))
    }
}
