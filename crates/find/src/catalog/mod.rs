//! The catalog: every session of every store, with what is known of it.
//!
//! A table in a file of boswell's own. [`Catalog::refresh`] looks at every log once and says which
//! changed; [`Catalog::fill`] reads those. What an API message cost is kept message by message, so
//! that statistics count each once, in however many forks and copies it stands. Everything is
//! derived: a file that is damaged or of another version is made anew.

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
mod refresh;
mod row;
mod seen_folders;
mod session_totals;
mod sort_keys;
mod totals;

use std::path::{Path, PathBuf};

use boswell_model::{Error, Result};
use rusqlite::Connection;

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
pub use refresh::Refreshed;
pub use row::CatalogRow;
pub(crate) use session_totals::{Group, Head, Marks, NO_MODEL, Sums, day_of};
pub use sort_keys::SortKeys;

/// What every message of a session cost, by its log alone.
#[cfg(test)]
pub(crate) fn messages_of(store: &boswell_store::Store, entry: &CatalogRow) -> Vec<Item> {
    read_logs::read(store, entry, WantedRows::Whole)
        .map(|(_, items)| items)
        .unwrap_or_default()
}

/// The table of every session.
#[derive(Debug)]
pub struct Catalog {
    db: Connection,
    path: PathBuf,
    in_memory: bool,
    /// The revision of what the last refresh compared with the files.
    base_rev: i64,
    /// How many revisions were made by this process since.
    own_revs: i64,
}

impl Catalog {
    /// Opens the catalog in a file, made if it is not there; its folder must be.
    pub fn open(path: &Path) -> Result<Catalog> {
        Ok(Catalog {
            db: database::open(path)?,
            path: path.to_owned(),
            in_memory: false,
            base_rev: 0,
            own_revs: 0,
        })
    }

    /// A catalog that ends with the process, for where nothing can be written.
    pub fn in_memory() -> Result<Catalog> {
        Ok(Catalog {
            db: database::in_memory()?,
            path: PathBuf::from("catalog in memory"),
            in_memory: true,
            base_rev: 0,
            own_revs: 0,
        })
    }

    /// Whether it ends with the process.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// Throws it away and begins again.
    fn recreate(&mut self) -> Result<()> {
        if self.in_memory {
            self.db = database::in_memory()?;
            return Ok(());
        }
        // The file must be closed before it is removed.
        self.db = database::in_memory()?;
        database::remove(&self.path)?;
        self.db = database::open(&self.path)?;
        Ok(())
    }

    fn fault(&self, error: rusqlite::Error) -> Error {
        database::fault(&self.path, error)
    }
}
