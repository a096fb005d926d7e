//! Group commit: one thread calls `fsync` for the appends of all threads that wait.
//!
//! The first thread that waits for an append to become durable is the leader. It calls `fsync`
//! without holding the writer's mutex, so that others can go on, and wakes all waiting threads
//! (followers) afterwards; one whose append came too late for that `fsync` leads the next round.
//!
//! The kernel does not let a file be written while it is synced. An append that arrives meanwhile
//! would block inside `write` with the writer's mutex held, and every other thread behind it. So it
//! is encoded into a queue, and the leader writes the whole queue in one `write` when its `fsync`
//! has returned. Nothing is promised of queued entries until then: a receipt is given by
//! [`Ticket::wait`](super::Ticket).

use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use boswell_dialect::{Body, Draft, Parent};
use boswell_model::{Advice, EntryId, Error, ErrorKind, Result, Revision};

use super::Inner;
use super::batch::{Batch, Drafts};
use super::encode::With;
use super::receipt::{Durability, Expect, Written};
use super::state::State;
use crate::backend::{AppendError, AppendResult};

/// Entries that are encoded and not yet written. Not empty only while a leader calls `fsync`.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Kept in addition to the encoded batch, because the entries are encoded again if the tip
    /// moves.
    drafts: Vec<Draft>,
    batch: Batch,
    /// The tip that the first queued entry was encoded with as its parent.
    parent: Option<EntryId>,
    /// Shared with the tickets of these entries. Each queue has its own, so that a ticket sees the
    /// outcome of its queue and no other.
    outcome: Arc<QueueOutcome>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }
}

/// The outcome of a queue: the revision of each entry, or the error that kept all of them from the
/// log.
#[derive(Debug, Default)]
struct QueueOutcome(OnceLock<std::result::Result<Vec<Revision>, (ErrorKind, String)>>);

/// The place of an entry in a queue, through which its ticket learns the entry's revision.
#[derive(Debug)]
pub(super) struct QueueSlot {
    outcome: Arc<QueueOutcome>,
    nth: usize,
}

impl QueueSlot {
    /// The revision of the log that includes the entry.
    pub(super) fn revision(&self) -> Result<Revision> {
        match self.outcome.0.get() {
            Some(Ok(revisions)) => revisions
                .get(self.nth)
                .copied()
                .ok_or_else(acknowledged_unwritten),
            Some(Err((kind, text))) => Err(Error::new(
                *kind,
                format!("the entry was not written: {text}"),
            )
            .advising(Advice::ReopenSession)),
            None => Err(acknowledged_unwritten()),
        }
    }
}

fn acknowledged_unwritten() -> Error {
    Error::new(
        ErrorKind::Internal,
        "an entry was acknowledged before it was written",
    )
}

impl Inner {
    /// Returns when the append of that number, and all before it, are durable.
    pub(super) fn wait_until_durable(&self, number: u64) -> Result<()> {
        let mut state = self.lock();
        loop {
            if state.synced >= number {
                return Ok(());
            }
            // Checked after `synced`: a failure that came later does not take back a receipt.
            state.usable_for_sync()?;
            state = if state.syncing {
                self.follow(state)
            } else {
                self.lead(state)
            };
        }
    }

    /// Waits until the leader's `fsync` has returned.
    fn follow<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        state.followers += 1;
        let mut state = self
            .sync_ended
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
        state.followers -= 1;
        state
    }

    /// Syncs what is written, then writes what was queued meanwhile, and wakes all followers.
    fn lead<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        state.syncing = true;
        // Fixed before the mutex is released. Appends from now on may or may not be covered by this
        // `fsync`, and wait for the next one.
        let (target, work) = ((state.written, state.end), state.log.sync());
        drop(state);
        let outcome = work.map_or(Ok(()), |work| work());
        let mut state = self.lock();
        match state.log.synced(outcome) {
            Ok(covers_all) => {
                // Otherwise the log was renamed during the `fsync`, and the next leader syncs its
                // new name.
                if covers_all {
                    state.settled(target);
                }
                // A failure reaches the threads that wait for these entries
                // through their `QueueSlot`.
                let _ = self.write_queue(&mut state);
            }
            Err(error) => {
                state.latch(&error);
                state.give_up_queue(&error);
            }
        }
        state.syncing = false;
        // To wake threads is a system call even if none waits.
        if state.followers > 0 {
            self.sync_ended.notify_all();
        }
        state
    }

    /// Writes the queued entries under the append lock.
    pub(super) fn write_queue(&self, state: &mut State) -> Result<()> {
        if state.queue.is_empty() {
            return Ok(());
        }
        let with = self.with();
        let outcome = state.with_append_lock(with, |state| state.write_queue(with));
        state.log.unlock();
        if let Err(error) = &outcome {
            state.give_up_queue(error);
        }
        outcome
    }
}

