//! [`PostgresBackend`]: the reading half. Keys are names in folders, as in files, because dialects
//! find sessions by names; a session whose id is known is found by an index instead.

use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{FileInfo, FileKind};
use boswell_model::{Error, ErrorKind, Instant, Result, SessionRef};
use boswell_store::backend::{
    Backend, ListedLog, LogLookup, ObjectReader, PageCursor, PageRequest,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::blob_names::Claims;
use super::bridge::Bridge;
use super::columns::Columns;
use super::failure::Failure;
use super::link::{Answer, Arguments, Link};
use super::options::PostgresOptions;
use super::reader::RowReader;
use super::statements::{ENDS, FILES, FOLDERS, HEAD, HEAD_AT, IS_FOLDER, PAGE, SqlStatement};

/// A time behind every other, in microseconds: the year 9999.
const LATEST: i64 = 253_402_300_799_000_000;

/// Sessions of one tenant in PostgreSQL. Clones share connections and threads, which end with the
/// last clone, writer, lease or reader.
#[derive(Debug, Clone)]
pub struct PostgresBackend {
    pub(super) bridge: Bridge,
    pub(super) link: Arc<Link>,
    pub(super) lease: Duration,
    pub(super) holder: Arc<str>,
    pub(super) claims: Arc<Claims>,
    #[cfg(feature = "objects")]
    pub(super) objects: Option<crate::Objects>,
}

/// The head of a log.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) log: Uuid,
    pub(super) key: String,
    pub(super) end: u64,
    pub(super) epoch: i64,
    bytes: u64,
    shown: bool,
    touched: i64,
}

impl PostgresBackend {
    /// Connects, and checks that the server keeps what it acknowledges, that its tables have the
    /// version of this program, and that its user is held by row-level security.
    ///
    /// # Errors
    ///
    /// `Denied` for a wrong password or a user that sees all tenants, `Unsupported` for a server
    /// that acknowledges before its disk has it, `Conflict` or `TooNew` for tables of another
    /// version, `Unavailable` if the server does not answer in time.
    pub fn open(options: PostgresOptions) -> Result<PostgresBackend> {
        let backend = PostgresBackend {
            bridge: Bridge::new()?,
            link: Arc::new(Link::new(&options)?),
            lease: options.lease,
            holder: options.holder.into(),
            claims: Arc::default(),
            #[cfg(feature = "objects")]
            objects: None,
        };
        backend.stat("")?;
        Ok(backend)
    }

    /// Runs a statement with these arguments behind the tenant.
    pub(super) fn ask(&self, statement: &'static SqlStatement, rest: Arguments) -> Result<Answer> {
        let (link, arguments) = (Arc::clone(&self.link), self.with_tenant(rest));
        self.bridge
            .wait(async move { link.ask(statement, arguments).await })
    }

    pub(super) fn with_tenant(&self, rest: Arguments) -> Arguments {
        let tenant = self.link.tenant.as_str().to_owned();
        let mut arguments: Arguments = vec![Box::new(tenant)];
        arguments.extend(rest);
        arguments
    }

    /// Returns the head of a session's log.
    pub(super) fn head(&self, session: &SessionRef) -> Result<Option<Head>> {
        let answer = self.ask(&HEAD, vec![Box::new(session.to_string())])?;
        answer.rows.first().map(Head::of).transpose()
    }

    fn head_at(&self, key: &str) -> Result<Option<Head>> {
        if key.is_empty() || key.contains('\0') {
            return Ok(None);
        }
        let answer = self.ask(&HEAD_AT, vec![Box::new(key.to_owned())])?;
        answer.rows.first().map(Head::of).transpose()
    }
}

impl Head {
    fn of(row: &Row) -> Result<Head> {
        Ok(Head {
            log: get(row, 0)?,
            key: get(row, 1)?,
            end: unsigned(row, 2)?,
            bytes: unsigned(row, 3)?,
            epoch: get(row, 4)?,
            shown: get(row, 5)?,
            touched: get(row, 6)?,
        })
    }

    fn info(self) -> FileInfo {
        file(self.key, self.bytes, self.touched)
    }
}

