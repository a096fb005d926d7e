//! Project files from an agent's own copies (file history): compared with the current files, and
//! restored through the runner.

use std::path::{Component, Path, PathBuf};

use boswell_dialect::{ExpectedState, FilesAtEntry, Modified, Plan, Precondition, Step};
use boswell_model::{Advice, Error, ErrorKind, Remark, Result, SessionRef};
use boswell_store::checkpoint::{TextDiff, text_diff};
use boswell_store::store::Resolved;
use boswell_store::vault::{Digest, Reason};
use boswell_store::{Session, Store};

use crate::RequestContext;
use crate::files::{FileDifference, FormerFile, RestoreStep};
use crate::shape::Maybe;

/// Larger files are neither compared nor restored.
const LARGEST: u64 = 256 << 20;

/// The files of a session at an entry, from the copies that its agent made.
#[derive(Debug)]
pub(crate) struct AgentFileHistory {
    root: PathBuf,
    prompt: String,
    files: Vec<Copied>,
}

#[derive(Debug)]
struct Copied {
    path: String,
    /// Contents before; `None` if the file was missing.
    then: Option<Vec<u8>>,
    /// Contents now; `None` if the file is missing.
    now: Option<Vec<u8>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The file is unchanged.
    Same,
    /// The current contents are also in a copy or in the log: restoring the file loses nothing.
    Known,
    /// Another program changed the file.
    Conflict,
    /// The file is outside the project, behind a symbolic link, or in git's own folder.
    Outside,
    /// The agent's copy is missing.
    Lost,
}

impl AgentFileHistory {
    /// Collects the files; `None` if the agent has no copies. With `paths`, only files below these.
    pub(crate) fn at(
        found: &Resolved,
        session: &Session,
        entry: &str,
        paths: &[&str],
    ) -> Result<Option<AgentFileHistory>> {
        let slot = session.find(entry)?;
        let Some(side_files) = session.dialect().powers().side_files else {
            return Ok(None);
        };
        let Some(then) = side_files.files_at(&found.location, &session.view(), slot)? else {
            return Ok(None);
        };
        let root = PathBuf::from(session.meta().project.clone().unwrap_or_default());
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the session's folder `{}` does not exist", root.display()),
            )
            .because(
                "files are only compared and restored below the folder of the session's project",
            )
            .advising(Advice::MoveProject { from: None }));
        }
        let project = Store::in_folder(found.store.dialect(), &root);
        let wanted = then.files.iter().filter(|(path, _)| wanted(path, paths));
        let files = wanted
            .map(|(path, key)| copied(found, (&root, &project), &then, path, key.as_deref()))
            .collect::<Result<_>>()?;
        Ok(Some(AgentFileHistory {
            root,
            prompt: then.prompt,
            files,
        }))
    }

    /// Returns the former state of each file.
    pub(crate) fn states(&self, session: &SessionRef) -> Vec<FormerFile> {
        let state = |file: &Copied| FormerFile {
            session: session.to_string(),
            prompt: Maybe::Given(self.prompt.clone()),
            path: file.path.clone(),
            state: match (&file.state, &file.then) {
                (State::Lost, _) => "lost",
                (State::Outside, _) => "outside",
                (_, Some(_)) => "file",
                (_, None) => "absent",
            },
            blob: Maybe::Absent,
            bytes: Maybe::Given(file.then.as_ref().map(Vec::len)),
        };
        self.files.iter().map(state).collect()
    }

    /// Returns how the files differ from their current contents.
    pub(crate) fn differences(&self, session: &SessionRef) -> Vec<FileDifference> {
        let difference = |file: &Copied| {
            let (change, diff) = file.change();
            FileDifference {
                session: session.to_string(),
                prompt: Maybe::Given(self.prompt.clone()),
                path: file.path.clone(),
                change,
                conflict: Maybe::Given(file.state == State::Conflict),
                diff,
            }
        };
        self.files.iter().map(difference).collect()
    }

    /// Restores the files as one operation, which can be undone.
    ///
    /// # Errors
    ///
    /// Conflict if another program changed one of them and `force` is not set: then nothing is
    /// restored.
    pub(crate) fn restore(
        &self,
        cx: &RequestContext,
        session: &SessionRef,
        force: bool,
        sink: &mut dyn FnMut(RestoreStep) -> Result<()>,
    ) -> Result<()> {
        let conflict = self.files.iter().find(|file| file.state == State::Conflict);
        if let Some(file) = conflict.filter(|_| !force) {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("`{}` was changed since by another program", file.path),
            )
            .because(
                "neither a copy nor the session contains its present content; nothing was restored",
            )
            .advising(Advice::ForceRestore));
        }
        let (plan, done) = self.plan(session);
        if !plan.steps.is_empty() {
            cx.runner()?
                .run(&self.root, &plan, session, Reason::Before)?;
        }
        done.into_iter().try_for_each(sink)?;
        cx.remark(match plan.steps.is_empty() {
            true => Remark::new("every file is as it was then"),
            false => {
                Remark::new("the files were restored").advising(Advice::Undo { operation: None })
            }
        });
        Ok(())
    }

    fn plan(&self, session: &SessionRef) -> (Plan, Vec<RestoreStep>) {
        let mut plan = Plan::new(
            "checkout",
            format!("files of {session} as they were at {}", self.prompt),
        );
        let mut done = Vec::new();
        for file in self.files.iter().filter(|file| file.state != State::Same) {
            let word = match (file.state, &file.then) {
                (State::Lost, _) => "skipped: its copy is missing",
                (State::Outside, _) => "skipped: it is not below the project",
                (_, Some(_)) => "restored",
                (_, None) => "removed",
            };
            done.push(RestoreStep {
                path: file.path.clone(),
                done: word.to_owned(),
            });
            if !matches!(file.state, State::Lost | State::Outside) {
                plan.steps.push(file.put_back());
                plan.preconditions.push(file.is_as_compared());
            }
        }
        (plan, done)
    }
}

