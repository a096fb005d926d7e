//! Deleted sessions in the catalog, and the removal of their rows.

use std::path::PathBuf;

use boswell_model::{ErrorKind, Result, SessionMeta, SessionRef};

use super::Catalog;
use super::conversation::forget_sessions;
use super::packed_meta::Packed;

/// A session whose log no longer exists.
#[derive(Debug, Clone)]
pub struct DeletedSession {
    /// Ref of the session.
    pub reference: SessionRef,
    /// The root of its store.
    pub root: PathBuf,
    /// The metadata from its last known state.
    pub meta: SessionMeta,
}

impl Catalog {
    /// Returns sessions that existed once and were deleted.
    pub fn deleted_sessions(&self) -> Result<Vec<DeletedSession>> {
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached(
                "SELECT s.dialect, s.name, store.name, kept.facts FROM session s JOIN store ON store.id=s.store
                 LEFT JOIN kept ON kept.session=s.id WHERE s.gone=1 ORDER BY s.id",
            )
            .map_err(fault)?;
        let rows = all.query_map([], |row| {
            let (dialect, name, store): (String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let kept: Option<Vec<u8>> = row.get(3)?;
            let meta = kept
                .and_then(Packed::from_bytes)
                .map(|kept| *kept.unpack().meta)
                .unwrap_or_default();
            let root = store.split_once('\n').map_or("", |(_, root)| root).into();
            Ok(DeletedSession {
                reference: SessionRef::new(dialect, name),
                root,
                meta,
            })
        });
        rows.map_err(fault)?
            .collect::<rusqlite::Result<_>>()
            .map_err(fault)
    }

    /// Removes sessions: nothing of them stays in the file. `gone` gets the session and the key of
    /// its log.
    ///
    /// Rows that changed earlier leave their old bytes in pages that SQLite reuses, so the whole
    /// file is written again.
    pub fn forget(&mut self, gone: &dyn Fn(&SessionRef, &str) -> bool) -> Result<()> {
        let ids = |db: &rusqlite::Connection| rows(db, gone);
        match self.delete_rows(&ids) {
            // The contents of a damaged file are unknown; it is derived, and a new one contains
            // nothing.
            Err(error) if error.kind() == ErrorKind::Damaged => self.recreate(),
            done => done,
        }
    }

    /// As [`Catalog::forget`], by the metadata of a session, including deleted ones. Returns the
    /// paths of their logs.
    pub fn forget_where(
        &mut self,
        goes: &dyn Fn(&SessionRef, &SessionMeta) -> bool,
    ) -> Result<Vec<PathBuf>> {
        match self.delete_where(goes) {
            // As above; logs that still exist are found without the catalog.
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate().map(|()| Vec::new())
            }
            done => done,
        }
    }

    fn delete_where(
        &mut self,
        goes: &dyn Fn(&SessionRef, &SessionMeta) -> bool,
    ) -> Result<Vec<PathBuf>> {
        let known = known_rows(&self.db, goes).map_err(|error| self.fault(error))?;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        self.delete_rows(&|_| Ok(known.iter().map(|(id, _)| *id).collect()))?;
        Ok(known.into_iter().map(|(_, path)| path).collect())
    }

    /// Deletes rows in one transaction, then rewrites the file without the freed pages.
    fn delete_rows(
        &mut self,
        ids: &dyn Fn(&rusqlite::Connection) -> rusqlite::Result<Vec<i64>>,
    ) -> Result<()> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        // The rewritten data must not go through a temporary file elsewhere.
        self.db
            .execute_batch("PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY")
            .map_err(fault)?;
        let tx = self.begin()?;
        let ids = ids(&tx).map_err(fault)?;
        forget_sessions(&tx, &ids).map_err(fault)?;
        for id in ids {
            for table in ["usage", "kept", "account", "claim", "shared"] {
                tx.execute(&format!("DELETE FROM {table} WHERE session=?1"), [id])
                    .map_err(fault)?;
            }
            tx.execute("DELETE FROM session WHERE id=?1", [id])
                .map_err(fault)?;
        }
        // Listing snapshots may contain its folder.
        tx.execute_batch("DELETE FROM roll").map_err(fault)?;
        tx.commit().map_err(fault)?;
        // A reader of another process prevents this, which is reported as busy.
        let lock = self.lock(super::database::PATIENCE)?;
        self.db.execute_batch("VACUUM").map_err(fault)?;
        if let Some(lock) = lock {
            lock.record();
        }
        Ok(())
    }
}

/// Returns the rows of the sessions selected by metadata, with the paths of their logs.
fn known_rows(
    db: &rusqlite::Connection,
    goes: &dyn Fn(&SessionRef, &SessionMeta) -> bool,
) -> rusqlite::Result<Vec<(i64, PathBuf)>> {
    let mut all = db.prepare(
        "SELECT s.id, s.dialect, s.name, s.place, store.name, kept.facts FROM session s
         JOIN store ON store.id=s.store LEFT JOIN kept ON kept.session=s.id",
    )?;
    let mut found = Vec::new();
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let kept: Option<Vec<u8>> = row.get(5)?;
        let meta = kept
            .and_then(Packed::from_bytes)
            .map(|kept| *kept.unpack().meta)
            .unwrap_or_default();
        let (dialect, name): (String, String) = (row.get(1)?, row.get(2)?);
        if goes(&SessionRef::new(dialect, name), &meta) {
            let (place, store): (String, String) = (row.get(3)?, row.get(4)?);
            let root = store.split_once('\n').map_or("", |(_, root)| root);
            let key = place.split_once('\n').map_or("", |(key, _)| key);
            found.push((row.get(0)?, PathBuf::from(root).join(key)));
        }
    }
    Ok(found)
}

/// Returns the rows of the selected sessions.
fn rows(
    db: &rusqlite::Connection,
    gone: &dyn Fn(&SessionRef, &str) -> bool,
) -> rusqlite::Result<Vec<i64>> {
    let mut all = db.prepare("SELECT id, dialect, name, place FROM session")?;
    let mut found = Vec::new();
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let (dialect, name, place): (String, String, String) =
            (row.get(1)?, row.get(2)?, row.get(3)?);
        let key = place
            .split_once('\n')
            .map_or(place.as_str(), |(key, _)| key);
        if gone(&SessionRef::new(dialect, name), key) {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}
