//! [`Stores`]: all stores of a machine as one set.
//!
//! Discovery asks every dialect where its agent keeps sessions (`roots`, with the environment
//! variables of the agent); stores from the settings or `--store` are added, with a label such as
//! `claude@work`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Depth, Dialect, Environment, SessionLocation, all, by_name};
use boswell_model::{Error, ErrorKind, Result};

use crate::backend::{Backend, FsBackend, OpenDatabase};
use crate::store::exclusion::Exclusion;
use crate::store::resolve::same_folder;
use crate::store::{Summary, unlisted};
use crate::{Session, Store};

/// A store of a set, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(pub usize);

/// A place that was examined for a store.
#[derive(Debug, Clone)]
pub struct StoreLocation {
    /// Name of the dialect.
    pub dialect: &'static str,
    /// The folder.
    pub root: PathBuf,
    /// Whether the folder exists.
    pub exists: bool,
}

/// A set of stores that are listed and searched as one.
#[derive(Debug, Clone, Default)]
pub struct Stores {
    stores: Vec<Store>,
    places: Vec<StoreLocation>,
    /// Sessions in the vault, each as a store; their indexes follow those of the stores.
    archived: Vec<Store>,
}

/// A session of a set, with its store.
#[derive(Debug, Clone)]
pub struct StoredSession {
    /// The store.
    pub store: StoreId,
    /// Its location in the store.
    pub location: SessionLocation,
}

impl Stores {
    /// Returns the existing stores of every known agent in this environment, and boswell's own in
    /// `home`.
    pub fn discover(env: &Environment, home: &Path) -> Stores {
        let mut stores = Stores::default();
        if let Some(own) = by_name("boswell") {
            stores.look(own, home.to_owned());
        }
        for dialect in all() {
            for root in dialect.roots(env) {
                stores.look(*dialect, root);
            }
        }
        stores
    }

