//! Every store of a machine at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{
    Depth, Dialect, Environment, FileInfo, FileKind, Match, Sample, SessionLocation, all, by_name,
    recognise,
};
use boswell_model::json::{Object, Raw, Scanned, scan_object};
use boswell_model::{Error, ErrorKind, Framing, Result};

use crate::backend::{Backend, FsBackend};
use crate::disk::{Disk, RealDisk, StatKind};
use crate::exclusion::Exclusion;
use crate::resolve::same_folder;
use crate::{Session, Store, Summary, unlisted};

/// How much of a file is read to find out whether it is one document.
const LARGEST_WHOLE: u64 = 64 << 20;

/// How much is looked at first to find out whose a file is.
const FIRST_LOOK: u64 = 8 << 10;

/// A store of a set, by its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(pub usize);

/// A place that was looked at, whether or not a store is there.
#[derive(Debug, Clone)]
pub struct StoreLocation {
    /// Name of the dialect.
    pub dialect: &'static str,
    /// The folder.
    pub root: PathBuf,
    /// Whether it exists.
    pub exists: bool,
}

/// A set of stores that are listed and searched as one.
#[derive(Debug, Clone, Default)]
pub struct Stores {
    stores: Vec<Store>,
    places: Vec<StoreLocation>,
    /// Sessions in the vault, each a store of its own; their places in the set follow
    /// those of the stores.
    archived: Vec<Store>,
}

/// A session of a set, with the store that holds it.
#[derive(Debug, Clone)]
pub struct StoredSession {
    /// The store.
    pub store: StoreId,
    /// Where it is there.
    pub location: SessionLocation,
}

impl Stores {
    /// The stores of every known agent that exist in this environment, and boswell's own in `home`.
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

    /// Adds a store that was named, whether or not its folder exists.
    pub fn add(&mut self, dialect: &str, root: impl Into<PathBuf>) -> Result<()> {
        let Some(dialect) = by_name(dialect) else {
            let known: Vec<_> = all().iter().map(|d| d.name()).collect();
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("there is no dialect `{}`", dialect.escape_debug()),
            )
            .hinting(format!("known dialects: {}", known.join(", "))));
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

    /// Adds a store that the settings name, with what the user calls it. One that was found
    /// already only gets its name.
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

    /// Says where boswell's home is, in which it keeps what an agent's way of writing would lose.
    #[must_use]
    pub fn with_home(mut self, home: &Path) -> Stores {
        self.stores = self
            .stores
            .into_iter()
            .map(|store| store.with_home(home))
            .collect();
        self
    }

    /// Leaves sessions of these projects out, also of what is archived.
    #[must_use]
    pub fn excluding(mut self, exclusion: Option<&Arc<Exclusion>>) -> Stores {
        for store in self.stores.iter_mut().chain(&mut self.archived) {
            *store = store.clone().excluding(exclusion);
        }
        self
    }

    /// The same stores with nothing left out.
    #[must_use]
    pub fn whole(&self) -> Stores {
        self.clone().excluding(None)
    }

    /// Sessions of excluded projects, which are listed nowhere. Stores that cannot be
    /// listed are passed over.
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

    /// Adds a store that is open already.
    pub fn add_store(&mut self, store: Store) {
        self.stores.push(store);
    }

