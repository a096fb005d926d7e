//! Who wrote a line: the session, the entry and the prompt, through any agent.
//!
//! What sessions did to a file is collected from their calls, and replayed together with the
//! history of the file in git (`docs/adr/0029`). What no session explains is said to be
//! unexplained: better no name than a wrong one.

mod apply;
mod attributed_lines;
mod call_result;
mod commit_blame;
mod comparison;
mod entry_files;
mod file_blame;
mod file_commits;
mod file_edit;
mod former_text;
mod patch;
mod plain_path;
mod project_files;
mod readings;
mod recorded_text;
mod replay;
mod repository;
mod session_edits;
mod shell;

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Instant, Result};

pub use project_files::{ProjectBlameRequest, ProjectFile, ProjectFilesRequest};

use crate::sessions::filter::SessionFilter;
use crate::shape::{Maybe, shape};
use crate::{App, AppResult, Cancel, RequestContext};

shape! {
    /// From `blame FILE`: who wrote each line of a file.
    BlameShape: "blame" {
        /// the file: its real path
        file: String,
        /// the top folder of its git repository
        repository: Option<String>,
        /// the lines that were asked for
        lines: Vec<BlamedLine>,
        /// the prompts that they name, each once
        prompts: Vec<BlamedPrompt>,
        /// the sessions that wrote them, that of the most lines first
        sessions: Vec<BlamedSession>,
        /// lines that no session explains
        unexplained: usize,
    }

    /// A line of a file.
    BlamedLine {
        /// its number, counted from 1
        line: usize,
        /// its text, without the line end
        text: String,
        /// `session`, or `unexplained`
        origin: &'static str,
        /// the session that wrote it
        session: Option<String>,
        /// the agent of that session
        agent: Option<String>,
        /// the entry with the call that wrote it
        entry: Option<String>,
        /// the entry with the prompt before that call
        prompt: Option<String>,
        /// when the call was made
        when: Option<Instant>,
        /// the commit that brought it into the file
        commit: Maybe<String>,
    }

    /// A prompt that led to lines of a file.
    BlamedPrompt {
        /// the session
        session: String,
        /// the entry
        entry: String,
        /// time of the prompt
        at: Option<Instant>,
        /// its text without secrets, or the beginning of it
        text: String,
    }

    /// A session that wrote lines of a file.
    BlamedSession {
        /// the session
        session: String,
        /// its agent
        agent: String,
        /// title, else summary, else first prompt
        name: String,
        /// how many of the lines it wrote
        lines: usize,
    }

    /// From `blame COMMIT`: which sessions made a commit.
    CommitBlameShape: "commit_blame" {
        /// id of the commit
        commit: String,
        /// when it was committed
        at: Option<Instant>,
        /// first line of its message
        subject: String,
        /// lines that it adds to text files
        added: usize,
        /// of these, lines that no session explains
        unexplained: usize,
        /// the sessions, that of the most lines first
        sessions: Vec<CommitSession>,
    }

    /// A session that had part in a commit.
    CommitSession {
        /// the session
        session: String,
        /// its agent
        agent: String,
        /// title, else summary, else first prompt
        name: String,
        /// `edits` if it wrote lines of the commit; `time` if it only worked in the project
        /// between the commit and the one before
        by: &'static str,
        /// how many of its lines it wrote
        lines: usize,
        /// the files with these lines, below the top folder
        files: Vec<String>,
        /// the entries that wrote them
        entries: Vec<String>,
    }
}

/// A request for who wrote the lines of a file.
#[derive(Debug, Clone, Default)]
pub struct BlameRequest {
    /// The file: its path, absolute or below the current folder.
    pub file: PathBuf,
    /// Only these lines, counted from 1: the first and the last.
    pub lines: Option<(usize, usize)>,
    /// The sessions to look at.
    pub filter: SessionFilter,
}

/// A request for the sessions that made commits.
#[derive(Debug, Clone, Default)]
pub struct CommitBlameRequest {
    /// A commit, or a range `A..B`.
    pub commits: String,
    /// The sessions to look at.
    pub filter: SessionFilter,
}

/// What a person asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlameTarget {
    /// A file, and some of its lines.
    File(PathBuf, Option<(usize, usize)>),
    /// A commit, or a range of commits.
    Commits(String),
}