    /// Adds a named store, whether or not its folder exists.
    pub fn add(&mut self, dialect: &str, root: impl Into<PathBuf>) -> Result<()> {
        let Some(dialect) = by_name(dialect) else {
            let known: Vec<_> = all().iter().map(|d| d.name()).collect();
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("there is no dialect `{}`", dialect.escape_debug()),
            )
            .advising(format!("known dialects: {}", known.join(", "))));
        };
        let root = root.into();
        let exists = is_folder(&root);
        self.places.push(StoreLocation {
            dialect: dialect.name(),
            root: root.clone(),
            exists,
        });
        self.stores.push(Store::in_folder(dialect, root));
        Ok(())
    }

    /// Adds a store from the settings, with the user's name for it. A store that was already
    /// discovered only gets the name.
    pub fn add_labelled(
        &mut self,
        dialect: &str,
        root: PathBuf,
        label: Option<&str>,
    ) -> Result<()> {
        let is_it =
            |store: &Store| store.dialect().name() == dialect && same_folder(store.root(), &root);
        let known = self.stores.iter().position(is_it);
        let place = match known {
            Some(place) => place,
            None => {
                self.add(dialect, root)?;
                self.stores.len() - 1
            }
        };
        if let (Some(store), Some(label)) = (self.stores.get_mut(place), label) {
            *store = store.clone().labelled(label);
        }
        Ok(())
    }

    /// Sets boswell's home, which stores what an agent's format would drop.
    #[must_use]
    pub fn with_home(mut self, home: &Path) -> Stores {
        self.stores = self
            .stores
            .into_iter()
            .map(|store| store.with_home(home))
            .collect();
        self
    }

    /// Lets dialects read databases in the folders of their stores.
    #[must_use]
    pub fn with_databases(mut self, databases: &Arc<dyn OpenDatabase>) -> Stores {
        for store in &mut self.stores {
            *store = store.clone().with_databases(databases);
        }
        self
    }

    /// Excludes sessions of these projects, including archived ones.
    #[must_use]
    pub fn excluding(mut self, exclusion: Option<&Arc<Exclusion>>) -> Stores {
        for store in self.stores.iter_mut().chain(&mut self.archived) {
            *store = store.clone().excluding(exclusion);
        }
        self
    }

    /// Returns these stores with nothing left out.
    #[must_use]
    pub fn whole(&self) -> Stores {
        self.clone().excluding(None)
    }

    /// Returns the sessions of excluded projects, which no listing contains. Stores that cannot be
    /// listed are skipped.
    pub fn excluded(&self) -> Vec<StoredSession> {
        let of = |(store, it): (StoreId, &Store)| {
            let hidden = it.excluded().unwrap_or_default();
            hidden
                .into_iter()
                .map(move |location| StoredSession { store, location })
                .collect::<Vec<_>>()
        };
        self.iter_with_archived().flat_map(of).collect()
    }

    /// Adds an open store.
    pub fn add_store(&mut self, store: Store) {
        self.stores.push(store);
    }

    /// Adds archived sessions of these places: they are found and read like others.
    #[must_use]
    pub fn with_archived(mut self, archived: Vec<Store>) -> Stores {
        let known = |it: &Store| {
            let same =
                |dialect: &str, root: &Path| dialect == it.dialect().name() && root == it.root();
            self.places
                .iter()
                .any(|place| same(place.dialect, &place.root))
                || self
                    .stores
                    .iter()
                    .any(|store| same(store.dialect().name(), store.root()))
        };
        let here = archived.into_iter().filter(known).collect();
        self.archived = here;
        self
    }

    fn look(&mut self, dialect: &'static dyn Dialect, root: PathBuf) {
        if self
            .places
            .iter()
            .any(|p| p.dialect == dialect.name() && p.root == root)
        {
            return;
        }
        let exists = is_folder(&root);
        let mark = dialect.facts().marked_by;
        if mark.is_some_and(|mark| !has_file(&root, mark)) {
            // A folder of a project, in which the agent was never used.
            return;
        }
        if exists {
            self.stores.push(Store::in_folder(dialect, &root));
        }
        self.places.push(StoreLocation {
            dialect: dialect.name(),
            root,
            exists,
        });
    }

    /// Iterates over the stores in display order.
    pub fn iter(&self) -> impl Iterator<Item = (StoreId, &Store)> {
        self.stores
            .iter()
            .enumerate()
            .map(|(i, store)| (StoreId(i), store))
    }

    /// Iterates over the stores and their archived sessions.
    pub fn iter_with_archived(&self) -> impl Iterator<Item = (StoreId, &Store)> {
        self.stores
            .iter()
            .chain(&self.archived)
            .enumerate()
            .map(|(i, store)| (StoreId(i), store))
    }

    /// Returns a store of the set.
    pub fn get(&self, id: StoreId) -> Option<&Store> {
        self.stores
            .get(id.0)
            .or_else(|| self.archived.get(id.0.checked_sub(self.stores.len())?))
    }

    /// Returns every place that was examined.
    pub fn locations(&self) -> &[StoreLocation] {
        &self.places
    }

    /// Returns every session of every store, from names alone. Stores and folders that cannot be
    /// listed are returned as errors.
    pub fn held(&self) -> (Vec<StoredSession>, Vec<(StoreId, Error)>) {
        let mut held = Vec::new();
        let mut errors = Vec::new();
        for (store, it) in self.iter_with_archived() {
            match it.list() {
                Ok(listing) => {
                    errors.extend(
                        unlisted(&listing.unlisted, it)
                            .into_iter()
                            .map(|error| (store, error)),
                    );
                    held.extend(
                        listing
                            .sessions
                            .into_iter()
                            .map(|location| StoredSession { store, location }),
                    );
                }
                Err(error) => errors.push((store, error)),
            }
        }
        (held, errors)
    }

    /// Returns the symbolic links that were found so far and lead out of their store: the store,
    /// and the key of each.
    pub fn outside_links(&self) -> Vec<(StoreId, String)> {
        let of = |(id, store): (StoreId, &Store)| {
            store
                .backend()
                .outside_links()
                .into_iter()
                .map(move |key| (id, key))
                .collect::<Vec<_>>()
        };
        self.iter().flat_map(of).collect()
    }

    /// Reads the summary of every session, in parallel. Sessions that cannot be read are returned
    /// with their error.
    pub fn summaries(&self) -> Summaries {
        let (held, errors) = self.held();
        let workers = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
        let next = std::sync::atomic::AtomicUsize::new(0);
        let mut done: Vec<(usize, Result<Summary>)> = std::thread::scope(|scope| {
            let work = || {
                let mut mine = Vec::new();
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(it) = held.get(index) else {
                        return mine;
                    };
                    let Some(store) = self.get(it.store) else {
                        return mine;
                    };
                    mine.push((index, store.summary(&it.location)));
                }
            };
            let threads: Vec<_> = (0..workers.min(held.len()))
                .map(|_| scope.spawn(work))
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_default())
                .collect()
        });
        done.sort_by_key(|(index, _)| *index);
        let mut all = Summaries {
            store_errors: errors,
            ..Summaries::default()
        };
        for (index, summary) in done {
            let Some(it) = held.get(index) else { continue };
            match summary {
                Ok(summary) => all.sessions.push((it.store, summary)),
                Err(error) => all
                    .session_errors
                    .push((it.store, it.location.clone(), error)),
            }
        }
        all
    }

    /// Reads a session of a store of the set.
    pub fn session(
        &self,
        store: StoreId,
        location: &SessionLocation,
        depth: Depth,
    ) -> Result<Session> {
        match self.get(store) {
            Some(store) => store.read(location, depth),
            None => Err(Error::new(
                ErrorKind::Internal,
                "a store is missing from its own set",
            )),
        }
    }
}

/// The summaries of all sessions.
#[derive(Debug, Default)]
pub struct Summaries {
    /// The sessions.
    pub sessions: Vec<(StoreId, Summary)>,
    /// Sessions that could not be read.
    pub session_errors: Vec<(StoreId, SessionLocation, Error)>,
    /// Stores that could not be listed.
    pub store_errors: Vec<(StoreId, Error)>,
}

fn has_file(root: &Path, name: &str) -> bool {
    let found = FsBackend::new(root).stat(name).ok().flatten();
    found.is_some_and(|info| info.is_file())
}

fn is_folder(path: &Path) -> bool {
    FsBackend::new(path)
        .stat("")
        .ok()
        .flatten()
        .is_some_and(|info| info.is_folder())
}
