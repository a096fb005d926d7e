//! Excluded projects: their sessions are not listed, kept, indexed or served.
//!
//! [`Store::list`] and [`Store::discover`] are the only place where sessions are left out, so that
//! no command has to remember it. Code that must see every session to be safe (is a client using
//! it, whose files are these, which blobs are still named) uses [`Store::whole`].
//!
//! A pattern of `exclude` covers the folder, those below it, its git worktrees, and the same folder
//! through symbolic links; a subagent belongs to the project of its session.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use boswell_dialect::{Discovered, SessionLocation};
use boswell_model::{Error, ErrorKind, Instant, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::Store;
use crate::store::checkout::main_checkout;

/// Below this many sessions no threads are started to read their projects.
const FEW: usize = 64;

/// The patterns of excluded projects.
#[derive(Debug)]
pub struct Exclusion {
    globs: GlobSet,
    home: Option<PathBuf>,
    /// Folders of the patterns without special characters.
    folders: Vec<String>,
    /// Cache: whether a project is excluded. Links and worktrees are resolved once.
    verdicts: Mutex<HashMap<String, bool>>,
    /// Cache: the project of a log, by root and key. A command lists its stores several times.
    seen: Mutex<HashMap<(PathBuf, String), Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    size: u64,
    modified: Option<Instant>,
    project: Option<String>,
}

impl Exclusion {
    /// Parses patterns of paths: absolute ones, `~/…`, or `**/…` for a folder anywhere. `*` matches
    /// within one folder name.
    pub fn new(patterns: &[String], home: Option<&Path>) -> Result<Exclusion> {
        let (mut globs, mut folders) = (GlobSetBuilder::new(), Vec::new());
        for pattern in patterns {
            let wrong = |why: String| {
                Error::new(
                    ErrorKind::Invalid,
                    format!("`{}` excludes nothing", pattern.escape_debug()),
                )
                .because(why)
                .advising("write a folder like `/srv/secret`, `~/jobs/*` or `**/secret`")
            };
            for text in spellings(pattern, home).map_err(wrong)? {
                let glob = GlobBuilder::new(&text)
                    .literal_separator(true)
                    // As the file system: case-insensitive where it is.
                    .case_insensitive(cfg!(any(windows, target_os = "macos")))
                    .build();
                globs.add(glob.map_err(|error| wrong(error.kind().to_string()))?);
                folders.push(text);
            }
        }
        let globs = globs
            .build()
            .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))?;
        Ok(Exclusion {
            globs,
            folders,
            home: home.map(Path::to_owned),
            verdicts: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// Returns whether sessions of a project are left out: it matches, is in a folder that does, or
    /// is a worktree of one that does; by its name or by its real path.
    pub fn excludes(&self, project: &str) -> bool {
        if project.is_empty() {
            return false;
        }
        if let Some(known) = lock(&self.verdicts).get(project) {
            return *known;
        }
        let verdict = self.judge(project);
        lock(&self.verdicts).insert(project.to_owned(), verdict);
        verdict
    }

    fn judge(&self, project: &str) -> bool {
        let path = match (project.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(project),
        };
        if self.matches(&path) {
            return true;
        }
        let real = real(&path);
        self.matches(&real) || main_checkout(&real).is_some_and(|main| self.matches(&main))
    }

    fn matches(&self, path: &Path) -> bool {
        path.ancestors().any(|folder| self.globs.is_match(folder))
    }

    /// Returns whether memory that is filed under this name belongs to a folder that a pattern
    /// names literally. Names of other folders cannot be turned back into paths: the sessions in
    /// the same folder show whose they are.
    pub(crate) fn names_memory(&self, project_key: &str) -> bool {
        self.folders
            .iter()
            .any(|folder| boswell_dialect::claude::project_key(folder) == project_key)
    }

    /// Removes sessions of excluded projects from `found`, and returns them.
    pub(crate) fn take_out(&self, store: &Store, found: &mut Discovered) -> Vec<SessionLocation> {
        let verdicts = self.of_sessions(store, &found.sessions);
        // A log without a project counts as one of the project whose folder it is in.
        let hidden_folders = hidden_folders(&found.sessions, &verdicts);
        let lies_hidden = |key: &str| hidden_folders.contains(folder_of(key));
        let mut owners = HashSet::new();
        let mut goes = Vec::with_capacity(verdicts.len());
        for (location, verdict) in found.sessions.iter().zip(verdicts) {
            let goes_out =
                verdict.unwrap_or_else(|| location.key.as_deref().is_some_and(lies_hidden));
            if goes_out && location.owner.is_none() {
                owners.insert(location.id.clone());
            }
            goes.push(goes_out);
        }
        if !goes.contains(&true) {
            return Vec::new();
        }
        found.problems.retain(|(key, _)| !lies_hidden(key));
        let mut out = Vec::new();
        let mut goes = goes.into_iter();
        found.sessions.retain(|location| {
            let of_owner = location
                .owner
                .as_ref()
                .is_some_and(|owner| owners.contains(owner));
            let stays = !goes.next().unwrap_or(false) && !of_owner;
            if !stays {
                out.push(location.clone());
            }
            stays
        });
        out
    }

    /// Returns for each session whether its project is excluded; `None` if it names no project.
    fn of_sessions(&self, store: &Store, sessions: &[SessionLocation]) -> Vec<Option<bool>> {
        if sessions.len() < FEW {
            return self.of_part(store, sessions);
        }
        let workers = std::thread::available_parallelism().map_or(2, |count| count.get().min(8));
        let share = sessions.len().div_ceil(workers);
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for part in sessions.chunks(share) {
                threads.push((part, scope.spawn(move || self.of_part(store, part))));
            }
            let mut excluded = Vec::with_capacity(sessions.len());
            for (part, thread) in threads {
                // If a thread failed, nothing is known about its sessions.
                excluded.extend(thread.join().unwrap_or_else(|_| vec![None; part.len()]));
            }
            excluded
        })
    }

    fn of_part(&self, store: &Store, part: &[SessionLocation]) -> Vec<Option<bool>> {
        let is_excluded = |location| {
            let project = self.project_of(store, location)?;
            Some(self.excludes(&project))
        };
        part.iter().map(is_excluded).collect()
    }

    fn project_of(&self, store: &Store, location: &SessionLocation) -> Option<String> {
        let name = (
            store.root().to_owned(),
            location
                .key
                .clone()
                .unwrap_or_else(|| format!("\0{}", location.id)),
        );
        let (size, modified) = (location.size, location.modified);
        if let Some(seen) = lock(&self.seen)
            .get(&name)
            .filter(|it| (it.size, it.modified) == (size, modified))
        {
            return seen.project.clone();
        }
        let project = store
            .summary(location)
            .ok()
            .and_then(|summary| summary.meta.project)
            .filter(|it| !it.is_empty());
        lock(&self.seen).insert(
            name,
            Seen {
                size,
                modified,
                project: project.clone(),
            },
        );
        project
    }
}

