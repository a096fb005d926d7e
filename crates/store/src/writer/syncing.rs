//! Waiting for the disk: one thread syncs, the others are told.

use std::path::Path;
use std::sync::{Arc, MutexGuard};

use boswell_model::{Error, ErrorKind, Result};

use super::Inner;
use super::state::State;
use super::waiting::Woken;
use crate::disk::{Disk, durable};

impl Inner {
    /// Returns when the append of that number is durable, and all before it. The first who waits syncs for all.
    pub(super) fn sync_to(&self, number: u64) -> Result<()> {
        let mut led = false;
        loop {
            let mut state = self.lock();
            let settled = state.synced >= number && state.named;
            let outcome = if settled { Ok(()) } else { state.usable_for_sync() };
            if settled || outcome.is_err() {
                // Who has just synced told the others already.
                return if led { outcome } else { pass_on(state, outcome) };
            }
            if !state.syncing {
                self.sync(state);
                led = true;
                continue;
            }
            led = false;
            let sleeper = state.waiting.join(number);
            drop(state);
            if sleeper.sleep() {
                return Ok(());
            }
        }
    }

    /// Syncs what was written until now, writes what was queued meanwhile, and tells those who wait.
    fn sync<'s>(&'s self, mut state: MutexGuard<'s, State>) {
        state.syncing = true;
        let target = (state.written, state.end);
        let (file, path, named) = (Arc::clone(&state.file), state.path.clone(), state.named);
        drop(state);
        let mut result = file.sync().map_err(|error| Error::io(path.display(), "sync", error));
        if result.is_ok() && !named {
            result = sync_names(self.disk.as_ref(), &path, &self.root);
        }
        let mut state = self.lock();
        // What was synced in a file that nobody finds any more is not kept.
        let disk = self.disk.as_ref();
        match result.and_then(|()| state.nobody_doubts(disk)).and_then(|()| state.still_there(disk)) {
            Ok(_) => {
                state.settled(target, &path);
                if !named {
                    self.append_lock.remember_name(disk, state.identity, &path);
                }
                // Its entries are told if it fails.
                let _ = self.write_queue(&mut state);
            }
            Err(error) => {
                state.latch(&error);
                self.note_doubt(&state);
                state.give_up_queue(&error);
            }
        }
        state.syncing = false;
        let woken = state.tell_waiting();
        drop(state);
        woken.wake();
    }

    /// Leaves a mark for the next writer, so that it copies the log before it acknowledges anything.
    pub(super) fn note_doubt(&self, state: &State) {
        if state.is_in_doubt() {
            // Best effort: on a dead disk nothing more can be said.
            let _ = durable::append_lines(self.disk.as_ref(), &self.doubt, b"{\"type\":\"doubt\"}\n");
        }
    }
}

/// Leaves the queue of those who wait for a sync. Somebody must always be syncing for those who still wait.
fn pass_on(mut state: MutexGuard<'_, State>, outcome: Result<()>) -> Result<()> {
    let woken = if state.syncing { Woken::default() } else { state.tell_waiting() };
    drop(state);
    woken.wake();
    outcome
}

/// Makes the name of a log durable with all folders that lead to it: whoever made those may have died before it synced them.
fn sync_names(disk: &dyn Disk, path: &Path, root: &Path) -> Result<()> {
    let mut at = path;
    loop {
        let synced = durable::sync_parent(disk, at);
        if at == root {
            // The folder above the store is somebody else's; where we may not read it, its names are not ours to sync.
            return synced.or_else(|error| if error.kind() == ErrorKind::Denied { Ok(()) } else { Err(error) });
        }
        synced?;
        match at.parent().filter(|parent| parent.starts_with(root)) {
            Some(parent) => at = parent,
            None => return Ok(()),
        }
    }
}
