//! The writing half of [`PostgresBackend`].

use boswell_model::{Advice, Error, ErrorKind, Result};
use boswell_store::backend::{Lease, LogBackend, LogClaim, LogName, OpenLog};

use super::appender::RowAppender;
use super::backend::{PostgresBackend, get, no_log};
use super::blob_names::BlobNames;
use super::columns::Columns;
use super::lease;
use super::link::Arguments;
use super::statements::{CREATE_LOG, DELETE_LOG};

impl LogBackend for PostgresBackend {
    fn lease(&self, claim: &LogClaim<'_>) -> Result<Lease> {
        lease::take(self, claim)
    }

    fn create(&self, log: &LogName<'_>, lines: &[u8], lease: &Lease) -> Result<()> {
        let mut arguments: Arguments = vec![
            Box::new(log.session.to_string()),
            Box::new(epoch_of(lease)),
            Box::new(log.key.to_owned()),
            Box::new(log.visible.is_none()),
            Box::new(rows_of(lines)),
            Box::new(lines.len() as i64),
        ];
        Columns::of(&log.session.dialect, lines).add_to(&mut arguments);
        let names = BlobNames::of(lines, &self.claims);
        names.add_to(&mut arguments);
        let answer = self.ask(&CREATE_LOG, arguments);
        self.claims.used(&names);
        let answer = answer?;
        let why: Option<String> = answer.rows.first().map_or(Ok(None), |row| get(row, 1))?;
        match why.as_deref() {
            Some("added") => Ok(()),
            // The first attempt was committed, and only its answer was lost.
            Some("taken") if answer.repeated => Ok(()),
            Some("over" | "gone") => Err(lost_lease()),
            _ => Err(Error::new(
                ErrorKind::Conflict,
                format!("there is a session {} already", log.session.id),
            )
            .advising(Advice::append_or_other_id(&log.session.id))),
        }
    }

    fn delete(&self, log: &LogName<'_>, lease: &Lease) -> Result<()> {
        let arguments: Arguments =
            vec![Box::new(log.session.to_string()), Box::new(epoch_of(lease))];
        let answer = self.ask(&DELETE_LOG, arguments)?;
        let why: Option<String> = answer.rows.first().map_or(Ok(None), |row| get(row, 0))?;
        match why.as_deref() {
            Some("deleted") => Ok(()),
            Some("gone") if answer.repeated => Ok(()),
            Some("gone") => Err(no_log(log.key)),
            _ => Err(lost_lease()),
        }
    }

    fn append_to(&self, log: &LogName<'_>, lease: Option<&Lease>) -> Result<OpenLog> {
        let head = self.head(log.session)?.ok_or_else(|| no_log(log.key))?;
        let epoch = lease.map(epoch_of);
        if epoch.is_some_and(|epoch| epoch != head.epoch) {
            return Err(lost_lease());
        }
        let end = head.end;
        let visible = log.visible.filter(|visible| *visible != head.key);
        let log = RowAppender::new(self.clone(), log.session, head, epoch, visible);
        Ok(OpenLog {
            log: Box::new(log),
            end,
        })
    }
}

/// Returns lines as rows, each with its newline.
pub(super) fn rows_of(lines: &[u8]) -> Vec<Vec<u8>> {
    lines
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn epoch_of(lease: &Lease) -> i64 {
    i64::try_from(lease.epoch()).unwrap_or(i64::MAX)
}

pub(super) fn lost_lease() -> Error {
    Error::new(
        ErrorKind::Conflict,
        "another process has the lease of the session by now",
    )
    .because("the lease of this writer ran out before it was renewed")
    .advising(Advice::ReopenSession)
}
