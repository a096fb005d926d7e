//! Drafts become lines of the log.

use std::sync::Arc;

use boswell_dialect::{Append, Body, Draft, EntryStamp, IdSource, Parent, Part, SessionFacts};
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::batch::{Batch, Encoded};
use super::id_index::KnownIds;
use super::state::State;
use super::tail::stated;
use crate::blobs::{LARGE_TEXT, SMALL_IMAGE};

/// Longer than most records without their text.
const SHORT: usize = 1 << 10;

/// What drafts are written with.
#[derive(Debug, Clone, Copy)]
pub(super) struct With<'a> {
    pub(super) dialect: &'static dyn Append,
    pub(super) id_source: &'a dyn IdSource,
}

impl State {
    /// A moment after all that the log tells of: where the tree alone does not say what came last,
    /// some versions of the agent go by the time.
    fn monotonic_time(&mut self, dialect: &dyn Append, now: Instant) -> Instant {
        if !dialect.facts().parent_needs_full_log {
            return now;
        }
        let meta = self.meta.get_or_insert_default();
        let last = meta
            .last_active
            .map(|last| Instant::from_millis(last.millis().saturating_add(1)));
        let at = last.map_or(now, |last| last.max(now));
        meta.last_active = Some(at);
        at
    }

    /// The entry that a draft hangs below.
    fn parent_of(
        &mut self,
        dialect: &'static dyn Append,
        draft: &Draft,
        batch: &Batch,
    ) -> Result<Option<Arc<str>>> {
        match &draft.parent {
            Parent::Root => Ok(None),
            Parent::Tip if batch.tip.is_some() => Ok(batch.tip.clone()),
            Parent::Entry(parent)
                if batch.has(parent) || !dialect.facts().parent_needs_full_log =>
            {
                Ok(Some(parent.as_str().into()))
            }
            Parent::Tip if !dialect.facts().parent_needs_full_log => Ok(self.tail.tip.clone()),
            parent => {
                if let (Parent::Tip, Some((end, stands))) = (parent, &self.stands)
                    && *end == self.end
                {
                    return Ok(stands.clone());
                }
                let (above, meta) =
                    self.look(dialect, |view| dialect.parent_of_new(view, parent))?;
                let above: Option<Arc<str>> = above.map(Arc::from);
                self.meta = Some(Box::new(meta));
                if *parent == Parent::Tip {
                    self.stands = Some((self.end, above.clone()));
                }
                Ok(above)
            }
        }
    }

    fn known(&mut self, dialect: &dyn Append) -> Result<&mut KnownIds> {
        let loaded = match self.known.take() {
            Some(known) => known,
            None => KnownIds::load(dialect, self.log.reader()?.as_ref())?,
        };
        Ok(self.known.insert(loaded))
    }

    /// Encodes a draft behind those of the batch, unless it stands in the log already.
    pub(super) fn encode(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        batch: &mut Batch,
    ) -> Result<()> {
        if let Some(id) = &draft.id
            && self.is_written(with.dialect, id, draft, batch)?
        {
            self.rewrite_for_sync(id)?;
            batch.entries.push(Encoded::before(id));
            return Ok(());
        }
        let id = draft
            .id
            .clone()
            .unwrap_or_else(|| with.dialect.entry_id(with.id_source));
        self.encode_as(with, draft, &Arc::from(id), batch)
    }

    /// Encodes a draft under an id that is free. One that cannot be encoded leaves nothing behind.
    pub(super) fn encode_as(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        id: &Arc<str>,
        batch: &mut Batch,
    ) -> Result<()> {
        let start = batch.bytes.len();
        let encoded = self.encode_after(with, draft, id, batch);
        if !matches!(encoded, Ok(true)) {
            batch.bytes.truncate(start);
        }
        encoded.map(drop)
    }

