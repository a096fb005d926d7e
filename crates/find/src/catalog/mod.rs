//! The catalog: a derived SQLite table with one row per session of every store.
//!
//! [`Catalog::refresh`] compares it with every log and returns which changed; [`Catalog::fill`]
//! reads those. The usage of API messages is stored per message, so that statistics count each once
//! (dedupe), however many forks and copies contain it. Everything is derived: a file that is
//! damaged or of another version is recreated. How damage is noticed is described in
//! `docs/adr/0021-checked-catalog.md`.

mod codec;
mod conversation;
mod damage;
mod database;
mod deleted;
mod file_state;
mod filter_keys;
mod fork_families;
mod listing_match;
mod listing_snapshot;
mod load;
mod message_owners;
mod message_usage;
mod packed_meta;
mod read_logs;
mod read_with_index;
mod recent_spending;
mod refresh;
mod row;
mod schema;
mod seal;
mod seen_folders;
mod session_totals;
mod sort_keys;
mod totals;
mod write_transaction;

use std::path::{Path, PathBuf};

use boswell_model::{Error, Result};
use rusqlite::Connection;

use seal::Seal;

pub use conversation::{
    ConversationChanges, ConversationCursor, ConversationOrder, ConversationPage,
    ConversationQuery, ConversationRow, ConversationScope, ConversationSide, ConversationTouches,
    ConversationUpdate, NewConversation, NotesState, SideName, name_key,
};
pub use damage::KnownDamage;
pub use deleted::DeletedSession;
pub use filter_keys::FilterKeys;
pub(crate) use fork_families::Family;
pub(crate) use message_usage::Item;
pub use read_logs::{ReadLogs, WantedRows};
pub use recent_spending::{GrowingLog, KnownLog, RecentSpending};
pub use refresh::Refreshed;
pub use row::CatalogRow;
pub(crate) use session_totals::{Group, Head, Marks, NO_MODEL, Sums, quarter_of};
pub use sort_keys::SortKeys;

/// Returns the usage of every message of a session, read from its log.
#[cfg(test)]
pub(crate) fn messages_of(store: &boswell_store::Store, entry: &CatalogRow) -> Vec<Item> {
    read_logs::read(store, entry, WantedRows::Whole)
        .map(|(_, items)| items)
        .unwrap_or_default()
}

/// The catalog of all sessions.
#[derive(Debug)]
pub struct Catalog {
    db: Connection,
    path: PathBuf,
    /// `None` in memory.
    seal: Option<Seal>,
    /// Device and inode of the file that `db` has open.
    opened: Option<(u64, u64)>,
    /// The revision that the last refresh compared with the files.
    base_rev: i64,
    /// How many revisions this process wrote since.
    own_revs: i64,
}

impl Catalog {
    /// Opens the catalog in a file, which is created if it is missing; its folder must exist.
    pub fn open(path: &Path) -> Result<Catalog> {
        let (db, seal) = database::open(path)?;
        Ok(Catalog {
            db,
            path: path.to_owned(),
            opened: seal.identity(),
            seal: Some(seal),
            base_rev: 0,
            own_revs: 0,
        })
    }

    /// Creates a catalog in memory, for use where nothing can be written.
    pub fn in_memory() -> Result<Catalog> {
        Ok(Catalog {
            db: database::in_memory()?,
            path: PathBuf::from("catalog in memory"),
            seal: None,
            opened: None,
            base_rev: 0,
            own_revs: 0,
        })
    }

    /// Whether the catalog is in memory.
    pub fn is_in_memory(&self) -> bool {
        self.seal.is_none()
    }

    /// Deletes the file and starts again.
    fn recreate(&mut self) -> Result<()> {
        // The file must be closed before it is removed.
        self.db = database::in_memory()?;
        if let Some(seal) = &self.seal {
            let lock = seal.lock(database::PATIENCE)?;
            self.db = database::recreate(&self.path)?;
            lock.record();
            self.opened = seal.identity();
        }
        Ok(())
    }

    fn fault(&self, error: rusqlite::Error) -> Error {
        database::fault(&self.path, error)
    }
}
