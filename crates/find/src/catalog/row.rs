//! A row of the catalog: a session that a listing found, with its stored columns.

use std::sync::{Arc, OnceLock};

use boswell_dialect::{Files, SessionLocation};
use boswell_model::{Result, SessionMeta, SessionRef};
use boswell_store::Store;
use boswell_store::store::{StoreId, Summary};

use super::filter_keys::FilterKeys;
use super::message_usage::Item;
use super::packed_meta::Packed;
use super::seen_folders::SeenFolders;
use super::sort_keys::SortKeys;

/// The generation of a row that could not be written: the index must not rely on it.
pub(super) const UNSETTLED: u64 = u64::MAX >> 1;
/// The sum of side files that cannot be read.
const UNREADABLE: i64 = -1;

/// A session that a listing found, with what the catalog knows about it.
#[derive(Debug, Clone)]
pub struct CatalogRow {
    /// The store that contains it.
    pub store: StoreId,
    /// Its location in the store.
    pub location: SessionLocation,
    /// Grows when its bytes were changed in another way than by appending.
    pub generation: u64,
    pub(super) row: i64,
    /// The sort keys; `None` if the log was not read yet.
    pub(super) sort_keys: Option<SortKeys>,
    /// The filter keys; known if the sort keys are.
    pub(super) filter_keys: Option<Arc<FilterKeys>>,
    /// The rest of the metadata, once it was loaded.
    pub(super) kept: Option<Packed>,
    /// The length of the log that the columns describe; `None` if there are none.
    pub(super) upto: Option<u64>,
    /// The usage of its messages, if it could not be written to the database.
    pub(super) items: Vec<Item>,
    /// Whether the log is the only source of data about the session.
    alone: bool,
    /// Whether there is a folder of side files, in which the agent may store more data.
    folder: bool,
    /// A hash of the data in those side files.
    side_sum: OnceLock<i64>,
    /// The folders that the listing saw.
    pub(super) folders: Arc<SeenFolders>,
}

impl CatalogRow {
    /// Creates a row without stored data.
    pub(super) fn new(
        store: StoreId,
        location: SessionLocation,
        folders: &Arc<SeenFolders>,
        side_files: &mut dyn FnMut(&str) -> bool,
    ) -> CatalogRow {
        let folders = Arc::clone(folders);
        let folder = location.key.as_deref().is_some_and(&mut *side_files);
        let alone = location.key.is_some() && location.row.is_none() && !folder;
        CatalogRow {
            store,
            location,
            generation: UNSETTLED,
            row: 0,
            sort_keys: None,
            filter_keys: None,
            kept: None,
            upto: None,
            items: Vec::new(),
            alone,
            folder,
            side_sum: OnceLock::new(),
            folders,
        }
    }

    /// Whether its generation was written, so that the index may rely on it.
    pub fn is_settled(&self) -> bool {
        self.generation != UNSETTLED
    }

    /// Whether the columns describe the current log, and all of it was read.
    pub fn is_current(&self) -> bool {
        self.upto == Some(self.location.size) && self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.sort_keys.as_ref().is_some_and(SortKeys::is_complete)
    }

    /// Returns the sort keys; `None` if side files contribute, so that only a summary has the data.
    pub fn sort_keys(&self) -> Option<SortKeys> {
        self.sort_keys.filter(|_| self.stands_alone())
    }

    /// Returns the filter keys, under the same condition.
    pub fn filter_keys(&self) -> Option<&FilterKeys> {
        self.filter_keys.as_deref().filter(|_| self.stands_alone())
    }

    /// Whether the log is the only source of data about the session: no index row, no folder of
    /// side files.
    pub fn stands_alone(&self) -> bool {
        self.alone
    }

    /// Returns the title that its log states, if it is known.
    pub fn title_in_log(&self) -> Option<&str> {
        self.kept
            .as_ref()
            .filter(|_| self.is_whole() && self.location.row.is_none())?
            .title()
    }

    /// Returns the files of its store, without lookups of those that its listing did not see.
    pub(crate) fn files<'e>(&'e self, store: &'e Store) -> impl Files + 'e {
        self.folders.files(store.backend())
    }

    /// Drops the stored data, so that its log is read again.
    pub fn forget(&mut self) {
        (self.sort_keys, self.filter_keys, self.kept, self.upto) = (None, None, None, None);
    }

    /// Frees the loaded data; it can be loaded again.
    pub fn let_go(&mut self) {
        if self.row != 0 {
            self.kept = None;
        }
    }

    /// Drops everything that was written about it.
    pub(super) fn unsettle(&mut self) {
        self.forget();
        (self.row, self.generation) = (0, UNSETTLED);
    }

    /// Whether the columns were read from the current log.
    pub fn is_fresh(&self) -> bool {
        self.upto == Some(self.location.size) && self.sort_keys.is_some()
    }

    /// Whether the columns describe an earlier state of the log that was only appended to since.
    pub fn is_known(&self) -> bool {
        self.upto.is_some() && self.sort_keys.is_some()
    }

    /// Whether there is a folder of side files, in which the agent may store more data.
    pub(super) fn has_folder(&self) -> bool {
        self.folder
    }

    /// Returns a hash of the data in side files; 0 if there is none. They have no revision, so only
    /// their contents show a change.
    pub(super) fn side_sum(&self, store: &Store) -> i64 {
        if let Some(sum) = self.side_sum.get() {
            return *sum;
        }
        let mut meta = SessionMeta::default();
        // A title in the log has priority, so side files are not read for it.
        if self.sort_keys.is_some_and(|keys| keys.is_titled()) {
            meta.title = Some(String::new());
        }
        match self.add_side_meta(store, &mut meta) {
            Ok(()) => self.side_sum.get().copied().unwrap_or(0),
            Err(_) => UNREADABLE,
        }
    }

    fn add_side_meta(&self, store: &Store, meta: &mut SessionMeta) -> Result<()> {
        let (was_titled, was_archived) = (meta.title.is_some(), meta.archived);
        store
            .dialect()
            .add_side_meta(&self.files(store), &self.location, meta)?;
        if self.folder {
            let title = meta.title.as_deref().filter(|_| !was_titled);
            let archived = meta.archived && !was_archived;
            let mut sum = crc32fast::Hasher::new();
            title
                .into_iter()
                .for_each(|title| sum.update(title.as_bytes()));
            sum.update(&[u8::from(title.is_some()), u8::from(archived)]);
            let says = title.is_some() || archived;
            let sum = if says { i64::from(sum.finalize()) } else { 0 };
            let _ = self.side_sum.set(sum);
        }
        Ok(())
    }

    /// Returns the summary for lists, once the row was [loaded](super::Catalog::load).
    ///
    /// Counts are omitted unless all of the current log was read. Data in side files is read here.
    pub fn summary(&self, store: &Store) -> Result<Summary> {
        let kept = self.kept.as_ref().map(Packed::unpack).unwrap_or_default();
        let complete = self.is_current();
        let mut meta = kept.meta;
        self.add_side_meta(store, &mut meta)?;
        Ok(Summary {
            reference: SessionRef::new(store.dialect().name(), &self.location.id),
            location: self.location.clone(),
            path: self
                .location
                .key
                .as_deref()
                .map(|key| store.backend().describe(key)),
            meta,
            complete,
            records: kept.records,
            leaf: kept.leaf.filter(|_| complete),
            conversation: kept.conversation,
            gaps: kept.gaps,
        })
    }
}
