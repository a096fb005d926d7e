//! Finds the log of a session that is to be written, and opens it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::Located;
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use crate::Store;
use crate::lease::{AppendLock, Lease, Wait};
use crate::locks::Owner;
use crate::native::uuid_v7_time;
use crate::writer::{Named, Opened, SessionWriter, WriterParts};

impl Store {
    /// Opens a session for writing and takes its lease.
    pub fn writer(&self, id: &str, wait: Wait) -> Result<SessionWriter> {
        self.on_log(id, |id, mut opened| {
            let lease = self.lease(id, wait)?;
            if opened.visible.is_some() {
                // Looked up again: who held the lease before may have made the log visible while we waited.
                opened = self.looked_up(id)?.1;
            }
            self.wait_until_idle(id, &opened.path, wait)?;
            self.writer_on(id, opened, Some(lease))
        })
    }

    /// Opens a session for one who adds only what does not move the leaf, and needs no lease.
    pub(crate) fn annotator(&self, id: &str) -> Result<SessionWriter> {
        let open = || self.on_log(id, |id, opened| self.writer_on(id, opened, None));
        // Its driver may make the log visible between our look and our opening it.
        open().or_else(|error| if error.is_not_found() { open() } else { Err(error) })
    }

    /// Opens a log where it was last written; if it is not there any more, where its name is found.
    fn on_log(&self, id: &str, open: impl Fn(&str, Opened) -> Result<SessionWriter>) -> Result<SessionWriter> {
        if let Some(opened) = self.remembered(id) {
            let there = open(id, opened);
            if !there.as_ref().is_err_and(Error::is_not_found) {
                return there;
            }
        }
        let (id, opened) = self.looked_up(id)?;
        open(&id, opened)
    }

    fn to_open(&self, path: PathBuf, visible: Option<PathBuf>) -> Opened {
        Opened { path, visible, named: Named::Unknown, blobs: self.blobs(), append_lock: None }
    }

    /// The log that was last written under a session's append lock, where it was then: its name need not be looked for among those
    /// of all others.
    fn remembered(&self, id: &str) -> Option<Opened> {
        let writing = self.writing().ok()?;
        uuid_v7_time(id).filter(|_| self.dialect().name() == "boswell")?;
        let append_lock = AppendLock::new(&writing.locks, &self.lock_name(id));
        let (identity, path) = append_lock.remembered(writing.disk.as_ref())?;
        let name = path.strip_prefix(self.root()).ok()?.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        let is_its = name.split_once('_').is_some_and(|(_, named)| named == id);
        is_its.then(|| Opened {
            named: Named::Of(identity),
            append_lock: Some(append_lock),
            ..self.to_open(path, None)
        })
    }

    /// Looks a session's log up by its name.
    fn looked_up(&self, id: &str) -> Result<(String, Opened)> {
        let in_sight = |found: Result<Located>| match found {
            Ok(Located { id, key: Some(key), .. }) => Ok((id, self.to_open(self.root().join(key), None))),
            Ok(_) => Err(Error::new(ErrorKind::Unsupported, format!("session {id} has no log to append to"))),
            Err(error) => Err(error),
        };
        let found = in_sight(self.find(id));
        if found.is_ok() {
            return found;
        }
        match self.pending(id)? {
            Some(path) => {
                let visible = visible_name(&path);
                Ok((id.to_owned(), self.to_open(path, Some(visible))))
            }
            // It may have become visible between the two looks.
            None => in_sight(self.find(id)),
        }
    }

    pub(crate) fn writer_on(&self, id: &str, mut opened: Opened, lease: Option<Lease>) -> Result<SessionWriter> {
        let writing = self.writing()?;
        let parts = WriterParts {
            dialect: self.dialect(),
            disk: Arc::clone(&writing.disk),
            chance: Arc::clone(&writing.chance),
            reference: SessionRef::new(self.dialect().name(), id),
            locks: writing.locks.clone(),
            root: self.root().to_owned(),
            lock_name: self.lock_name(id),
            append_lock: opened.append_lock.take(),
            lease,
        };
        SessionWriter::open(parts, opened)
    }

    fn lock_name(&self, id: &str) -> String {
        format!("{}-{id}", self.dialect().name())
    }

    pub(crate) fn lease(&self, id: &str, wait: Wait) -> Result<Lease> {
        let writing = self.writing()?;
        let owner = (&Owner::this(writing.program.clone()), writing.chance.now());
        Lease::take(&writing.disk, &writing.locks, &self.lock_name(id), wait, owner, &format!("session {id}"))
    }

    /// A log that is not visible yet.
    pub(crate) fn pending(&self, id: &str) -> Result<Option<PathBuf>> {
        // The stamp holds no `_`, an id may.
        let is_it = |name: &str| {
            let bare = name.strip_prefix('.').and_then(|name| name.strip_suffix(".jsonl.pending"));
            bare.and_then(|bare| bare.split_once('_')).is_some_and(|(_, found)| found == id)
        };
        for folder in self.backend().list("sessions")?.into_iter().filter(|f| f.is_folder()) {
            for file in self.backend().list(&folder.key)? {
                if file.is_file() && is_it(file.name()) {
                    return Ok(Some(self.root().join(&file.key)));
                }
            }
        }
        Ok(None)
    }
}

fn visible_name(pending: &Path) -> PathBuf {
    let name = pending.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    pending.with_file_name(name.trim_start_matches('.').trim_end_matches(".pending"))
}
