//! Sources of the search index, and how much of them it covers.
//!
//! After an answer the index is extended for at most one second (`index_a_little`). Memory files
//! are sources too.

use std::collections::HashSet;
use std::time::Duration;

use boswell_find::{Index, Progress, Source, StoreSources};
use boswell_model::{ErrorKind, Result, SessionRef};
use boswell_store::Store;
use boswell_store::disk::{RealDisk, durable};
use boswell_store::store::{StoreId, Summary};

use super::SessionIndex;
use crate::RequestContext;
use crate::sessions::filter::Side;
use crate::sessions::notes_overlay::NotesOverlay;
use crate::system::{until, workers};

/// The progress of an index that covers everything.
const NOTHING_LEFT: Progress = Progress {
    sources: 0,
    bytes: 0,
    failed: 0,
    complete: true,
};

/// How long the index is updated after a search.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// Receives the index of every session among the rows, and its filter columns.
type FilterKeySink<'l> = &'l mut dyn FnMut(usize, &Side<'_>);

impl SessionIndex {
    /// Returns the search index; an empty one if none can be stored.
    pub(crate) fn index(&self) -> Index {
        Index::open(&self.index)
    }

    /// Continues to update the index for a short time, after the answer was given. Failures are
    /// retried next time.
    pub(crate) fn index_a_little(&self, index: &Index, sources: &StoreSources) {
        self.index_a_little_while(index, sources, &|| true);
    }

    /// As above, while `go_on` returns true.
    pub(crate) fn index_a_little_while(
        &self,
        index: &Index,
        sources: &StoreSources,
        go_on: &dyn Fn() -> bool,
    ) {
        let time = until(AFTERWARDS);
        let _ = self.index_until(index, sources, &mut || time() && go_on());
    }

    /// Updates the index until `go_on` returns false.
    pub(crate) fn index_until(
        &self,
        index: &Index,
        sources: &StoreSources,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        if self.unkept.is_some() {
            return Ok(Progress::default());
        }
        match self.behind(index, sources)? {
            Some(behind) => index.update_in_parallel(behind, sources, workers(), go_on),
            None => Ok(NOTHING_LEFT),
        }
    }

    /// Returns the sources that the index does not cover, if there are any; drops those that are
    /// gone, and makes room for the index.
    fn behind(&self, index: &Index, sources: &StoreSources) -> Result<Option<Vec<Source>>> {
        let backlog = index.backlog(sources.settled());
        // If stores were named, the others are not visible, so their sources are not known to be
        // deleted.
        if backlog.strangers && !self.stores_are_named {
            let here: HashSet<_> = sources
                .sources()
                .iter()
                .map(|source| &source.reference)
                .collect();
            index.retain(&|reference| here.contains(reference))?;
        }
        if backlog.behind.is_empty() {
            return Ok(None);
        }
        durable::make_folders(&RealDisk, &self.index)?;
        Ok(Some(backlog.behind.into_iter().cloned().collect()))
    }

    /// Updates the index until `go_on` returns false, and the catalog with what is read for it:
    /// on a first run no log is read twice.
    pub(crate) fn read_with_index(
        &mut self,
        cx: &RequestContext,
        index: &Index,
        sources: &mut StoreSources,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        match self.try_with_index(cx, index, sources, go_on) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate(cx)?;
                *sources = self.indexed_sources(cx)?;
                self.try_with_index(cx, index, sources, go_on)
            }
            done => done,
        }
    }

    fn try_with_index(
        &mut self,
        cx: &RequestContext,
        index: &Index,
        sources: &StoreSources,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Progress> {
        let Some(behind) = self.behind(index, sources)? else {
            return Ok(NOTHING_LEFT);
        };
        let sessions = (&cx.stores, self.entries.as_mut_slice());
        let (progress, unwritten) =
            self.catalog
                .read_with_index(sessions, (index, sources), behind, workers(), go_on)?;
        self.unkept = self.unkept.take().or(unwritten);
        Ok(progress)
    }

    /// Returns the logs of all sessions, with their places among the rows, and memory: what the
    /// index covers.
    pub(crate) fn indexed_sources(&self, cx: &RequestContext) -> Result<StoreSources> {
        let mut sources = StoreSources::with_capacity(self.entries.len());
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some(store) = cx.stores.get(entry.store) {
                sources.add_log(index, store, entry);
            }
        }
        self.with_memory(cx, sources)
    }

    /// Returns everything that can be searched: `summaries` in order, then memory.
    pub(crate) fn sources(
        &self,
        cx: &RequestContext,
        summaries: &[(usize, StoreId, Summary)],
    ) -> Result<StoreSources> {
        let mut sources = StoreSources::with_capacity(summaries.len());
        for (place, (index, store, summary)) in summaries.iter().enumerate() {
            let Some((store, entry)) = cx.stores.get(*store).zip(self.entries.get(*index)) else {
                continue;
            };
            sources.add_session(place, store, summary, entry);
        }
        self.with_memory(cx, sources)
    }

    /// Whether a row is this session.
    pub(crate) fn is_session(
        &self,
        cx: &RequestContext,
        index: usize,
        session: &SessionRef,
    ) -> bool {
        let entry = self.entries.get(index);
        entry.is_some_and(|entry| {
            let store = cx.stores.get(entry.store);
            entry.location.id == session.id
                && store.is_some_and(|store| store.dialect().name() == session.dialect)
        })
    }

    /// As [`SessionIndex::sources`], by indexes among the rows. Few need their summary; for the
    /// others `look` gets the filter columns of the catalog.
    pub(crate) fn sources_by_filter_keys(
        &mut self,
        cx: &RequestContext,
        mut look: Option<FilterKeySink<'_>>,
    ) -> Result<StoreSources> {
        let noted = NotesOverlay::read(cx)?;
        let errors = self.session_errors.iter();
        let failed: HashSet<usize> = errors.map(|(index, _)| *index).collect();
        let mut sources = StoreSources::with_capacity(self.entries.len());
        for index in (0..self.entries.len()).filter(|index| !failed.contains(index)) {
            let Some(entry) = self.entries.get(index) else {
                continue;
            };
            let Some(store) = cx.stores.get(entry.store) else {
                continue;
            };
            let dialect = store.dialect().name();
            // A title may be in an index, in a side file, or in a note.
            if entry.stands_alone() && !noted.speaks_of(dialect, &entry.location.id) {
                match (&mut look, entry.filter_keys()) {
                    (None, _) => {
                        sources.add_log(index, store, entry);
                        continue;
                    }
                    (Some(look), Some(filter_keys)) => {
                        look(index, &Side::alone(dialect, filter_keys));
                        sources.add_alone(index, store, filter_keys, entry);
                        continue;
                    }
                    _ => {}
                }
            }
            let Some((_, mut summary)) = self.summary(cx, index)? else {
                continue;
            };
            noted.add_to(std::iter::once(&mut summary));
            if let Some(look) = &mut look {
                look(index, &Side::of(&summary));
            }
            if let Some(entry) = self.entries.get(index) {
                sources.add_session(index, store, &summary, entry);
            }
        }
        self.with_memory(cx, sources)
    }

    fn with_memory(&self, cx: &RequestContext, mut sources: StoreSources) -> Result<StoreSources> {
        for (id, store) in cx.stores.iter() {
            let entry = self.entries.partition_point(|entry| entry.store < id);
            let entry = self.entries.get(entry).filter(|entry| entry.store == id);
            // A store whose memory cannot be listed is reported with its sessions.
            let _ = sources.add_memory(store, entry);
        }
        if let Some((home, own)) = cx.home.as_ref().zip(boswell_dialect::by_name("boswell")) {
            own_memory(cx, &Store::in_folder(own, home), &mut sources)?;
        }
        Ok(sources)
    }
}

/// Adds boswell's own memory pages of every project.
fn own_memory(cx: &RequestContext, store: &Store, sources: &mut StoreSources) -> Result<()> {
    for project in store
        .backend()
        .list("memory")?
        .iter()
        .filter(|info| info.is_folder())
    {
        if cx.exclusion.is_some() {
            let folder = store
                .file(&format!("{}/.project", project.key), 64 << 10)?
                .unwrap_or_default();
            if !cx.shows(Some(String::from_utf8_lossy(&folder).trim())) {
                continue;
            }
        }
        for page in store.backend().list(&project.key)? {
            if page.is_file() && page.name().ends_with(".md") {
                sources.add_text(store, &page, project.name().to_owned());
            }
        }
    }
    Ok(())
}
