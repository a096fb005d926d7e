//! Adds, edits and removes memory pages through the runner, so that this can be undone.
//!
//! These are `memory add`, `edit` and `rm`. A new page of Claude Code's memory gets a line in its
//! index; a folder of it that is a symbolic link is refused here, a page that is one by the runner.

use std::path::{Path, PathBuf};

use boswell_dialect::claude::project_key;
use boswell_dialect::{ExpectedState, LockSpec, MemoryPolicy, Plan, Precondition, Step, facts_of};
use boswell_model::{Advice, Error, ErrorKind, RequestInput, Result, SessionRef};
use boswell_store::disk::{Disk, RealDisk, durable};
use boswell_store::memory;
use boswell_store::vault::{Digest, Reason};

use super::{MemoryChanged, MemoryScope};
use crate::text::{cut, one_line};
use crate::{RequestContext, git_repository};

/// A request to change a memory page.
#[derive(Debug, Clone)]
pub struct MemoryChangeRequest {
    /// The project; every project is not valid.
    pub scope: MemoryScope,
    /// The owner of the memory: `boswell`, or the dialect of an agent.
    pub dialect: String,
    /// Name of the page, with or without `.md`.
    pub page: String,
    /// The change.
    pub change: MemoryChange,
}

/// A change of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryChange {
    /// Appends the text; a missing page is created.
    Add(String),
    /// Replaces the page by the text; a missing page is created.
    Edit(String),
    /// Removes the page.
    Remove,
}

impl MemoryChange {
    fn word(&self) -> &'static str {
        match self {
            MemoryChange::Add(_) => "add to",
            MemoryChange::Edit(_) => "edit",
            MemoryChange::Remove => "remove",
        }
    }
}

/// The memory folder that is changed.
struct MemoryTarget {
    dialect: &'static str,
    root: PathBuf,
    /// Key of the folder below the root.
    folder: String,
    project: String,
    lock: Option<LockSpec>,
}

/// Executes a change of one page.
pub(super) fn change(cx: &RequestContext, request: &MemoryChangeRequest) -> Result<MemoryChanged> {
    cx.may_write()?;
    let Some(folder) = request.scope.folder(cx) else {
        return Err(Error::new(
            ErrorKind::Invalid,
            "memory is changed for one project at a time",
        )
        .advising(Advice::Give(RequestInput::Project)));
    };
    let place = MemoryTarget::find(cx, &folder, &request.dialect)?;
    let name = file_name(&request.page)?;
    let path = place.root.join(&place.folder).join(&name);
    let (session, locks) = (SessionRef::new(place.dialect, "*"), place.lock.as_slice());
    // Planned under the locks: of two processes that append to a page concurrently, the second one
    // sees the text of the first.
    let plan = || place.plan(&name, &request.change);
    let operation = cx
        .runner()?
        .run_with(&place.root, &session, Reason::Before, locks, &plan)?;
    let bytes = durable::read(&RealDisk, &path)?.map(|bytes| bytes.len());
    Ok(MemoryChanged {
        dialect: place.dialect,
        project_key: place.project,
        path: path.display().to_string(),
        bytes,
        op: operation.id,
    })
}

/// Returns the file name of a page.
fn file_name(page: &str) -> Result<String> {
    let name = if page.ends_with(".md") {
        page.to_owned()
    } else {
        format!("{page}.md")
    };
    memory::checked_name(&name)?;
    Ok(name)
}

