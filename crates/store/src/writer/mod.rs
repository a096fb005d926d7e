//! Writing to a session: appends that are durable when their receipt says so.
//!
//! One mutex orders drafts and writes; waiting for the disk happens outside it, and whoever waits first syncs for all that was
//! written until then. What comes meanwhile is queued and written at once when that sync is done. The first failed write or sync latches the writer: what is on disk since the last good sync is in doubt,
//! the error names it, and the next writer copies the log to a new file before it acknowledges anything.

mod batch;
mod encode;
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

use boswell_dialect::{Chance, Depth, Dialect, Draft};
use boswell_model::{Error, ErrorKind, Result, SessionRef};

use encode::With;
pub(crate) use opening::{Named, Opened};
use queue::Place;
use receipt::Written;
pub use receipt::{Durability, Expect, Outcome, Receipt};
use state::{Look, State};

use crate::disk::Disk;
use crate::lease::{AppendLock, Lease, doubt_path};

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
    disk: Arc<dyn Disk>,
    chance: Arc<dyn Chance>,
    reference: SessionRef,
    append_lock: AppendLock,
    doubt: PathBuf,
    root: PathBuf,
    state: Mutex<State>,
    /// How many threads want to write next.
    wanting: AtomicUsize,
    lease: Mutex<Option<Lease>>,
}

/// Entries that were handed to the system and may not be durable yet.
#[derive(Debug)]
#[must_use = "an entry is acknowledged by `wait`, not by `submit`"]
pub struct Ticket {
    inner: Arc<Inner>,
    receipts: Vec<Receipt>,
    /// Where the entry stands, if that was not known when it was submitted.
    place: Option<Place>,
    number: u64,
    durability: Durability,
}

/// What a writer is made from.
#[derive(Debug)]
pub(crate) struct WriterParts {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) reference: SessionRef,
    pub(crate) locks: PathBuf,
    /// The folder of the store: names below it, and its own, are made durable with the first receipt.
    pub(crate) root: PathBuf,
    pub(crate) lock_name: String,
    /// The append lock of that name, if it was looked at already.
    pub(crate) append_lock: Option<AppendLock>,
    /// None for one who only adds what does not move the leaf.
    pub(crate) lease: Option<Lease>,
}

