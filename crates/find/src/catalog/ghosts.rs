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
