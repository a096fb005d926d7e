//! Makes search sources of the sessions and memory files of stores.

use boswell_dialect::{Dialect, FileInfo, SessionLocation};
use boswell_model::{Framing, Line, Result, SessionRef};
use boswell_store::Store;
use boswell_store::backend::is_packed;
use boswell_store::store::{StoreId, Summary};

use crate::catalog::{CatalogRow, FilterKeys};
use crate::extract::Field;
use crate::source::{About, Form, LARGEST_WHOLE, Source, SourceReader};

/// The origin of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A session: the `place` that it was added with.
    Session(usize),
    /// A memory file of an agent.
    Memory(Box<MemorySource>),
}

/// A memory file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySource {
    /// Dialect of the agent.
    pub dialect: &'static str,
    /// Path of the file.
    pub path: String,
    /// The name under which the agent stores the memory of the project.
    pub project: String,
}

/// The sources of one search, and access to their bytes.
///
/// There is one source per session and most of them are only counted, so each is kept small.
#[derive(Debug, Default)]
pub struct StoreSources {
    sources: Vec<Source>,
    /// Parallel to `sources`.
    places: Vec<SourceLocation>,
    stores: Vec<Held>,
}

#[derive(Debug)]
struct SourceLocation {
    origin: Origin,
    store: usize,
    /// Length of the key, which is the end of the source's name.
    key: usize,
    /// Whether the index may contain the source.
    settled: bool,
}

/// A store, and the common prefix of the names of its files.
#[derive(Debug)]
struct Held {
    store: Store,
    id: Option<StoreId>,
    root: String,
}

impl StoreSources {
    /// Creates an empty set with capacity for this many sources.
    pub fn with_capacity(sources: usize) -> StoreSources {
        let (sources, places) = (Vec::with_capacity(sources), Vec::with_capacity(sources));
        StoreSources {
            sources,
            places,
            stores: Vec::new(),
        }
    }

    /// Adds a session. Ids can repeat, in copies and in other stores, so the path of the log is the
    /// name of the source.
    ///
    /// A title that differs from the one in the log is searched in addition.
    pub fn add_session(
        &mut self,
        place: usize,
        store: &Store,
        summary: &Summary,
        entry: &CatalogRow,
    ) {
        let meta = &summary.meta;
        let agent = meta
            .agent
            .as_deref()
            .unwrap_or(store.dialect().facts().agent);
        let title_in_log = entry.title_in_log();
        self.add(place, store, entry, || {
            Some(About {
                agent: agent_name(store, agent),
                project: meta.project.clone(),
                tags: meta.tags.clone(),
                models: meta.models.clone(),
                title: meta
                    .title
                    .clone()
                    .filter(|title| title_in_log != Some(title)),
            })
        });
    }

    /// Adds a session about which only its log contains anything.
    pub fn add_alone(
        &mut self,
        place: usize,
        store: &Store,
        filter_keys: &FilterKeys,
        entry: &CatalogRow,
    ) {
        self.add(place, store, entry, || {
            Some(About {
                agent: agent_name(
                    store,
                    filter_keys
                        .agent
                        .as_deref()
                        .unwrap_or(store.dialect().facts().agent),
                ),
                project: filter_keys.project.clone(),
                tags: filter_keys.tags.clone(),
                models: filter_keys.models.clone(),
                title: None,
            })
        });
    }

    /// Adds a session without values for filters: only its log is searched.
    pub fn add_log(&mut self, place: usize, store: &Store, entry: &CatalogRow) {
        self.add(place, store, entry, || None);
    }

    /// A session that the catalog could not record must not be indexed, and one without a log, or
    /// one that its agent does not show, has nothing to search.
    fn add(
        &mut self,
        place: usize,
        store: &Store,
        entry: &CatalogRow,
        about: impl FnOnce() -> Option<About>,
    ) {
        let location = &entry.location;
        let Some(key) = &location.key else { return };
        let fold = store.dialect().powers().fold;
        if fold.is_some_and(|fold| fold.require_readable(location).is_err()) {
            return;
        }
        let settled = entry.is_settled();
        let generation = if settled { entry.generation } else { u64::MAX };
        let generation = if location.framing == Framing::Lines {
            generation
        } else {
            generation ^ location.size << 20
        };
        let held = self.hold(store, Some(entry.store));
        let reference = SessionRef::new(store.dialect().name(), self.name(held, key));
        let source = Source {
            modified: location.modified,
            form: match location.is_of_rows(store.dialect()) {
                true => Form::Rows(location.framing),
                false => Form::Log(location.framing),
            },
            about: about().map(Box::new),
            ..Source::log(reference, generation, length(store, location))
        };
        self.push(
            source,
            SourceLocation {
                origin: Origin::Session(place),
                store: held,
                key: key.len(),
                settled,
            },
        );
    }

    /// Adds the memory files of a store's agent. If `entry` is given, it knows which folders are
    /// missing.
    pub fn add_memory(&mut self, store: &Store, entry: Option<&CatalogRow>) -> Result<()> {
        let files = match entry {
            // A folder that cannot be listed was reported when the store was listed.
            Some(entry) => store.memory_in(&entry.files(store))?.0,
            None => store.memory()?.0,
        };
        for file in files {
            let Some(info) = store.backend().stat(&file.key)? else {
                continue;
            };
            self.add_text(store, &info, file.project_key);
        }
        Ok(())
    }

