//! A session as a list shows it.

use std::borrow::Cow;

use boswell_dialect::{Depth, Dialect, ReadSession, Reader, SessionLocation, facts_of};
use boswell_model::{Framing, Instant, Log, Payloads, Result, SessionMeta, SessionRef};

use crate::backend::{Backend, BackendFiles, ObjectReader};

/// How much of each end of a large log a listing looks at: as much as the agents' own pickers do.
const WINDOW: u64 = 64 << 10;

/// What a list shows of a session, gathered from the ends of its log and the files beside it.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Which session.
    pub reference: SessionRef,
    /// Where a listing found it.
    pub location: SessionLocation,
    /// Path of its log.
    pub path: Option<String>,
    /// What is known of it. Boxed, because lists move thousands of summaries about.
    pub meta: Box<SessionMeta>,
    /// Whether the whole log was read: only then counts are known.
    pub complete: bool,
    /// Records seen, the header aside; all of them if `complete`.
    pub records: u64,
    /// Entry that the conversation stands at, where the whole log was read.
    pub leaf: Option<String>,
    /// Whether a message or something else of a conversation was seen.
    pub conversation: bool,
    /// How many stretches of the log are no records, as far as it was read.
    pub gaps: u64,
}

impl Summary {
    /// Looks at a session: the whole log if it is small, else its two ends.
    pub(crate) fn peek(
        dialect: &'static dyn Dialect,
        backend: &dyn Backend,
        location: &SessionLocation,
    ) -> Result<Summary> {
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

    /// How many records of a log are not its header.
    pub fn records_of(log: &Log) -> u64 {
        (log.heads.len() - usize::from(crate::session::header(log).is_some())) as u64
    }

    /// When something last happened: what the log says, else when the file changed.
    pub fn last_active(&self) -> Option<Instant> {
        self.meta.last_active.or(self.location.modified)
    }

    /// How the session is called: title, else summary, else first prompt, else its short id.
    pub fn name(&self) -> String {
        let meta = &self.meta;
        [&meta.title, &meta.summary, &meta.first_prompt]
            .into_iter()
            .flatten()
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
            .find(|text| !text.is_empty())
            .unwrap_or_else(|| self.reference.id.chars().take(8).collect())
    }

    /// Why lists leave it out unless asked.
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

    /// Whether a log holds nothing that anybody would look for: bookkeeping alone is no
    /// conversation, unless somebody gave it a name. `talk` is whether there is one or the other.
    pub fn holds_nothing(dialect: &str, framing: Framing, records: bool, talk: bool) -> bool {
        // One of our own was made by somebody who will want to find it.
        !facts_of(dialect).is_some_and(|facts| facts.is_own)
            && (!records || (framing == Framing::Lines && !talk))
    }
}

/// The leaf of a log that was read as a whole.
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

/// Records of a log that is open.
pub(crate) struct Open<'o>(pub(crate) &'o dyn ObjectReader);

impl Payloads for Open<'_> {
    fn payload(&self, at: u64, len: u64) -> Result<Cow<'_, [u8]>> {
        self.0.read(at, len).map(Cow::Owned)
    }
}
