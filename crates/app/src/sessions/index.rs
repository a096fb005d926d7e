//! Catalog and search index in boswell's home, with a fallback in memory.

mod conversations;
mod first_read;
mod sources;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use boswell_find::{
    Catalog, CatalogRow, DeletedSession, Grouping, Index, ReadLogs, Tally, WantedRows,
};
use boswell_model::{Error, ErrorKind, Result, SessionRef};
use boswell_store::disk::{RealDisk, Sleep, durable};
use boswell_store::links::Conversation;
use boswell_store::store::{StoreId, Summaries, Summary};

use crate::RequestContext;
use crate::exclusion_purge;
use crate::system::{until, workers};
pub(crate) use conversations::LogsRead;
pub(crate) use conversations::join;
#[cfg(test)]
pub(crate) use conversations::row;

/// How long a list may read logs for counts before it returns without them.
const LISTING: Duration = Duration::from_millis(300);

/// Whether boswell's home is created if it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Create {
    Yes,
    No,
}

/// Whether a conversation is selected, by the indexes of its sides.
pub(crate) type IsMeant<'c> = Box<dyn Fn(&[usize]) -> bool + 'c>;
/// Returns the function that selects conversations.
type Choose<'c> = &'c dyn Fn(&mut SessionIndex) -> Result<IsMeant<'c>>;

/// All sessions from the catalog.
#[derive(Debug)]
pub(crate) struct SessionIndex {
    catalog: Catalog,
    pub(crate) entries: Vec<CatalogRow>,
    /// Stores that could be listed.
    listed: Vec<StoreId>,
    store_errors: Vec<(StoreId, Error)>,
    session_errors: Vec<(usize, Error)>,
    /// Why nothing is stored for the next request.
    pub(crate) unkept: Option<Error>,
    index: PathBuf,
    /// Whether sessions of stores that were not named may be missing.
    stores_are_named: bool,
    exits_soon: bool,
}

impl SessionIndex {
    /// Opens the catalog, in memory if none can be stored, and compares it with every log.
    pub(crate) fn create(cx: &RequestContext) -> Result<SessionIndex> {
        let opened = SessionIndex::open(cx, Create::Yes)?;
        opened.ok_or_else(|| {
            let what = "the catalog was neither opened nor refused";
            Error::new(ErrorKind::Internal, what)
        })
    }

    /// Opens the catalog and compares it with every log. Without [`Create::Yes`], returns `None` if
    /// there is no place for a catalog.
    pub(crate) fn open(cx: &RequestContext, create: Create) -> Result<Option<SessionIndex>> {
        let (catalog, mut unkept) = match kept_catalog(cx, create) {
            Ok(Some(catalog)) => (catalog, None),
            Ok(None) => return Ok(None),
            Err(_) if create == Create::No => return Ok(None),
            Err(error) => (Catalog::in_memory()?, Some(error)),
        };
        let mut catalog = catalog;
        if !catalog.is_in_memory() {
            exclusion_purge::settle_or_warn(cx);
        }
        let refreshed = catalog.refresh(&cx.stores, cx.now)?;
        unkept = unkept.or(refreshed.unwritten);
        let index = match &cx.home {
            Some(home) if unkept.is_none() => home.join("index"),
            // A path that cannot exist: an index that is empty and stays empty.
            _ => PathBuf::from("/dev/null/index"),
        };
        Ok(Some(SessionIndex {
            catalog,
            entries: refreshed.entries,
            listed: refreshed.listed,
            store_errors: refreshed.store_errors,
            session_errors: Vec::new(),
            unkept,
            index,
            stores_are_named: cx.named_stores,
            exits_soon: cx.exits_soon,
        }))
    }

