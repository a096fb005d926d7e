//! Adds rows to one log.

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::backend::{AppendError, AppendResult, LogAppender, ObjectReader, SyncWork};

use super::RowBackend;
use super::reader::Rows;
use super::tables::{Appended, Commit, Expected};

#[derive(Debug)]
pub(super) struct RowAppender {
    backend: RowBackend,
    log: usize,
    session: String,
    epoch: Option<u64>,
    key: String,
    visible: Option<String>,
    /// Position after the rows that we added last.
    end: u64,
    /// Whether the log had another end than expected: then it must be read again.
    moved: bool,
}

impl RowAppender {
    pub(super) fn new(
        backend: RowBackend,
        log: usize,
        (session, epoch): (String, Option<u64>),
        (key, visible): (String, Option<String>),
        end: u64,
    ) -> RowAppender {
        RowAppender {
            backend,
            log,
            session,
            epoch,
            key,
            visible,
            end,
            moved: false,
        }
    }

    /// Another writer may have made the log visible under another key.
    fn follow_key(&mut self) {
        let tables = self.backend.tables();
        if let Some(visible) = self
            .visible
            .take_if(|visible| tables.leads_to(visible, self.log))
        {
            self.key = visible;
        }
    }
}

impl LogAppender for RowAppender {
    fn lock(&mut self, known: u64) -> AppendResult<u64> {
        self.follow_key();
        if !std::mem::take(&mut self.moved) {
            // No query needed: the statement that adds rows compares.
            return Ok(known);
        }
        Ok(self.backend.tables().end(self.log))
    }

    fn append(&mut self, end: u64, lines: &[u8]) -> AppendResult<u64> {
        let driver = self.epoch.map(|epoch| (self.session.as_str(), epoch));
        let appended = self
            .backend
            .tables()
            .append(self.log, Expected { end, driver }, lines);
        match appended {
            Appended::At(at) => {
                self.end = at + lines.split_inclusive(|byte| *byte == b'\n').count() as u64;
                Ok(at)
            }
            Appended::Moved => {
                self.moved = true;
                Err(AppendError::Stale)
            }
            Appended::Fenced => {
                let error = Error::new(
                    ErrorKind::Conflict,
                    "somebody else drives the session by now",
                )
                .because("our lease ran out")
                .advising(Advice::ReopenSession);
                Err(AppendError::Fenced(error))
            }
            Appended::Deleted => Err(AppendError::Fenced(Error::new(
                ErrorKind::Conflict,
                "the log was deleted by another process",
            ))),
            Appended::Lost => Err(AppendError::Failed(Error::new(
                ErrorKind::Unavailable,
                "the connection to the tables was lost",
            ))),
        }
    }

    fn unlock(&mut self) {}

    fn position_after(&self, at: u64, _line: &[u8]) -> u64 {
        at + 1
    }

    fn sync(&mut self) -> Option<SyncWork> {
        if self.backend.tables().commit == Commit::WithAppend {
            return None;
        }
        let (backend, log, end) = (self.backend.clone(), self.log, self.end);
        Some(Box::new(move || {
            backend.tables().flush(log, end);
            Ok(())
        }))
    }

    fn synced(&mut self, outcome: Result<()>) -> Result<bool> {
        outcome.map(|()| true)
    }

    fn reader(&self) -> Result<Box<dyn ObjectReader>> {
        Ok(Box::new(Rows::new(self.backend.tables().rows(self.log))))
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn publish(&mut self) -> Result<()> {
        self.follow_key();
        let Some(visible) = self.visible.take() else {
            return Ok(());
        };
        if !self.backend.tables().rename(&self.key, &visible) {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the key `{visible}` is taken"),
            ));
        }
        self.key = visible;
        Ok(())
    }

    fn rewrite_for_sync(&mut self, at: u64, _len: u64) -> Result<bool> {
        self.end = self.end.max(at + 1);
        Ok(self.backend.tables().commit == Commit::WithSync)
    }
}
