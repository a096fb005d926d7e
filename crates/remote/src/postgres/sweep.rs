//! Deletes objects that no row names.
//!
//! Objects are listed, and the database marks those of them that nothing names and nobody has
//! claimed lately. While a value is marked, writers keep it in their lines. Then its object is
//! deleted, and the mark ends. A sweep that dies leaves marks: nobody can know that none of its
//! deletions is still on its way, so that they stay, and other sweeps leave those objects alone.

use std::time::Duration;

use boswell_model::{Error, ErrorKind, Result};
use boswell_store::blobs::BlobId;
use uuid::Uuid;

use super::backend::{PostgresBackend, get};
use super::link::Arguments;
use super::statements::{MARK_BLOBS, UNMARK_BLOBS};
use crate::objects::{blob_of, blobs_of_tenant};
use crate::{ObjectPage, Objects};

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Objects that were listed.
    pub listed: u64,
    /// Those that were stored too short a time ago.
    pub young: u64,
    /// Those that a row names, that a writer has claimed, or that another sweep has marked.
    pub named: u64,
    /// Those that were deleted.
    pub deleted: u64,
    /// The bytes of those.
    pub bytes: u64,
}

/// An object that may be deleted if nothing names it.
#[derive(Debug, Clone)]
struct Candidate {
    id: BlobId,
    key: String,
    size: u64,
}

impl PostgresBackend {
    /// Deletes objects of this tenant that no row names and that are older than `age`, by the clock
    /// of the object storage. What was claimed, or lost its last name, later than `age` ago by the
    /// clock of the database stays too.
    ///
    /// # Errors
    ///
    /// `Unsupported` without object storage, or if it does not say its time; those of both servers.
    pub fn sweep(&self, age: Duration) -> Result<SweepReport> {
        let objects = self.objects.clone().ok_or_else(no_objects)?;
        let (mut report, mut after) = (SweepReport::default(), None);
        loop {
            let page = objects.list(&blobs_of_tenant(self.tenant()), after.as_deref())?;
            self.sweep_page(&objects, &page, age, &mut report)?;
            after = page.objects.last().map(|object| object.key.clone());
            if !page.more || after.is_none() {
                return Ok(report);
            }
        }
    }

    fn sweep_page(
        &self,
        objects: &Objects,
        page: &ObjectPage,
        age: Duration,
        report: &mut SweepReport,
    ) -> Result<()> {
        let old = self.old_enough(page, age, report)?;
        // Few at a time: a value is marked for no longer than its deletion takes.
        for some in old.chunks(16) {
            // Its own name for each: a call that is sent again ends no mark of another sweep.
            let sweep = Uuid::new_v4();
            let marked = self.mark(some, age, sweep)?;
            report.named += (some.len() - marked.len()) as u64;
            let mut free = marked.clone();
            let mut failed = None;
            for candidate in some.iter().filter(|it| marked.contains(&it.id)) {
                let deleted = objects.delete_once(&candidate.key);
                if !matches!(deleted, Ok(true)) {
                    // A copy of the call may still be on its way.
                    free.retain(|id| *id != candidate.id);
                }
                if let Err(error) = deleted {
                    failed = Some(error);
                    break;
                }
                report.deleted += 1;
                report.bytes += candidate.size;
            }
            self.ask(
                &UNMARK_BLOBS,
                vec![Box::new(hashes(free.iter())), Box::new(sweep)],
            )?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(())
    }

    fn old_enough(
        &self,
        page: &ObjectPage,
        age: Duration,
        report: &mut SweepReport,
    ) -> Result<Vec<Candidate>> {
        let now = page.now.ok_or_else(no_clock)?;
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let mut old = Vec::new();
        for object in &page.objects {
            report.listed += 1;
            let is_old = object
                .modified
                .is_some_and(|time| time.millis().saturating_add(age) <= now.millis());
            match blob_of(self.tenant(), &object.key).filter(|_| is_old) {
                Some(id) => old.push(Candidate {
                    id,
                    key: object.key.clone(),
                    size: object.size,
                }),
                None => report.young += 1,
            }
        }
        old.sort_by_key(|candidate| candidate.id);
        Ok(old)
    }

    fn mark(&self, some: &[Candidate], age: Duration, sweep: Uuid) -> Result<Vec<BlobId>> {
        let arguments: Arguments = vec![
            Box::new(hashes(some.iter().map(|it| &it.id))),
            Box::new(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)),
            Box::new(sweep),
        ];
        let answer = self.ask(&MARK_BLOBS, arguments)?;
        let id = |row| {
            let hash: Vec<u8> = get(row, 0)?;
            let hash = <[u8; 32]>::try_from(hash.as_slice())
                .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
            Ok(BlobId::from_bytes(hash))
        };
        answer.rows.iter().map(id).collect()
    }
}

fn hashes<'a>(ids: impl Iterator<Item = &'a BlobId>) -> Vec<Vec<u8>> {
    ids.map(|id| id.bytes().to_vec()).collect()
}

fn no_objects() -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "there is no object storage to sweep",
    )
    .advising("give its address with --objects")
}

fn no_clock() -> Error {
    Error::new(
        ErrorKind::Unsupported,
        "the object storage does not say its time",
    )
    .because("what was stored a moment ago cannot be told from what is old")
}
