//! A session of the catalog.

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

/// The generation of what could not be written down: the index must not rely on it.
pub(super) const UNSETTLED: u64 = u64::MAX >> 1;
/// Stands for files beside a log that cannot be read.
const UNREADABLE: i64 = -1;

/// A session that a listing found, with what the catalog knows of it.
#[derive(Debug, Clone)]
pub struct CatalogRow {
    /// The store that holds it.
    pub store: StoreId,
    /// Where it is there.
    pub location: SessionLocation,
    /// Grows when its bytes were changed other than by appending.
    pub generation: u64,
    pub(super) row: i64,
    /// The few things that are known without reading the rest; none if nothing is.
    pub(super) sort_keys: Option<SortKeys>,
    /// What it can be chosen by; known if the glance is.
    pub(super) filter_keys: Option<Arc<FilterKeys>>,
    /// The rest, once it was loaded.
    pub(super) kept: Option<Packed>,
    /// For which length of the log both hold; none if for none.
    pub(super) upto: Option<u64>,
    /// What it cost, where that could not be written down.
    pub(super) items: Vec<Item>,
    /// Whether its log is all that says something of it.
    alone: bool,
    /// Whether a folder is beside its log, in which the agent may say more of it.
    folder: bool,
    /// A sum of what the files in that folder were found to say.
    side_sum: OnceLock<i64>,
    /// The folders that the listing saw.
    pub(super) folders: Arc<SeenFolders>,
}

impl CatalogRow {
    /// A session about which nothing is written down.
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

    /// Whether its generation was written down, so that the index may rely on it.
    pub fn is_settled(&self) -> bool {
        self.generation != UNSETTLED
    }

    /// Whether all that is known of it holds for the log as it is now, and the
    /// whole of it was read.
    pub fn is_current(&self) -> bool {
        self.upto == Some(self.location.size) && self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.sort_keys.as_ref().is_some_and(SortKeys::is_complete)
    }

    /// What is known of it at a glance; none where only a summary tells, because files
    /// beside the log have a say.
    pub fn sort_keys(&self) -> Option<SortKeys> {
        self.sort_keys.filter(|_| self.stands_alone())
    }

    /// What it can be chosen by, under the same condition.
    pub fn filter_keys(&self) -> Option<&FilterKeys> {
        self.filter_keys.as_deref().filter(|_| self.stands_alone())
    }

    /// Whether its log is all that says something of it: no index has a row for it and no
    /// folder stands beside it.
    pub fn stands_alone(&self) -> bool {
        self.alone
    }

    /// The title that its log is known to state.
    pub fn title_in_log(&self) -> Option<&str> {
        self.kept
            .as_ref()
            .filter(|_| self.is_whole() && self.location.row.is_none())?
            .title()
    }

    /// The files of its store, of which those that its listing cannot have seen are not looked for.
    pub(crate) fn files<'e>(&'e self, store: &'e Store) -> impl Files + 'e {
        self.folders.files(store.backend())
    }

    /// Forgets what is kept of it, so that its log is read again.
    pub fn forget(&mut self) {
        (self.sort_keys, self.filter_keys, self.kept, self.upto) = (None, None, None, None);
    }

    /// Takes what was loaded of it out of memory; it can be loaded again.
    pub fn let_go(&mut self) {
        if self.row != 0 {
            self.kept = None;
        }
    }

    /// Forgets all that is written down of it.
    pub(super) fn unsettle(&mut self) {
        self.forget();
        (self.row, self.generation) = (0, UNSETTLED);
    }

    /// Whether what is known of it was read from the log as it is now.
    pub(super) fn is_fresh(&self) -> bool {
        self.upto == Some(self.location.size) && self.sort_keys.is_some()
    }

    /// Whether anything is known that was true of the log once and was not rewritten since.
    pub(super) fn is_known(&self) -> bool {
        self.upto.is_some() && self.sort_keys.is_some()
    }

    /// Whether a folder is beside its log, in which the agent may say more of it.
    pub(super) fn has_folder(&self) -> bool {
        self.folder
    }

    /// A sum of what files beside the log say; 0 if nothing. They have no revision, so only their
    /// contents tell whether they changed.
    pub(super) fn side_sum(&self, store: &Store) -> i64 {
        if let Some(sum) = self.side_sum.get() {
            return *sum;
        }
        let mut meta = SessionMeta::default();
        // What the log states is not looked for beside it.
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

    /// What a list shows of it, once that was [loaded](super::Catalog::load).
    ///
    /// Counts are left out unless the whole log was read as it is now. What stands in
    /// side files is read here.
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