impl App {
    /// Decides whether a name is that of a file, with lines behind it, or that of commits. A file
    /// that exists is meant.
    ///
    /// # Errors
    ///
    /// Invalid for lines that cannot be: `0`, or a range that ends before it begins.
    pub fn blame_target(&self, name: &str) -> Result<BlameTarget> {
        target(&self.state().env.cwd, name)
    }

    /// Returns who wrote the lines of a file.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such file; Invalid if it is not a text, or has fewer lines.
    pub fn blame(&self, request: &BlameRequest, cancel: &Cancel) -> AppResult<BlameShape> {
        self.answer_with(cancel.clone(), |cx| file_blame::blame(cx, request))
    }

    /// Returns the files that the calls of an entry read or change, or those of the nearest entry
    /// before it that has such calls. They need not exist any longer.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session or entry.
    pub fn entry_files(&self, session: &str, entry: &str) -> AppResult<Vec<PathBuf>> {
        self.answer(|cx| entry_files::entry_files(cx, session, entry))
    }

    /// Returns the sessions that made each commit, oldest first.
    ///
    /// # Errors
    ///
    /// NotFound if the current folder is in no repository, or if it has no such commit.
    pub fn blame_commits(
        &self,
        request: &CommitBlameRequest,
        cancel: &Cancel,
    ) -> AppResult<Vec<CommitBlameShape>> {
        self.answer_with(cancel.clone(), |cx| commit_blame::blame(cx, request))
    }
}

/// The lines of a commit message that name the sessions that wrote lines of it.
pub fn trailers(commits: &[CommitBlameShape]) -> Vec<String> {
    let mut lines = Vec::new();
    for session in commits.iter().flat_map(|commit| &commit.sessions) {
        let line = format!("Agent-Session: {}", session.session);
        if session.by == commit_blame::EDITS && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn target(cwd: &Path, name: &str) -> Result<BlameTarget> {
    let is_file = |name: &str| cwd.join(name).is_file();
    if is_file(name) {
        return Ok(BlameTarget::File(PathBuf::from(name), None));
    }
    if let Some((file, lines)) = name.rsplit_once(':')
        && let Some(range) = range(lines)
    {
        if range.0 == 0 || range.1 < range.0 {
            let what = format!("`{}` are no lines of a file", lines.escape_debug());
            return Err(Error::new(ErrorKind::Invalid, what)
                .advising("lines are counted from 1: FILE:LINE or FILE:FIRST-LAST"));
        }
        return Ok(BlameTarget::File(PathBuf::from(file), Some(range)));
    }
    // A name with a folder or an ending is meant as a file, even if there is none.
    let is_path = Path::new(name).extension().is_some() && !name.contains("..");
    match is_path && !name.contains(['~', '^', '@']) {
        true => Ok(BlameTarget::File(PathBuf::from(name), None)),
        false => Ok(BlameTarget::Commits(name.to_owned())),
    }
}

/// The lines `12` or `12-20`.
fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Resolves a file that a request names.
fn real_file(cx: &RequestContext, file: &Path) -> Result<PathBuf> {
    let path = cx.env.cwd.join(file);
    path.canonicalize().map_err(|error| {
        let shown = file.display().to_string();
        let what = format!("there is no file `{}`", shown.escape_debug());
        Error::new(ErrorKind::NotFound, what).because(error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_file_with_lines_or_commits() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, lines| BlameTarget::File(PathBuf::from(name), lines);
        boswell_testkit::disk::write(&place.path().join("main"), b"x");
        let of = |name: &str| target(place.path(), name).unwrap();
        assert_eq!(of("main"), file("main", None));
        assert_eq!(of("main:3"), file("main", Some((3, 3))));
        assert_eq!(of("src/a.rs:3-9"), file("src/a.rs", Some((3, 9))));
        assert_eq!(of("gone.rs"), file("gone.rs", None));
        for commits in ["HEAD", "main~1..HEAD", "v1.2~3", "a1b2c3d"] {
            assert_eq!(of(commits), BlameTarget::Commits(commits.to_owned()));
        }
        for wrong in ["main:0", "main:9-3"] {
            assert!(target(place.path(), wrong).is_err(), "{wrong}");
        }
    }
}
