//! The catalog: every session of every store, with what is known of it.
//!
//! A table in a file of boswell's own. [`Catalog::refresh`] looks at every log once and says which
//! changed; [`Catalog::fill`] reads those. What an API message cost is kept message by message, so
//! that statistics count each once, in however many forks and copies it stands. Everything is
//! derived: a file that is damaged or of another version is made anew.

mod account;
mod accounts;
mod claims;
mod database;
mod entry;
mod fill;
mod folders;
mod ghosts;
mod glance;
mod kept;
mod ledger;
mod lineage;
mod listed;
mod load;
mod packing;
mod refresh;
mod roll;
mod state;
mod traits;

use std::path::{Path, PathBuf};

use boswell_model::{Error, Result};
use rusqlite::Connection;

pub(crate) use account::{Group, Head, Marks, NO_MODEL, Sums, day_of};
pub use entry::Entry;
pub use fill::{Filled, Wanted};
pub use ghosts::Ghost;
pub use glance::Glance;
pub(crate) use ledger::Item;
pub(crate) use lineage::Family;
pub use refresh::Refreshed;
pub use traits::Traits;

/// What every message of a session cost, by its log alone.
#[cfg(test)]
pub(crate) fn messages_of(store: &boswell_store::Store, entry: &Entry) -> Vec<Item> {
    fill::read(store, entry, Wanted::Whole)
        .map(|(_, items)| items)
        .unwrap_or_default()
}

/// The table of every session.
#[derive(Debug)]
pub struct Catalog {
    db: Connection,
    path: PathBuf,
    in_memory: bool,
}

impl Catalog {
    /// Opens the catalog in a file, made if it is not there; its folder must be.
    pub fn open(path: &Path) -> Result<Catalog> {
        Ok(Catalog {
            db: database::open(path)?,
            path: path.to_owned(),
            in_memory: false,
        })
    }

    /// A catalog that ends with the process, for where nothing can be written.
    pub fn in_memory() -> Result<Catalog> {
        Ok(Catalog {
            db: database::in_memory()?,
            path: PathBuf::from("catalog in memory"),
            in_memory: true,
        })
    }

    /// Whether it ends with the process.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// Throws it away and begins again.
    fn make_anew(&mut self) -> Result<()> {
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