    /// Encodes a draft; false if it stands in the log already.
    fn encode_after(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        id: &Arc<str>,
        batch: &mut Batch,
    ) -> Result<bool> {
        let With { dialect, id_source } = with;
        self.names_exist(dialect, draft, batch)?;
        let parent = self.parent_of(dialect, draft, batch)?;
        let at = draft
            .at
            .unwrap_or_else(|| self.monotonic_time(dialect, id_source.now()));
        let settled = EntryStamp {
            id,
            parent: parent.as_deref(),
            at,
        };
        let start = batch.bytes.len();
        // A buffer that grows step by step is copied at every step.
        batch.bytes.reserve(SHORT);
        let session = self.meta.as_deref().map(|meta| SessionFacts {
            id: &self.session,
            meta,
        });
        dialect.encode(draft, settled, session, &mut batch.bytes)?;
        if let Some(blobs) = self
            .blobs
            .as_ref()
            .filter(|_| may_be_large(draft, batch.bytes.len() - start))
        {
            // Durable before the entry that names them, or a crash between the two leaves an
            // entry that names nothing.
            let record = blobs.externalise(batch.bytes.get(start..).unwrap_or(b""), LARGE_TEXT)?;
            batch.bytes.truncate(start);
            batch.bytes.extend(record);
        }
        let mut own_id = None;
        if let Body::Native(_) = &draft.body {
            // A record in the dialect's own shape may bring its own id and parent; they count
            // like those of a draft.
            let (stated, above) = stated(dialect, batch.bytes.get(start..).unwrap_or(b""));
            own_id = stated.filter(|stated| **stated != **id);
            let moved = above.as_deref() != parent.as_deref();
            if own_id.is_some() && draft.id.is_some() || moved && draft.parent != Parent::Tip {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    "an entry has one id and one parent, and was given two",
                )
                .hinting("leave them out of the record or out of the request"));
            }
            if let Some(id) = own_id.as_deref()
                && self.is_written(dialect, id, draft, batch)?
            {
                self.rewrite_for_sync(id)?;
                batch.entries.push(Encoded::before(id));
                return Ok(false);
            }
            if let Some(above) = above.filter(|_| moved) {
                self.exists(dialect, &above, batch)?;
            }
        }
        batch.bytes.push(b'\n');
        let id = own_id.map_or_else(|| Arc::clone(id), Arc::from);
        batch.tip = Some(Arc::clone(&id));
        batch.entries.push(Encoded {
            id,
            line: start..batch.bytes.len(),
            deduplicated: false,
        });
        Ok(true)
    }

    /// Whatever a draft points at must be there: a reader of the family finds nothing behind a
    /// name that leads nowhere.
    fn names_exist(&mut self, dialect: &dyn Append, draft: &Draft, batch: &Batch) -> Result<()> {
        if let Parent::Entry(parent) = &draft.parent {
            self.exists(dialect, parent, batch)?;
        }
        match &draft.body {
            Body::Label { target, .. } => self.exists(dialect, target, batch),
            Body::Compaction { first_kept, .. } => self.exists(dialect, first_kept, batch),
            _ => Ok(()),
        }
    }

    fn exists(&mut self, dialect: &dyn Append, id: &str, batch: &Batch) -> Result<()> {
        if batch.has(id) || self.known(dialect)?.has(id) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("the session has no entry `{}`", id.escape_debug()),
        )
        .hinting("see its entries with `boswell tree`"))
    }

    fn is_written(
        &mut self,
        dialect: &'static dyn Append,
        id: &str,
        draft: &Draft,
        batch: &Batch,
    ) -> Result<bool> {
        let conflict = || {
            Error::new(
                ErrorKind::Conflict,
                format!(
                    "the id `{}` is taken by an entry with other content",
                    id.escape_debug()
                ),
            )
            .hinting("give the new entry an id of its own, or none")
        };
        if batch.has(id) {
            return Err(conflict());
        }
        if !self.known(dialect)?.has(id) {
            return Ok(false);
        }
        let (log, large) = (self.log.reader()?, self.blobs.clone());
        if self
            .known(dialect)?
            .same(dialect, log.as_ref(), id, draft, large.as_ref())?
        {
            Ok(true)
        } else {
            Err(conflict())
        }
    }

    /// Makes sure that the next sync covers an entry that stands there: whoever wrote it may have
    /// died before its own.
    fn rewrite_for_sync(&mut self, id: &str) -> Result<()> {
        if let Some((at, len)) = self.known.as_ref().and_then(|known| known.place(id)) {
            self.renewed |= self.log.rewrite_for_sync(at, len)?;
        }
        Ok(())
    }
}

/// Whether something in a record may be large enough for a blob, which needs a look at all of it: a
/// long text, an image, or what nobody knows.
fn may_be_large(draft: &Draft, len: usize) -> bool {
    let content = match &draft.body {
        Body::User(content)
        | Body::ToolResult { content, .. }
        | Body::CustomMessage { content, .. } => content,
        Body::Assistant(answer) => &answer.content,
        _ => return len >= SMALL_IMAGE,
    };
    let plain = content
        .iter()
        .all(|part| matches!(part, Part::Text(_) | Part::Thinking { .. }));
    len >= if plain { LARGE_TEXT } else { SMALL_IMAGE }
}
