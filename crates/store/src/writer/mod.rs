//! Writing to a session: appends that are durable when their receipt says so.
//!
//! One mutex orders drafts and writes; waiting for the disk happens outside it, and whoever waits first syncs for all that was
//! written until then. What comes meanwhile is queued and written at once when that sync is done. The first failed write or sync latches the writer: what is on disk since the last good sync is in doubt,
//! the error names it, and the next writer copies the log to a new file before it acknowledges anything. Where lines land, and how
//! they become durable, is the affair of a [`LogAppender`](crate::LogAppender): here are entries and receipts.

mod batch;
mod encode;
mod kept;
mod known;
mod opening;
mod queue;
mod receipt;
mod state;
mod syncing;
mod tail;
mod waiting;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boswell_dialect::{Chance, Depth, Dialect, Draft, Located};
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use batch::Drafts;
use encode::With;
use queue::Place;
use receipt::Written;
pub use receipt::{Durability, Expect, Outcome, Receipt};
use state::State;

use crate::backend::{Backend, Lease, OpenLog};
use crate::blobs::Blobs;

/// How often threads of one writer hand the append lock to each other before others get it.
const TURNS: u32 = 64;

/// How often a thread looks whether it can write before it sleeps.
const AWAKE: u32 = 400;

/// Writes to one session. Handles clone cheaply and may be used from many threads.
#[derive(Debug, Clone)]
pub struct SessionWriter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dialect: &'static dyn Dialect,
    backend: Arc<dyn Backend>,
    chance: Arc<dyn Chance>,
    reference: Arc<SessionRef>,
    root: PathBuf,
    state: Arc<Mutex<State>>,
    /// How many threads want to write next.
    wanting: AtomicUsize,
    lease: Mutex<Option<Lease>>,
}

/// Entries that were handed to the system and may not be durable yet.
#[derive(Debug)]
#[must_use = "an entry is acknowledged by `wait`, not by `submit`"]
pub struct Ticket {
    inner: Arc<Inner>,
    written: Vec<Written>,
    /// Where the entry stands, if that was not known when it was submitted.
    place: Option<Place>,
    number: u64,
    durability: Durability,
}

/// What a writer is made from.
#[derive(Debug)]
pub(crate) struct WriterParts {
    pub(crate) dialect: &'static dyn Dialect,
    /// Shows what is written.
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) reference: Arc<SessionRef>,
    /// How people name the place of the store.
    pub(crate) root: PathBuf,
    /// Where large values go; none where the format keeps them in the log.
    pub(crate) blobs: Option<Blobs>,
    pub(crate) log: OpenLog,
    /// Whether the first answer will make it visible.
    pub(crate) hidden: bool,
    /// None for one who only adds what does not move the leaf.
    pub(crate) lease: Option<Lease>,
}

impl SessionWriter {
    /// Writes to a log that was opened.
    pub(crate) fn open(parts: WriterParts) -> Result<SessionWriter> {
        let WriterParts { dialect, backend, chance, reference, root, blobs, log, hidden, lease } = parts;
        let state = State::open(dialect, &reference.id, log, hidden, blobs)?;
        let inner = Inner {
            dialect,
            backend,
            chance,
            reference,
            root,
            state: Arc::new(Mutex::new(state)),
            wanting: AtomicUsize::new(0),
            lease: Mutex::new(lease),
        };
        Ok(SessionWriter { inner: Arc::new(inner) })
    }

    /// Which session it writes to.
    pub fn reference(&self) -> &SessionRef {
        &self.inner.reference
    }

    /// Where its log is.
    pub fn path(&self) -> PathBuf {
        self.inner.root.join(self.inner.lock().log.key())
    }

    /// Appends one entry and returns when it is durable on this machine's disk.
    pub fn append(&self, draft: Draft) -> Result<Receipt> {
        self.append_with(draft, Expect::Any, Durability::Fsync)
    }

    /// Appends one entry if the session is as expected, and returns when it is as durable as asked.
    pub fn append_with(&self, draft: Draft, expect: Expect, durability: Durability) -> Result<Receipt> {
        self.submit_drafts(Drafts::One(draft), &expect, durability)?.wait()
    }