    /// Adds a file of plain text.
    pub fn add_text(&mut self, store: &Store, info: &FileInfo, project: String) {
        let dialect = store.dialect().name();
        let held = self.hold(store, None);
        let path = self.name(held, &info.key);
        let reference = SessionRef::new(dialect, &path);
        let stamp = info.identity.map_or(0, |it| {
            let parts = [i128::from(it.file.1), it.modified, it.changed];
            parts
                .iter()
                .fold(0_u64, |sum, part| sum.rotate_left(21) ^ (*part as u64))
        });
        let about = About {
            agent: dialect.to_owned(),
            project: Some(project.clone()),
            ..About::default()
        };
        let source = Source {
            modified: info.modified,
            form: Form::Text(Field::Memory),
            about: Some(Box::new(about)),
            ..Source::log(reference, stamp, info.size)
        };
        let origin = Origin::Memory(Box::new(MemorySource {
            dialect,
            path,
            project,
        }));
        self.push(
            source,
            SourceLocation {
                origin,
                store: held,
                key: info.key.len(),
                settled: true,
            },
        );
    }

    /// Returns the index of a store in `stores`; adds it unless it is the last one.
    fn hold(&mut self, store: &Store, id: Option<StoreId>) -> usize {
        // Every archived session is a store of its own, with the root that it came from.
        let is_last = |last: &Held| match (last.id, id) {
            (Some(last), Some(id)) => last == id,
            _ => {
                last.store.root() == store.root()
                    && last.store.dialect().name() == store.dialect().name()
                    && last.store.archived() == store.archived()
            }
        };
        if !self.stores.last().is_some_and(is_last) {
            let mut root = store.backend().describe(KEY);
            root.truncate(root.len().saturating_sub(KEY.len()));
            self.stores.push(Held {
                store: store.clone(),
                id,
                root,
            });
        }
        self.stores.len() - 1
    }

    fn name(&self, held: usize, key: &str) -> String {
        [self.stores.get(held).map_or("", |held| &held.root), key].concat()
    }

    fn push(&mut self, source: Source, place: SourceLocation) {
        self.places.push(place);
        self.sources.push(Source {
            number: self.sources.len(),
            ..source
        });
    }

    /// Returns all sources.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns the sources that the index may contain.
    pub fn settled(&self) -> impl Iterator<Item = &Source> {
        self.sources
            .iter()
            .zip(&self.places)
            .filter(|(_, place)| place.settled)
            .map(|(source, _)| source)
    }

    /// Returns the origin of a source.
    pub fn origin(&self, source: usize) -> Option<&Origin> {
        self.places.get(source).map(|place| &place.origin)
    }

    fn place(&self, source: &Source) -> Option<(&Store, &str)> {
        let place = self.places.get(source.number)?;
        let name = &self.sources.get(source.number)?.reference.id;
        Some((
            &self.stores.get(place.store)?.store,
            name.get(name.len().checked_sub(place.key)?..)?,
        ))
    }
}

/// Any key: the prefix of its name is the prefix of all names.
const KEY: &str = "key";

/// Returns the agent name that filters compare.
fn agent_name(store: &Store, agent: &str) -> String {
    let dialect = store.dialect().name();
    if agent == dialect {
        agent.to_owned()
    } else {
        format!("{dialect} {agent}")
    }
}

/// The record about a folded log, which its document has in place of the log's header, is shorter.
const ABOUT_FOLDED: u64 = 4096;

/// Returns the length of a log: that of the listing, or for a compressed log the uncompressed
/// length. For a log that is folded an upper bound, so that it is not folded only to measure it:
/// everything else in its document is in the log too.
fn length(store: &Store, location: &SessionLocation) -> u64 {
    let (key, listed) = (location.key.as_deref().unwrap_or_default(), location.size);
    if location.is_of_rows(store.dialect()) && location.framing != Framing::Lines {
        // A document in a row is compressed, and only its row is listed.
        return LARGEST_WHOLE;
    }
    let fold = store.dialect().powers().fold;
    if fold.is_some_and(|fold| fold.folds(key, b"")) {
        return listed + ABOUT_FOLDED;
    }
    if !is_packed(key) {
        return listed;
    }
    store
        .backend()
        .open(key)
        .and_then(|log| log.end())
        .unwrap_or(0)
}

impl SourceReader for StoreSources {
    fn dialect(&self, source: &Source) -> &dyn Dialect {
        let unknown: &'static dyn Dialect = &boswell_dialect::unknown::Unknown;
        self.place(source)
            .map_or(unknown, |(store, _)| store.dialect())
    }

    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()> {
        let Some((store, key)) = self.place(source) else {
            into.clear();
            return Ok(());
        };
        store.backend().open(key)?.read_into(into, at, len)
    }

    fn records(
        &self,
        source: &Source,
        range: std::ops::Range<u64>,
        sink: &mut dyn FnMut(Line<'_>) -> bool,
    ) -> Result<()> {
        match self.place(source) {
            Some((store, key)) => store.backend().open(key)?.records(range, sink),
            None => Ok(()),
        }
    }
}
