//! Lists a store: sessions found from names and small index files, and memory files.
//!
//! A file whose name is not a valid id of its dialect (`-`, `--help`, a path that would leave the
//! folder) is reported and not listed (`refuse_odd_ids`).

use std::cmp::Reverse;
use std::collections::HashSet;

use boswell_dialect::{Discovered, Files, MemoryFile, SessionLocation, Skipping};
use boswell_model::{Advice, Error, ErrorKind, Problem, ProblemKind, Result};

use super::Store;
use crate::backend::{BackendFiles, PageCursor, PageRequest};
use crate::store::Summary;

/// The result of listing a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// Sessions of the store.
    pub sessions: Vec<SessionLocation>,
    /// Problems of the store as a whole: key and problem.
    pub problems: Vec<(String, Problem)>,
    /// Problems that hide sessions: folders that could not be listed.
    pub unlisted: Vec<(String, Problem)>,
}

/// The items that were found, and the folders that could not be listed, with the reason.
pub type Partly<T> = (Vec<T>, Vec<(String, Error)>);

/// Returns the folders of a store that could not be listed, each as an error: their sessions are
/// missing.
pub fn unlisted(folders: &[(String, Problem)], store: &Store) -> Vec<Error> {
    let error = |(key, problem): &(String, Problem)| {
        Error::new(
            ErrorKind::Denied,
            format!("`{}` was left out", store.backend().describe(key)),
        )
        .because(problem.detail.clone())
        .advising("make it readable, and try again")
    };
    folders.iter().map(error).collect()
}

impl Store {
    /// Finds every session from names and small index files, without reading logs.
    ///
    /// Sessions of excluded projects are left out: see [`whole`](Store::whole).
    ///
    /// # Errors
    ///
    /// An I/O error if the store cannot be listed at all; a folder that cannot be is among the
    /// problems.
    pub fn list(&self) -> Result<Listing> {
        let Discovered {
            sessions,
            problems,
            unlisted,
        } = self.discover(&BackendFiles(self.backend()))?;
        Ok(Listing {
            sessions,
            problems,
            unlisted,
        })
    }

    /// As [`list`](Store::list), reading the files of this store through `files`. A folder that
    /// cannot be listed hides no other: it is among the problems.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Store::list).
    pub fn discover(&self, files: &dyn Files) -> Result<Discovered> {
        let mut found = self.discover_whole(files)?;
        if let Some(exclusion) = &self.exclusion {
            exclusion.take_out(self, &mut found);
        }
        Ok(found)
    }

    /// Returns the sessions of excluded projects, which [`list`](Store::list) omits.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Store::list).
    pub fn excluded(&self) -> Result<Vec<SessionLocation>> {
        let Some(exclusion) = &self.exclusion else {
            return Ok(Vec::new());
        };
        let mut found = self.discover_whole(&BackendFiles(self.backend()))?;
        Ok(exclusion.take_out(self, &mut found))
    }

    fn discover_whole(&self, files: &dyn Files) -> Result<Discovered> {
        let files = Skipping::new(files);
        let mut found = self.dialect.discover(&files)?;
        let unreadable = |(key, error): (String, Error)| (key, Problem::unreadable(&error));
        let skipped = files.skipped().into_iter().map(unreadable);
        found.unlisted.extend(skipped);
        found.problems.extend(found.unlisted.iter().cloned());
        if let Some(id) = &self.archived {
            // An index that was archived with a session lists other sessions too.
            found
                .sessions
                .retain(|it| it.id == *id || it.owner.as_ref() == Some(id));
            found
                .sessions
                .iter_mut()
                .for_each(|it| it.hidden = Some("archived"));
            found.problems.clear();
            found.unlisted.clear();
            return Ok(found);
        }
        self.refuse_odd_ids(&mut found);
        Ok(found)
    }

    /// Removes files from a listing whose names are not ids: an id such as `--help` would be an
    /// option on a command line. The files stay, and are reported.
    fn refuse_odd_ids(&self, found: &mut Discovered) {
        let problems = &mut found.problems;
        found.sessions.retain(|it| {
            let usable = self.dialect.is_usable(it);
            if let (false, Some(key)) = (usable, &it.key) {
                let detail = format!(
                    "its name is not a session id of {}, so it is not listed",
                    self.dialect.facts().title
                );
                let problem = Problem::of_file(ProblemKind::Unreadable, detail)
                    .advising(Advice::show(self.backend.describe(key)));
                problems.push((key.clone(), problem));
            }
            usable
        });
    }

