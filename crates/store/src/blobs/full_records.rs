//! Restores records as they were before they were written: resolves references, and adds what the
//! agent's format cut off.
//!
//! What xcsh would drop, boswell stores in its own home: the whole record as a blob, and a small
//! file named after length and hash of the record that was written instead. So the agent's file
//! contains exactly what the agent writes, and nothing in it refers to boswell.
//!
//! So blobs are put back when a session is loaded.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use boswell_model::Result;

use super::{BlobId, Blobs, Habit, persisted, references};
use crate::disk::{Disk, durable};

/// The agent whose blobs these are.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) habit: Habit,
    /// Where boswell stores what the agent would drop; `None` if its home is not known.
    whole: Option<Arc<FullRecord>>,
}

#[derive(Debug)]
struct FullRecord {
    blobs: Blobs,
    links: PathBuf,
    /// Lengths of written records that have a whole one; looked up once.
    lengths: OnceLock<HashSet<usize>>,
}

impl Blobs {
    /// Makes these the blobs of an agent. What its way of writing cuts is kept in `home`.
    #[must_use]
    pub fn of_agent(mut self, habit: Habit, home: Option<&Path>) -> Self {
        let whole = home.zip(self.folder().ok()).map(|(home, folder)| {
            let unique = format!("{}-w", folder.shared.unique);
            let blobs = Blobs::new(Arc::clone(&folder.disk), home, &unique);
            Arc::new(FullRecord {
                blobs,
                links: home.join("blobs").join("whole"),
                lengths: OnceLock::new(),
            })
        });
        self.agent = Some(Agent { habit, whole });
        self
    }

    /// Returns a record as it was before it was written. If a blob is missing, its reference stays.
    pub fn whole<'r>(&self, record: Cow<'r, [u8]>) -> Cow<'r, [u8]> {
        if let Some(whole) = self
            .agent
            .as_ref()
            .and_then(|agent| agent.whole.as_ref()?.of(self.disk().ok()?, &record))
        {
            return Cow::Owned(whole);
        }
        if references(&record).is_empty() {
            return record;
        }
        self.internalise(&record)
            .map_or(record, |internalised| Cow::Owned(internalised.record))
    }

    /// Returns what boswell stores for a record in addition to what was written: the name of the
    /// small file, and the blob. For the blobs of boswell's own home.
    pub fn kept_whole(&self, record: &[u8]) -> Result<Option<(String, BlobId)>> {
        let name = link_name(record);
        let folder = self.folder()?;
        let path = folder.path.join("whole").join(&name);
        let link = durable::read(folder.disk.as_ref(), &path)?;
        let id = link.and_then(|link| BlobId::parse(std::str::from_utf8(&link).ok()?));
        Ok(id.map(|id| (name, id)))
    }

    /// Stores a record as it was before it was written as `written`. Both are durable when this
    /// returns.
    pub fn keep_whole(&self, written: &[u8], whole: &[u8]) -> Result<BlobId> {
        let (id, folder) = (self.put(whole)?, self.folder()?);
        let links = folder.path.join("whole");
        durable::make_folders(folder.disk.as_ref(), &links)?;
        let link = links.join(link_name(written));
        durable::put(
            folder.disk.as_ref(),
            &link,
            id.to_string().as_bytes(),
            &folder.temp_name(),
        )?;
        Ok(id)
    }

    /// Removes the small file of that name, which must be one that
    /// [`kept_whole`](Blobs::kept_whole) gave.
    pub fn forget_whole(&self, name: &str) -> Result<()> {
        if name.contains(['/', '\\', '\0']) || name.starts_with('.') {
            return Ok(());
        }
        let disk = self.disk()?;
        let folder = self.folder()?.path.join("whole");
        let path = folder.join(name);
        durable::remove_if_there(disk, &path)?;
        match disk
            .stat(&folder)
            .map_err(|error| boswell_model::Error::io(folder.display(), "look at", error))?
        {
            Some(_) => durable::sync_parent(disk, &path),
            None => Ok(()),
        }
    }

    /// Writes a record as the agent does; what the agent would lose is durable in our home
    /// before this returns.
    pub(super) fn persist(&self, agent: &Agent, record: &[u8]) -> Result<Vec<u8>> {
        let made = persisted(record, agent.habit)?;
        if let Some(whole) = agent.whole.as_ref().filter(|_| made.lossy) {
            let (id, folder) = (whole.blobs.put(record)?, self.folder()?);
            durable::make_folders(folder.disk.as_ref(), &whole.links)?;
            let link = whole.links.join(link_name(&made.record));
            durable::put(
                folder.disk.as_ref(),
                &link,
                id.to_string().as_bytes(),
                &folder.temp_name(),
            )?;
        }
        made.blobs
            .iter()
            .try_for_each(|(_, bytes)| self.put(bytes).map(|_| ()))?;
        Ok(made.record)
    }
}

impl FullRecord {
    fn of(&self, disk: &dyn Disk, record: &[u8]) -> Option<Vec<u8>> {
        let lengths = self.lengths.get_or_init(|| {
            let names = disk.list(&self.links).unwrap_or_default();
            names
                .iter()
                .filter_map(|(name, _)| name.split_once('-')?.0.parse().ok())
                .collect()
        });
        // Hashing every record would cost more than reading it.
        if !lengths.contains(&record.len()) {
            return None;
        }
        let link = durable::read(disk, &self.links.join(link_name(record))).ok()??;
        let id = BlobId::parse(std::str::from_utf8(&link).ok()?)?;
        self.blobs.get(&id).ok()
    }
}

fn link_name(record: &[u8]) -> String {
    format!("{}-{}", record.len(), BlobId::of(record))
}
