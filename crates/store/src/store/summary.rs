//! [`Summary`]: what a list shows about a session.
//!
//! It reads 64 KiB at each end of a long log. The name of a session is its title, else its summary,
//! else the beginning of its prompt, else the beginning of its id. It also says why a session is
//! hidden: its dialect or store decided it (subagent, archived, prepared), or it is empty.

use std::borrow::Cow;

use boswell_dialect::{Depth, Dialect, ReadSession, Reader, SessionLocation, facts_of};
use boswell_model::{Framing, Instant, Log, Payloads, Result, SessionMeta, SessionRef};

use crate::backend::{Backend, BackendFiles, ListedLog, ObjectReader};
use crate::session::require_readable;

/// How many bytes of each end of a large log are read for a list: as many as the agents' own
/// pickers read.
const WINDOW: u64 = 64 << 10;

/// What a list shows about a session, gathered from the ends of its log and its side files.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The reference of the session.
    pub reference: SessionRef,
    /// Where the listing found the session.
    pub location: SessionLocation,
    /// Path of the session's log.
    pub path: Option<String>,
    /// Metadata of the session. Boxed, because lists move thousands of summaries.
    pub meta: Box<SessionMeta>,
    /// Whether the whole log was read: only then counts are known.
    pub complete: bool,
    /// Number of records that were read, without the header; all of them if `complete`.
    pub records: u64,
    /// The leaf, if the whole log was read; `None` where columns describe the session.
    pub leaf: Option<String>,
    /// Whether a message or something else of a conversation was seen.
    pub conversation: bool,
    /// Number of gaps (bytes that are not records), as far as the log was read.
    pub gaps: u64,
}

impl Summary {
    /// Reads a summary: from the whole log if it is small, else from its two ends.
    pub(crate) fn peek(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
    ) -> Result<Summary> {
        require_readable(dialect, location)?;
        let mut reader = Reader::new(dialect, location, Depth::Facts);
        let object = location
            .key
            .as_ref()
            .map(|key| backend.open(key))
            .transpose()?;
        if let Some(object) = &object {
            if location.framing != Framing::Lines {
                reader.document(&object.read(0, object.end()?)?);
            } else if object.ends(WINDOW, &mut |line| reader.line(line))? {
                reader.skipped();
            }
        }
        let mut read = reader.finish();
        dialect.add_side_meta(&BackendFiles(backend), location, &mut read.meta)?;
        let leaf = leaf_of(dialect, &read, object.as_deref());
        Ok(Summary {
            reference: SessionRef::new(dialect.name(), &location.id),
            location: location.clone(),
            path: location.key.as_deref().map(|key| backend.describe(key)),
            complete: read.log.whole,
            records: Summary::records_of(&read.log),
            conversation: read
                .log
                .heads
                .iter()
                .any(|head| head.kind.is_conversation()),
            gaps: read.log.gaps.len() as u64,
            meta: Box::new(read.meta),
            leaf,
        })
    }

    /// Makes a summary of the columns that a backend stores about a session.
    pub(crate) fn of_row(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        row: ListedLog,
    ) -> Summary {
        let ListedLog {
            id,
            info,
            records,
            meta,
            ..
        } = row;
        Summary {
            reference: SessionRef::new(dialect.name(), &id),
            path: Some(backend.describe(&info.key)),
            location: SessionLocation::of_file(id, info, Framing::Lines),
            // The columns count every line, though no line was read.
            complete: true,
            records,
            conversation: meta.messages > 0,
            gaps: 0,
            meta: Box::new(meta),
            leaf: None,
        }
    }

    /// Returns the number of records of a log, without the header.
    pub fn records_of(log: &Log) -> u64 {
        (log.heads.len() - usize::from(crate::session::header(log).is_some())) as u64
    }

    /// Returns the time of the last activity: from the log, else the modification time of the file.
    pub fn last_active(&self) -> Option<Instant> {
        self.meta.last_active.or(self.location.modified)
    }

    /// Returns a name for the session: title, else summary, else first prompt, else its short id.
    pub fn name(&self) -> String {
        let meta = &self.meta;
        let texts = [&meta.title, &meta.summary, &meta.first_prompt];
        Summary::name_from(texts, &self.reference.id)
    }

    /// Returns the name of a session with this title, summary, first prompt and id.
    pub fn name_from(texts: [&Option<String>; 3], id: &str) -> String {
        (texts.into_iter().flatten())
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| id.chars().take(8).collect())
    }

    /// Returns why lists leave the session out by default; `None` if they do not.
    pub fn hidden(&self) -> Option<&'static str> {
        self.location.hidden.or(self.meta.hidden).or((self.complete
            && self.location.row.is_none()
            && self.is_empty())
        .then_some("empty"))
    }

    fn is_empty(&self) -> bool {
        let talk = self.conversation || self.meta.title.is_some();
        Summary::holds_nothing(
            &self.reference.dialect,
            self.location.framing,
            self.records > 0,
            talk,
        )
    }

    /// Returns whether a log contains nothing that a user would look for: bookkeeping alone is not
    /// a conversation, unless it has a title. `talk` is whether it has a conversation or a title.
    pub fn holds_nothing(dialect: &str, framing: Framing, records: bool, talk: bool) -> bool {
        // A session of boswell's own was made on purpose, and its user will look for it.
        !facts_of(dialect).is_some_and(|facts| facts.is_own)
            && (!records || (framing == Framing::Lines && !talk))
    }
}

/// Returns the leaf of a log that was read as a whole.
fn leaf_of(
    dialect: &dyn Dialect,
    read: &ReadSession,
    object: Option<&dyn ObjectReader>,
) -> Option<String> {
    let payloads = Open(object.filter(|_| read.log.whole)?);
    let view = read.view(&payloads);
    let tip = dialect.tip(&view).ok()?;
    dialect
        .leaf(&view, tip)
        .map(|slot| read.log.label(slot).into_owned())
}

/// The records of an open log.
pub(crate) struct Open<'o>(pub(crate) &'o dyn ObjectReader);

impl Payloads for Open<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.read(at, len).map(Cow::Owned)
    }
}