impl SessionWriter {
    /// Opens the log for writing. A log in doubt is copied first.
    pub(crate) fn open(parts: WriterParts, opened: Opened) -> Result<SessionWriter> {
        let WriterParts { dialect, disk, chance, reference, locks, root, lock_name, append_lock, lease } = parts;
        let doubt = doubt_path(&locks, &lock_name);
        let append_lock = append_lock.unwrap_or_else(|| AppendLock::new(&locks, &lock_name));
        let state = State::open(dialect, &disk, chance.as_ref(), opened, (&reference.id, &doubt), &append_lock)?;
        let inner = Inner {
            dialect,
            disk,
            chance,
            reference,
            append_lock,
            doubt,
            root,
            state: Mutex::new(state),
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
        self.inner.lock().path.clone()
    }

    /// Appends one entry and returns when it is durable on this machine's disk.
    pub fn append(&self, draft: Draft) -> Result<Receipt> {
        self.append_with(draft, Expect::Any, Durability::Fsync)
    }

    /// Appends one entry if the session is as expected, and returns when it is as durable as asked.
    pub fn append_with(&self, draft: Draft, expect: Expect, durability: Durability) -> Result<Receipt> {
        let mut receipts = self.submit_all(vec![draft], expect, durability)?.wait_all()?;
        receipts.pop().ok_or_else(|| Error::new(ErrorKind::Internal, "an append gave no receipt"))
    }

    /// Appends a batch: checked as a whole, written in one write, acknowledged as a whole.
    pub fn append_all(&self, drafts: Vec<Draft>, expect: Expect, durability: Durability) -> Result<Vec<Receipt>> {
        self.submit_all(drafts, expect, durability)?.wait_all()
    }

    /// Hands an entry to the system without waiting for the disk.
    pub fn submit(&self, draft: Draft) -> Result<Ticket> {
        self.submit_all(vec![draft], Expect::Any, Durability::Fsync)
    }

    /// Hands a batch to the system without waiting for the disk.
    pub fn submit_all(&self, drafts: Vec<Draft>, expect: Expect, durability: Durability) -> Result<Ticket> {
        let inner = &self.inner;
        let mut state = inner.lock_to_write();
        let outcome = inner.submit(&mut state, drafts, &expect, durability);
        inner.let_others_write(&mut state, outcome.is_err());
        let number = state.given;
        drop(state);
        let (written, place) = outcome?;
        let receipts = written.into_iter().map(|r| r.of(inner.reference.clone(), durability)).collect();
        Ok(Ticket { inner: Arc::clone(inner), receipts, place, number, durability })
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
        let (path, blobs) = {
            let state = self.inner.lock_with_all_written()?;
            (state.path.clone(), state.blobs.clone())
        };
        let inner = &self.inner;
        let session = crate::native::read_path(inner.dialect, &inner.disk, &path, &inner.reference, Depth::Facts)?;
        Ok(session.with_blobs(blobs))
    }

    /// As much of the session as a context needs, as [`Store::read_for_context`](crate::Store::read_for_context) reads it.
    pub fn read_for_context(&self, at: Option<&str>) -> Result<(crate::Session, boswell_model::Tip)> {
        let (path, end, blobs) = {
            let state = self.inner.lock_with_all_written()?;
            (state.path.clone(), state.end, state.blobs.clone())
        };
        let (backend, located) = crate::native::by_path(&self.inner.disk, &path, &self.inner.reference, end);
        let (session, tip) = crate::Session::read_for_context(self.inner.dialect, &backend, &located, at)?;
        Ok((session.with_blobs(blobs), tip))
    }

    /// Entries since the last good sync, after a failure: nobody knows whether they will survive.
    pub fn in_doubt(&self) -> Vec<String> {
        self.inner.lock().in_doubt()
    }

    /// How often a writer without a lock got between us and our own line.
    pub fn races(&self) -> u64 {
        self.inner.lock().races
    }

    /// Ends the session: its status becomes what came of it, everything is durable, the lease is given up.
    pub fn close(self, outcome: Outcome) -> Result<()> {
        if let Some(draft) = outcome.draft() {
            self.append(draft)?;
        }
        self.flush()?;
        self.inner.lock().closed = true;
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
        With { dialect: self.dialect, disk: self.disk.as_ref(), chance: self.chance.as_ref() }
    }

    /// Writes drafts, or queues one that may wait for the sync that is under way.
    fn submit(
        &self,
        state: &mut State,
        mut drafts: Vec<Draft>,
        expect: &Expect,
        durability: Durability,
    ) -> Result<(Vec<Written>, Option<Place>)> {
        state.usable()?;
        if *expect == Expect::Any
            && durability == Durability::Fsync
            && let Some(queued) = state.queue(self.with(), &mut drafts)?
        {
            let written = Written { entry: queued.id, revision: 0, deduplicated: false };
            return Ok((vec![written], Some(queued.place)));
        }
        let written = self.with_append_lock(state, |state, look| state.append(self.with(), &drafts, expect, look))?;
        Ok((written, None))
    }

    /// Writes what was queued. Who calls it says afterwards whether others may write.
    fn write_queue(&self, state: &mut State) -> Result<()> {
        if state.queue.is_empty() {
            return Ok(());
        }
        let outcome = self.with_append_lock(state, |state, look| {
            state.catch_up(self.with(), look)?;
            state.write_queue(self.with())
        });
        if let Err(error) = &outcome {
            state.give_up_queue(error);
        }
        self.let_others_write(state, outcome.is_err());
        outcome
    }

    fn with_append_lock<T>(&self, state: &mut State, write: impl FnOnce(&mut State, Look) -> Result<T>) -> Result<T> {
        let handed_over = state.append_lock.is_some();
        if !handed_over {
            state.append_lock = Some(self.append_lock.hold(self.disk.as_ref())?);
        }
        let outcome = write(state, if handed_over { Look::Length } else { Look::All });
        if outcome.is_err() {
            self.note_doubt(state);
        }
        outcome
    }

    /// Gives the append lock up, unless another thread of this writer wants to write next: then it is handed over, a limited
    /// number of times, so that other processes get their turn.
    fn let_others_write(&self, state: &mut State, failed: bool) {
        state.turns += 1;
        let hand_over = !failed && state.turns < TURNS && self.wanting.load(Ordering::SeqCst) > 0;
        if !hand_over && let Some(held) = state.append_lock.take() {
            state.turns = 0;
            self.append_lock.release(held);
        }
    }
}

impl Ticket {
    /// Waits until the entries are as durable as asked, and acknowledges the last of them.
    pub fn wait(self) -> Result<Receipt> {
        self.wait_all()?.pop().ok_or_else(|| Error::new(ErrorKind::Internal, "a ticket gave no receipt"))
    }

    /// Waits until the entries are as durable as asked, and acknowledges them.
    pub fn wait_all(self) -> Result<Vec<Receipt>> {
        let Ticket { inner, mut receipts, place, number, durability } = self;
        if durability == Durability::Fsync {
            inner.sync_to(number)?;
        }
        if let (Some(place), [receipt]) = (place, receipts.as_mut_slice()) {
            receipt.revision = place.revision()?.to_string();
        }
        Ok(receipts)
    }
}