impl Copied {
    /// Returns how the file differs from its current contents, with a diff if it is text.
    fn change(&self) -> (&'static str, Option<String>) {
        match (self.state, &self.then, &self.now) {
            (State::Same, ..) => ("unchanged", None),
            (State::Lost, ..) => ("its former content is lost", None),
            (State::Outside, ..) => ("outside", None),
            (_, Some(then), Some(now)) => match text_diff(then, now) {
                TextDiff::Hunks(hunks) => ("changed", Some(hunks)),
                TextDiff::Binary => ("changed, not text", None),
                _ => ("changed, too large to compare", None),
            },
            (_, Some(_), None) => ("gone", None),
            (_, None, _) => ("new since", None),
        }
    }

    fn put_back(&self) -> Step {
        match &self.then {
            Some(then) => Step::Put {
                key: self.path.clone(),
                bytes: then.clone(),
                mode: self.now.is_none().then_some(0o644),
                modified: Modified::Now,
            },
            None => Step::remove(&self.path),
        }
    }

    /// Returns the precondition that the file is unchanged since it was compared.
    fn is_as_compared(&self) -> Precondition {
        let key = self.path.clone();
        let Some(now) = &self.now else {
            return Precondition::Absent { key };
        };
        let was = ExpectedState {
            sha256: Some(Digest::of(now).to_string()),
            ..ExpectedState::default()
        };
        Precondition::Unchanged { key, was }
    }
}

fn copied(
    found: &Resolved,
    (root, project): (&Path, &Store),
    then: &FilesAtEntry,
    path: &str,
    key: Option<&str>,
) -> Result<Copied> {
    let copy = key.map(|key| found.store.file(key, LARGEST)).transpose()?;
    let mut file = Copied {
        path: path.to_owned(),
        then: None,
        now: None,
        state: State::Outside,
    };
    if !is_inside(root, path) {
        return Ok(file);
    }
    file.now = project.file(path, LARGEST)?;
    file.then = copy.flatten();
    file.state = match &file.now {
        _ if key.is_some() && file.then.is_none() => State::Lost,
        now if *now == file.then => State::Same,
        None => State::Known,
        Some(now) if is_known(found, then, path, now)? => State::Known,
        Some(_) => State::Conflict,
    };
    Ok(file)
}

/// Whether the current contents of a file are also in a copy of it, or were written by the session.
fn is_known(found: &Resolved, then: &FilesAtEntry, path: &str, now: &[u8]) -> Result<bool> {
    let mut written = then.written.iter().filter(|(name, _)| name == path);
    if written.any(|(_, text)| text.as_bytes() == now) {
        return Ok(true);
    }
    for (_, key) in then.known.iter().filter(|(name, _)| name == path) {
        if found.store.file(key, LARGEST)?.as_deref() == Some(now) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn wanted(path: &str, paths: &[&str]) -> bool {
    let below = |wanted: &&str| {
        path.strip_prefix(wanted.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    paths.is_empty() || paths.iter().any(below)
}

/// Whether a path of a session is below the project, also through symbolic links, and not in git's
/// own folder, where a file can be a command that runs later. Some disks ignore case.
fn is_inside(root: &Path, path: &str) -> bool {
    let plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")));
    let Ok(root) = root.canonicalize() else {
        return false;
    };
    let whole = root.join(path);
    let mut above = whole.ancestors().skip(1);
    plain
        && !path.is_empty()
        && above
            .find_map(|folder| folder.canonicalize().ok())
            .is_some_and(|real| real.starts_with(&root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_into_gits_folder_in_any_case_or_above_the_project() {
        let root = std::env::temp_dir();
        assert!(is_inside(&root, "src/main.rs"));
        for outside in [
            ".git/config",
            ".GIT/hooks/post-commit",
            "a/.Git/x",
            "../x",
            "/x",
            "",
        ] {
            assert!(!is_inside(&root, outside), "{outside}");
        }
    }
}
