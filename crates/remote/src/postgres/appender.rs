//! [`RowAppender`]: appends lines to one log.
//!
//! One statement compares the end of the log and the epoch of the lease, adds the lines and renews
//! the lease; its transaction is durable when it returns. If the connection is lost, it is unknown
//! whether it was committed, so it is sent again. Both copies name the same end, so that only one
//! can be added; if the second is refused, the lines at that end say whether the first one was.

use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};
use boswell_store::backend::{AppendError, AppendResult, LogAppender, ObjectReader, SyncWork};

use super::backend::{Head, PostgresBackend, get, signed, unsigned};
use super::blob_names::BlobNames;
use super::columns::Columns;
use super::failure::is_swept;
use super::lease::millis;
use super::link::Arguments;
use super::logs::{lost_lease, rows_of};
use super::reader::RowReader;
use super::statements::{APPEND, PUBLISH};

#[derive(Debug)]
pub(super) struct RowAppender {
    backend: PostgresBackend,
    session: SessionRef,
    head: Head,
    epoch: Option<i64>,
    visible: Option<String>,
    /// The end that the server reported when it refused an append.
    moved_to: Option<u64>,
}

impl RowAppender {
    pub(super) fn new(
        backend: PostgresBackend,
        session: &SessionRef,
        head: Head,
        epoch: Option<i64>,
        visible: Option<&str>,
    ) -> RowAppender {
        RowAppender {
            backend,
            session: session.clone(),
            head,
            epoch,
            visible: visible.map(str::to_owned),
            moved_to: None,
        }
    }

    /// Another writer may have published the log.
    fn now_at(&mut self, key: Option<String>) {
        if let Some(key) = key {
            self.visible = self.visible.take().filter(|visible| *visible != key);
            self.head.key = key;
        }
    }

    /// Whether the log has these lines at `end`: then an append was committed whose answer was
    /// lost. Lines contain the ids of their entries, so that no other append looks like it.
    fn has(&self, end: u64, now: u64, lines: &[u8]) -> Result<bool> {
        let count = rows_of(lines).len() as u64;
        if now < end + count {
            return Ok(false);
        }
        let reader = RowReader::new(self.backend.clone(), self.head.log, end + count);
        Ok(reader.read(end, u64::MAX)? == lines)
    }
}

impl LogAppender for RowAppender {
    fn lock(&mut self, known: u64) -> AppendResult<u64> {
        // No query: the statement that adds rows compares.
        Ok(self.moved_to.take().map_or(known, |end| end.max(known)))
    }

    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64> {
        let mut arguments: Arguments = vec![
            Box::new(self.session.to_string()),
            Box::new(self.head.log),
            Box::new(signed(end)),
            Box::new(self.epoch),
            Box::new(millis(self.backend.lease)),
            Box::new(rows_of(lines)),
            Box::new(lines.len() as i64),
        ];
        Columns::of(&self.session.dialect, lines).add_to(&mut arguments);
        let names = BlobNames::of(lines, &self.backend.claims);
        names.add_to(&mut arguments);
        let answer = self.backend.ask(&APPEND, arguments);
        let answer = answer.map_err(|error| self.refusal(error, &names))?;
        let row = answer.rows.first().ok_or_else(no_row)?;
        let now = get::<Option<i64>>(row, 0)?.map_or(Ok(0), |_| unsigned(row, 0))?;
        let why: String = get(row, 1)?;
        self.now_at(get(row, 2)?);
        if why == "added" {
            self.backend.claims.used(&names);
            return Ok(now);
        }
        if answer.repeated && why != "gone" && !lines.is_empty() && self.has(end, now, lines)? {
            self.backend.claims.used(&names);
            return Ok(end);
        }
        match why.as_str() {
            "moved" => {
                self.moved_to = Some(now);
                Err(AppendError::Stale)
            }
            "over" => Err(AppendError::Fenced(lost_lease())),
            _ => Err(AppendError::Fenced(self.deleted())),
        }
    }

    fn unlock(&mut self) {}

    fn position_after(&self, at: u64, _line: &[u8]) -> u64 {
        at + 1
    }

    fn sync(&mut self) -> Option<SyncWork> {
        // Each append was committed with `synchronous_commit`.
        None
    }

    fn synced(&mut self, outcome: Result<()>) -> Result<bool> {
        outcome.map(|()| true)
    }

    fn reader(&self) -> Result<Box<dyn ObjectReader>> {
        let head = self
            .backend
            .head(&self.session)?
            .filter(|head| head.log == self.head.log)
            .ok_or_else(|| self.deleted())?;
        Ok(Box::new(RowReader::new(
            self.backend.clone(),
            head.log,
            head.end,
        )))
    }

    fn key(&self) -> &str {
        &self.head.key
    }

    fn publish(&mut self) -> Result<()> {
        let Some(visible) = self.visible.clone() else {
            return Ok(());
        };
        let arguments: Arguments = vec![
            Box::new(self.session.to_string()),
            Box::new(self.head.log),
            Box::new(visible),
        ];
        let answer = self.backend.ask(&PUBLISH, arguments)?;
        let row = answer.rows.first().ok_or_else(|| self.deleted())?;
        self.now_at(Some(get(row, 0)?));
        Ok(())
    }
}

impl RowAppender {
    /// If a value was swept before its line was added, the server undid the append, and the claim
    /// is of no use any more.
    fn refusal(&self, error: Error, names: &BlobNames) -> AppendError {
        if is_swept(&error) {
            self.backend.claims.used(names);
            return AppendError::Fenced(error);
        }
        AppendError::Failed(error)
    }

    fn deleted(&self) -> Error {
        let what = format!("session {} was deleted by another process", self.session.id);
        Error::new(ErrorKind::Conflict, what).advising(Advice::ReopenSession)
    }
}

fn no_row() -> AppendError {
    AppendError::Failed(Error::new(
        ErrorKind::Internal,
        "the database returned no row",
    ))
}
