//! Checks stores as a whole: indexes, orphans, locks, sessions that their agent will delete.
//!
//! Problems of a store are `stale_index`, `orphaned_file`, `stale_lock`, `pending_change` (an
//! interrupted operation), `unreadable`, `outside_link` and the warning `lost_soon`.

use std::collections::BTreeSet;

use boswell_dialect::SessionLocation;
use boswell_model::{Advice, Error, Problem, ProblemKind};
use boswell_store::Store;
use boswell_store::blobs::BlobId;
use boswell_store::operations::Leftovers;
use boswell_store::store::{Listing, StoreId};

use crate::RequestContext;
use crate::sessions::expiry::Expiries;

/// The findings about one store.
#[derive(Debug)]
pub struct CheckedStore {
    /// Dialect of the store.
    pub dialect: &'static str,
    /// Folder of the store.
    pub root: String,
    /// The findings; at least one.
    pub findings: Vec<StoreFinding>,
}

/// One finding about a store.
#[derive(Debug)]
pub struct StoreFinding {
    /// The session, if the finding is about one.
    pub session: Option<String>,
    /// The file or folder.
    pub path: String,
    /// The problem.
    pub problem: Problem,
    /// The next step.
    pub advice: Option<Advice>,
}

impl StoreFinding {
    /// Whether no reader loses or refuses anything: what no program uses any more only takes space.
    pub fn is_info(&self) -> bool {
        matches!(
            self.problem.kind,
            ProblemKind::OrphanedFile | ProblemKind::StaleLock
        )
    }

    /// Whether the finding is not a problem yet.
    pub fn is_warning(&self) -> bool {
        self.problem.kind == ProblemKind::LostSoon
    }
}

/// A store while it is checked.
struct Finder<'s> {
    store: &'s Store,
    findings: Vec<StoreFinding>,
}

impl CheckedStore {
    /// Returns the findings of listing a store.
    pub(super) fn of_listing(
        cx: &RequestContext,
        expiries: &Expiries,
        (id, store): (StoreId, &Store),
        listing: &Listing,
    ) -> CheckedStore {
        let mut found = Finder::new(store);
        for (key, problem) in &listing.problems {
            let advice = match problem.kind {
                ProblemKind::StaleIndex => Some(Advice::RebuildAgentIndex),
                _ => problem.advice.clone(),
            };
            found.add(key, problem.clone(), advice);
        }
        match store.leftovers() {
            Ok(leftovers) => found.leftovers(&leftovers),
            Err(error) => found.unreadable(&error),
        }
        for location in expiries.lost_soon(id, store, &listing.sessions, cx.now) {
            let days = expiries.days_left(id, location, cx.now).unwrap_or_default();
            found.lost_soon(location, days);
        }
        found.end()
    }

    /// Returns the problems of boswell's own home: operations that were started and neither
    /// finished nor undone.
    pub(super) fn of_home(cx: &RequestContext, store: &Store) -> CheckedStore {
        let mut found = Finder::new(store);
        match cx.reading_runner().and_then(|runner| runner.interrupted()) {
            Ok(interrupted) => {
                for operation in interrupted {
                    found.pending(
                        format!("operation {operation} stopped in the middle"),
                        Advice::from("the next command that writes finishes it or rolls it back")
                            .also(Advice::ListOperations),
                    );
                }
            }
            Err(error) => found.unreadable(&error),
        }
        for purging in cx
            .reading_runner()
            .and_then(|runner| runner.purges())
            .unwrap_or_default()
        {
            found.pending(
                format!("the purge of {} stopped in the middle", purging.session()),
                Advice::from("the next command that writes finishes it"),
            );
        }
        found.end()
    }

    /// Returns the blobs of the store's agent that no session names, if all sessions could be read.
    pub(super) fn of_blobs(store: &Store, named: &BTreeSet<BlobId>) -> CheckedStore {
        let mut found = Finder::new(store);
        match store.unnamed_blobs(named) {
            Ok(unnamed) if unnamed.is_empty() => {}
            Ok(unnamed) => {
                let bytes: u64 = unnamed.iter().map(|(_, len)| len).sum();
                let detail = format!(
                    "{} blobs ({bytes} bytes) are named by no session that is there",
                    unnamed.len()
                );
                let problem = Problem::of_file(ProblemKind::OrphanedFile, detail);
                found.add("blobs", problem, None);
            }
            Err(error) => found.unreadable(&error),
        }
        found.end()
    }

    /// Returns the links of a store that were found and not followed during the check.
    pub(super) fn of_links(store: &Store) -> CheckedStore {
        let mut found = Finder::new(store);
        for key in store.backend().outside_links() {
            let detail = "this symbolic link leads out of the store, so it was not followed";
            let problem = Problem::of_file(ProblemKind::OutsideLink, detail);
            let advice = Advice::from("replace the link by what it leads to")
                .or(Advice::NameStore { dialect: None });
            found.add(&key, problem, Some(advice));
        }
        found.end()
    }
}

impl<'s> Finder<'s> {
    fn new(store: &'s Store) -> Finder<'s> {
        Finder {
            store,
            findings: Vec::new(),
        }
    }

    fn end(self) -> CheckedStore {
        CheckedStore {
            dialect: self.store.dialect().name(),
            root: self.store.root().display().to_string(),
            findings: self.findings,
        }
    }

    fn leftovers(&mut self, leftovers: &Leftovers) {
        let left_alone: BTreeSet<&str> = leftovers
            .left_alone
            .iter()
            .map(|(it, _)| it.key.as_str())
            .collect();
        let dialect = self.store.dialect().name();
        let clear = Advice::CleanLeftovers {
            dialect: dialect.to_owned(),
        };
        for (key, problem) in leftovers.problems() {
            let advice = (!left_alone.contains(key.as_str())).then(|| clear.clone());
            self.add(&key, problem, advice);
        }
    }

    /// Reports that a part of the store cannot be read; the rest is reported all the same.
    fn unreadable(&mut self, error: &Error) {
        let problem = Problem::of_file(ProblemKind::Unreadable, error.to_string());
        self.add("", problem, None);
    }

    fn pending(&mut self, detail: String, advice: Advice) {
        let problem = Problem::of_file(ProblemKind::PendingChange, detail);
        self.add("", problem, Some(advice));
    }

    fn add(&mut self, key: &str, problem: Problem, advice: Option<Advice>) {
        self.findings.push(StoreFinding {
            session: None,
            path: self.store.backend().describe(key),
            problem,
            advice,
        });
    }

    fn lost_soon(&mut self, location: &SessionLocation, days: i64) {
        let when = match days {
            ..=0 => "any time now".to_owned(),
            1 => "within a day".to_owned(),
            days => format!("in {days} days"),
        };
        let dialect = self.store.dialect();
        let detail = format!(
            "{} deletes it {when}, and no copy is kept",
            dialect.facts().title
        );
        let key = location.key.as_deref();
        let path = key.map(|key| self.store.backend().describe(key));
        self.findings.push(StoreFinding {
            session: Some(format!("{}:{}", dialect.name(), location.id)),
            path: path.unwrap_or_default(),
            problem: Problem::of_file(ProblemKind::LostSoon, detail),
            advice: Some(Advice::KeepCopies),
        });
    }
}