    /// Reads incomplete sessions until the time is up, and loads the rows.
    pub(crate) fn fill(
        &mut self,
        cx: &RequestContext,
        wanted: WantedRows,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<ReadLogs> {
        let filled = self.read(cx, wanted, go_on)?;
        let known = |entries: &[CatalogRow]| entries.iter().filter(|it| it.is_known()).count();
        let before = known(&self.entries);
        match self.catalog.load_all(&mut self.entries) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate(cx)?;
                self.read(cx, wanted, go_on)?;
                self.catalog.load_all(&mut self.entries)?;
                Ok(filled)
            }
            // Facts that were there at the refresh are gone: another process deleted them.
            Ok(()) if known(&self.entries) < before => self.read(cx, wanted, go_on),
            done => done.map(|()| filled),
        }
    }

    /// As above, without loading.
    pub(crate) fn read(
        &mut self,
        cx: &RequestContext,
        wanted: WantedRows,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<ReadLogs> {
        let mut filled =
            match self
                .catalog
                .read_missing(&cx.stores, &mut self.entries, wanted, workers(), go_on)
            {
                Err(error) if error.kind() == ErrorKind::Damaged => {
                    self.recreate(cx)?;
                    self.catalog.read_missing(
                        &cx.stores,
                        &mut self.entries,
                        wanted,
                        workers(),
                        go_on,
                    )?
                }
                done => done?,
            };
        self.session_errors.append(&mut filled.errors);
        if self.unkept.is_none() {
            self.unkept = filled.unwritten.take();
        }
        Ok(filled)
    }

    /// Returns the sums over the selected conversations. `choose` selects them by the indexes of
    /// their sides; it is called again if the catalog has to be rebuilt.
    pub(crate) fn tally(
        &mut self,
        cx: &RequestContext,
        by: &Grouping,
        choose: Choose<'_>,
    ) -> Result<Tally> {
        let meant = choose(self)?;
        match self
            .catalog
            .tally(&cx.stores, &self.entries, by.clone(), &meant)
        {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate(cx)?;
                self.read(cx, WantedRows::Whole, &|| true)?;
                let meant = choose(self)?;
                self.catalog
                    .tally(&cx.stores, &self.entries, by.clone(), &meant)
            }
            done => done,
        }
    }

    /// Recreates the catalog. Damage may be found only when a page is read; then nothing of the
    /// file is trusted.
    fn recreate(&mut self, cx: &RequestContext) -> Result<()> {
        let refreshed = self.catalog.rebuild(&cx.stores, cx.now)?;
        (self.entries, self.listed) = (refreshed.entries, refreshed.listed);
        self.session_errors.clear();
        Ok(())
    }

    /// Reads what a list needs about every session; counts of large logs are omitted if there is no
    /// time.
    pub(crate) fn read_for_list(&mut self, cx: &RequestContext) -> Result<()> {
        self.read(cx, WantedRows::Whole, &until(LISTING))?;
        self.read(cx, WantedRows::Ends, &|| true)?;
        Ok(())
    }

    /// Returns how many sessions could be read.
    pub(crate) fn readable(&self) -> usize {
        let failed: HashSet<usize> = self
            .session_errors
            .iter()
            .map(|(index, _)| *index)
            .collect();
        self.entries.len() - failed.len()
    }

    /// Loads the rows of all sessions, if many of them will be shown.
    pub(crate) fn load_many(&mut self, wanted: usize) -> Result<()> {
        // A lookup of one row costs about as much as scanning thirty.
        if wanted > self.entries.len() / 32 {
            match self.catalog.load_all(&mut self.entries) {
                // Each row is requested again when it is shown, and its log is read if necessary.
                Err(error) if error.kind() == ErrorKind::Damaged => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Returns the summary of one session; `None` if it could not be read.
    pub(crate) fn summary(
        &mut self,
        cx: &RequestContext,
        index: usize,
    ) -> Result<Option<(StoreId, Summary)>> {
        let failed = self
            .session_errors
            .iter()
            .any(|(failed, _)| *failed == index);
        let Some(entry) = self.entries.get_mut(index).filter(|_| !failed) else {
            return Ok(None);
        };
        let Some(store) = cx.stores.get(entry.store) else {
            return Ok(None);
        };
        let was_known = entry.is_known();
        match self.catalog.load(entry) {
            Err(error) if error.kind() == ErrorKind::Damaged => entry.forget(),
            done => done?,
        }
        // The stored row is damaged, or another process deleted it, so the log is read. The file
        // may be damaged as a whole, so the facts are kept for this request only.
        if was_known && !entry.is_known() {
            let one = std::slice::from_mut(entry);
            let mut apart = Catalog::in_memory()?;
            let read = apart.read_missing(&cx.stores, one, WantedRows::Ends, 1, &|| true)?;
            if let Some((_, error)) = read.errors.into_iter().next() {
                self.session_errors.push((index, error));
                return Ok(None);
            }
        }
        match entry.summary(store) {
            Ok(summary) => Ok(Some((entry.store, summary))),
            Err(error) => {
                self.session_errors.push((index, error));
                Ok(None)
            }
        }
    }

    /// Returns conversations as a list shows them; counts of large logs are omitted if there was no
    /// time.
    pub(crate) fn conversations(
        &mut self,
        cx: &RequestContext,
    ) -> Result<(Vec<Conversation>, Summaries)> {
        self.read_for_list(cx)?;
        self.fill(cx, WantedRows::Ends, &|| true)?;
        let sessions = self
            .summaries(cx)
            .into_iter()
            .map(|(_, store, summary)| (store, summary))
            .collect();
        Ok((cx.stores.joined(sessions), self.rest()))
    }

    /// Returns the summary of each session, with its index among the rows. Unreadable ones are
    /// omitted.
    pub(crate) fn summaries(&mut self, cx: &RequestContext) -> Vec<(usize, StoreId, Summary)> {
        let mut out = Vec::with_capacity(self.entries.len());
        self.each_summary(cx, &mut |index, store, summary| {
            out.push((index, store, summary))
        });
        out
    }

    /// As [`SessionIndex::summaries`], one by one.
    pub(crate) fn each_summary(
        &mut self,
        cx: &RequestContext,
        sink: &mut dyn FnMut(usize, StoreId, Summary),
    ) {
        for (index, entry) in self.entries.iter().enumerate() {
            let Some(store) = cx.stores.get(entry.store) else {
                continue;
            };
            if self
                .session_errors
                .iter()
                .any(|(failed, _)| *failed == index)
            {
                continue;
            }
            match entry.summary(store) {
                Ok(summary) => sink(index, entry.store, summary),
                Err(error) => self.session_errors.push((index, error)),
            }
        }
    }

    /// Adds notices about why nothing was stored, and what could not be read.
    pub(crate) fn note_rest(&mut self, cx: &RequestContext) {
        say_unkept(cx, self.unkept.as_ref());
        crate::list::warn_about(cx, self.rest());
    }

    /// Returns what could not be read.
    pub(crate) fn rest(&mut self) -> Summaries {
        let mut rest = Summaries {
            store_errors: std::mem::take(&mut self.store_errors),
            ..Summaries::default()
        };
        let mut errors = std::mem::take(&mut self.session_errors);
        errors.sort_by_key(|(index, _)| *index);
        errors.dedup_by_key(|(index, _)| *index);
        for (index, error) in errors {
            if let Some(entry) = self.entries.get(index) {
                rest.session_errors
                    .push((entry.store, entry.location.clone(), error));
            }
        }
        rest
    }

    /// Returns sessions that existed once and were deleted, as far as the catalog knows them.
    pub(crate) fn deleted_sessions(&mut self, cx: &RequestContext) -> Result<Vec<DeletedSession>> {
        match self.catalog.deleted_sessions() {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                self.recreate(cx)?;
                self.catalog.deleted_sessions()
            }
            done => done,
        }
    }

    /// Drops the rows. Freeing each takes longer than many lists, so a process that exits soon
    /// leaves them to the operating system.
    pub(crate) fn leave(mut self) {
        if self.exits_soon {
            std::mem::forget(std::mem::take(&mut self.entries));
        }
    }
}

fn kept_catalog(cx: &RequestContext, create: Create) -> Result<Option<Catalog>> {
    let home = match (&cx.home, create) {
        (Some(home), _) if cx.is_read_only() => {
            return if create == Create::No {
                Ok(None)
            } else {
                Err(Error::new(
                    ErrorKind::Denied,
                    format!("nothing is kept in `{}`", home.display()),
                )
                .because("boswell may only read"))
            };
        }
        (Some(home), _) => home,
        (None, Create::No) => return Ok(None),
        (None, Create::Yes) => cx.home()?,
    };
    if create == Create::No && !home.is_dir() {
        return Ok(None);
    }
    if !home.is_dir() {
        durable::make_folders(&RealDisk, home)?;
    }
    Catalog::open(&home.join("catalog.db")).map(Some)
}

/// How often a catalog or index that another process uses is tried again, and the pause in between.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(100);

/// Removes sessions from catalog and index, if they exist. `is_gone` gets the session and the key
/// of its log, `is_own_path` the path of a file.
pub(crate) fn forget(
    home: &Path,
    is_gone: &dyn Fn(&SessionRef, &str) -> bool,
    is_own_path: &dyn Fn(&str, &str) -> bool,
) -> Result<()> {
    let index = home.join("index");
    if index.is_dir() {
        patiently(&|| {
            Index::open(&index).purge_where(&|source| is_own_path(&source.dialect, &source.id))
        })?;
    }
    let catalog = home.join("catalog.db");
    if catalog.is_file() {
        patiently(&|| Catalog::open(&catalog)?.forget(is_gone))?;
    }
    Ok(())
}

/// Retries while another process uses the file.
fn patiently(act: &dyn Fn() -> Result<()>) -> Result<()> {
    for _ in 0..ATTEMPTS {
        match act() {
            Err(error) if error.kind() == ErrorKind::Busy => RealDisk.sleep(PAUSE),
            done => return done,
        }
    }
    act()
}

/// Reports once why the next request will take as long as this one.
pub(crate) fn say_unkept(cx: &RequestContext, unkept: Option<&Error>) {
    if let Some(error) = unkept {
        cx.remark(format!(
            "answered by reading every log, without catalog and index: {error}"
        ));
    }
}