    /// Appends a batch: checked as a whole, written in one write, acknowledged as a whole.
    pub fn append_all(&self, drafts: Vec<Draft>, expect: Expect, durability: Durability) -> Result<Vec<Receipt>> {
        self.submit_all(drafts, expect, durability)?.wait_all()
    }

    /// Hands an entry to the system without waiting for the disk.
    pub fn submit(&self, draft: Draft) -> Result<Ticket> {
        self.submit_drafts(Drafts::One(draft), &Expect::Any, Durability::Fsync)
    }

    /// Hands a batch to the system without waiting for the disk.
    pub fn submit_all(&self, drafts: Vec<Draft>, expect: Expect, durability: Durability) -> Result<Ticket> {
        self.submit_drafts(drafts.into(), &expect, durability)
    }

    fn submit_drafts(&self, drafts: Drafts, expect: &Expect, durability: Durability) -> Result<Ticket> {
        let inner = &self.inner;
        let mut state = inner.lock_to_write();
        let outcome = inner.submit(&mut state, drafts, expect, durability);
        inner.let_others_write(&mut state, outcome.is_err(), durability);
        let number = state.given;
        drop(state);
        let (written, place) = outcome?;
        Ok(Ticket { inner: Arc::clone(inner), written, place, number, durability })
    }

    /// Waits until everything that was submitted is durable.
    pub fn flush(&self) -> Result<()> {
        let number = {
            let mut state = self.inner.lock();
            if state.queue.is_empty() {
                // What others wrote before us may not be durable either.
                state.number();
            }
            state.given
        };
        self.inner.sync_to(number)
    }

    /// Moves the leaf to an entry: the next entry hangs below it.
    pub fn branch(&self, entry: &str) -> Result<Receipt> {
        self.append(leaf_draft(boswell_dialect::Parent::Entry(entry.to_owned())))
    }

    /// Moves the leaf before everything: the next entry is a root.
    pub fn reset(&self) -> Result<Receipt> {
        self.append(leaf_draft(boswell_dialect::Parent::Root))
    }

    /// Moves the leaf to an entry, or before everything, and leaves a summary of what was left there.
    pub fn branch_with_summary(&self, entry: Option<&str>, summary: &str) -> Result<Receipt> {
        use boswell_dialect::{Body, Parent};
        let parent = entry.map_or(Parent::Root, |id| Parent::Entry(id.to_owned()));
        let body = Body::BranchSummary { from: entry.map(str::to_owned), summary: summary.to_owned() };
        self.append(Draft::new(body).below(parent))
    }

    /// The session as it is now.
    pub fn session(&self) -> Result<crate::Session> {
        let (located, blobs) = self.located()?;
        let inner = &self.inner;
        let session = crate::Session::read(inner.dialect, inner.backend.as_ref(), &located, Depth::Facts)?;
        Ok(session.with_blobs(blobs))
    }

    /// As much of the session as a context needs, as [`Store::read_for_context`](crate::Store::read_for_context) reads it.
    pub fn read_for_context(&self, at: Option<&str>) -> Result<(crate::Session, boswell_model::Tip)> {
        let (located, blobs) = self.located()?;
        let inner = &self.inner;
        let (session, tip) = crate::Session::read_for_context(inner.dialect, inner.backend.as_ref(), &located, at)?;
        Ok((session.with_blobs(blobs), tip))
    }

    fn located(&self) -> Result<(Located, Option<Blobs>)> {
        let state = self.inner.lock_with_all_written()?;
        Ok((crate::native::located_at(&self.inner.reference.id, state.log.key(), state.end), state.blobs.clone()))
    }

    /// Entries since the last good sync, after a failure: nobody knows whether they will survive.
    pub fn in_doubt(&self) -> Vec<String> {
        self.inner.lock().in_doubt()
    }

    /// How often a writer without a lock got between us and our own line.
    pub fn races(&self) -> u64 {
        self.inner.lock().log.races()
    }

