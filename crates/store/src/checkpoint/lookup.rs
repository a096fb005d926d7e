//! Finds the snapshots of a session.

use boswell_model::json::Raw;
use boswell_model::{Error, Result};

use super::{CUSTOM_TYPE, FileSnapshot, OnBranch, State};
use crate::session::Session;
use crate::store::custom_entry;

/// The state of files at an entry of a session.
#[derive(Debug)]
pub struct SessionState {
    /// The state.
    pub state: State,
    /// Entries of the branch whose snapshot cannot be read, with the reason: files that only they
    /// captured are missing.
    pub damaged: Vec<(String, Error)>,
}

impl State {
    /// Returns the state at an entry of the session's current branch.
    ///
    /// A rewind moves the session to another branch, so files must be looked up before it.
    pub fn in_session(session: &Session, entry: &str) -> Result<SessionState> {
        let log = session.log();
        let entry = log.label(session.find(entry)?);
        let slots = session.branch(session.tip()?)?;
        let mut snapshots = Vec::with_capacity(slots.len());
        let mut damaged = Vec::new();
        for slot in slots {
            let label = log.label(slot);
            let snapshot = custom_entry::data(session, slot, CUSTOM_TYPE, |data: Raw<'_>| {
                FileSnapshot::from_json(data)
            })?;
            match snapshot.transpose() {
                Ok(snapshot) => snapshots.push((label, snapshot)),
                Err(error) => {
                    damaged.push((label.to_string(), error));
                    snapshots.push((label, None));
                }
            }
        }
        let branch: Vec<OnBranch<'_>> = snapshots
            .iter()
            .map(|(id, snapshot)| OnBranch {
                id,
                snapshot: snapshot.as_ref(),
            })
            .collect();
        Ok(SessionState {
            state: State::at(&branch, &entry)?,
            damaged,
        })
    }
}