impl Backend for PostgresBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let range = || -> Arguments {
            let (first, last) = keys_below(folder);
            let start = i32::try_from(first.chars().count()).unwrap_or(i32::MAX);
            vec![Box::new(first), Box::new(last), Box::new(start + 1)]
        };
        let mut found = Vec::new();
        for row in &self.ask(&FILES, range())?.rows {
            found.push(file(get(row, 0)?, unsigned(row, 1)?, get(row, 2)?));
        }
        for row in &self.ask(&FOLDERS, range())?.rows {
            found.push(sub_folder(folder, &get::<String>(row, 0)?));
        }
        found.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(found)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        if let Some(head) = self.head_at(key)? {
            return Ok(Some(head.info()));
        }
        let (first, last) = keys_below(key);
        let answer = self.ask(&IS_FOLDER, vec![Box::new(first), Box::new(last)])?;
        let is_folder = answer.rows.first().map_or(Ok(false), |row| get(row, 0))?;
        Ok(is_folder.then(|| sub_folder("", key)))
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let head = self.head_at(key)?.ok_or_else(|| no_log(key))?;
        Ok(Box::new(RowReader::new(self.clone(), head.log, head.end)))
    }

    fn find_log(&self, session: &SessionRef) -> Result<LogLookup> {
        if session.id.contains('\0') {
            return Ok(LogLookup::Absent);
        }
        Ok(match self.head(session)? {
            Some(head) => LogLookup::Found {
                hidden: !head.shown,
                info: head.info(),
            },
            None => LogLookup::Absent,
        })
    }

    fn page(&self, request: &PageRequest<'_>) -> Result<Option<Vec<ListedLog>>> {
        let (time, session) = match request.after {
            Some(after) => read_cursor(after)?,
            None => (LATEST, String::new()),
        };
        let answer = self.ask(
            &PAGE,
            vec![
                Box::new(request.dialect.to_owned()),
                Box::new(time),
                Box::new(session),
                Box::new(i64::try_from(request.limit).unwrap_or(i64::MAX)),
            ],
        )?;
        let row = |row: &Row| {
            let session: String = get(row, 0)?;
            let touched: i64 = get(row, 4)?;
            let id = session.split_once(':').map_or("", |(_, id)| id).to_owned();
            Ok(ListedLog {
                id,
                info: file(get(row, 1)?, unsigned(row, 2)?, touched / 1000),
                records: unsigned(row, 3)?.saturating_sub(2),
                meta: Columns::meta_of(row, 5).map_err(|error| Failure::from(error).error)?,
                cursor: PageCursor::new(format!("{touched} {session}")),
            })
        };
        answer.rows.iter().map(row).collect::<Result<_>>().map(Some)
    }

    fn ends_of(&self, sessions: &[SessionRef]) -> Result<Option<Vec<Option<u64>>>> {
        let names: Vec<String> = sessions.iter().map(ToString::to_string).collect();
        let mut ends = std::collections::HashMap::new();
        for row in &self.ask(&ENDS, vec![Box::new(names.clone())])?.rows {
            ends.insert(get::<String>(row, 0)?, unsigned(row, 1)?);
        }
        Ok(Some(
            names.iter().map(|name| ends.get(name).copied()).collect(),
        ))
    }

    #[cfg(feature = "objects")]
    fn remote_blobs(&self) -> Option<Arc<dyn boswell_store::blobs::RemoteBlobs>> {
        let objects = self.objects.clone()?;
        Some(Arc::new(super::large_values::TenantBlobs::new(
            self.clone(),
            objects,
        )))
    }

    fn describe(&self, key: &str) -> String {
        format!("postgres:{key}")
    }
}

/// The range of keys below a folder, without its ends.
fn keys_below(folder: &str) -> (String, String) {
    if folder.is_empty() {
        return (String::new(), char::MAX.to_string());
    }
    // `0` is the character behind `/`.
    (format!("{folder}/"), format!("{folder}0"))
}

fn read_cursor(cursor: &PageCursor) -> Result<(i64, String)> {
    let parts = cursor.as_str().split_once(' ');
    parts
        .and_then(|(time, session)| Some((time.parse().ok()?, session.to_owned())))
        .ok_or_else(|| Error::new(ErrorKind::Invalid, "the cursor is not one of a database"))
}

fn file(key: String, size: u64, touched: i64) -> FileInfo {
    FileInfo {
        key,
        kind: FileKind::File,
        size,
        modified: Some(Instant::from_millis(touched)),
        identity: None,
    }
}

fn sub_folder(folder: &str, name: &str) -> FileInfo {
    let key = match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    };
    FileInfo {
        key,
        kind: FileKind::Folder,
        size: 0,
        modified: None,
        identity: None,
    }
}

pub(super) fn no_log(key: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("there is no log `{}`", key.escape_debug()),
    )
}

/// Returns a column of a row.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T> {
    row.try_get(column)
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}

/// Returns a column that counts.
pub(super) fn unsigned(row: &Row, column: usize) -> Result<u64> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or(0))
}

/// Returns a position as the database stores it.
pub(super) fn signed(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}