    /// Adds sessions of these places that are archived: they are found and read like others.
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
        if exists {
            self.stores.push(Store::in_folder(dialect, &root));
        }
        self.places.push(StoreLocation {
            dialect: dialect.name(),
            root,
            exists,
        });
    }

    /// The stores, in the order in which they are shown.
    pub fn iter(&self) -> impl Iterator<Item = (StoreId, &Store)> {
        self.stores
            .iter()
            .enumerate()
            .map(|(i, store)| (StoreId(i), store))
    }

    /// The stores and what is archived of them.
    pub fn iter_with_archived(&self) -> impl Iterator<Item = (StoreId, &Store)> {
        self.stores
            .iter()
            .chain(&self.archived)
            .enumerate()
            .map(|(i, store)| (StoreId(i), store))
    }

    /// A store of the set.
    pub fn get(&self, id: StoreId) -> Option<&Store> {
        self.stores
            .get(id.0)
            .or_else(|| self.archived.get(id.0.checked_sub(self.stores.len())?))
    }

    /// Every place that was looked at.
    pub fn locations(&self) -> &[StoreLocation] {
        &self.places
    }

    /// Every session of every store, from names alone. A store or folder that cannot be listed is
    /// left out and its error kept.
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

    /// Symbolic links of every store that were met so far and lead out of it: the store,
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

    /// A session given by the path of its file: the store that holds it, else one made
    /// for this file alone.
    pub fn at_path(&self, path: &Path) -> Result<(Store, SessionLocation)> {
        let absolute =
            std::path::absolute(path).map_err(|error| Error::io(path.display(), "find", error))?;
        if let Some(found) = self.held_at(&absolute) {
            return Ok(found);
        }
        let absolute = self.behind_link(absolute)?;
        let (folder, name) = match (
            absolute.parent(),
            absolute.file_name().and_then(|n| n.to_str()),
        ) {
            (Some(folder), Some(name)) => (folder, name.to_owned()),
            _ => {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("`{}` is not the path of a file", path.display()),
                ));
            }
        };
        let backend = FsBackend::new(folder);
        let seen = backend.stat(&name).map_err(|error| {
            if is_other(&backend, &name) {
                no_file(path)
            } else {
                error
            }
        })?;
        let Some(info) = seen else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{}`", path.display()),
            ));
        };
        if info.kind != FileKind::File {
            backend.open(&name)?;
        }
        let (dialect, framing) = whose(&backend, &absolute, &info)?;
        let stem =
            name.split_once('.').map_or(
                name.as_str(),
                |(stem, _)| if stem.is_empty() { &name } else { stem },
            );
        Ok((
            Store::in_folder(dialect, folder),
            SessionLocation::at(stem, &info, framing),
        ))
    }

    /// The file that a path leads to. Who names a link means the file; a link in a store was found
    /// there, and may be planted.
    fn behind_link(&self, path: PathBuf) -> Result<PathBuf> {
        let fault = |error| Error::io(path.display(), "find", error);
        if !RealDisk.is_link(&path).map_err(fault)? {
            return Ok(path);
        }
        let leads_out = |store: &Store| {
            let root = std::path::absolute(store.root()).unwrap_or_default();
            let below = path.strip_prefix(&root).ok().and_then(Path::to_str);
            let seen = below.and_then(|below| RealDisk.stat_below(&root, below).ok().flatten());
            seen.is_some_and(|stat| stat.kind == StatKind::Outside)
        };
        if self.stores.iter().any(leads_out) {
            return Ok(path);
        }
        match RealDisk.real_path(&path) {
            Ok(target) => Ok(target),
            // Opening it says what is wrong with it.
            Err(_) => Ok(path),
        }
    }

    fn held_at(&self, path: &Path) -> Option<(Store, SessionLocation)> {
        for store in self.stores.iter().chain(&self.archived) {
            // Whoever names the file of a session means that session, also one of
            // an excluded project.
            let store = &store.whole();
            let root = std::path::absolute(store.root()).ok()?;
            let Ok(below) = path.strip_prefix(&root) else {
                continue;
            };
            let key = below
                .iter()
                .map(|part| part.to_str())
                .collect::<Option<Vec<_>>>()?
                .join("/");
            let found = store
                .list()
                .ok()?
                .sessions
                .into_iter()
                .find(|l| l.key.as_deref() == Some(&key));
            if let Some(location) = found {
                return Some((store.clone(), location));
            }
        }
        None
    }

    /// Looks at every session, in parallel. Sessions that cannot be looked at
    /// come with their error.
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

/// What looking at every session gave.
#[derive(Debug, Default)]
pub struct Summaries {
    /// The sessions.
    pub sessions: Vec<(StoreId, Summary)>,
    /// Sessions that could not be looked at.
    pub session_errors: Vec<(StoreId, SessionLocation, Error)>,
    /// Stores that could not be listed.
    pub store_errors: Vec<(StoreId, Error)>,
}

/// Whether the folder itself says that the name stands for nothing that could be opened, such
/// as a link to itself.
fn is_other(backend: &FsBackend, name: &str) -> bool {
    let listing = backend.list("").unwrap_or_default();
    listing
        .iter()
        .any(|info| info.key == name && info.kind == FileKind::Other)
}

fn no_file(path: &Path) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("`{}` is not a regular file", path.display()),
    )
    .because("it is a link that leads back to itself, or to nothing that can be read")
}

fn is_folder(path: &Path) -> bool {
    FsBackend::new(path)
        .stat("")
        .ok()
        .flatten()
        .is_some_and(|info| info.is_folder())
}

/// Finds out whose session a file is, and how its records stand in it.
fn whose(
    backend: &FsBackend,
    path: &Path,
    info: &FileInfo,
) -> Result<(&'static dyn Dialect, Framing)> {
    let object = backend.open(&info.key)?;
    let folders: Vec<String> = path
        .ancestors()
        .skip(1)
        .filter_map(|p| p.file_name()?.to_str().map(str::to_owned))
        .collect();
    if let Some(dialect) = certainly(&object.read(0, FIRST_LOOK)?, info.name(), &folders) {
        return Ok((dialect, dialect.framing(&info.key)));
    }
    let head = object.read(0, 256 << 10)?;
    let scanned = first_records(&head);
    let whole = if scanned.is_empty() || spans_lines(&head) {
        Some(object.read(0, LARGEST_WHOLE)?)
    } else {
        None
    };
    // A log may begin in the middle of something; only what is JSON from end to
    // end is one document.
    let whole = whole
        .filter(|bytes| scanned.is_empty() || Raw::parse(without_bom(bytes).trim_ascii()).is_ok());
    let mut members = Vec::new();
    let records: Vec<Object<'_>> = match &whole {
        Some(bytes) => {
            let start = bytes.iter().position(|b| *b == b'{').unwrap_or(0);
            let rest = bytes.get(start..).unwrap_or(b"");
            match scan_object(rest, &mut members) {
                Ok(len) => vec![Object::new(rest.get(..len).unwrap_or(rest), &members)],
                Err(_) => Vec::new(),
            }
        }
        None => scanned
            .iter()
            .map(|(line, record)| record.object(line))
            .collect(),
    };
    let sample = Sample {
        name: info.name(),
        folders: &folders,
        records: &records,
    };
    let dialect = recognise(&sample);
    let framing = match (dialect.recognises(&sample), &whole) {
        (Match::No, Some(bytes))
            if !records.is_empty() || Raw::parse(without_bom(bytes).trim_ascii()).is_ok() =>
        {
            Framing::Document
        }
        _ => dialect.framing(&info.key),
    };
    Ok((dialect, framing))
}

/// The dialect that knows the first few lines for its own beyond doubt: then no
/// more need be looked at.
fn certainly(head: &[u8], name: &str, folders: &[String]) -> Option<&'static dyn Dialect> {
    if spans_lines(head) {
        return None;
    }
    let scanned = first_records(head);
    let records: Vec<Object<'_>> = scanned
        .iter()
        .map(|(line, record)| record.object(line))
        .collect();
    let sample = Sample {
        name,
        folders,
        records: &records,
    };
    all()
        .iter()
        .copied()
        .find(|dialect| dialect.recognises(&sample) == Match::Certain)
}

/// The records that stand first on their lines.
fn first_records(head: &[u8]) -> Vec<(&[u8], Scanned)> {
    let scan = |line| {
        let mut record = Scanned::default();
        record.scan(line).is_ok().then_some((line, record))
    };
    lines_of(head).take(64).filter_map(scan).collect()
}

/// Whether the file begins with a value that does not end on its line.
fn spans_lines(head: &[u8]) -> bool {
    let text = without_bom(head).trim_ascii_start();
    let line = text.split(|b| *b == b'\n').next().unwrap_or(text);
    text.starts_with(b"[") || text.starts_with(b"{") && scan_object(line, &mut Vec::new()).is_err()
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// The lines, each from where its first object may begin.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text);
        rest = end.and_then(|end| text.get(end + 1..));
        end.map_or(Some(text), |end| text.get(..end))
    });
    lines.map(|line| {
        line.get(memchr::memchr(b'{', line).unwrap_or(0)..)
            .unwrap_or(line)
    })
}