fn folder_of(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders with excluded sessions only.
fn hidden_folders(sessions: &[SessionLocation], verdicts: &[Option<bool>]) -> HashSet<String> {
    let (mut shown, mut hidden) = (HashSet::new(), HashSet::new());
    for (location, verdict) in sessions.iter().zip(verdicts) {
        if let (Some(key), Some(verdict), None) = (&location.key, verdict, &location.owner) {
            let folders = if *verdict { &mut hidden } else { &mut shown };
            folders.insert(folder_of(key).to_owned());
        }
    }
    hidden.retain(|folder| !shown.contains(folder));
    hidden
}

/// Returns the spellings of a pattern: with `~` expanded, and also with the links at its beginning
/// resolved.
fn spellings(pattern: &str, home: Option<&Path>) -> std::result::Result<Vec<String>, String> {
    let text = pattern.trim().trim_end_matches('/');
    let home = home.map(|home| globset::escape(&home.display().to_string()));
    let whole = match (text, text.strip_prefix("~/"), home) {
        ("~", _, Some(home)) => home,
        (_, Some(rest), Some(home)) => format!("{home}/{rest}"),
        (_, Some(_), None) | ("~", _, None) => {
            return Err("there is no home folder that `~` could mean".to_owned());
        }
        _ => text.to_owned(),
    };
    if whole.is_empty() {
        return Err("it would exclude everything".to_owned());
    }
    if !(Path::new(&whole).is_absolute() || whole.starts_with("**/")) {
        return Err("a relative path depends on the folder that boswell is started in".to_owned());
    }
    let mut spelled = vec![whole.clone()];
    if let Some(real) = resolved(&whole)
        && real != whole
        && !whole.starts_with("**/")
        && !real.is_empty()
    {
        spelled.push(real);
    }
    Ok(spelled)
}

/// The pattern with the links at its beginning resolved, as far as that has no wildcards and
/// exists.
fn resolved(pattern: &str) -> Option<String> {
    let is_plain = |part: &&&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let parts: Vec<&str> = pattern.split('/').collect();
    let (start, rest) = parts.split_at(parts.iter().take_while(is_plain).count());
    let start = start.join("/");
    let start = if start.is_empty() { "/" } else { &start };
    let found = Path::new(start).canonicalize().ok()?;
    let found = globset::escape(&found.display().to_string());
    let mut spelled = vec![found.trim_end_matches('/')];
    spelled.extend(rest);
    Some(spelled.join("/"))
}

/// Returns the path with links resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    for folder in path.ancestors() {
        if let Ok(found) = folder.canonicalize() {
            return path
                .strip_prefix(folder)
                .map_or(found.clone(), |rest| found.join(rest));
        }
    }
    path.to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exclusion(patterns: &[&str]) -> Exclusion {
        let patterns: Vec<String> = patterns
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect();
        Exclusion::new(&patterns, Some(Path::new("/home/u"))).unwrap()
    }

    #[test]
    fn a_pattern_matches_a_folder_and_all_below_it() {
        let it = exclusion(&["/srv/secret/", "~/jobs/*", "**/private", "/x/{a,b}"]);
        for project in [
            "/srv/secret",
            "/srv/secret/sub/deep",
            "/home/u/jobs/a",
            "/home/u/jobs/a/b",
            "~/jobs/a",
        ] {
            assert!(it.excludes(project), "{project}");
        }
        for project in ["/any/where/private", "/private/x", "/x/a", "/x/b/c"] {
            assert!(it.excludes(project), "{project}");
        }
        for project in [
            "/srv/secret2",
            "/srv",
            "/home/u/jobs",
            "/home/u",
            "/any/privately",
            "/x/c",
            "",
            "/",
        ] {
            assert!(!it.excludes(project), "{project}");
        }
    }

    #[test]
    fn a_home_with_special_characters_is_taken_word_for_word() {
        let it = Exclusion::new(&["~/p".to_owned()], Some(Path::new("/home/[u]*"))).unwrap();
        assert!(it.excludes("/home/[u]*/p"));
        assert!(!it.excludes("/home/ux/p"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for pattern in ["", "  ", "/", "secret", "./x", "~other/x", "/a/[b"] {
            let error =
                Exclusion::new(&[pattern.to_owned()], Some(Path::new("/home/u"))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{pattern:?}");
            assert!(
                error.reason().is_some() && error.advice().is_some(),
                "{pattern:?}"
            );
        }
        assert!(Exclusion::new(&["~/x".to_owned()], None).is_err());
    }
}