    /// Ends the session: its status becomes what came of it, everything is durable, the lease is given up.
    pub fn close(self, outcome: Outcome) -> Result<()> {
        if let Some(draft) = outcome.draft() {
            self.append(draft)?;
        }
        self.flush()?;
        {
            let mut state = self.inner.lock();
            state.closed = true;
            state.end_turn();
        }
        *self.inner.lease.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// A statement of where the conversation stands: every reader of the family takes the last line for the tip.
fn leaf_draft(parent: boswell_dialect::Parent) -> Draft {
    Draft::new(boswell_dialect::Body::Custom { kind: "boswell.leaf".to_owned(), data: None }).below(parent)
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`lock`](Inner::lock), for one who will write: who writes before it keeps the append lock for it.
    fn lock_to_write(&self) -> MutexGuard<'_, State> {
        if let Ok(state) = self.state.try_lock() {
            return state;
        }
        self.wanting.fetch_add(1, Ordering::SeqCst);
        // Whoever writes is done in a few microseconds: waiting for it awake costs less than being put to sleep.
        let awake = (0..AWAKE).find_map(|_| {
            std::hint::spin_loop();
            self.state.try_lock().ok()
        });
        let state = awake.unwrap_or_else(|| self.lock());
        self.wanting.fetch_sub(1, Ordering::SeqCst);
        state
    }

    /// As [`lock`](Inner::lock), for one who reads the log: entries that were submitted are in it.
    fn lock_with_all_written(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        self.write_queue(&mut state)?;
        Ok(state)
    }

    fn with(&self) -> With<'_> {
        With { dialect: self.dialect, chance: self.chance.as_ref() }
    }

    /// Writes drafts, or queues one that may wait for the sync that is under way.
    fn submit(
        &self,
        state: &mut State,
        drafts: Drafts,
        expect: &Expect,
        durability: Durability,
    ) -> Result<(Vec<Written>, Option<Place>)> {
        state.usable()?;
        let with = self.with();
        match state.queue(with, drafts, expect, durability)? {
            Ok(queued) => {
                let written = Written { entry: queued.id, revision: 0, deduplicated: false };
                Ok((vec![written], Some(queued.place)))
            }
            Err(drafts) => {
                let written = state.in_turn(with, |state| state.append(with, drafts.as_slice(), expect))?;
                Ok((written, None))
            }
        }
    }

    /// Writes what was queued. Who calls it says afterwards whether others may write.
    fn write_queue(&self, state: &mut State) -> Result<()> {
        if state.queue.is_empty() {
            return Ok(());
        }
        let with = self.with();
        let outcome = state.in_turn(with, |state| state.write_queue(with));
        if let Err(error) = &outcome {
            state.give_up_queue(error);
        }
        self.let_others_write(state, outcome.is_err(), Durability::Fsync);
        outcome
    }

    /// Ends the turn to write, unless another thread of this writer wants to write next: then it is handed over, a limited
    /// number of times, so that other processes get theirs. After entries that nobody syncs it may be kept for a moment.
    fn let_others_write(&self, state: &mut State, failed: bool, durability: Durability) {
        state.turns += 1;
        let hand_over = !failed && state.turns < TURNS && self.wanting.load(Ordering::SeqCst) > 0;
        if hand_over {
            return;
        }
        state.turns = 0;
        let in_a_row = !failed && durability == Durability::Os;
        if !in_a_row || !state.keep_turn(&self.state) {
            state.end_turn();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The thread that ends kept turns may have the state in hand.
        self.lock().end_turn();
    }
}

impl Ticket {
    /// Waits until the entries are as durable as asked, and acknowledges the last of them.
    pub fn wait(mut self) -> Result<Receipt> {
        self.settle()?;
        let last = self.written.pop().ok_or_else(|| Error::new(ErrorKind::Internal, "a ticket gave no receipt"))?;
        Ok(self.receipt(last))
    }

    /// Waits until the entries are as durable as asked, and acknowledges them.
    pub fn wait_all(mut self) -> Result<Vec<Receipt>> {
        self.settle()?;
        let written = std::mem::take(&mut self.written);
        Ok(written.into_iter().map(|entry| self.receipt(entry)).collect())
    }

    fn settle(&mut self) -> Result<()> {
        if self.durability == Durability::Fsync {
            self.inner.sync_to(self.number)?;
        }
        if let (Some(place), [entry]) = (&self.place, self.written.as_mut_slice()) {
            entry.revision = place.revision()?;
        }
        Ok(())
    }

    fn receipt(&self, written: Written) -> Receipt {
        written.of(Arc::clone(&self.inner.reference), self.durability)
    }
}
