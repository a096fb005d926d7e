//! Removes data derived from excluded projects, as soon as boswell learns of the exclusion.
//!
//! Derived data are catalog rows, terms of the index, and kept copies of sessions whose logs still
//! exist. Sessions that the user archived or deleted, notes, and last copies stay: they are not
//! listed, but a pattern must not lose the user's data.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use boswell_find::{Catalog, Index};
use boswell_model::{Result, SessionMeta, SessionRef};
use boswell_store::disk::{IdSource, SystemIds};
use boswell_store::disk::{RealDisk, durable};
use boswell_store::store::{Exclusion, StoredSession, Stores};
use boswell_store::vault::Digest;

use crate::RequestContext;
use crate::system::read_text;

/// The file that records for which exclusion this was done. It contains a hash, and no name of a
/// project.
const STATE: &str = "excluded";

/// Removes data derived from excluded projects, unless that was done already. Failures are
/// reported, and the next command tries again.
pub(crate) fn settle_or_warn(cx: &RequestContext) {
    let Some(exclusion) = &cx.exclusion else {
        return;
    };
    let purge = Purge {
        cx,
        exclusion,
        stores: &cx.stores,
    };
    if let Err(error) = purge.run(&cx.config.words("exclude")) {
        cx.fail(
            error.advising(
                "what is excluded is not shown; the next command tries again to remove it",
            ),
        );
    }
}

/// The removal, and its inputs.
pub(crate) struct Purge<'m> {
    pub(crate) cx: &'m RequestContext,
    pub(crate) exclusion: &'m Exclusion,
    /// The stores without excluded sessions.
    pub(crate) stores: &'m Stores,
}

impl Purge<'_> {
    /// Removes the derived data, unless that was done for these patterns and the sessions that they
    /// exclude now.
    pub(crate) fn run(&self, patterns: &[String]) -> Result<()> {
        let Some(home) = self.cx.home.as_ref().filter(|home| home.is_dir()) else {
            return Ok(());
        };
        // If stores are named on the command line, the others are not visible: the next command
        // without names does it.
        if self.cx.is_read_only() || self.cx.named_stores {
            return Ok(());
        }
        let hidden = self.stores.excluded();
        let state = self.fingerprint(patterns, &hidden);
        let place = home.join(STATE);
        if durable::read(&RealDisk, &place)?.is_some_and(|before| before == state.as_bytes()) {
            return Ok(());
        }
        let mut paths = self.catalog(home, &hidden)?;
        paths.extend(hidden.iter().filter_map(|held| {
            Some(PathBuf::from(
                self.stores
                    .get(held.store)?
                    .backend()
                    .describe(held.location.key.as_deref()?),
            ))
        }));
        self.index(home, &paths)?;
        self.kept(&hidden)?;
        durable::put(&RealDisk, &place, state.as_bytes(), &SystemIds.hex16())
    }

    /// Returns a hash of the patterns and the sessions that they exclude now: a session that is
    /// excluded later changes it too.
    fn fingerprint(&self, patterns: &[String], hidden: &[StoredSession]) -> String {
        let mut parts: Vec<String> = hidden
            .iter()
            .filter_map(|held| self.reference(held))
            .map(|it| it.to_string())
            .collect();
        parts.sort();
        parts.extend(patterns.iter().cloned());
        Digest::of(parts.join("\n").as_bytes()).to_string()
    }

    fn reference(&self, held: &StoredSession) -> Option<SessionRef> {
        Some(SessionRef::new(
            self.stores.get(held.store)?.dialect().name(),
            &held.location.id,
        ))
    }

    /// Removes catalog rows; returns the paths of the removed sessions' logs, including deleted
    /// ones.
    fn catalog(&self, home: &Path, hidden: &[StoredSession]) -> Result<HashSet<PathBuf>> {
        let path = home.join("catalog.db");
        if !path.is_file() {
            return Ok(HashSet::new());
        }
        let refs: HashSet<SessionRef> = hidden
            .iter()
            .filter_map(|held| self.reference(held))
            .collect();
        let is_excluded = |meta: &SessionMeta| {
            meta.project
                .as_deref()
                .is_some_and(|it| self.exclusion.excludes(it))
        };
        let goes = |reference: &SessionRef, meta: &SessionMeta| {
            refs.contains(reference) || is_excluded(meta)
        };
        Ok(Catalog::open(&path)?
            .forget_where(&goes)?
            .into_iter()
            .collect())
    }

    fn index(&self, home: &Path, paths: &HashSet<PathBuf>) -> Result<()> {
        let folder = home.join("index");
        if !folder.is_dir() {
            return Ok(());
        }
        let mut shown = HashSet::new();
        for (_, store) in self.stores.iter() {
            let (files, _) = store.memory().unwrap_or_default();
            shown.extend(
                files
                    .iter()
                    .map(|file| PathBuf::from(store.backend().describe(&file.key))),
            );
        }
        let is_hidden_memory = |path: &Path| {
            let project = path
                .parent()
                .map(|folder| folder.join(".project"))
                .filter(|it| it.starts_with(home));
            match project.and_then(|it| read_text(&it).ok()) {
                Some(project) => self.exclusion.excludes(project.trim()),
                None => path.extension().is_some_and(|end| end == "md") && !shown.contains(path),
            }
        };
        // For a file that no longer exists the owner cannot be determined.
        Index::open(&folder).purge_where(&|source| {
            let path = Path::new(&source.id);
            paths.contains(path) || !path.is_file() || is_hidden_memory(path)
        })
    }

    /// Removes copies of sessions whose logs still exist. For others, the copy may be the last one.
    fn kept(&self, hidden: &[StoredSession]) -> Result<()> {
        let there = hidden.iter().filter_map(|held| {
            let store = self
                .stores
                .get(held.store)
                .filter(|store| store.archived().is_none())?;
            Some((self.reference(held)?, store.root().to_owned()))
        });
        let there: HashSet<(SessionRef, PathBuf)> = there.collect();
        let runner = self.cx.reading_runner()?;
        runner
            .vault()
            .drop_kept(&|session, root| there.contains(&(session.clone(), root.to_owned())))
            .map(drop)
    }
}