    /// Returns the `count` sessions whose logs changed last, newest first, from the ends of their
    /// logs alone.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Store::list), and an I/O error if a log cannot be read.
    pub fn recent(&self, count: usize) -> Result<Vec<Summary>> {
        let mut sessions = self.list()?.sessions;
        sessions.retain(|location| location.hidden.is_none());
        sessions.sort_by_key(|location| Reverse(location.modified));
        sessions
            .iter()
            .take(count)
            .map(|location| self.summary(location))
            .collect()
    }

    /// Returns a page of at most `limit` sessions, those that changed last first, and the place
    /// where the next page begins; `None` behind the last one.
    ///
    /// A backend with columns about sessions answers from them; of files all names are listed, and
    /// the logs of the page are read at both ends. A session that changes between two pages may be
    /// on both, and none is left out that does not.
    ///
    /// # Errors
    ///
    /// Those of [`recent`](Store::recent), and `Invalid` if the cursor is of another backend.
    pub fn page(
        &self,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<(Vec<Summary>, Option<PageCursor>)> {
        let request = PageRequest {
            dialect: self.dialect.name(),
            after,
            limit,
        };
        let Some(rows) = self.backend().page(&request)? else {
            return self.page_of_files(after, limit);
        };
        let next = rows
            .last()
            .filter(|_| rows.len() == limit)
            .map(|row| row.cursor.clone());
        let summaries = rows
            .into_iter()
            .map(|row| Summary::of_row(self.dialect, self.backend(), row));
        Ok((summaries.collect(), next))
    }

    fn page_of_files(
        &self,
        after: Option<&PageCursor>,
        limit: usize,
    ) -> Result<(Vec<Summary>, Option<PageCursor>)> {
        let mut sessions = self.list()?.sessions;
        sessions.retain(|location| location.hidden.is_none());
        sessions.sort_by_key(place_of);
        if let Some(after) = after {
            let after = read_place(after)?;
            sessions.retain(|it| place_of(it) > after);
        }
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let next = sessions.last().filter(|_| more).map(|it| {
            let (Reverse(changed), id) = place_of(it);
            PageCursor::new(format!("{changed} {id}"))
        });
        let summaries = sessions.iter().map(|location| self.summary(location));
        Ok((summaries.collect::<Result<_>>()?, next))
    }

    /// Returns the memory files of every project that is not excluded, as far as folders can be
    /// listed; also returns those that cannot, with the reason.
    ///
    /// # Errors
    ///
    /// An I/O error if the store cannot be read at all.
    pub fn memory(&self) -> Result<Partly<MemoryFile>> {
        self.memory_in(&BackendFiles(self.backend()))
    }

    /// As [`memory`](Store::memory), reading the files of this store through `files`.
    ///
    /// # Errors
    ///
    /// Those of [`memory`](Store::memory).
    pub fn memory_in(&self, files: &dyn Files) -> Result<Partly<MemoryFile>> {
        let files = Skipping::new(files);
        let mut memory = match self.dialect.powers().side_files {
            Some(side_files) => side_files.memory(&files)?,
            None => Vec::new(),
        };
        if let Some(exclusion) = self.exclusion.as_ref().filter(|_| !memory.is_empty()) {
            memory.retain(|file| !exclusion.names_memory(&file.project_key));
            // The folder name of a memory was derived from a path; the sessions in that folder name
            // the path.
            let hidden = folders_of(&self.excluded()?);
            let shown = folders_of(&self.list()?.sessions);
            memory.retain(|file| is_below(&shown, &file.key) || !is_below(&hidden, &file.key));
        }
        Ok((memory, files.skipped()))
    }
}

/// The place of a session in the order of pages: the last change, then the id.
type PagePlace = (Reverse<i64>, String);

fn place_of(location: &SessionLocation) -> PagePlace {
    let changed = location.modified.map_or(0, |time| time.millis());
    (Reverse(changed), location.id.clone())
}

/// Reads the place that a cursor names.
fn read_place(cursor: &PageCursor) -> Result<PagePlace> {
    let parts = cursor.as_str().split_once(' ');
    parts
        .and_then(|(changed, id)| Some((Reverse(changed.parse().ok()?), id.to_owned())))
        .ok_or_else(|| Error::new(ErrorKind::Invalid, "the cursor is not one of this store"))
}

/// Returns the folders of sessions, each with a trailing slash.
fn folders_of(sessions: &[SessionLocation]) -> HashSet<String> {
    let mut folders = HashSet::new();
    for session in sessions {
        if let Some((folder, _)) = session.key.as_deref().and_then(|key| key.rsplit_once('/')) {
            folders.insert(format!("{folder}/"));
        }
    }
    folders
}

fn is_below(folders: &HashSet<String>, key: &str) -> bool {
    folders
        .iter()
        .any(|folder| key.starts_with(folder.as_str()))
}
