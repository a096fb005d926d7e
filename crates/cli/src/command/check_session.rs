//! What `check` finds out about one session, and about many at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use boswell_dialect::{SessionLocation, SideKind};
use boswell_model::{Problem, ProblemKind, Repair, Result, shell_quote};
use boswell_store::{BlobId, LateTable, LinkTable, Session, Store, check, hurt, repair_of};

use super::check_store::REBUILD_INDEX;
use crate::app::App;

/// What was found out about a session.
pub(super) struct Checked {
    pub(super) dialect: &'static str,
    pub(super) reference: String,
    pub(super) path: Option<String>,
    /// Whether it lies in the vault.
    pub(super) archived: bool,
    pub(super) found: Result<Findings>,
}

pub(super) struct Findings {
    pub(super) problems: Vec<Finding>,
    /// Readers that lose something to any of them, the oldest first.
    pub(super) hurt: Vec<&'static str>,
    pub(super) blobs: BTreeSet<BlobId>,
    pub(super) reachable: u64,
    pub(super) total: u64,
}

pub(super) struct Finding {
    pub(super) problem: Problem,
    pub(super) entry: Option<String>,
    pub(super) repair: Repair,
    pub(super) hurt: Vec<&'static str>,
}

impl Finding {
    /// The command that helps.
    pub(super) fn next(&self, of: &Checked) -> Option<String> {
        match (self.problem.kind, self.repair) {
            (ProblemKind::StaleIndex, _) => Some(REBUILD_INDEX.to_owned()),
            (_, Repair::None) => None,
            _ if of.archived => Some(format!("boswell restore {}", shell_quote(&of.reference))),
            _ => Some(format!("boswell repair {}", shell_quote(&of.reference))),
        }
    }
}

/// Looks at sessions, with what has to be known of all of them.
pub(super) struct Looking<'m> {
    app: &'m App,
    links: LinkTable,
    late: LateTable,
}

impl<'m> Looking<'m> {
    pub(super) fn new(app: &'m App) -> Result<Self> {
        let late = match &app.home {
            Some(_) => app.reading_runner()?.late_table()?,
            None => LateTable::default(),
        };
        Ok(Looking {
            app,
            links: app.stores.link_table(),
            late,
        })
    }

    /// Looks at a session.
    pub(super) fn at(&self, store: &Store, location: &SessionLocation) -> Checked {
        let found = store
            .read_to_check(location)
            .and_then(|session| self.findings(store, location, &session));
        Checked {
            dialect: store.dialect().name(),
            reference: format!("{}:{}", store.dialect().name(), location.id),
            path: location
                .key
                .as_deref()
                .map(|key| store.backend().describe(key)),
            archived: store.archived().is_some(),
            found,
        }
    }

    /// Looks at a session in the vault and at its subagents. What is unpacked for that
    /// goes with the store.
    pub(super) fn at_archived(&self, store: Store) -> Vec<Checked> {
        match store.list() {
            Ok(listing) => {
                let there = listing
                    .sessions
                    .iter()
                    .filter(|location| location.key.is_some());
                there.map(|location| self.at(&store, location)).collect()
            }
            Err(error) => vec![Checked {
                dialect: store.dialect().name(),
                reference: store
                    .archived()
                    .map(|session| session.to_string())
                    .unwrap_or_default(),
                path: None,
                archived: true,
                found: Err(error),
            }],
        }
    }

    fn findings(
        &self,
        store: &Store,
        location: &SessionLocation,
        session: &Session,
    ) -> Result<Findings> {
        let mut report = check(session)?;
        let stores = &self.app.stores;
        report
            .problems
            .extend(stores.check_links(&self.links, session, !self.app.named_stores)?);
        report
            .problems
            .extend(self.late.problem(store, location, session)?);
        report.problems.extend(lost_copies(store, location)?);
        // Links among them that lead out of the store are remembered there, and
        // told once, at the end.
        let (_, skipped) = store.side_files_here(location)?;
        report
            .problems
            .extend(skipped.iter().map(|(_, error)| Problem::unreadable(error)));
        let finding = |problem: Problem| Finding {
            entry: problem
                .slot
                .map(|slot| session.log().label(slot).into_owned()),
            repair: repair_of(session, &problem),
            hurt: hurt(session, &problem),
            problem,
        };
        let problems: Vec<Finding> = report.problems.into_iter().map(finding).collect();
        let readers = session
            .dialect()
            .facts()
            .readers
            .iter()
            .map(|reader| reader.name);
        let hurt = readers
            .filter(|name| problems.iter().any(|finding| finding.hurt.contains(name)))
            .collect();
        let blobs = session.named_blobs()?;
        Ok(Findings {
            problems,
            hurt,
            blobs,
            reachable: report.reachable,
            total: report.total,
        })
    }
}

/// Files beside an archived log whose copies are gone or damaged. Transcripts of subagents are
/// looked at as sessions.
fn lost_copies(store: &Store, location: &SessionLocation) -> Result<Vec<Problem>> {
    if store.archived().is_none() || location.owner.is_some() {
        return Ok(Vec::new());
    }
    let mut lost = Vec::new();
    for file in store
        .side_files(location)?
        .iter()
        .filter(|file| file.kind != SideKind::Subagent)
    {
        if let Err(error) = store.backend().open(&file.key) {
            let detail = format!(
                "the archived copy of `{}` cannot be read: {error}",
                file.key
            );
            lost.push(Problem::of_file(ProblemKind::MissingFile, detail));
        }
    }
    Ok(lost)
}

/// Checks sessions on all cores and hands over what was found in the order of the
/// list, until told to stop.
pub(super) fn in_parallel(
    targets: &[(Store, SessionLocation)],
    looking: &Looking<'_>,
    sink: &mut dyn FnMut(Checked) -> Result<bool>,
) -> Result<()> {
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(targets.len())
        .min(8);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Bounded, so that a slow reader of the output holds the workers back.
    let (sender, receiver) = mpsc::sync_channel::<(usize, Checked)>(workers * 4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((store, location)) = targets.get(number) else {
                        break;
                    };
                    if sender.send((number, looking.at(store, location))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: BTreeMap<usize, Checked> = BTreeMap::new();
        let mut due = 0;
        let mut result = Ok(());
        for (number, checked) in receiver {
            waiting.insert(number, checked);
            while let Some(checked) = waiting.remove(&due) {
                due += 1;
                match sink(checked) {
                    Ok(true) => {}
                    Ok(false) => stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        result = result.and(Err(error));
                    }
                }
            }
        }
        result
    })
}
