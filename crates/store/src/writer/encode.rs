//! Encodes drafts as lines of the log.
//!
//! Encoding decides the three things that a draft may leave open: its id, its parent and its time.
//! Then the dialect writes the record, and values that are too large for a line become blobs.
//!
//! An id that the caller chose makes an append idempotent: if the log has an entry with that id and
//! the same content, no line is written and the receipt says `deduplicated`; with other content it
//! is a conflict. Ids, parents and other names that a draft mentions are looked up in [`KnownIds`],
//! which reads the whole log on first use; a plain draft (no id, parent at the tip) never needs it.
//!
//! Nothing here writes to the log: lines are collected in a [`Batch`].

use boswell_dialect::{Append, Body, Draft, EntryStamp, IdSource, Parent, SessionFacts};
use boswell_model::{Advice, EntryId, Error, ErrorKind, Instant, Part, Result};

use super::batch::{Batch, Encoded};
use super::id_index::KnownIds;
use super::state::State;
use super::tail::stated;
use crate::blobs::Limits;

/// The space that is reserved for a record at first; longer than most records without their text.
const SHORT: usize = 1 << 10;

/// The dialect and the id source that drafts are encoded with.
#[derive(Debug, Clone, Copy)]
pub(super) struct With<'a> {
    pub(super) dialect: &'static dyn Append,
    pub(super) id_source: &'a dyn IdSource,
}

impl State {
    /// Returns a time later than every entry of the log, for dialects whose `parent_needs_full_log`
    /// is set: some versions of these agents take the latest timestamp for the tip, because the
    /// tree alone does not say which entry came last.
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

