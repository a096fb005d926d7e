//! `memory check`: what is wrong with what agents remember.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use boswell_dialect::claude::project_key;
use boswell_dialect::facts_of;
use boswell_model::json::Json;
use boswell_model::{Error, Result};
use boswell_store::disk::RealDisk;
use boswell_store::memory::{self, Memory, Page};
use boswell_store::{IdSource, Memories, Store, SystemIds};

use crate::app::App;
use crate::git_repository;
use crate::output::Output;
use crate::terminal::one_line;

/// The largest page that is looked at.
const LARGEST: u64 = 16 << 20;

/// Checks the memory of a project, or of all; gives how many problems there are.
pub(crate) fn run(
    app: &App,
    folder: Option<&Path>,
    out: &mut Output,
    left_out: &mut Vec<Error>,
) -> Result<usize> {
    let projects = if folder.is_none() {
        known_projects(app)?
    } else {
        BTreeSet::new()
    };
    let keys = folder.map(git_repository::keys);
    let mut found = 0;
    for (_, store) in app.stores.iter() {
        for (key, memory) in memories(store, left_out) {
            if keys.as_ref().is_some_and(|keys| !keys.contains(&key)) {
                continue;
            }
            let of_key = |path: &&String| project_key(path) == key;
            let place = match folder {
                Some(folder) => Some(folder.to_owned()),
                None => projects
                    .iter()
                    .filter(of_key)
                    .map(|path| Path::new(path).to_owned())
                    .find(|path| path.is_dir()),
            };
            let problems = Problems {
                dialect: store.dialect().name(),
                key: &key,
                out,
            };
            found += problems.tell(&memory, place.as_deref(), folder.is_none())?;
        }
    }
    if let (Some(home), Some(folder)) = (&app.home, folder) {
        let project = folder.display().to_string();
        let memory = Memories::new(Arc::new(RealDisk), home, &SystemIds.hex16()).load(&project)?;
        found += Problems {
            dialect: "boswell",
            key: &project,
            out,
        }
        .tell(&memory, Some(folder), false)?;
    }
    Ok(found)
}

/// Folders that sessions were held in.
fn known_projects(app: &App) -> Result<BTreeSet<String>> {
    let (conversations, _) = app.conversations()?;
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

/// What a store remembers of each project, by key.
fn memories(store: &Store, left_out: &mut Vec<Error>) -> BTreeMap<String, Memory> {
    let mut pages: BTreeMap<String, Vec<Page>> = BTreeMap::new();
    for file in super::memory::pages(store, left_out) {
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
        pages
            .entry(file.project_key)
            .or_default()
            .push(Page::new(name.to_owned(), &bytes));
    }
    pages
        .into_iter()
        .map(|(key, pages)| (key, Memory::of(pages)))
        .collect()
}

struct Problems<'a> {
    dialect: &'a str,
    key: &'a str,
    out: &'a mut Output,
}

impl Problems<'_> {
    fn tell(self, memory: &Memory, place: Option<&Path>, orphans: bool) -> Result<usize> {
        let mut problems: Vec<(&str, String)> = Vec::new();
        for problem in memory::check(memory) {
            problems.push((problem.word(), problem.to_string()));
        }
        if let Some(place) = place {
            let exists = |path: &str| place.join(path).exists();
            for problem in memory::missing_files(memory, &exists) {
                problems.push((problem.word(), problem.to_string()));
            }
        }
        if !memory.pages.is_empty() && !facts_of(self.dialect).is_some_and(|facts| facts.is_own) {
            problems.extend(self.orphan(place, orphans).map(|text| ("orphaned", text)));
        }
        for (word, text) in &problems {
            if self.out.json {
                self.out.object(
                    &Json::object()
                        .with("v", 1)
                        .with("type", "memory_problem")
                        .with("dialect", self.dialect)
                        .with("project_key", self.key)
                        .with("problem", *word)
                        .with("detail", text),
                )?;
            } else {
                self.out.line(&format!(
                    "{} {}: {}",
                    self.dialect,
                    one_line(self.key),
                    one_line(text)
                ))?;
            }
        }
        Ok(problems.len())
    }

    /// Memory that no session will load any more.
    fn orphan(&self, place: Option<&Path>, orphans: bool) -> Option<String> {
        match place {
            Some(place) => {
                let main = git_repository::main_checkout(place)?;
                let loaded = project_key(&main.display().to_string());
                (loaded != self.key).then(|| {
                    format!("is not loaded: for this folder the agent loads the memory of `{}`", main.display())
                })
            }
            None if orphans => Some(
                "no folder of that name is known and there: if the project was moved, `boswell move OLD NEW` brings its memory along"
                    .to_owned(),
            ),
            None => None,
        }
    }
}
