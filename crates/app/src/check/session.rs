//! Checks one session, or many in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use boswell_dialect::{ReaderLoss, SessionLocation, SideKind};
use boswell_model::{Advice, Error, Problem, ProblemKind, Repair, Result};
use boswell_store::blobs::BlobId;
use boswell_store::links::LinkTable;
use boswell_store::repair::{LateTable, RepairTable, check, hurt, repair_of};
use boswell_store::{Session, Store};

use super::{Target, UncheckedPlace};
use crate::RequestContext;

/// A checked session.
#[derive(Debug)]
pub struct CheckedSession {
    /// DIALECT:ID.
    pub reference: String,
    /// How other requests name it: by its ref, or by its path if no store lists it.
    pub argument: String,
    /// The log of the session.
    pub path: Option<String>,
    /// Whether it is in the vault.
    pub archived: bool,
    /// The repaired fork that replaces it. Only problems of what was written since are findings.
    pub superseded_by: Option<String>,
    /// Problems of the session; empty if there are none.
    pub findings: Vec<Finding>,
    /// Readers that lose or refuse something because of any finding, oldest first.
    pub hurts: Vec<&'static str>,
    /// Number of conversation entries that its agent reaches.
    pub reachable: u64,
    /// Number of conversation entries in the log.
    pub total: u64,
}

/// One problem of a session.
#[derive(Debug)]
pub struct Finding {
    /// The problem and its position.
    pub problem: Problem,
    /// The affected entry.
    pub entry: Option<String>,
    /// Available repairs.
    pub repair: Repair,
    /// Readers that lose or refuse something because of it; none if it is not damage.
    pub hurts: Vec<&'static str>,
    /// The next step.
    pub next: Option<Advice>,
}

impl Finding {
    /// Whether no known reader loses or refuses anything because of it.
    pub fn is_info(&self) -> bool {
        self.hurts.is_empty()
    }

    /// Whether the problem is in an index of the agent, which belongs to the whole store.
    pub fn is_of_index(&self) -> bool {
        self.problem.kind == ProblemKind::StaleIndex
    }
}

/// The result of checking a session.
pub(super) struct Looked {
    pub(super) dialect: &'static str,
    pub(super) found: Found,
}

/// The session with the blobs that it names, or the session that could not be read and the reason.
type Found = std::result::Result<(CheckedSession, BTreeSet<BlobId>), (UncheckedPlace, Error)>;

/// Checks sessions, with data about all of them.
pub(super) struct Looking<'m> {
    cx: &'m RequestContext,
    links: LinkTable,
    late: LateTable,
    repairs: RepairTable,
}

impl<'m> Looking<'m> {
    pub(super) fn new(cx: &'m RequestContext) -> Result<Self> {
        let (late, repairs) = match &cx.home {
            Some(_) => {
                let runner = cx.reading_runner()?;
                (runner.late_table()?, runner.repair_table()?)
            }
            None => (LateTable::default(), RepairTable::default()),
        };
        Ok(Looking {
            cx,
            links: cx.stores.link_table(),
            late,
            repairs,
        })
    }

    /// Checks a session.
    fn at(&self, store: &Store, location: &SessionLocation) -> Looked {
        let found = store
            .read_to_check(location)
            .and_then(|session| self.checked(store, location, &session));
        let dialect = store.dialect().name();
        let unread = |error| {
            (
                unchecked(name(store, location), path(store, location)),
                error,
            )
        };
        Looked {
            dialect,
            found: found.map_err(unread),
        }
    }

    /// Checks a session in the vault and its subagents. The unpacked data is freed with the store.
    pub(super) fn at_archived(&self, store: Store) -> Vec<Looked> {
        match store.list() {
            Ok(listing) => {
                let there = listing
                    .sessions
                    .iter()
                    .filter(|location| location.key.is_some());
                there.map(|location| self.at(&store, location)).collect()
            }
            Err(error) => {
                let reference = store.archived().map(|it| it.to_string());
                let place = unchecked(reference.unwrap_or_default(), None);
                vec![Looked {
                    dialect: store.dialect().name(),
                    found: Err((place, error)),
                }]
            }
        }
    }

