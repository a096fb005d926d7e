//! `memory add`, `edit` and `rm`: through the runner, so that they can be taken back.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use boswell_dialect::claude::project_key;
use boswell_dialect::{ExpectedState, LockSpec, MemoryPolicy, Plan, Precondition, Step, facts_of};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::disk::{Disk, RealDisk, durable};
use boswell_store::{Digest, Reason, memory};

use super::memory::Action;
use crate::app::App;
use crate::git_repository;
use crate::output::Output;
use crate::terminal::escape;

/// A memory that is changed.
struct MemoryTarget {
    dialect: &'static str,
    root: PathBuf,
    /// Key of its folder below the root.
    folder: String,
    project: String,
    lock: Option<LockSpec>,
}

/// Carries out a change of one page.
pub(crate) fn run(
    app: &App,
    folder: Option<PathBuf>,
    dialect: &str,
    action: &Action<'_>,
) -> Result<ExitCode> {
    app.may_write()?;
    let Some(folder) = folder else {
        return Err(Error::new(
            ErrorKind::Invalid,
            "memory is changed for one project at a time",
        )
        .hinting("name it with `--project DIR`"));
    };
    let place = MemoryTarget::find(app, &folder, dialect)?;
    let name = place.page(action)?;
    let path = place.root.join(&place.folder).join(&name);
    let (session, locks) = (SessionRef::new(place.dialect, "*"), place.lock.as_slice());
    // Planned under the locks: of two processes that add to a page at once, the second one sees
    // what the first one wrote.
    let plan = || place.plan(&name, action);
    let operation = app
        .runner()?
        .run_with(&place.root, &session, Reason::Before, locks, &plan)?;
    let bytes = durable::read(&RealDisk, &path)?.map(|bytes| bytes.len());
    let mut out = Output::paged(app);
    if out.json {
        out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "memory")
                .with("dialect", place.dialect)
                .with("project_key", place.project.as_str())
                .with("path", path.display().to_string())
                .with("bytes", bytes)
                .with("op", operation.id),
        )?;
    } else {
        out.line(&escape(&path.display().to_string()))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

impl MemoryTarget {
    fn find(app: &App, folder: &Path, dialect: &str) -> Result<MemoryTarget> {
        let project = folder.display().to_string();
        let policy = facts_of(dialect).map(|facts| facts.memory);
        if policy == Some(MemoryPolicy::Own) {
            let key = memory::project_key(&project);
            let lock = Some(LockSpec::Os {
                name: format!("memory-{key}"),
            });
            let root = app.home()?.to_owned();
            return Ok(MemoryTarget {
                dialect: "boswell",
                root,
                folder: format!("memory/{key}"),
                project,
                lock,
            });
        }
        let store = app
            .stores
            .iter()
            .map(|(_, store)| store)
            .find(|store| store.dialect().name() == dialect);
        let Some(store) = store.filter(|_| policy == Some(MemoryPolicy::FrontMatter)) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("no memory of `{}` can be changed", dialect.escape_debug()),
            )
            .because("it keeps none that boswell knows, or its folder is not there")
            .hinting("known are `boswell` and `claude`; see the stores with `boswell stores`"));
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
                    .because("what lies behind it may belong to something else, and is never written through it")
                    .hinting("change the pages where they really are"));
            }
        }
        Ok(())
    }

    /// File name of the page that is meant.
    fn page(&self, action: &Action<'_>) -> Result<String> {
        let (Action::Add(name, _) | Action::Edit(name, _) | Action::Remove(name)) = action else {
            return Err(Error::new(ErrorKind::Internal, "reading changes no page"));
        };
        let name = if name.ends_with(".md") {
            (*name).to_owned()
        } else {
            format!("{name}.md")
        };
        memory::checked_name(&name)?;
        Ok(name)
    }

    /// What has to happen to a page.
    fn plan(&self, name: &str, action: &Action<'_>) -> Result<Plan> {
        let word = match action {
            Action::Add(..) => "add to",
            Action::Edit(..) => "edit",
            _ => "remove",
        };
        let key = format!("{}/{name}", self.folder);
        let before = durable::read(&RealDisk, &self.root.join(&key))?;
        let mut plan = Plan::new(
            "memory",
            format!("{word} memory page {name} of {}", self.project),
        );
        plan.preconditions.push(match &before {
            Some(bytes) => {
                let was = ExpectedState {
                    sha256: Some(Digest::of(bytes).to_string()),
                    ..ExpectedState::default()
                };
                Precondition::Unchanged {
                    key: key.clone(),
                    was,
                }
            }
            None => Precondition::Absent { key: key.clone() },
        });
        let line = |text: &str| format!("{}\n", text.trim_end());
        match (action, &before) {
            (Action::Add(_, text), Some(_)) => plan.steps.push(Step::append(&key, line(text))),
            (Action::Add(_, text) | Action::Edit(_, text), None) => {
                plan.steps.push(Step::put(&key, self.new_page(name, text)));
                self.introduce(name, text, &mut plan)?;
            }
            (Action::Edit(_, text), Some(_)) => plan.steps.push(Step::put(&key, line(text))),
            (_, Some(_)) => plan.steps.push(Step::remove(&key)),
            (_, None) => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("memory of `{}` has no page `{name}`", self.project),
                )
                .hinting("see its pages with `boswell memory`"));
            }
        }
        Ok(plan)
    }

    /// A page as its agent would write it: Claude Code's begin with a few words about themselves.
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

    /// Sees to it that the index leads to a new page, and that boswell's own
    /// folder says whose it is.
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

fn first_line(text: &str) -> String {
    crate::terminal::cut(
        &crate::terminal::one_line(text.lines().next().unwrap_or("").trim()),
        120,
    )
}

/// A value that YAML takes for text, whatever stands in it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