impl MemoryTarget {
    fn find(cx: &RequestContext, folder: &Path, dialect: &str) -> Result<MemoryTarget> {
        let project = folder.display().to_string();
        let policy = facts_of(dialect).map(|facts| facts.memory);
        if policy == Some(MemoryPolicy::Own) {
            let key = memory::project_key(&project);
            let lock = Some(LockSpec::Os {
                name: format!("memory-{key}"),
            });
            let root = cx.home()?.to_owned();
            return Ok(MemoryTarget {
                dialect: "boswell",
                root,
                folder: format!("memory/{key}"),
                project,
                lock,
            });
        }
        let store = cx
            .stores
            .iter()
            .map(|(_, store)| store)
            .find(|store| store.dialect().name() == dialect);
        let Some(store) = store.filter(|_| policy == Some(MemoryPolicy::FrontMatter)) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("no memory of `{}` can be changed", dialect.escape_debug()),
            )
            .because("it has no memory that boswell knows, or its folder does not exist")
            .advising(Advice::from("known are `boswell` and `claude`").also(Advice::ListStores)));
        };
        // All checkouts of a repository share the memory of the main one.
        let main = git_repository::main_checkout(folder).unwrap_or_else(|| folder.to_owned());
        let key = project_key(&main.display().to_string());
        let place = MemoryTarget {
            dialect: "claude",
            root: store.root().to_owned(),
            folder: format!("projects/{key}/memory"),
            project: key,
            lock: None,
        };
        place.refuse_links()?;
        Ok(place)
    }

    fn policy(&self) -> Option<MemoryPolicy> {
        facts_of(self.dialect).map(|facts| facts.memory)
    }

    fn refuse_links(&self) -> Result<()> {
        let mut path = self.root.clone();
        for part in self.folder.split('/') {
            path.push(part);
            if RealDisk.is_link(&path).unwrap_or(false) {
                return Err(Error::new(ErrorKind::Denied, format!("`{}` is a link", path.display()))
                    .because("what it leads to may belong to something else, and links are never written through")
                    .advising("change the pages where they really are"));
            }
        }
        Ok(())
    }

    /// Returns the plan for a page.
    fn plan(&self, name: &str, change: &MemoryChange) -> Result<Plan> {
        let word = change.word();
        let key = format!("{}/{name}", self.folder);
        let before = durable::read(&RealDisk, &self.root.join(&key))?;
        let mut plan = Plan::new(
            "memory",
            format!("{word} memory page {name} of {}", self.project),
        );
        plan.preconditions
            .push(unchanged(key.clone(), before.as_deref()));
        let line = |text: &str| format!("{}\n", text.trim_end());
        match (change, &before) {
            (MemoryChange::Add(text), Some(_)) => plan.steps.push(Step::append(&key, line(text))),
            (MemoryChange::Add(text) | MemoryChange::Edit(text), None) => {
                plan.steps.push(Step::put(&key, self.new_page(name, text)));
                self.introduce(name, text, &mut plan)?;
            }
            (MemoryChange::Edit(text), Some(_)) => plan.steps.push(Step::put(&key, line(text))),
            (MemoryChange::Remove, Some(_)) => plan.steps.push(Step::remove(&key)),
            (MemoryChange::Remove, None) => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("memory of `{}` has no page `{name}`", self.project),
                )
                .advising(Advice::ShowMemory));
            }
        }
        Ok(plan)
    }

    /// Returns a new page in the agent's format: those of Claude Code begin with front matter.
    fn new_page(&self, name: &str, text: &str) -> String {
        let body = format!("{}\n", text.trim_end());
        if self.policy() != Some(MemoryPolicy::FrontMatter)
            || name == memory::INDEX
            || text.starts_with("---")
        {
            return body;
        }
        let title = name.trim_end_matches(".md");
        format!(
            "---\nname: {title}\ndescription: {}\nmetadata:\n  type: project\n---\n\n{body}",
            quoted(&first_line(text))
        )
    }

    /// Adds the new page to the index, and states the project in boswell's own folder.
    fn introduce(&self, name: &str, text: &str, plan: &mut Plan) -> Result<()> {
        if self.policy() == Some(MemoryPolicy::Own) {
            let note = format!("{}/.project", self.folder);
            if durable::read(&RealDisk, &self.root.join(&note))?.is_none() {
                plan.steps
                    .push(Step::put(note, format!("{}\n", self.project)));
            }
        } else if name != memory::INDEX {
            let index = format!("{}/{}", self.folder, memory::INDEX);
            let title = name.trim_end_matches(".md");
            plan.steps.push(Step::append(
                index,
                format!("- [{title}]({name}): {}\n", first_line(text)),
            ));
        }
        Ok(())
    }
}

/// The page must still be as it was read, or still not be there.
fn unchanged(key: String, before: Option<&[u8]>) -> Precondition {
    let Some(bytes) = before else {
        return Precondition::Absent { key };
    };
    let was = ExpectedState {
        sha256: Some(Digest::of(bytes).to_string()),
        ..ExpectedState::default()
    };
    Precondition::Unchanged { key, was }
}

fn first_line(text: &str) -> String {
    cut(&one_line(text.lines().next().unwrap_or("").trim()), 120)
}

/// Quotes a value for YAML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
