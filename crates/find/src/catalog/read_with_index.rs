//! Updates the search index and the catalog together: a log that neither knows is read once.
//!
//! The threads of the index read the logs; what they see of each goes through a dialect's reader
//! too, whose facts come to the calling thread, which writes them to the catalog between two
//! segments. What the index did not read from its start is left to `read_logs.rs`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use boswell_dialect::{Depth, Dialect, Reader};
use boswell_model::{Error, ErrorKind, Framing, Line, Payloads, Result};
use boswell_store::Store;
use boswell_store::backend::{ObjectReader, is_packed};
use boswell_store::store::Stores;

use super::read_logs::{BATCH, Fine, Kept, facts_of};
use super::{Catalog, CatalogRow};
use crate::index::{Index, Progress};
use crate::source::{Source, SourceReader};
use crate::store_sources::{Origin, StoreSources};

impl Catalog {
    /// Updates the index with these sources, and the catalog with those of them that it does not
    /// know. A source's place must be the index of its entry. Returns also why the catalog could
    /// not be written, if so.
    ///
    /// # Errors
    ///
    /// As [`Index::update_in_parallel`], and Damaged for a catalog that must be rebuilt.
    pub fn read_with_index(
        &mut self,
        (stores, entries): (&Stores, &mut [CatalogRow]),
        (index, sources): (&Index, &StoreSources),
        behind: Vec<Source>,
        workers: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Progress, Option<Error>)> {
        let (sender, receiver) = channel();
        let known: &[CatalogRow] = entries;
        let unread = Unread::new(stores, known, sources, sender);
        let mut writing = Writing {
            catalog: self,
            receiver,
            batch: Vec::new(),
            kept: Kept::default(),
            damage: None,
        };
        let done = index.update_in_parallel(behind, &unread, workers, &mut || {
            writing.take_some(known) && go_on()
        });
        // The channel ends with its last sender.
        drop(unread);
        let Writing { kept, damage, .. } = writing.finish(known);
        let unwritten = kept.note(entries);
        match damage {
            Some(error) => Err(error),
            None => done.map(|progress| (progress, unwritten)),
        }
    }
}

/// Facts on their way into the catalog.
struct Writing<'c> {
    catalog: &'c mut Catalog,
    receiver: Receiver<Fine>,
    batch: Vec<Fine>,
    kept: Kept,
    /// Why nothing more can be written.
    damage: Option<Error>,
}

impl Writing<'_> {
    /// Takes what the threads have found, and writes it once it is enough for a transaction.
    fn take_some(&mut self, entries: &[CatalogRow]) -> bool {
        while let Ok(fine) = self.receiver.try_recv() {
            self.batch.push(fine);
            if self.batch.len() == BATCH {
                self.write(entries);
            }
        }
        self.damage.is_none()
    }

    fn write(&mut self, entries: &[CatalogRow]) {
        let batch = std::mem::take(&mut self.batch);
        if let Err(error) = self.kept.write(self.catalog, entries, batch) {
            self.damage.get_or_insert(error);
        }
    }

    fn finish(mut self, entries: &[CatalogRow]) -> Self {
        self.take_some(entries);
        self.write(entries);
        self
    }
}

/// The sources, of which some are sessions that the catalog has not read.
struct Unread<'s> {
    sources: &'s StoreSources,
    /// Sessions to be read, by the number of their source.
    wanted: HashMap<usize, Wanted<'s>>,
    found: Sender<Fine>,
}

struct Wanted<'s> {
    /// The place of the entry.
    index: usize,
    store: &'s Store,
    entry: &'s CatalogRow,
}

impl<'s> Unread<'s> {
    fn new(
        stores: &'s Stores,
        entries: &'s [CatalogRow],
        sources: &'s StoreSources,
        found: Sender<Fine>,
    ) -> Unread<'s> {
        let mut wanted = HashMap::new();
        for source in sources.sources() {
            let Some(Origin::Session(index)) = sources.origin(source.number) else {
                continue;
            };
            let Some(entry) = entries.get(*index).filter(|entry| !entry.is_current()) else {
                continue;
            };
            let Some(store) = stores.get(entry.store).filter(|it| reads_alike(it, entry)) else {
                continue;
            };
            let index = *index;
            let session = Wanted {
                index,
                store,
                entry,
            };
            wanted.insert(source.number, session);
        }
        Unread {
            sources,
            wanted,
            found,
        }
    }
}

/// Whether index and catalog read the same bytes of a session.
fn reads_alike(store: &Store, entry: &CatalogRow) -> bool {
    let location = &entry.location;
    location.framing == Framing::Lines
        && location.key.as_deref().is_some_and(|key| !is_packed(key))
        && store.dialect().powers().fold.is_none()
}

impl SourceReader for Unread<'_> {
    fn dialect(&self, source: &Source) -> &dyn Dialect {
        self.sources.dialect(source)
    }

    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()> {
        self.sources.read(source, at, len, into)
    }

    fn records(
        &self,
        source: &Source,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        self.sources.records(source, range, sink)
    }

    fn companion(&self, source: &Source) -> Option<Reader<'_>> {
        let Wanted { store, entry, .. } = self.wanted.get(&source.number)?;
        Some(Reader::new(store.dialect(), &entry.location, Depth::Facts))
    }

    fn accompanied(&self, source: &Source, reader: Reader<'_>) {
        let Some(Wanted {
            index,
            store,
            entry,
        }) = self.wanted.get(&source.number)
        else {
            return;
        };
        let log = LateLog {
            store,
            key: entry.location.key.as_deref(),
            open: OnceCell::new(),
        };
        let (kept, items) = facts_of(store.dialect(), reader.finish(), &log);
        let fine = Fine::of(*index, &entry.location.id, &kept, items);
        // The receiver is gone only once nothing more is to be written.
        let _ = self.found.send(fine);
    }
}

/// A log that is opened again only if a payload is asked for.
struct LateLog<'s> {
    store: &'s Store,
    key: Option<&'s str>,
    open: OnceCell<Box<dyn ObjectReader>>,
}

impl Payloads for LateLog<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        let log = match (self.open.get(), self.key) {
            (Some(log), _) => log,
            (None, Some(key)) => {
                let log = self.store.backend().open(key)?;
                self.open.get_or_init(|| log)
            }
            (None, None) => return Err(Error::new(ErrorKind::Internal, "a log without a key")),
        };
        log.read(at, len).map(Cow::Owned)
    }
}