    fn checked(
        &self,
        store: &Store,
        location: &SessionLocation,
        session: &Session,
    ) -> Result<(CheckedSession, BTreeSet<BlobId>)> {
        let mut report = check(session)?;
        let stores = &self.cx.stores;
        report
            .problems
            .extend(stores.check_links(&self.links, session, !self.cx.named_stores)?);
        report
            .problems
            .extend(self.late.problem(store, location, session)?);
        report.problems.extend(lost_copies(store, location)?);
        if store.archived().is_none() {
            report.problems.extend(store.hidden_by_agent(session)?);
        }
        // Links that lead out of the store are recorded there and reported once, at the end.
        let (_, skipped) = store.side_files_here(location)?;
        report
            .problems
            .extend(skipped.iter().map(|(_, error)| Problem::unreadable(error)));
        let reference = name(store, location);
        let archived = store.archived().is_some();
        let path = path(store, location);
        let is_listed = archived || self.is_of_known_store(store);
        let argument = path.clone().filter(|_| !is_listed);
        let argument = argument.unwrap_or_else(|| reference.clone());
        let losses = report.losses;
        let problems = report.problems.into_iter();
        let mut findings: Vec<Finding> = problems
            .map(|problem| finding(session, &losses, problem, &argument, archived))
            .collect();
        let fork = match findings.is_empty() {
            true => None,
            false => self.repairs.fork_of(store, &session.reference())?,
        };
        if let Some(fork) = &fork {
            let since = fork.written_since(session)?;
            findings.retain(|it| since.contains(session.log(), &losses, &it.problem));
        }
        let checked = CheckedSession {
            superseded_by: fork.map(|fork| format!("{}:{}", store.dialect().name(), fork.id)),
            path,
            argument,
            hurts: hurts(session, &findings),
            reference,
            archived,
            findings,
            reachable: report.reachable,
            total: report.total,
        };
        Ok((checked, session.named_blobs()?))
    }

    fn is_of_known_store(&self, store: &Store) -> bool {
        let is_it = |known: &Store| {
            known.root() == store.root() && known.dialect().name() == store.dialect().name()
        };
        self.cx.stores.iter().any(|(_, known)| is_it(known))
    }
}

fn name(store: &Store, location: &SessionLocation) -> String {
    format!("{}:{}", store.dialect().name(), location.id)
}

fn path(store: &Store, location: &SessionLocation) -> Option<String> {
    let key = location.key.as_deref()?;
    Some(store.backend().describe(key))
}

fn unchecked(session: String, path: Option<String>) -> UncheckedPlace {
    UncheckedPlace {
        session: Some(session),
        path: path.unwrap_or_default(),
        problem: Problem::of_file(ProblemKind::Unreadable, ""),
    }
}

fn finding(
    session: &Session,
    losses: &[ReaderLoss],
    problem: Problem,
    reference: &str,
    archived: bool,
) -> Finding {
    let repair = repair_of(session, &problem);
    let hurts = hurt(session, losses, &problem);
    let next = match (problem.kind, repair) {
        (ProblemKind::StaleIndex, _) => Some(Advice::RebuildAgentIndex),
        (ProblemKind::OtherProvider, _) => problem.advice.clone(),
        // Nothing has to be done about what harms no reader.
        _ if hurts.is_empty() => None,
        (_, Repair::None) => None,
        _ if archived => Some(Advice::restore(reference)),
        _ => Some(Advice::ShowRepair {
            session: Some(reference.to_owned()),
            likely: false,
        }),
    };
    let slot = problem.slot;
    Finding {
        entry: slot.map(|slot| session.log().label(slot).into_owned()),
        repair,
        hurts,
        next,
        problem,
    }
}

/// Returns the readers that lose something because of any of these.
fn hurts(session: &Session, findings: &[Finding]) -> Vec<&'static str> {
    let readers = session.dialect().facts().readers.iter();
    let mut hurt: Vec<&'static str> = readers
        .map(|reader| reader.name)
        .filter(|name| findings.iter().any(|it| it.hurts.contains(name)))
        .collect();
    // Readers that no table lists: the agent as a whole, and boswell.
    for name in findings.iter().flat_map(|it| it.hurts.iter()) {
        if !hurt.contains(name) {
            hurt.push(name);
        }
    }
    hurt
}

/// Returns problems for side files of an archived log whose copies are missing or damaged.
/// Transcripts of subagents are checked as sessions.
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

/// Checks sessions on all cores and passes the results to the sink in the order of the list, until
/// the sink returns false or fails.
pub(super) fn in_parallel(
    targets: &[Target],
    looking: &Looking<'_>,
    sink: &mut dyn FnMut(Looked) -> Result<bool>,
) -> Result<()> {
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(targets.len())
        .min(8);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Bounded, so that a slow sink blocks the workers.
    let (sender, receiver) = mpsc::sync_channel::<(usize, Looked)>(workers * 4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && !looking.cx.cancel.is_cancelled() {
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
        let handed = in_order(receiver, sink);
        stop.store(true, Ordering::Relaxed);
        handed
    })
}

/// Passes on results that arrive in any order, sorted by their numbers. The receiver is dropped at
/// the end, so that workers which still wait for room in the channel give up.
fn in_order(
    receiver: mpsc::Receiver<(usize, Looked)>,
    sink: &mut dyn FnMut(Looked) -> Result<bool>,
) -> Result<()> {
    let mut waiting: BTreeMap<usize, Looked> = BTreeMap::new();
    let mut due = 0;
    for (number, looked) in receiver {
        waiting.insert(number, looked);
        while let Some(looked) = waiting.remove(&due) {
            due += 1;
            if !sink(looked)? {
                return Ok(());
            }
        }
    }
    Ok(())
}
