//! The [`Runtime`] power: how an agent is started, and what it does on its own.

use std::path::{Path, PathBuf};

use boswell_model::{Problem, Result, SessionMeta};

use crate::resume_decision::Probe;
use crate::{
    ActiveProcess, Dialect, Files, Permissions, ResumeCommand, SessionLink, SessionLocation,
};

/// An agent that can resume a session, that runs the agent of another store, or that changes its
/// store on its own.
pub trait Runtime: Dialect {
    /// Returns the agent's own command that resumes the conversation; `None` if that is not safely
    /// possible.
    fn resume(
        &self,
        meta: &SessionMeta,
        location: &SessionLocation,
        permissions: Permissions,
    ) -> Option<ResumeCommand>;

    /// As [`resume`](Runtime::resume), for a front program whose decision depends on its engine's
    /// store, which `_probe` examines. `None` if `resume` or the engine's own session decides.
    ///
    /// # Errors
    ///
    /// If starting in either way could split the conversation.
    fn resume_by(
        &self,
        _location: &SessionLocation,
        _probe: &dyn Fn(&SessionLink) -> Probe,
    ) -> Result<Option<ResumeCommand>> {
        Ok(None)
    }

    /// Returns the environment variables, with values, that make the agent use the store of a
    /// session; empty if no variable selects its folder. `_root` is the root of the store, which
    /// may be deeper than the folder that the variable names, and `_key` the session's key below
    /// it.
    fn store_variables(&self, _root: &Path, _key: Option<&str>) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// Returns the sessions in other stores that belong to the same conversation.
    fn links(&self, _meta: &SessionMeta, _id: &str) -> Vec<SessionLink> {
        Vec::new()
    }

    /// Returns the processes that the agent's own registry lists as active; the store checks
    /// whether they still run.
    fn active_processes(&self, _files: &dyn Files) -> Result<Vec<ActiveProcess>> {
        Ok(Vec::new())
    }

    /// Returns the process id in the lock of the agent's app, which may use any session
    /// of the store without a sign; `None` if there is no such lock. The store checks
    /// whether it still runs.
    fn app_process(&self, _files: &dyn Files) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Returns the problem of a session that the agent does not list or resume because of its
    /// settings, not because of the session's files.
    fn hides(
        &self,
        _files: &dyn Files,
        _location: &SessionLocation,
        _meta: &SessionMeta,
    ) -> Result<Option<Problem>> {
        Ok(None)
    }

    /// Returns the number of days after which the agent itself deletes unchanged sessions; `None`
    /// if it never does.
    fn deletes_after(&self, _files: &dyn Files) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Whether the agent deletes the session at its next start, whatever its age.
    fn deletes_at_next_start(&self, _location: &SessionLocation) -> bool {
        false
    }
}
