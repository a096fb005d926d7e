//! Finds problems in the memory of agents, such as orphans: pages that no session loads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use boswell_dialect::claude::project_key;
use boswell_dialect::facts_of;
use boswell_model::{Advice, Error, Remark, Result};
use boswell_store::memory::{self, Memory, Page};
use boswell_store::{Home, Store};

use super::{LARGEST, MemoryFound, MemoryProblemShape, MemoryScope, MemorySink, pages};
use crate::{RequestContext, git_repository};

/// Checks the memory of a project, or of all.
pub(super) fn check(
    cx: &RequestContext,
    scope: &MemoryScope,
    sink: MemorySink<'_, MemoryProblemShape>,
) -> Result<MemoryFound> {
    let mut found = MemoryFound {
        found: 0,
        project: scope.folder(cx),
        left_out: Vec::new(),
    };
    if agents_memory(cx, &mut found, sink)?
        && let (Some(home), Some(folder)) = (&cx.home, &found.project)
    {
        let project = folder.display().to_string();
        let memory = Home::at(home).memory(&project).load()?;
        let own = CheckedMemory {
            dialect: "boswell",
            key: &project,
            memory: &memory,
            place: Some(folder),
            finds_orphans: false,
        };
        let problems = own.problems();
        found.found += problems.len();
        hand_out(problems, sink)?;
    }
    Ok(found)
}

/// Checks the memory of agents; returns whether to continue.
fn agents_memory(
    cx: &RequestContext,
    found: &mut MemoryFound,
    sink: MemorySink<'_, MemoryProblemShape>,
) -> Result<bool> {
    let folder = found.project.clone();
    let projects = if folder.is_none() {
        known_projects(cx)?
    } else {
        BTreeSet::new()
    };
    let keys = folder.as_deref().map(git_repository::keys);
    for (_, store) in cx.stores.iter() {
        for (key, memory) in memories(store, &mut found.left_out) {
            if keys.as_ref().is_some_and(|keys| !keys.contains(&key)) {
                continue;
            }
            let place = folder.clone().or_else(|| folder_of(&key, &projects));
            let checked = CheckedMemory {
                dialect: store.dialect().name(),
                key: &key,
                memory: &memory,
                place: place.as_deref(),
                finds_orphans: folder.is_none(),
            };
            let problems = checked.problems();
            found.found += problems.len();
            if !hand_out(problems, sink)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Passes on problems; returns whether to continue.
fn hand_out(
    problems: Vec<MemoryProblemShape>,
    sink: MemorySink<'_, MemoryProblemShape>,
) -> Result<bool> {
    for problem in problems {
        if !sink(problem)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the existing folder that is stored under that key.
fn folder_of(key: &str, projects: &BTreeSet<String>) -> Option<PathBuf> {
    let folders = projects.iter().filter(|path| project_key(path) == key);
    folders.map(PathBuf::from).find(|path| path.is_dir())
}

/// Returns the project folders of all sessions.
fn known_projects(cx: &RequestContext) -> Result<BTreeSet<String>> {
    let (conversations, _) = cx.conversations()?;
    let mut projects: BTreeSet<String> = conversations
        .into_iter()
        .filter_map(|it| it.front.1.meta.project)
        .collect();
    let mains: Vec<String> = projects
        .iter()
        .filter_map(|path| git_repository::main_checkout(Path::new(path)))
        .map(|main| main.display().to_string())
        .collect();
    projects.extend(mains);
    Ok(projects)
}

/// Returns the memory of a store per project, by key.
fn memories(store: &Store, left_out: &mut Vec<Error>) -> BTreeMap<String, Memory> {
    let mut by_project: BTreeMap<String, Vec<Page>> = BTreeMap::new();
    for file in pages(store, left_out) {
        let bytes = match store.file(&file.key, LARGEST) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                left_out.push(error);
                continue;
            }
        };
        let name = file
            .key
            .split_once("/memory/")
            .map_or(file.key.as_str(), |(_, name)| name);
        by_project
            .entry(file.project_key)
            .or_default()
            .push(Page::new(name.to_owned(), &bytes));
    }
    by_project
        .into_iter()
        .map(|(key, pages)| (key, Memory::of(pages)))
        .collect()
}

/// The memory of a project, and its place.
struct CheckedMemory<'a> {
    dialect: &'static str,
    key: &'a str,
    memory: &'a Memory,
    place: Option<&'a Path>,
    /// Whether memory of an unknown folder is a problem.
    finds_orphans: bool,
}

impl CheckedMemory<'_> {
    fn problems(&self) -> Vec<MemoryProblemShape> {
        let mut found = memory::check(self.memory);
        if let Some(place) = self.place {
            let exists = |path: &str| place.join(path).exists();
            found.extend(memory::missing_files(self.memory, &exists));
        }
        let mut problems: Vec<(&'static str, Remark)> = found
            .iter()
            .map(|problem| (problem.word(), Remark::new(problem.to_string())))
            .collect();
        let is_own = facts_of(self.dialect).is_some_and(|facts| facts.is_own);
        if !self.memory.pages.is_empty() && !is_own {
            problems.extend(self.orphan().map(|text| ("orphaned", text)));
        }
        let shape = |(problem, detail)| MemoryProblemShape {
            dialect: self.dialect,
            project_key: self.key.to_owned(),
            problem,
            detail,
        };
        problems.into_iter().map(shape).collect()
    }

    /// Reports memory that no session loads any more.
    fn orphan(&self) -> Option<Remark> {
        match self.place {
            Some(place) => {
                let main = git_repository::main_checkout(place)?;
                let loaded = project_key(&main.display().to_string());
                (loaded != self.key).then(|| {
                    Remark::new(format!(
                        "is not loaded: for this folder the agent loads the memory of `{}`",
                        main.display()
                    ))
                })
            }
            None if self.finds_orphans => Some(
                Remark::new("no folder of that name is known and exists")
                    .advising(Advice::MoveProject { from: None }),
            ),
            None => None,
        }
    }
}