    /// Returns the parent of a draft: what the caller chose, else the last entry of the batch, else
    /// the tip of the log.
    fn parent_of(
        &mut self,
        dialect: &'static dyn Append,
        draft: &Draft,
        batch: &Batch,
    ) -> Result<Option<EntryId>> {
        match &draft.parent {
            Parent::Root => Ok(None),
            // Drafts of one batch follow each other.
            Parent::Tip if batch.tip.is_some() => Ok(batch.tip.clone()),
            Parent::Entry(parent)
                if batch.has(parent.as_str()) || !dialect.facts().parent_needs_full_log =>
            {
                Ok(Some(parent.clone()))
            }
            Parent::Tip if !dialect.facts().parent_needs_full_log => Ok(self.tail.tip.clone()),
            parent => {
                // Only some dialects need the whole log here, and only once: `write_batch` keeps
                // the cache valid.
                if let (Parent::Tip, Some((end, stands))) = (parent, &self.stands)
                    && *end == self.end
                {
                    return Ok(stands.clone());
                }
                let (above, meta) =
                    self.look(dialect, |view| dialect.parent_of_new(view, parent))?;
                let above = above.map(EntryId::from);
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

    /// Encodes a draft behind those of the batch, unless the log contains it already.
    pub(super) fn encode(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        batch: &mut Batch,
    ) -> Result<()> {
        if let Some(id) = &draft.id
            && self.is_written(with.dialect, id.as_str(), draft, batch)?
        {
            self.rewrite_for_sync(id.as_str())?;
            batch.entries.push(Encoded::before(id.clone()));
            return Ok(());
        }
        let id = draft
            .id
            .clone()
            .unwrap_or_else(|| with.dialect.entry_id(with.id_source).into());
        self.encode_as(with, draft, &id, batch)
    }

    /// Encodes a draft under `id`, which must be free. A draft that cannot be encoded leaves no
    /// bytes in the batch.
    pub(super) fn encode_as(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        id: &EntryId,
        batch: &mut Batch,
    ) -> Result<()> {
        let start = batch.bytes.len();
        let encoded = self.encode_after(with, draft, id, batch);
        if !matches!(encoded, Ok(true)) {
            batch.bytes.truncate(start);
        }
        encoded.map(drop)
    }

    /// Encodes a draft. Returns false if the log contains it already.
    fn encode_after(
        &mut self,
        with: With<'_>,
        draft: &Draft,
        id: &EntryId,
        batch: &mut Batch,
    ) -> Result<bool> {
        let With { dialect, id_source } = with;
        self.names_exist(dialect, draft, batch)?;
        let parent = self.parent_of(dialect, draft, batch)?;
        let at = draft
            .at
            .unwrap_or_else(|| self.monotonic_time(dialect, id_source.now()));
        let settled = EntryStamp {
            id: id.as_str(),
            parent: parent.as_ref().map(EntryId::as_str),
            at,
        };
        let start = batch.bytes.len();
        // Reserved in one step, because a buffer that grows in small steps is copied at each of
        // them.
        batch.bytes.reserve(SHORT);
        let session = self.meta.as_deref().map(|meta| SessionFacts {
            id: &self.session,
            meta,
        });
        dialect.encode(draft, settled, session, &mut batch.bytes)?;
        if let Some(blobs) = self
            .blobs
            .as_ref()
            .filter(|blobs| may_be_large(draft, batch.bytes.len() - start, blobs.limits()))
        {
            // Blobs are durable before the entry that names them, or a crash between the two leaves
            // an entry that points at nothing.
            let record = blobs.externalise_large(batch.bytes.get(start..).unwrap_or(b""))?;
            batch.bytes.truncate(start);
            batch.bytes.extend(record);
        }
        let mut own_id = None;
        if let Body::Native(_) = &draft.body {
            // A record in the dialect's own form may contain its own id and parent. They are
            // checked like those of a draft, and must not contradict the draft.
            let (stated, above) = stated(dialect, batch.bytes.get(start..).unwrap_or(b""));
            own_id = stated.filter(|stated| stated != id);
            let moved = above.as_deref() != parent.as_ref().map(EntryId::as_str);
            if own_id.is_some() && draft.id.is_some() || moved && draft.parent != Parent::Tip {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    "an entry has one id and one parent, and the record and the request give different ones",
                )
                .advising("leave them out of the record or out of the request"));
            }
            if let Some(id) = own_id.as_deref()
                && self.is_written(dialect, id, draft, batch)?
            {
                self.rewrite_for_sync(id)?;
                batch.entries.push(Encoded::before(id.into()));
                return Ok(false);
            }
            if let Some(above) = above.filter(|_| moved) {
                self.exists(dialect, &above, batch)?;
            }
        }
        batch.bytes.push(b'\n');
        let id = own_id.map_or_else(|| id.clone(), EntryId::from);
        batch.tip = Some(id.clone());
        batch.entries.push(Encoded {
            id,
            line: start..batch.bytes.len(),
            deduplicated: false,
        });
        Ok(true)
    }

    /// Fails unless every entry that a draft names exists: agents that read these logs lose the
    /// branch behind a parent that is missing.
    fn names_exist(&mut self, dialect: &dyn Append, draft: &Draft, batch: &Batch) -> Result<()> {
        if let Parent::Entry(parent) = &draft.parent {
            self.exists(dialect, parent.as_str(), batch)?;
        }
        match &draft.body {
            Body::Label { target, .. } => self.exists(dialect, target.as_str(), batch),
            Body::Compaction { first_kept, .. } => self.exists(dialect, first_kept.as_str(), batch),
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
        .advising(Advice::ShowTree))
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
            .advising("give the new entry an id of its own, or none")
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

    /// Makes the next `fsync` cover an entry that is in the log already: the process that wrote it
    /// may have died before its own `fsync`, so the duplicate must not be acknowledged on its word.
    fn rewrite_for_sync(&mut self, id: &str) -> Result<()> {
        if let Some((at, len)) = self.known.as_ref().and_then(|known| known.place(id)) {
            self.renewed |= self.log.rewrite_for_sync(at, len)?;
        }
        Ok(())
    }
}

/// Returns whether a record may contain a value that is large enough for a blob: a long text, an
/// image, or a body whose content is not known. Only then is the encoded record searched for such
/// values.
fn may_be_large(draft: &Draft, len: usize, limits: Limits) -> bool {
    let content = match &draft.body {
        Body::User(content)
        | Body::ToolResult { content, .. }
        | Body::CustomMessage { content, .. } => content,
        Body::Assistant(answer) => &answer.content,
        _ => return limits.may_cut(len, false),
    };
    let plain = content
        .iter()
        .all(|part| matches!(part, Part::Text(_) | Part::Thinking { .. }));
    limits.may_cut(len, plain)
}
