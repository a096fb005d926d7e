//! Files that a session read or changed, and their state at an entry.

use std::collections::BTreeMap;

use boswell_dialect::{Depth, SideKind};
use boswell_model::{Result, SessionRef};
use boswell_store::Session;
use boswell_store::WritableStore;
use boswell_store::store::Resolved;

use crate::agent_file_history::AgentFileHistory;
use crate::checkpointed_files::CheckpointedFiles;
use crate::gaps::require_conversation;
use crate::shape::{Map, Maybe, shape};
use crate::{App, AppResult, RequestContext};

shape! {
    /// A file that tools of a session read or changed.
    TouchedFile: "file" {
        /// the session
        session: String,
        /// the file, as the tools name it
        path: String,
        /// how often each tool was called with it
        tools: Map<usize>,
        /// the first entry that names it
        first: String,
        /// the last entry that names it
        last: String,
    }

    /// A copy of a file that an agent stored with a session.
    CheckpointFile: "checkpoint" {
        /// the session
        session: String,
        /// where the copy is
        path: String,
        /// size in bytes
        bytes: u64,
    }

    /// With `--at`: a file as it was at an entry of a session.
    FormerFile: "file" {
        /// the session
        session: String,
        /// for copies of the agent: the prompt before which they were made
        prompt: Maybe<String>,
        /// the file, below the folder of the project
        path: String,
        /// `file`, `absent`, or why the content is unknown
        state: &'static str,
        /// for checkpoints of boswell: the blob with the content
        blob: Maybe<Option<String>>,
        /// for copies of the agent: size in bytes
        bytes: Maybe<Option<usize>>,
    }

    /// With `--diff` and from `checkout`: how a file differs from what it was at an entry of a
    /// session.
    FileDifference: "file" {
        /// the session
        session: String,
        /// for copies of the agent: the prompt before which they were made
        prompt: Maybe<String>,
        /// the file, below the folder of the project
        path: String,
        /// `unchanged`, `changed`, `gone`, `new since` and others
        change: &'static str,
        /// for copies of the agent: whether it was changed outside the session
        conflict: Maybe<bool>,
        /// the lines that differ, if both are text
        diff: Option<String>,
    }

    /// From `checkout`: a file that was restored, or why it was not.
    RestoreStep: "step" {
        /// the file
        path: String,
        /// what was done, or why nothing was
        done: String,
    }
}

/// A request for the files of a session.
#[derive(Debug, Clone, Default)]
pub struct FilesRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
}

/// A request for project files as they were at an entry.
#[derive(Debug, Clone, Default)]
pub struct FormerFilesRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// Id of the entry.
    pub entry: String,
}

/// Files of a session.
#[derive(Debug)]
pub struct SessionFiles {
    /// Files that its tools read or changed, by path.
    pub touched: Vec<TouchedFile>,
    /// Copies by its agent.
    pub checkpoints: Vec<CheckpointFile>,
}

impl App {
    /// Returns the files that a session read or changed through tools.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session.
    pub fn files(&self, request: &FilesRequest) -> AppResult<SessionFiles> {
        self.answer(|cx| files(cx, &request.session))
    }

    /// Returns files of a session's project as they were at an entry.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry, or if the project's folder does not exist;
    /// Unsupported if neither the agent nor boswell has copies.
    pub fn files_at(&self, request: &FormerFilesRequest) -> AppResult<Vec<FormerFile>> {
        self.answer(|cx| {
            let (session, files) = FormerFiles::asked(cx, request)?;
            Ok(files.states(&session))
        })
    }

    /// Returns how files of a session's project differ from their state at an entry.
    ///
    /// # Errors
    ///
    /// As [`files_at`](App::files_at).
    pub fn file_differences(&self, request: &FormerFilesRequest) -> AppResult<Vec<FileDifference>> {
        self.answer(|cx| {
            let (session, files) = FormerFiles::asked(cx, request)?;
            Ok(files.differences(&session))
        })
    }
}

/// Project files as they were at an entry: from the agent's copies, else from boswell's
/// checkpoints.
#[derive(Debug)]
pub(crate) enum FormerFiles {
    /// Copies by the agent.
    Copied(AgentFileHistory),
    /// Checkpoints of boswell.
    Checkpointed(CheckpointedFiles),
}

