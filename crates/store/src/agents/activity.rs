//! Detects agents that are using a session.
//!
//! Agents take no lock that boswell could wait for: while one of them drives a session, boswell
//! must not move its leaf. Their registries survive a crash, so a process counts only if it is
//! alive and has the start time that the registry states.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use boswell_dialect::{ActiveProcess, SessionLocation};
use boswell_model::{Advice, Error, ErrorKind, Problem, Result};

use super::idle_agents::idle_drivers;
use crate::backend::BackendFiles;
use crate::disk::{Disk, ProcessState, RealDisk};
use crate::{Store, Wait};

/// How long a process that adds one line has a log open, and the pause between two checks.
const MOMENT: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(20);

impl Store {
    /// Returns the live processes in the agent's registry, with the ids of their sessions; empty if
    /// it has no registry.
    ///
    /// # Errors
    ///
    /// An I/O error if the agent's registry cannot be read.
    pub fn active_processes(&self) -> Result<Vec<ActiveProcess>> {
        let Some(runtime) = self.dialect().powers().runtime else {
            return Ok(Vec::new());
        };
        let disk = self.disk();
        let named = runtime.active_processes(&BackendFiles(self.backend()))?;
        Ok(named
            .into_iter()
            .filter(|it| lives(disk.as_ref(), it))
            .collect())
    }

    /// Returns the process id of the agent's app, if it runs.
    pub(crate) fn running_app(&self) -> Result<Option<u32>> {
        let Some(runtime) = self.dialect().powers().runtime else {
            return Ok(None);
        };
        let pid = runtime.app_process(&BackendFiles(self.backend()))?;
        let it = pid.map(|pid| ActiveProcess {
            pid,
            session: String::new(),
            started: None,
        });
        let disk = self.disk();
        Ok(it.filter(|it| lives(disk.as_ref(), it)).map(|it| it.pid))
    }

    /// Returns the problem of a session that its agent hides because of its settings.
    ///
    /// # Errors
    ///
    /// An I/O error if the settings cannot be read.
    pub fn hidden_by_agent(&self, session: &crate::Session) -> Result<Option<Problem>> {
        match self.dialect().powers().runtime {
            Some(runtime) => {
                let files = BackendFiles(self.backend());
                runtime.hides(&files, session.location(), session.meta())
            }
            None => Ok(None),
        }
    }

    /// Returns the processes that use a session: live ones in the registry, those that have its log
    /// open for writing, and idle agents whose breadcrumb leads to it.
    ///
    /// # Errors
    ///
    /// An I/O error if the agent's registry or the log cannot be looked at.
    pub fn live(&self, location: &SessionLocation) -> Result<Vec<u32>> {
        let path = location.key.as_ref().map(|key| self.root().join(key));
        let owner = location.owner.as_deref();
        self.drivers(
            |session| session == location.id || Some(session) == owner,
            path.as_deref(),
        )
    }

    fn drivers(&self, is_it: impl Fn(&str) -> bool, log: Option<&Path>) -> Result<Vec<u32>> {
        let mut pids: Vec<u32> = self
            .active_processes()?
            .into_iter()
            .filter(|it| is_it(&it.session))
            .map(|it| it.pid)
            .collect();
        let disk = self.disk();
        if let Some(path) = log {
            let stat = disk
                .stat(path)
                .map_err(|error| Error::io(path.display(), "look at", error))?;
            pids.extend(
                stat.map(|stat| disk.writers_of(stat.identity))
                    .unwrap_or_default(),
            );
            pids.extend(idle_drivers(disk.as_ref(), self.root(), path));
        }
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }

    /// Fails if an agent still uses the session when the time is over. Always waits a moment: a
    /// process that only adds a title or a label has the log open for no longer, and cannot be
    /// distinguished from an agent.
    pub(crate) fn wait_until_idle(&self, id: &str, key: &str, wait: Wait) -> Result<()> {
        if self.drives_alone() {
            return Ok(());
        }
        let (log, mut waited) = (self.root().join(key), Duration::ZERO);
        loop {
            let busy = match self.refuse_if_live(id, Some(&log)) {
                Err(error) if error.kind() == ErrorKind::Busy => error,
                idle => return idle,
            };
            match wait {
                Wait::No if waited >= MOMENT => return Err(busy),
                Wait::For(limit) if waited >= limit.max(MOMENT) => return Err(busy),
                _ => {}
            }
            self.disk().sleep(PAUSE);
            waited += PAUSE;
        }
    }

    /// Returns whether the driver of a session of this store holds its lease.
    fn drives_alone(&self) -> bool {
        self.dialect().facts().is_own
    }

    /// Fails while an agent uses the session: moving its leaf now would split the conversation.
    pub(crate) fn refuse_if_live(&self, id: &str, log: Option<&Path>) -> Result<()> {
        if self.drives_alone() {
            return Ok(());
        }
        match self.drivers(|session| session == id, log)?.first() {
            None => Ok(()),
            Some(pid) => Err(Error::new(
                ErrorKind::Busy,
                format!("session {id} is open in its agent (pid {pid})"),
            )
            .because("moving its leaf now would split the conversation")
            .advising(
                Advice::CloseAgent
                    .or(Advice::Fork {
                        session: None,
                        at: None,
                    })
                    .also("titles, tags and labels can be set meanwhile"),
            )),
        }
    }

    /// Fails while an agent's registry lists one of these sessions: the agent would go on writing
    /// to the old place.
    pub(crate) fn refuse_to_move(&self, sessions: &[SessionLocation]) -> Result<()> {
        if sessions.is_empty() {
            return Ok(());
        }
        let is_one = |it: &ActiveProcess| sessions.iter().any(|location| location.id == it.session);
        match self.active_processes()?.into_iter().find(is_one) {
            None => Ok(()),
            Some(it) => Err(Error::new(
                ErrorKind::Busy,
                format!(
                    "session {} is open in its agent (pid {})",
                    it.session, it.pid
                ),
            )
            .because("it would continue to write in the old place")
            .advising(Advice::CloseAgent.then("move the project"))),
        }
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        self.own_disk()
            .map_or_else(|| Arc::new(RealDisk) as Arc<dyn Disk>, Arc::clone)
    }
}

/// Returns whether the process is alive and is the one in the registry.
fn lives(disk: &dyn Disk, it: &ActiveProcess) -> bool {
    match (disk.start_time(it.pid), &it.started) {
        (Some(now), Some(then)) => now == *then,
        (Some(_), None) => true,
        // The system does not report start times: any live process with that id counts.
        (None, _) => !disk.knows_start_times() && disk.process_state(it.pid) != ProcessState::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Processes;

    #[test]
    fn a_process_of_the_same_number_that_began_at_another_time_is_another_one() {
        let own = std::process::id();
        let it = |started: Option<&str>| ActiveProcess {
            pid: own,
            session: "s".into(),
            started: started.map(str::to_owned),
        };
        assert!(lives(&RealDisk, &it(None)));
        if let Some(start) = RealDisk.start_time(own) {
            assert!(lives(&RealDisk, &it(Some(&start))));
            assert!(!lives(&RealDisk, &it(Some("1"))));
        }
        let nobody = ActiveProcess {
            pid: i32::MAX.unsigned_abs(),
            session: "s".into(),
            started: None,
        };
        assert!(!lives(&RealDisk, &nobody));
    }
}
