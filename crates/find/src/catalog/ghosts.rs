//! Sessions that are gone, and how they are forgotten.

use std::path::PathBuf;

use boswell_model::{Facts, Result, SessionRef};

use super::Catalog;
use super::kept::Packed;

/// A session whose log is gone.
#[derive(Debug, Clone)]
pub struct Ghost {
    /// Which session it was.
    pub reference: SessionRef,
    /// The root of its store.
    pub root: PathBuf,
    /// What is still known of it.
    pub facts: Facts,
}

impl Catalog {
    /// Sessions that were seen once and are gone.
    pub fn ghosts(&self) -> Result<Vec<Ghost>> {
        let fault = |error| self.fault(error);
        let mut all = self
            .db
            .prepare_cached(
                "SELECT s.dialect, s.name, store.name, kept.facts FROM session s JOIN store ON store.id=s.store
                 LEFT JOIN kept ON kept.session=s.id WHERE s.gone=1 ORDER BY s.id",
            )
            .map_err(fault)?;
        let rows = all.query_map([], |row| {
            let (dialect, name, store): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let kept: Option<Vec<u8>> = row.get(3)?;
            let facts = kept.and_then(Packed::from_bytes).map(|kept| *kept.unpack().facts).unwrap_or_default();
            let root = store.split_once('\n').map_or("", |(_, root)| root).into();
            Ok(Ghost { reference: SessionRef::new(dialect, name), root, facts })
        });
        rows.map_err(fault)?.collect::<rusqlite::Result<_>>().map_err(fault)
    }

    /// Forgets every session that `goes`, also those that are gone: nothing of them stays in the file. Gives back where they were.
    pub fn forget_where(&mut self, goes: &dyn Fn(&SessionRef, &Facts) -> bool) -> Result<Vec<PathBuf>> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        let mut rows = Vec::new();
        {
            let sql = "SELECT s.id, s.dialect, s.name, s.place, store.name, kept.facts FROM session s
                 JOIN store ON store.id=s.store LEFT JOIN kept ON kept.session=s.id";
            let mut all = self.db.prepare_cached(sql).map_err(fault)?;
            let mut found = all.query([]).map_err(fault)?;
            while let Some(row) = found.next().map_err(fault)? {
                let kept: Option<Vec<u8>> = row.get(5).map_err(fault)?;
                let facts = kept.and_then(Packed::from_bytes).map(|kept| *kept.unpack().facts).unwrap_or_default();
                let reference =
                    SessionRef::new(row.get::<_, String>(1).map_err(fault)?, row.get::<_, String>(2).map_err(fault)?);
                if goes(&reference, &facts) {
                    let (place, store): (String, String) = (row.get(3).map_err(fault)?, row.get(4).map_err(fault)?);
                    let root = store.split_once('\n').map_or("", |(_, root)| root);
                    let key = place.split_once('\n').map_or("", |(key, _)| key);
                    rows.push((row.get::<_, i64>(0).map_err(fault)?, PathBuf::from(root).join(key)));
                }
            }
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        self.db.execute_batch("PRAGMA secure_delete=ON").map_err(fault)?;
        let tx = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(fault)?;
        tx.execute_batch("CREATE TEMP TABLE going(id INTEGER PRIMARY KEY)").map_err(fault)?;
        for (row, _) in &rows {
            tx.execute("INSERT OR IGNORE INTO going VALUES(?1)", [row]).map_err(fault)?;
        }
        for table in ["usage", "kept", "account", "claim", "shared"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session IN (SELECT id FROM going)"), []).map_err(fault)?;
        }
        tx.execute("DELETE FROM session WHERE id IN (SELECT id FROM going)", []).map_err(fault)?;
        tx.execute_batch("DROP TABLE going").map_err(fault)?;
        // Rolls may name its folder.
        tx.execute_batch("DELETE FROM roll").map_err(fault)?;
        tx.commit().map_err(fault)?;
        // Pages that were freed before secure deletion was on may still hold what stood there: the file is written anew.
        self.db.execute_batch("VACUUM").map_err(fault)?;
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(fault)?;
        Ok(rows.into_iter().map(|(_, path)| path).collect())
    }

    /// Forgets a session: nothing of it stays in the file.
    pub fn forget(&mut self, reference: &SessionRef) -> Result<()> {
        let path = self.path.clone();
        let fault = |error| super::database::fault(&path, error);
        self.db.execute_batch("PRAGMA secure_delete=ON").map_err(fault)?;
        let tx = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(fault)?;
        let which = [&reference.dialect, &reference.id];
        let of = "SELECT id FROM session WHERE dialect=?1 AND name=?2";
        for table in ["usage", "kept", "account", "claim", "shared"] {
            tx.execute(&format!("DELETE FROM {table} WHERE session IN ({of})"), which).map_err(fault)?;
        }
        // Rolls may name its folder.
        tx.execute_batch("DELETE FROM roll").map_err(fault)?;
        tx.execute("DELETE FROM session WHERE dialect=?1 AND name=?2", which).map_err(fault)?;
        tx.commit().map_err(fault)?;
        // What was deleted still stands in the log of changes until that is cut off.
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(fault)
    }
}
