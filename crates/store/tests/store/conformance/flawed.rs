//! Backends with one defect each: the conformance suite must detect every one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use boswell_dialect::FileInfo;
use boswell_model::SessionRef;
use boswell_store::backend::{
    AppendError, AppendResult, Backend, Lease, ListedLog, LogAppender, LogBackend, LogClaim,
    LogLookup, LogName, ObjectReader, OpenLog, PageRequest, SyncWork,
};
use boswell_store::{ErrorKind, Result};
use boswell_testkit::conformance::{self, MakePlace, WritePlace, backend_writes};
use boswell_testkit::rows::{Commit, RowBackend};

use crate::conformance::places::Rows;

/// The defect of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// Appends of a driver do not check its epoch.
    IgnoresTheEpoch,
    /// Every process gets a lease.
    SharesLeases,
    /// Lines are appended even if the log has grown.
    IgnoresTheHead,
    DoublesBatches,
    /// Only the first line of a batch is appended.
    TearsBatches,
    /// Lines are acknowledged and never appended.
    DropsLines,
    /// The remaining work until lines are durable is not reported.
    ForgetsAfterReceipt,
    NeverPublishes,
    /// A failed append reports that nothing was written and the log is gone.
    HidesMarker,
    /// All lines have the same position.
    CountsNothing,
    /// A deleted log stays.
    KeepsDeleted,
    /// A writer goes on in a log that was deleted.
    AppendsToDeleted,
    /// The second page begins with the last session of the first.
    RepeatsInPages,
    /// The second page leaves its first session out.
    SkipsInPages,
    /// A session that is hidden until its first answer is on a page.
    PagesHidden,
    /// Sessions are found by a part of their id.
    FindsByPrefix,
    /// A session that exists is not found by its id.
    FindsNothing,
    /// The end of a session that is followed is an old one.
    OldEnds,
}

#[derive(Debug)]
struct Flawed {
    inner: RowBackend,
    flaw: Flaw,
}

impl LogBackend for Flawed {
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease> {
        match self.inner.lease(claim) {
            Err(error) if self.flaw == Flaw::SharesLeases && error.kind() == ErrorKind::Busy => {
                self.inner.expire_leases();
                self.inner.lease(claim)
            }
            lease => lease,
        }
    }

    fn create(&self, log: &LogName<'_>, lines: &[u8], lease: &Lease) -> Result<()> {
        self.inner.create(log, lines, lease)
    }

    fn delete(&self, log: &LogName<'_>, lease: &Lease) -> Result<()> {
        match self.flaw {
            Flaw::KeepsDeleted => Ok(()),
            _ => self.inner.delete(log, lease),
        }
    }

    fn append_to(&self, log: &LogName<'_>, lease: Option<&Lease>) -> Result<OpenLog> {
        let lease =
            lease.filter(|_| !matches!(self.flaw, Flaw::IgnoresTheEpoch | Flaw::SharesLeases));
        let OpenLog { log, end } = self.inner.append_to(log, lease)?;
        Ok(OpenLog {
            log: Box::new(FlawedAppender {
                inner: log,
                flaw: self.flaw,
            }),
            end,
        })
    }
}

impl Flawed {
    /// Returns the first session whose id begins with that of `session`.
    fn found_by_prefix(&self, session: &SessionRef) -> Result<LogLookup> {
        let request = PageRequest {
            dialect: &session.dialect,
            after: None,
            limit: 100,
        };
        let rows = self.inner.page(&request)?.unwrap_or_default();
        let row = rows.into_iter().find(|row| row.id.starts_with(&session.id));
        Ok(row.map_or(LogLookup::Absent, |row| LogLookup::Found {
            info: row.info,
            hidden: false,
        }))
    }

    /// Returns a row like `row` for a hidden log.
    fn hidden_row(&self, row: &ListedLog) -> Result<Option<ListedLog>> {
        let hidden = SessionRef::new("boswell", "p-hidden");
        Ok(match self.inner.find_log(&hidden)? {
            LogLookup::Found { info, .. } => Some(ListedLog {
                id: hidden.id,
                info,
                ..row.clone()
            }),
            _ => None,
        })
    }
}

impl Backend for Flawed {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.inner.list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.inner.stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        self.inner.open(key)
    }

    fn find_log(&self, session: &SessionRef) -> Result<LogLookup> {
        match self.flaw {
            Flaw::FindsNothing => Ok(LogLookup::Absent),
            Flaw::FindsByPrefix => self.found_by_prefix(session),
            _ => self.inner.find_log(session),
        }
    }

    fn page(&self, request: &PageRequest<'_>) -> Result<Option<Vec<ListedLog>>> {
        let mut rows = self.inner.page(request)?.unwrap_or_default();
        match (self.flaw, request.after) {
            (Flaw::SkipsInPages, Some(_)) if !rows.is_empty() => drop(rows.remove(0)),
            (Flaw::RepeatsInPages, Some(after)) => {
                let all = PageRequest {
                    after: None,
                    limit: 100,
                    ..*request
                };
                let all = self.inner.page(&all)?.unwrap_or_default();
                let last = all.into_iter().find(|row| row.cursor == *after);
                rows.splice(..0, last);
                rows.truncate(request.limit.max(2));
            }
            (Flaw::PagesHidden, None) => {
                if let Some(row) = rows.first() {
                    let hidden = self.hidden_row(row)?;
                    rows.extend(hidden);
                }
            }
            _ => {}
        }
        Ok(Some(rows))
    }

    fn ends_of(&self, sessions: &[SessionRef]) -> Result<Option<Vec<Option<u64>>>> {
        let mut ends = self.inner.ends_of(sessions)?;
        if self.flaw == Flaw::OldEnds {
            let all = ends.iter_mut().flatten().flatten();
            all.for_each(|end| *end = end.saturating_sub(1));
        }
        Ok(ends)
    }

    fn describe(&self, key: &str) -> String {
        self.inner.describe(key)
    }
}