impl State {
    /// Queues a draft if a leader is syncing and encoding the draft needs no look into the log;
    /// otherwise returns the drafts, which the caller has to write itself.
    pub(super) fn enqueue(
        &mut self,
        with: With<'_>,
        drafts: Drafts,
        expect: &Expect,
        durability: Durability,
    ) -> Result<Enqueued> {
        let unconditional = *expect == Expect::Any && durability == Durability::Fsync;
        let draft = match drafts {
            Drafts::One(draft) if self.syncing && unconditional && self.can_wait(with, &draft) => {
                draft
            }
            drafts => return Ok(Enqueued::No(drafts)),
        };
        if self.queue.is_empty() {
            // Compared when the queue is written: if another process has moved the tip, the entries
            // are encoded again.
            self.queue.parent = self.tail.tip.clone();
        }
        let entry = EntryId::from(with.dialect.entry_id(with.id_source));
        let mut batch = std::mem::take(&mut self.queue.batch);
        let encoded = self.encode_as(with, &draft, &entry, &mut batch);
        self.queue.batch = batch;
        encoded?;
        self.queue.drafts.push(draft);
        // Numbered now: the ticket waits for this number although no line is written yet.
        self.given += 1;
        let slot = QueueSlot {
            outcome: Arc::clone(&self.queue.outcome),
            nth: self.queue.drafts.len() - 1,
        };
        Ok(Enqueued::Yes { entry, slot })
    }

    fn can_wait(&self, with: With<'_>, draft: &Draft) -> bool {
        let looks_up = matches!(
            draft.body,
            Body::Native(_) | Body::Label { .. } | Body::Compaction { .. }
        );
        let publishes = self.hidden && draft.is_answer();
        draft.id.is_none()
            && draft.parent == Parent::Tip
            && !looks_up
            && !publishes
            && !with.dialect.facts().parent_needs_full_log
    }

    /// Writes the queued entries in one `write`. The caller holds the append lock and has read what
    /// other writers added.
    pub(super) fn write_queue(&mut self, with: With<'_>) -> AppendResult<()> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let mut queue = std::mem::take(&mut self.queue);
        let written = self.write_queued(with, &mut queue);
        let outcome = match &written {
            Err(AppendError::Stale) => {
                // Nothing was written: the queue stays, and `with_append_lock` retries.
                self.queue = queue;
                return Err(AppendError::Stale);
            }
            Ok(written) => Ok(written.iter().map(|entry| entry.revision).collect()),
            Err(AppendError::Fenced(error) | AppendError::Failed(error)) => {
                Err((error.kind(), error.to_string()))
            }
        };
        // Also after a failure: the next `fsync` then covers these numbers, and the threads that
        // wait for them return and find the error in their `QueueSlot`.
        self.written = self.given;
        let _ = queue.outcome.0.set(outcome);
        written.map(drop)
    }

    fn write_queued(&mut self, with: With<'_>, queue: &mut Queue) -> AppendResult<Vec<Written>> {
        if queue.parent != self.tail.tip {
            // Another writer appended meanwhile: the first queued entry becomes a
            // child of its last one.
            queue.batch = self.encode_again(with, &queue.drafts, &queue.batch)?;
            queue.parent = self.tail.tip.clone();
        }
        self.write_batch(with.dialect, &queue.batch, self.given)
    }

    fn encode_again(&mut self, with: With<'_>, drafts: &[Draft], before: &Batch) -> Result<Batch> {
        let mut batch = Batch::default();
        for (draft, entry) in drafts.iter().zip(&before.entries) {
            self.encode_as(with, draft, &entry.id, &mut batch)?;
        }
        Ok(batch)
    }

    /// Drops the queue after a failure, and passes the reason `why` to the tickets of its entries.
    pub(super) fn give_up_queue(&mut self, why: &Error) {
        let Queue { batch, outcome, .. } = std::mem::take(&mut self.queue);
        self.written = self.given;
        if self.usable_for_sync().is_err() {
            // The writer has latched: `in_doubt` lists these entries too.
            self.mark_in_doubt(&batch);
        }
        let _ = outcome.0.set(Err((why.kind(), why.to_string())));
    }
}

/// Whether drafts were queued.
#[derive(Debug)]
pub(super) enum Enqueued {
    /// The leader will write this entry.
    Yes { entry: EntryId, slot: QueueSlot },
    /// The caller has to write them.
    No(Drafts),
}
