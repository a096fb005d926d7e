//! Sessions and memory files of stores as sources of a search.

use boswell_dialect::{Dialect, FileInfo};
use boswell_model::{Framing, Result, SessionRef};
use boswell_store::{Store, Summary, is_packed};

use crate::catalog::Entry;
use crate::source::{Form, Source, SourceReader};
use crate::text::Field;

/// Where a source comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A session: the place that it was added with.
    Session(usize),
    /// A file that an agent remembers things in.
    Memory {
        /// The agent.
        dialect: &'static str,
        /// Its path.
        path: String,
        /// What the agent files the project's memory under.
        project: String,
    },
}

/// What can be searched in stores, and how its bytes are reached.
#[derive(Debug, Default)]
pub struct StoreSources {
    sources: Vec<Source>,
    /// Beside the sources: where each comes from, its store, its key there, and whether the index may be built from it.
    places: Vec<Place>,
    stores: Vec<Store>,
}

#[derive(Debug)]
struct Place {
    origin: Origin,
    store: usize,
    key: String,
    settled: bool,
}

impl StoreSources {
    /// Room for so many.
    pub fn with_capacity(sources: usize) -> StoreSources {
        let (sources, places) = (Vec::with_capacity(sources), Vec::with_capacity(sources));
        StoreSources { sources, places, stores: Vec::new() }
    }

    /// Adds a session. Ids may repeat, in copies and in other stores; the path of its log is its name here.
    ///
    /// A title other than the one that stands in the log is searched beside it.
    pub fn add_session(&mut self, place: usize, store: &Store, summary: &Summary, entry: &Entry) {
        let facts = &summary.facts;
        let dialect = store.dialect().name();
        let agent = facts.agent.as_deref().unwrap_or(store.dialect().agent());
        let title_in_log = entry.title_in_log();
        self.add(place, store, entry, |log| Source {
            agent: if agent == dialect { agent.to_owned() } else { format!("{dialect} {agent}") },
            project: facts.project.clone(),
            tags: facts.tags.clone(),
            models: facts.models.clone(),
            title: facts.title.clone().filter(|title| title_in_log != Some(title)),
            ..log
        });
    }

    /// Adds a session of which nothing is asked but what its log says.
    pub fn add_log(&mut self, place: usize, store: &Store, entry: &Entry) {
        self.add(place, store, entry, |log| log);
    }

    /// One that was not written down must not be relied on by the index; one that has no log has nothing to search.
    fn add(&mut self, place: usize, store: &Store, entry: &Entry, describe: impl FnOnce(Source) -> Source) {
        let located = &entry.located;
        let Some(key) = &located.key else { return };
        let settled = entry.is_settled();
        let generation = if settled { entry.generation } else { u64::MAX };
        let generation = if located.framing == Framing::Lines { generation } else { generation ^ located.size << 20 };
        let reference = SessionRef::new(store.dialect().name(), store.backend().describe(key));
        let source = Source {
            modified: located.modified,
            form: Form::Log(located.framing),
            ..Source::log(reference, generation, length(store, key, located.size))
        };
        self.push(describe(source), Origin::Session(place), store, key, settled);
    }

    /// Adds the memory files that a store's agent keeps.
    pub fn add_memory(&mut self, store: &Store) -> Result<()> {
        for file in store.memory()? {
            let Some(info) = store.backend().stat(&file.key)? else { continue };
            self.add_text(store, &info, file.project_key);
        }
        Ok(())
    }

    /// Adds a file of plain text.
    pub fn add_text(&mut self, store: &Store, info: &FileInfo, project: String) {
        let dialect = store.dialect().name();
        let path = store.backend().describe(&info.key);
        let reference = SessionRef::new(dialect, &path);
        let stamp = info.identity.map_or(0, |it| {
            let parts = [i128::from(it.file.1), it.modified, it.changed];
            parts.iter().fold(0_u64, |sum, part| sum.rotate_left(21) ^ (*part as u64))
        });
        let source = Source {
            modified: info.modified,
            form: Form::Text(Field::Memory),
            agent: dialect.to_owned(),
            project: Some(project.clone()),
            ..Source::log(reference, stamp, info.size)
        };
        self.push(source, Origin::Memory { dialect, path, project }, store, &info.key, true);
    }

    fn push(&mut self, source: Source, origin: Origin, store: &Store, key: &str, settled: bool) {
        // Every archived session is a store of its own, at the root that it came from.
        let is_last = |last: &Store| {
            last.root() == store.root()
                && last.dialect().name() == store.dialect().name()
                && last.archived() == store.archived()
        };
        if !self.stores.last().is_some_and(is_last) {
            self.stores.push(store.clone());
        }
        self.places.push(Place { origin, store: self.stores.len() - 1, key: key.to_owned(), settled });
        self.sources.push(Source { number: self.sources.len(), ..source });
    }

    /// The sources.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Those that the index may be built from.
    pub fn settled(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().zip(&self.places).filter(|(_, place)| place.settled).map(|(source, _)| source)
    }

    /// Where a source comes from.
    pub fn origin(&self, source: usize) -> Option<&Origin> {
        self.places.get(source).map(|place| &place.origin)
    }

    fn place(&self, source: &Source) -> Option<(&Store, &str)> {
        let place = self.places.get(source.number)?;
        Some((self.stores.get(place.store)?, &place.key))
    }
}

/// How long a log is: a listing tells it, but for those that their agent compressed.
fn length(store: &Store, key: &str, listed: u64) -> u64 {
    if !is_packed(key) {
        return listed;
    }
    store.backend().open(key).and_then(|log| log.end()).unwrap_or(0)
}

impl SourceReader for StoreSources {
    fn dialect(&self, source: &Source) -> &dyn Dialect {
        let unknown: &'static dyn Dialect = &boswell_dialect::unknown::Unknown;
        self.place(source).map_or(unknown, |(store, _)| store.dialect())
    }

    fn read(&self, source: &Source, at: u64, len: u64, into: &mut Vec<u8>) -> Result<()> {
        let Some((store, key)) = self.place(source) else { return Ok(()) };
        let bytes = store.backend().open(key)?.read(at, len)?;
        if into.is_empty() {
            *into = bytes;
        } else {
            into.extend_from_slice(&bytes);
        }
        Ok(())
    }
}