#[derive(Debug)]
struct FlawedAppender {
    inner: Box<dyn LogAppender>,
    flaw: Flaw,
}

impl FlawedAppender {
    /// Appends lines at the current end of the log, without a check.
    fn anywhere(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64> {
        match self.inner.append(end, lines) {
            Err(AppendError::Stale) => {
                let end = self.inner.lock(end)?;
                self.inner.append(end, lines)
            }
            landed => landed,
        }
    }
}

impl LogAppender for FlawedAppender {
    fn lock(&mut self, known: u64) -> AppendResult<u64> {
        self.inner.lock(known)
    }

    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64> {
        let first = lines
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(lines.len(), |at| at + 1);
        match self.flaw {
            Flaw::IgnoresTheHead => self.anywhere(end, lines),
            Flaw::DoublesBatches => {
                let landed = self.inner.append(end, lines)?;
                self.anywhere(landed, lines).map(|_| landed)
            }
            Flaw::TearsBatches => self.inner.append(end, &lines[..first]),
            Flaw::DropsLines => Ok(end),
            Flaw::HidesMarker => self
                .inner
                .append(end, lines)
                .map_err(|refused| match refused {
                    AppendError::Failed(error) => AppendError::Fenced(error),
                    other => other,
                }),
            Flaw::AppendsToDeleted => match self.inner.append(end, lines) {
                Err(AppendError::Fenced(_)) => Ok(end),
                landed => landed,
            },
            _ => self.inner.append(end, lines),
        }
    }

    fn unlock(&mut self) {
        self.inner.unlock();
    }

    fn position_after(&self, at: u64, line: &[u8]) -> u64 {
        if self.flaw == Flaw::CountsNothing {
            at
        } else {
            self.inner.position_after(at, line)
        }
    }

    fn sync(&mut self) -> Option<SyncWork> {
        if self.flaw == Flaw::ForgetsAfterReceipt {
            None
        } else {
            self.inner.sync()
        }
    }

    fn synced(&mut self, outcome: Result<()>) -> Result<bool> {
        self.inner.synced(outcome)
    }

    fn reader(&self) -> Result<Box<dyn ObjectReader>> {
        self.inner.reader()
    }

    fn key(&self) -> &str {
        self.inner.key()
    }

    fn publish(&mut self) -> Result<()> {
        if self.flaw == Flaw::NeverPublishes {
            Ok(())
        } else {
            self.inner.publish()
        }
    }

    fn rewrite_for_sync(&mut self, at: u64, len: u64) -> Result<bool> {
        self.inner.rewrite_for_sync(at, len)
    }
}

type Promise = fn(&MakePlace<'_>);

/// Each defect, and the guarantee that it breaks.
const FLAWS: [(Flaw, Promise); 18] = [
    (Flaw::IgnoresTheEpoch, conformance::lost_leases),
    (Flaw::SharesLeases, conformance::leases),
    (Flaw::IgnoresTheHead, conformance::expectations),
    (Flaw::DoublesBatches, conformance::batches),
    (Flaw::TearsBatches, conformance::batches),
    (Flaw::DropsLines, conformance::receipts),
    (
        Flaw::ForgetsAfterReceipt,
        conformance::acknowledged_survives,
    ),
    (Flaw::NeverPublishes, conformance::visibility),
    (Flaw::HidesMarker, conformance::failures),
    (Flaw::CountsNothing, conformance::receipts),
    (Flaw::KeepsDeleted, conformance::deletion),
    (Flaw::AppendsToDeleted, conformance::deletion),
    (Flaw::RepeatsInPages, conformance::pages),
    (Flaw::SkipsInPages, conformance::pages),
    (Flaw::PagesHidden, conformance::pages),
    (Flaw::FindsByPrefix, conformance::found_by_id),
    (Flaw::FindsNothing, conformance::creation),
    (Flaw::OldEnds, conformance::found_by_id),
];

/// Returns the first broken guarantee as the suite reports it; `None` if the suite found none.
fn broken(suite: impl Fn(&MakePlace<'_>), flaw: Flaw) -> Option<String> {
    let make = move || {
        let through = move |rows: RowBackend| {
            let flawed = Arc::new(Flawed { inner: rows, flaw });
            (
                flawed.clone() as Arc<dyn Backend>,
                flawed as Arc<dyn LogBackend>,
            )
        };
        Box::new(Rows::through(Commit::WithSync, through)) as Box<dyn WritePlace>
    };
    let told = catch_unwind(AssertUnwindSafe(|| suite(&make))).err()?;
    let text = told.downcast_ref::<String>().cloned();
    Some(
        text.or_else(|| told.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default(),
    )
}

#[test]
fn every_flaw_is_told_by_the_promise_that_it_breaks_and_by_the_whole_suite() {
    for (flaw, promise) in FLAWS {
        let told = broken(promise, flaw);
        assert!(
            told.is_some_and(|told| !told.is_empty()),
            "{flaw:?} goes unnoticed"
        );
        assert!(
            broken(backend_writes, flaw).is_some(),
            "{flaw:?} passes the suite"
        );
    }
}

#[test]
fn what_stands_between_rows_and_writer_is_no_flaw_by_itself() {
    assert_eq!(broken(backend_writes, Flaw::None), None);
}
