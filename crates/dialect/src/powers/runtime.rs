//! How an agent is started, and what it does by itself.

use std::path::{Path, PathBuf};

use boswell_model::{Result, SessionMeta};

use crate::resume_decision::Probe;
use crate::{
    ActiveProcess, Dialect, Files, Permissions, ResumeCommand, SessionLink, SessionLocation,
};

/// An agent that can be started again on a session, that drives the agent of another store, or
/// that changes its store by itself.
pub trait Runtime: Dialect {
    /// The agent's own command that takes the conversation up again; none where that cannot be
    /// done safely.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        permissions: Permissions,
    ) -> Option<ResumeCommand>;

    /// The same for a front program that first looks into its engine's store; none where
    /// [`resume`](Runtime::resume) or the engine's own session decides. An error where starting
    /// either way could part the conversation.
    fn resume_by(
        &self,
        _location: &SessionLocation,
        _probe: &dyn Fn(&SessionLink) -> Probe,
    ) -> Result<Option<ResumeCommand>> {
        Ok(None)
    }

    /// The variables that make the agent use the store of a session, with their values; none where
    /// no variable chooses its folder. `root` is the store's and `key` the session's below it: a
    /// root may lie deeper than the folder that the agent asks for.
    fn store_variables(&self, _root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// Sessions in other stores that are the same conversation.
    fn links(&self, _meta: &SessionMeta, _id: &str) -> Vec<SessionLink> {
        Vec::new()
    }

    /// Processes that the agent's own registry says are at work on sessions; the store finds out
    /// whether they still live.
    fn active_processes(&self, _files: &dyn Files) -> Result<Vec<ActiveProcess>> {
        Ok(Vec::new())
    }

    /// After how many days the agent itself deletes sessions that were not changed since;
    /// none if it never does.
    fn deletes_after(&self, _files: &dyn Files) -> Result<Option<u64>> {
        Ok(None)
    }
}
