//! Files of a project as an agent's own copies have them: shown, compared, put
//! back through the runner.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::{ExpectedState, Modified, Plan, Precondition, Step};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};
use boswell_store::checkpoint::{TextDiff, text_diff};
use boswell_store::{Digest, Reason, Resolved, Session, Store};

use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, escape, fit, one_line};

/// Larger files are neither compared nor put back.
const LARGEST: u64 = 256 << 20;

/// The files of a session at an entry.
#[derive(Debug)]
pub(crate) struct AgentFileHistory {
    root: PathBuf,
    prompt: String,
    files: Vec<Copied>,
}

#[derive(Debug)]
struct Copied {
    path: String,
    /// What it was; none if it was not there.
    then: Option<Vec<u8>>,
    /// What it is; none if it is not there.
    now: Option<Vec<u8>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is what it was.
    Same,
    /// What it is now stands in a copy or in the log: putting it back loses nothing.
    Known,
    /// Somebody else changed it.
    Conflict,
    /// It lies outside of the project, behind a link, or in git's own folder.
    Outside,
    /// The agent's copy is not there any more.
    Lost,
}

impl AgentFileHistory {
    /// Gathers them; none where the agent keeps no copies.
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
            return Err(Error::new(ErrorKind::NotFound, format!("the session's folder `{}` is gone", root.display()))
                .because("files are only compared with and put back below the folder that the session was held in")
                .hinting("if it was moved, say so with `boswell move OLD NEW`"));
        }
        let project = Store::in_folder(found.store.dialect(), &root);
        let mut files = Vec::new();
        for (path, key) in then.files.iter().filter(|(path, _)| wanted(path, paths)) {
            let copy = key
                .as_ref()
                .map(|key| found.store.file(key, LARGEST))
                .transpose()?;
            let mut file = Copied {
                path: path.clone(),
                then: None,
                now: None,
                state: State::Outside,
            };
            if is_inside(&root, path) {
                file.now = project.file(path, LARGEST)?;
                file.then = copy.flatten();
                let known = |now: &Vec<u8>| -> Result<bool> {
                    let said = then
                        .written
                        .iter()
                        .any(|(name, text)| name == path && text.as_bytes() == now.as_slice());
                    let mut copies = then.known.iter().filter(|(name, _)| name == path);
                    Ok(said
                        || copies.try_fold(false, |any, (_, key)| {
                            Ok::<_, Error>(
                                any || found.store.file(key, LARGEST)?.as_ref() == Some(now),
                            )
                        })?)
                };
                file.state = match &file.now {
                    _ if key.is_some() && file.then.is_none() => State::Lost,
                    now if *now == file.then => State::Same,
                    None => State::Known,
                    Some(now) if known(now)? => State::Known,
                    Some(_) => State::Conflict,
                };
            }
            files.push(file);
        }
        Ok(Some(AgentFileHistory {
            root,
            prompt: then.prompt,
            files,
        }))
    }

    /// Lists them.
    pub(crate) fn list(&self, session: &Session, out: &mut Output) -> Result<()> {
        for file in &self.files {
            let word = match (&file.state, &file.then) {
                (State::Lost, _) => "lost",
                (State::Outside, _) => "outside",
                (_, Some(_)) => "file",
                (_, None) => "absent",
            };
            if out.json {
                out.object(
                    &self
                        .shape(session, file)
                        .with("state", word)
                        .with("bytes", file.then.as_ref().map(Vec::len)),
                )?;
            } else {
                out.line(&format!("{}  {}", fit(word, 8), one_line(&file.path)))?;
            }
        }
        Ok(())
    }

    fn shape(&self, session: &Session, file: &Copied) -> Json {
        Json::object()
            .with("v", 1)
            .with("type", "file")
            .with("session", session.reference().to_string())
            .with("prompt", self.prompt.as_str())
            .with("path", file.path.as_str())
    }

    /// Shows how they differ from what they are now.
    pub(crate) fn show_diff(&self, session: &Session, out: &mut Output) -> Result<()> {
        for file in &self.files {
            let (word, hunks) = match (file.state, &file.then, &file.now) {
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
            };
            if out.json {
                let shape = self
                    .shape(session, file)
                    .with("change", word)
                    .with("conflict", file.state == State::Conflict);
                out.object(&shape.with("diff", hunks))?;
            } else if file.state != State::Same {
                let note = if file.state == State::Conflict {
                    ", by somebody else"
                } else {
                    ""
                };
                out.line(&format!(
                    "{}  {word}{note}",
                    out.paint(Style::Strong, &one_line(&file.path))
                ))?;
                for line in hunks.unwrap_or_default().lines() {
                    out.line(&format!("  {}", escape(line)))?;
                }
            }
        }
        Ok(())
    }

    /// Puts them back; one operation, which `undo` takes back.
    pub(crate) fn restore(
        &self,
        app: &App,
        session: &Session,
        force: bool,
        out: &mut Output,
    ) -> Result<ExitCode> {
        let conflict = self.files.iter().find(|file| file.state == State::Conflict);
        if let Some(file) = conflict.filter(|_| !force) {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("`{}` was changed by somebody else since", file.path),
            )
            .because("neither a copy nor the session holds what it is now; nothing was put back")
            .hinting(
                "look at the difference with `--dry-run`, then put them back with `--force`",
            ));
        }
        let reference = session.reference();
        let mut plan = Plan::new(
            "checkout",
            format!("files of {reference} as they stood at {}", self.prompt),
        );
        let mut done = Vec::new();
        for file in &self.files {
            let key = file.path.clone();
            match (file.state, &file.then) {
                (State::Same, _) => continue,
                (State::Lost, _) => done.push((&file.path, "skipped: its copy is gone")),
                (State::Outside, _) => {
                    done.push((&file.path, "skipped: it is not below the project"))
                }
                (_, Some(then)) => {
                    let mode = file.now.is_none().then_some(0o644);
                    let bytes = then.clone();
                    plan.steps.push(Step::Put {
                        key: key.clone(),
                        bytes,
                        mode,
                        modified: Modified::Now,
                    });
                    done.push((&file.path, "restored"));
                }
                (_, None) => {
                    plan.steps.push(Step::remove(&key));
                    done.push((&file.path, "removed"));
                }
            }
            if !matches!(file.state, State::Lost | State::Outside) {
                plan.preconditions.push(match &file.now {
                    Some(now) => {
                        let was = ExpectedState {
                            sha256: Some(Digest::of(now).to_string()),
                            ..ExpectedState::default()
                        };
                        Precondition::Unchanged { key, was }
                    }
                    None => Precondition::Absent { key },
                });
            }
        }
        if !plan.steps.is_empty() {
            app.runner()?
                .run(&self.root, &plan, &reference, Reason::Before)?;
        }
        for (path, word) in done {
            if out.json {
                out.object(
                    &Json::object()
                        .with("v", 1)
                        .with("type", "step")
                        .with("path", path)
                        .with("done", word),
                )?;
            } else {
                out.line(&format!("{word}: {}", one_line(path)))?;
            }
        }
        if !app.quiet {
            let next = if plan.steps.is_empty() {
                "every file is as it stood then"
            } else {
                "`boswell undo` takes it back"
            };
            crate::error_report::say(next);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn wanted(path: &str, paths: &[&str]) -> bool {
    let below = |wanted: &&str| {
        path.strip_prefix(wanted.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    paths.is_empty() || paths.iter().any(below)
}

/// Whether a path that a session names leads below the project, also where folders are links.
fn is_inside(root: &Path, path: &str) -> bool {
    let plain = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(name) if name != ".git"));
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
