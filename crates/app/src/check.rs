//! Finds damage in sessions and stores, and reports the effect of each finding.
//!
//! Findings are reported as they are made, in the order of the stores. Sessions are read on several
//! threads, archived ones one after the other, because they are unpacked in memory.
//!
//! Without arguments everything is checked: all sessions, archived ones too, and every store as a
//! whole (`check/store.rs`). A folder means every `.jsonl` and `.json` file below it. What is
//! damage is decided by the store's `check.rs` and by the dialects.

mod session;
mod shape;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use boswell_dialect::{FileKind, SessionLocation};
use boswell_model::{Error, Problem, ProblemKind, Result};
use boswell_store::Store;
use boswell_store::backend::{Backend, FsBackend};
use boswell_store::blobs::BlobId;

pub use self::session::{CheckedSession, Finding};
pub use self::shape::{AdviceCommand, DamageShape, FindingShape, WarningShape};
pub use self::store::{CheckedStore, StoreFinding};

use self::session::{Looked, Looking, in_parallel};
use crate::sessions::expiry::Expiries;
use crate::{App, AppResult, Cancel, RequestContext};

/// A request to check sessions.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// Sessions, files or folders; empty for all sessions.
    pub sessions: Vec<String>,
}

/// An event of a check.
#[derive(Debug)]
pub enum CheckEvent {
    /// The check begins.
    Begin {
        /// Number of sessions to check; an archived one counts without its subagents.
        sessions: usize,
    },
    /// A session was checked; it may have no findings.
    Session(CheckedSession),
    /// Findings about a store as a whole.
    Store(CheckedStore),
    /// A session, file or folder that could not be read.
    Unchecked(UncheckedPlace),
}

/// A session, file or folder that could not be read.
#[derive(Debug)]
pub struct UncheckedPlace {
    /// The session, if it is known.
    pub session: Option<String>,
    /// Path; empty if it is not in a file.
    pub path: String,
    /// The reason.
    pub problem: Problem,
}

/// The totals of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckSummary {
    /// Number of checked sessions.
    pub sessions: usize,
    /// Number of damaged sessions.
    pub damaged: usize,
    /// Number of problems of sessions and stores because of which a known reader loses or refuses
    /// something.
    pub problems: usize,
    /// Number of findings that harm no known reader.
    pub infos: usize,
    /// Number of unreadable sessions.
    pub unreadable: usize,
    /// Number of sessions that their agent will delete soon. They are not damaged yet.
    pub lost_soon: usize,
}

/// The overall result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckVerdict {
    /// No problems.
    Clean,
    /// There are problems.
    Damaged,
    /// No session could be read.
    Unreadable,
}

impl CheckSummary {
    /// Returns the overall result.
    pub fn verdict(&self) -> CheckVerdict {
        let nothing_read = self.sessions > 0 && self.unreadable == self.sessions;
        match self.problems {
            0 => CheckVerdict::Clean,
            problems if nothing_read && problems == self.unreadable => CheckVerdict::Unreadable,
            _ => CheckVerdict::Damaged,
        }
    }
}

/// Receives each event; returns false to end the check.
pub type CheckSink<'s> = &'s mut dyn FnMut(CheckEvent) -> Result<bool>;

impl App {
    /// Checks for damage, and passes the findings to `sink`.
    ///
    /// The totals cover everything until `sink` returned false or `cancel` was set.
    ///
    /// # Errors
    ///
    /// NotFound for a session that does not exist, and every error of `sink`.
    pub fn check(
        &self,
        request: &CheckRequest,
        cancel: &Cancel,
        sink: CheckSink<'_>,
    ) -> AppResult<CheckSummary> {
        self.answer_with(cancel.clone(), |cx| {
            let mut check = Check::new(cx, sink);
            check.run(&request.sessions)?;
            Ok(check.summary)
        })
    }
}

/// A session, and the store that it is read from.
type Target = (Store, SessionLocation);

/// A running check.
struct Check<'c> {
    cx: &'c RequestContext,
    sink: CheckSink<'c>,
    summary: CheckSummary,
    blobs: NamedBlobs,
    stopped: bool,
}