impl FormerFiles {
    /// Collects the files. With `paths`, only files below these.
    pub(crate) fn at(
        cx: &RequestContext,
        found: &Resolved,
        session: &Session,
        entry: &str,
        paths: &[&str],
    ) -> Result<FormerFiles> {
        if let Some(copies) = AgentFileHistory::at(found, session, entry, paths)? {
            return Ok(FormerFiles::Copied(copies));
        }
        CheckpointedFiles::at(cx, session, entry, paths).map(FormerFiles::Checkpointed)
    }

    fn asked(
        cx: &RequestContext,
        request: &FormerFilesRequest,
    ) -> Result<(SessionRef, FormerFiles)> {
        let found = cx.resolve(&request.session)?;
        let session = found.store.read(&found.location, Depth::Facts)?;
        require_conversation(&session)?;
        let files = FormerFiles::at(cx, &found, &session, &request.entry, &[])?;
        Ok((session.reference(), files))
    }

    /// Returns the former state of each file.
    pub(crate) fn states(&self, session: &SessionRef) -> Vec<FormerFile> {
        match self {
            FormerFiles::Copied(files) => files.states(session),
            FormerFiles::Checkpointed(files) => files.states(session),
        }
    }

    /// Returns how the files differ from their current contents.
    pub(crate) fn differences(&self, session: &SessionRef) -> Vec<FileDifference> {
        match self {
            FormerFiles::Copied(files) => files.differences(session),
            FormerFiles::Checkpointed(files) => files.differences(session),
        }
    }

    /// Restores the files. Completed steps are reported before an error about others is returned.
    ///
    /// # Errors
    ///
    /// Conflict if another program changed one of them and `force` is not set.
    pub(crate) fn restore(
        &self,
        cx: &RequestContext,
        (found, session): (&Resolved<WritableStore>, &SessionRef),
        force: bool,
        sink: &mut dyn FnMut(RestoreStep) -> Result<()>,
    ) -> Result<()> {
        match self {
            FormerFiles::Copied(files) => files.restore(cx, session, force, sink),
            FormerFiles::Checkpointed(files) => files.restore(cx, found, force, sink),
        }
    }
}

fn files(cx: &RequestContext, session: &str) -> Result<SessionFiles> {
    let found = cx.resolve(session)?;
    let session = found
        .store
        .read_conversation(&found.location, Depth::Heads)?;
    require_conversation(&session)?;
    let touched = touched(&session)?;
    if touched.is_empty() {
        cx.remark("no tool of this session read or changed a file");
    }
    let reference = session.reference().to_string();
    let side_files = found.store.side_files(&found.location)?.into_iter();
    let checkpoints = side_files
        .filter(|file| file.kind == SideKind::Checkpoint)
        .map(|file| CheckpointFile {
            session: reference.clone(),
            path: found.store.backend().describe(&file.key),
            bytes: file.size,
        })
        .collect();
    Ok(SessionFiles {
        touched,
        checkpoints,
    })
}

#[derive(Default)]
struct Touched {
    tools: BTreeMap<String, usize>,
    first: String,
    last: String,
}

/// Returns the files that tools of a session read or changed, by path.
pub(crate) fn touched(session: &Session) -> Result<Vec<TouchedFile>> {
    let mut touched: BTreeMap<String, Touched> = BTreeMap::new();
    for slot in session.log().slots() {
        let Some(view) = session.entry(slot)?.view else {
            continue;
        };
        for (path, tool) in session.dialect().powers().refine.touched_files(&view) {
            let label = session.log().label(slot).into_owned();
            let file = touched.entry(path).or_default();
            *file.tools.entry(tool).or_default() += 1;
            if file.first.is_empty() {
                file.first.clone_from(&label);
            }
            file.last = label;
        }
    }
    let reference = session.reference().to_string();
    let shape = |(path, file): (String, Touched)| TouchedFile {
        session: reference.clone(),
        path,
        tools: file.tools.into_iter().collect(),
        first: file.first,
        last: file.last,
    };
    Ok(touched.into_iter().map(shape).collect())
}
