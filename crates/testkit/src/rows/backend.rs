//! The reading and the writing half of a backend over rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boswell_dialect::{FileInfo, Files};
use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use boswell_store::Wait;
use boswell_store::backend::{
    Backend, Lease, ListedLog, LogBackend, LogClaim, LogLookup, LogName, ObjectReader, OpenLog,
    PageRequest,
};

use super::appender::RowAppender;
use super::reader::{Bytes, Rows};
use super::tables::{Commit, FailAt, Tables};

/// How often a thread that waits for a lease checks, in milliseconds of the clock.
const PAUSE: i64 = 10;

/// Objects in rows, in memory. Clones are connections to the same tables.
#[derive(Clone, Debug, Default)]
pub struct RowBackend {
    pub(super) tables: Arc<Mutex<Tables>>,
}

impl RowBackend {
    /// Creates tables; `commit` decides when rows are durable.
    pub fn new(commit: Commit) -> RowBackend {
        let rows = RowBackend::default();
        rows.tables().commit = commit;
        rows
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an object; a log is split into its rows.
    pub fn put(&self, key: &str, bytes: &[u8], modified: Option<Instant>) {
        let mut tables = self.tables();
        if key.ends_with(".jsonl") {
            assert!(
                tables.add_log(key, bytes, modified),
                "the key `{key}` is taken"
            );
        } else {
            tables.put_object(key, bytes, modified);
        }
    }

    /// Expires every lease that is not renewed from now on.
    pub fn expire_leases(&self) {
        self.tables().expire_leases();
    }

    /// Simulates a crash: rows that are not durable are lost.
    pub fn crash(&self) {
        self.tables().crash();
    }

    /// Makes the next append fail.
    pub fn fail_next_append(&self, at: FailAt) {
        self.tables().fail = Some(at);
    }
}

impl Backend for RowBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        self.tables().list(folder)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        self.tables().files().stat(key)
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let tables = self.tables();
        match tables.log(key) {
            Some(log) => Ok(Box::new(Rows::new(tables.rows(log)))),
            None => Ok(Box::new(Bytes::new(tables.files().read(
                key,
                0,
                usize::MAX,
            )?))),
        }
    }

    fn find_log(&self, session: &SessionRef) -> Result<LogLookup> {
        self.found(session)
    }

    fn page(&self, request: &PageRequest<'_>) -> Result<Option<Vec<ListedLog>>> {
        self.paged(request).map(Some)
    }

    fn ends_of(&self, sessions: &[SessionRef]) -> Result<Option<Vec<Option<u64>>>> {
        Ok(Some(self.all_ends(sessions)))
    }

    fn describe(&self, key: &str) -> String {
        format!("rows:{key}")
    }
}

impl LogBackend for RowBackend {
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease> {
        let session = name_of(claim.session);
        let mut waited = 0;
        loop {
            let mut tables = self.tables();
            let other = match tables.take_lease(&session, claim.program) {
                Ok(epoch) => {
                    return Ok(Lease::new(
                        epoch,
                        Holding {
                            backend: self.clone(),
                            session,
                            epoch,
                        },
                    ));
                }
                Err(other) => other,
            };
            let enough = match claim.wait {
                Wait::No => true,
                Wait::For(limit) => waited >= i64::try_from(limit.as_millis()).unwrap_or(i64::MAX),
                Wait::Forever => false,
            };
            if enough {
                let what = format!(
                    "session {} is being written by somebody else",
                    claim.session.id
                );
                return Err(
                    Error::new(ErrorKind::Busy, what).because(format!("{other} holds its lease"))
                );
            }
            tables.now += PAUSE;
            waited += PAUSE;
            drop(tables);
            std::thread::yield_now();
        }
    }

    fn create(&self, log: &LogName<'_>, lines: &[u8], _lease: &Lease) -> Result<()> {
        let mut tables = self.tables();
        let now = Some(Instant::from_millis(tables.now));
        if tables.add_log(log.key, lines, now) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("there is a log `{}` already", log.key),
        ))
    }

    fn delete(&self, log: &LogName<'_>, lease: &Lease) -> Result<()> {
        let mut tables = self.tables();
        if !tables.is_newest(&name_of(log.session), lease.epoch()) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "the lease ran out, and somebody else took it",
            ));
        }
        if tables.remove_log(log.key) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no log `{}`", log.key),
        ))
    }

    fn append_to(&self, name: &LogName<'_>, lease: Option<&Lease>) -> Result<OpenLog> {
        let tables = self.tables();
        let Some(log) = tables.log(name.key) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no log `{}`", name.key),
            ));
        };
        let session = name_of(name.session);
        let epoch = lease.map(Lease::epoch);
        if epoch.is_some_and(|epoch| !tables.is_newest(&session, epoch)) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "the lease ran out, and somebody else took it",
            ));
        }
        let end = tables.end(log);
        drop(tables);
        let key = (name.key.to_owned(), name.visible.map(str::to_owned));
        Ok(OpenLog {
            log: Box::new(RowAppender::new(
                self.clone(),
                log,
                (session, epoch),
                key,
                end,
            )),
            end,
        })
    }
}

fn name_of(session: &SessionRef) -> String {
    format!("{}:{}", session.dialect, session.id)
}

/// Releases the lease when it is dropped.
#[derive(Debug)]
struct Holding {
    backend: RowBackend,
    session: String,
    epoch: u64,
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.backend
            .tables()
            .release_lease(&self.session, self.epoch);
    }
}