impl<'c> Check<'c> {
    fn new(cx: &'c RequestContext, sink: CheckSink<'c>) -> Check<'c> {
        Check {
            cx,
            sink,
            summary: CheckSummary::default(),
            blobs: NamedBlobs::default(),
            stopped: false,
        }
    }

    fn run(&mut self, sessions: &[String]) -> Result<()> {
        let (targets, archived) = if sessions.is_empty() {
            (self.everything()?, archived(self.cx)?)
        } else {
            (self.named(sessions)?, Vec::new())
        };
        let looking = Looking::new(self.cx)?;
        self.hand(CheckEvent::Begin {
            sessions: targets.len() + archived.len(),
        })?;
        in_parallel(&targets, &looking, &mut |looked| self.looked_at(looked))?;
        // One after the other, each freed before the next, because they are unpacked in memory.
        for store in archived {
            if self.is_over() {
                break;
            }
            for looked in looking.at_archived(store) {
                self.looked_at(looked)?;
            }
        }
        self.links(&targets)?;
        if sessions.is_empty() {
            self.unnamed_blobs()?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stopped || self.cx.cancel.is_cancelled()
    }

    /// Passes an event to the sink, unless the sink wants no more.
    fn hand(&mut self, event: CheckEvent) -> Result<()> {
        if !self.is_over() {
            self.stopped = !(self.sink)(event)?;
        }
        Ok(())
    }

    /// Counts and reports the findings of a session. Returns false to end the check.
    fn looked_at(&mut self, looked: Looked) -> Result<bool> {
        self.blobs.take(&looked);
        self.summary.sessions += 1;
        let event = match looked.found {
            Ok((session, _)) => {
                let infos = session.findings.iter().filter(|it| it.is_info()).count();
                let problems = session.findings.len() - infos;
                self.summary.damaged += usize::from(problems > 0);
                self.summary.problems += problems;
                self.summary.infos += infos;
                CheckEvent::Session(session)
            }
            Err((place, error)) => {
                self.summary.damaged += 1;
                self.summary.problems += 1;
                self.summary.unreadable += 1;
                CheckEvent::Unchecked(UncheckedPlace {
                    problem: Problem::unreadable(&error),
                    ..place
                })
            }
        };
        self.hand(event)?;
        Ok(!self.is_over())
    }

    /// Counts and reports the findings of a store.
    fn store(&mut self, store: CheckedStore) -> Result<()> {
        let warnings = store.findings.iter().filter(|it| it.is_warning()).count();
        let infos = store.findings.iter().filter(|it| it.is_info()).count();
        self.summary.problems += store.findings.len() - warnings - infos;
        self.summary.lost_soon += warnings;
        self.summary.infos += infos;
        if store.findings.is_empty() {
            return Ok(());
        }
        self.hand(CheckEvent::Store(store))
    }

    fn unchecked(&mut self, path: &Path, problem: Problem) -> Result<()> {
        self.summary.problems += 1;
        self.hand(CheckEvent::Unchecked(UncheckedPlace {
            session: None,
            path: path.display().to_string(),
            problem,
        }))
    }

    /// Returns every session of every store, after the findings of listing them were reported.
    fn everything(&mut self) -> Result<Vec<Target>> {
        let cx = self.cx;
        let mut targets = Vec::new();
        let expiries = Expiries::read(cx)?;
        for (id, store) in cx.stores.iter() {
            if store.dialect().facts().is_own {
                self.store(CheckedStore::of_home(cx, store))?;
            }
            let listing = match store.list() {
                Ok(listing) => listing,
                Err(error) => {
                    self.unchecked(store.root(), Problem::unreadable(&error))?;
                    continue;
                }
            };
            self.store(CheckedStore::of_listing(
                cx,
                &expiries,
                (id, store),
                &listing,
            ))?;
            let sessions = listing
                .sessions
                .into_iter()
                .filter(|it| it.key.is_some() && it.hidden != Some("empty"));
            targets.extend(sessions.map(|location| (store.clone(), location)));
        }
        Ok(targets)
    }

    /// Returns the named sessions, and those below named folders.
    fn named(&mut self, sessions: &[String]) -> Result<Vec<Target>> {
        let mut targets = Vec::new();
        for name in sessions {
            let path = self.cx.env.cwd.join(name);
            // An empty name would select the working folder.
            if !name.is_empty() && path.is_dir() {
                self.below(&path, &mut targets)?;
            } else {
                let found = self.cx.resolve(name)?;
                targets.push((found.store, found.location));
            }
        }
        Ok(targets)
    }

    fn below(&mut self, folder: &Path, targets: &mut Vec<Target>) -> Result<()> {
        let (files, links) = files_below(folder)?;
        for link in links {
            let detail = "this symbolic link leads out of the folder, so it was not followed; name it to check what it leads to";
            self.unchecked(&link, Problem::of_file(ProblemKind::OutsideLink, detail))?;
        }
        for file in files {
            // A file that cannot be opened must not prevent the check of the others.
            match self.cx.stores.at_path(&file) {
                Ok(target) => targets.push(target),
                Err(error) => self.unreadable_file(&file, &error)?,
            }
        }
        Ok(())
    }

    fn unreadable_file(&mut self, file: &Path, error: &Error) -> Result<()> {
        self.summary.sessions += 1;
        self.summary.damaged += 1;
        self.summary.unreadable += 1;
        self.unchecked(file, Problem::unreadable(error))
    }

    /// Reports links that lead out of the checked stores.
    fn links(&mut self, targets: &[Target]) -> Result<()> {
        let cx = self.cx;
        let mut seen = BTreeSet::new();
        let stores = cx.stores.iter().map(|(_, store)| store);
        for store in stores.chain(targets.iter().map(|(store, _)| store)) {
            if self.is_over() {
                break;
            }
            if seen.insert((store.dialect().name(), store.root())) {
                self.store(CheckedStore::of_links(store))?;
            }
        }
        Ok(())
    }

    /// Reports blobs that no session names.
    fn unnamed_blobs(&mut self) -> Result<()> {
        // The blobs of an excluded session are unknown here.
        if self.cx.exclusion.is_some() {
            return Ok(());
        }
        for (_, store) in self.cx.stores.iter() {
            if self.is_over() {
                break;
            }
            if let Some(named) = self.blobs.of(store) {
                let found = CheckedStore::of_blobs(store, named);
                self.store(found)?;
            }
        }
        Ok(())
    }
}

