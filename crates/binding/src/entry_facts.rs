//! Entries as they are read.

use std::sync::Arc;

use boswell_model::{Result, Slot};
use boswell_store::blobs::{Blobs, references};
use boswell_store::session::NewEntry;
use boswell_store::{Follower, Session};

/// An entry of a session.
#[derive(Debug, Clone)]
pub struct EntryFacts {
    /// Its id; `#line` if the record has none.
    pub id: Option<String>,
    /// The id of the entry that it follows.
    pub parent: Option<String>,
    /// What it is: `user`, `assistant`, `tool`, `custom`, …
    pub kind: &'static str,
    /// The text of a message.
    pub text: Option<String>,
    /// The revision of the log up to this entry, if a follower returned it.
    pub revision: Option<String>,
    /// The record as it is in the log.
    pub bytes: Arc<[u8]>,
}

/// A record with the values that are stored as blobs.
#[derive(Debug, Clone)]
pub struct WholeRecord {
    /// The record.
    pub record: Vec<u8>,
    /// Blobs that could not be read: their references stay in the record, because a text may also
    /// only quote one.
    pub missing: Vec<String>,
}

impl EntryFacts {
    /// Reads an entry of a snapshot.
    ///
    /// # Errors
    ///
    /// An I/O error if it cannot be read.
    pub fn read(session: &Session, slot: Slot) -> Result<EntryFacts> {
        let entry = session.entry(slot)?;
        let parent = session.tree().parent(slot);
        Ok(EntryFacts {
            id: Some(entry.id.to_string()),
            parent: parent.map(|slot| session.log().label(slot).into_owned()),
            kind: entry.kind.word(),
            text: entry.view.map(|view| view.text()),
            revision: None,
            bytes: entry.bytes.into(),
        })
    }

    /// Returns the record with its large values; `None` if it names no blob.
    ///
    /// # Errors
    ///
    /// An I/O error if blobs cannot be looked for.
    pub fn whole(&self, blobs: Option<&Blobs>) -> Result<Option<WholeRecord>> {
        let Some(blobs) = blobs.filter(|_| !references(&self.bytes).is_empty()) else {
            return Ok(None);
        };
        let read = blobs.internalise(&self.bytes)?;
        let missing = read.unresolved.iter().map(|(id, _)| id.reference());
        Ok(Some(WholeRecord {
            missing: missing.collect(),
            record: read.record,
        }))
    }
}

impl From<NewEntry> for EntryFacts {
    fn from(entry: NewEntry) -> EntryFacts {
        EntryFacts {
            id: entry.label.map(String::from),
            parent: entry.parent.map(String::from),
            kind: entry.kind.word(),
            text: Some(entry.view.text()),
            revision: Some(entry.revision.to_string()),
            bytes: entry.bytes,
        }
    }
}

/// Returns everything new since the last poll: the generation, and the entries. The generation
/// grows when the log was replaced; entries of earlier generations are void then.
///
/// # Errors
///
/// An I/O error if the log cannot be read.
pub fn poll_all(follower: &mut Follower) -> Result<(u64, Vec<EntryFacts>)> {
    let mut news = follower.poll()?;
    let mut entries = std::mem::take(&mut news.entries);
    while news.more {
        let more = follower.poll()?;
        if more.generation != news.generation {
            entries.clear();
        }
        news = more;
        entries.append(&mut news.entries);
    }
    let entries = entries.into_iter().map(EntryFacts::from);
    Ok((news.generation, entries.collect()))
}
