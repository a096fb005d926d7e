//! Entries that come while a sync is under way.
//!
//! A system lets nobody write to a file while it makes its length durable. Whoever tried would wait for the disk with the
//! writer's mutex in hand, and everybody else behind it. So an entry that asks for nothing but to be added is encoded and
//! queued, and the thread that syncs writes all of them at once when it is done. Nothing is promised of them before: a
//! receipt is given by `wait`.

use std::sync::{Arc, OnceLock};

use boswell_dialect::{Body, Draft, Parent};
use boswell_model::{Error, ErrorKind, Result};

use super::batch::{Batch, Drafts};
use super::encode::With;
use super::receipt::{Durability, Expect, Written};
use super::state::State;
use crate::backend::{Attempt, Refused};

/// Entries that are encoded and not written. There are some only while somebody syncs.
#[derive(Debug, Default)]
pub(super) struct Queue {
    drafts: Vec<Draft>,
    batch: Batch,
    /// The entry that the first of them hangs below.
    below: Option<Arc<str>>,
    landing: Arc<Landing>,
}

impl Queue {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }
}

/// Where queued entries came to stand, once they are written: the revision of each, or why they were not.
#[derive(Debug, Default)]
pub(super) struct Landing(OnceLock<std::result::Result<Vec<u64>, (ErrorKind, String)>>);

/// An entry of a queue.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) id: Arc<str>,
    pub(super) place: Place,
}

/// Which of the queue's entries it is.
#[derive(Debug)]
pub(super) struct Place {
    landing: Arc<Landing>,
    nth: usize,
}

impl Place {
    /// The revision of the log with the entry in it.
    pub(super) fn revision(&self) -> Result<u64> {
        match self.landing.0.get() {
            Some(Ok(revisions)) => revisions.get(self.nth).copied().ok_or_else(lost),
            Some(Err((kind, text))) => Err(Error::new(*kind, format!("the entry was not written: {text}"))
                .hinting("open the session again and append it there")),
            None => Err(lost()),
        }
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Internal, "an entry was acknowledged before it was written")
}

impl State {
    /// Queues a draft if somebody syncs and nothing about it has to be looked up; gives back what must be written at once.
    pub(super) fn queue(
        &mut self,
        with: With<'_>,
        drafts: Drafts,
        expect: &Expect,
        durability: Durability,
    ) -> Result<std::result::Result<Queued, Drafts>> {
        let asks_for_nothing = *expect == Expect::Any && durability == Durability::Fsync;
        let draft = match drafts {
            Drafts::One(draft) if self.syncing && asks_for_nothing && self.can_wait(with, &draft) => draft,
            drafts => return Ok(Err(drafts)),
        };
        if self.queue.is_empty() {
            self.queue.below = self.tail.tip.clone();
        }
        let id = Arc::from(with.dialect.entry_id(with.chance));
        let mut batch = std::mem::take(&mut self.queue.batch);
        let encoded = self.encode_as(with, &draft, &id, &mut batch);
        self.queue.batch = batch;
        encoded?;
        self.queue.drafts.push(draft);
        self.given += 1;
        let place = Place { landing: Arc::clone(&self.queue.landing), nth: self.queue.drafts.len() - 1 };
        Ok(Ok(Queued { id, place }))
    }

    fn can_wait(&self, with: With<'_>, draft: &Draft) -> bool {
        let looks_up = matches!(draft.body, Body::Native(_) | Body::Label { .. } | Body::Compaction { .. });
        let publishes = self.hidden && draft.is_answer();
        draft.id.is_none() && draft.parent == Parent::Tip && !looks_up && !publishes && !with.dialect.hangs_by_view()
    }

    /// Writes what was queued, in one write. Called in a turn, when what others added was taken note of.
    pub(super) fn write_queue(&mut self, with: With<'_>) -> Attempt<()> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let mut queue = std::mem::take(&mut self.queue);
        let written = self.write_queued(with, &mut queue);
        let landed = match &written {
            Err(Refused::Moved) => {
                self.queue = queue;
                return Err(Refused::Moved);
            }
            Ok(written) => Ok(written.iter().map(|it| it.revision).collect()),
            Err(Refused::Over(error) | Refused::Failed(error)) => Err((error.kind(), error.to_string())),
        };
        self.written = self.given;
        let _ = queue.landing.0.set(landed);
        written.map(drop)
    }

    fn write_queued(&mut self, with: With<'_>, queue: &mut Queue) -> Attempt<Vec<Written>> {
        if queue.below != self.tail.tip {
            queue.batch = self.encode_anew(with, &queue.drafts, &queue.batch)?;
            queue.below = self.tail.tip.clone();
        }
        self.write_batch(with.dialect, &queue.batch, self.given)
    }

    /// Others added entries meanwhile: what was to hang below the tip hangs below theirs now.
    fn encode_anew(&mut self, with: With<'_>, drafts: &[Draft], before: &Batch) -> Result<Batch> {
        let mut batch = Batch::default();
        for (draft, entry) in drafts.iter().zip(&before.entries) {
            self.encode_as(with, draft, &entry.id, &mut batch)?;
        }
        Ok(batch)
    }

    /// Gives up what was queued: the log cannot be written any more.
    pub(super) fn give_up_queue(&mut self, why: &Error) {
        let Queue { batch, landing, .. } = std::mem::take(&mut self.queue);
        self.written = self.given;
        if self.usable_for_sync().is_err() {
            self.doubt_for_good(&batch);
        }
        let _ = landing.0.set(Err((why.kind(), why.to_string())));
    }
}