/// The blobs that sessions name, by dialect: agents may have sessions in two places and their blobs
/// in one.
#[derive(Default)]
struct NamedBlobs {
    by_dialect: BTreeMap<&'static str, BTreeSet<BlobId>>,
    /// Dialects with an unreadable session, whose blobs are unknown.
    unsure: BTreeSet<&'static str>,
}

impl NamedBlobs {
    fn take(&mut self, looked: &Looked) {
        match &looked.found {
            Ok((_, blobs)) => self
                .by_dialect
                .entry(looked.dialect)
                .or_default()
                .extend(blobs),
            Err(_) => drop(self.unsure.insert(looked.dialect)),
        }
    }

    fn of(&self, store: &Store) -> Option<&BTreeSet<BlobId>> {
        let dialect = store.dialect().name();
        self.by_dialect
            .get(dialect)
            .filter(|_| !self.unsure.contains(dialect))
    }
}

/// Returns the archived sessions of these stores; nothing is unpacked yet.
fn archived(cx: &RequestContext) -> Result<Vec<Store>> {
    let known: Vec<_> = cx
        .stores
        .iter_with_archived()
        .filter(|(_, store)| store.archived().is_some())
        .collect();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let is_known = |it: &Store| {
        known
            .iter()
            .any(|(_, store)| store.archived() == it.archived() && store.root() == it.root())
    };
    let archived = cx
        .reading_runner()?
        .archived()?
        .into_iter()
        .filter(is_known);
    Ok(archived
        .map(|store| store.excluding(cx.exclusion.as_ref()))
        .collect())
}

/// Returns every file below a folder that may contain records, and every link that leads out of it.
/// Links to folders are not followed, so that the walk ends.
fn files_below(root: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let backend = FsBackend::new(root);
    let (mut found, mut links) = (Vec::new(), Vec::new());
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for info in backend.list(&folder)? {
            let path = root.join(&info.key);
            if info.is_folder() && !path.is_symlink() {
                open.push(info.key);
            } else if info.kind == FileKind::Link {
                links.push(path);
            } else if info.is_file()
                && (info.name().ends_with(".json") || info.name().contains(".jsonl"))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok((found, links))
}

#[cfg(test)]
mod tests;
