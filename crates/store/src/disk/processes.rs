//! [`Processes`]: what the system reports about processes.

use std::fmt;

/// Whether a process exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// A process with that id exists.
    Yes,
    /// No process with that id exists.
    No,
    /// The system does not report it.
    Unknown,
}

/// Reports whether processes are alive, and which files they have open and locked. Tests have their
/// own implementation. The defaults are for systems that report nothing.
pub trait Processes: Send + Sync + fmt::Debug {
    /// Returns whether a process with that id exists.
    fn process_state(&self, pid: u32) -> ProcessState;

    /// Returns the start time of a process in the system's own format; `None` if there is no such
    /// process or the system does not report it.
    fn start_time(&self, _pid: u32) -> Option<String> {
        None
    }

    /// Returns whether [`start_time`](Processes::start_time) works for every process.
    fn knows_start_times(&self) -> bool {
        false
    }

    /// Returns the processes other than this one that have the file open for writing, as far as the
    /// system reports them.
    fn writers_of(&self, _file: (u64, u64)) -> Vec<u32> {
        Vec::new()
    }

    /// Returns id and program of the process that holds the OS lock of a file, if the system
    /// reports it.
    fn lock_holder(&self, _file: (u64, u64)) -> Option<(u32, String)> {
        None
    }

    /// Returns whether [`lock_holder`](Processes::lock_holder) is supported; if not, lockers write
    /// their name into the lock file.
    fn knows_lock_holders(&self) -> bool {
        false
    }
}

/// Returns whether a process with that id exists, as the system reports it.
#[cfg(unix)]
pub fn process_state(pid: u32) -> ProcessState {
    let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return ProcessState::Unknown;
    };
    match rustix::process::test_kill_process(pid) {
        Ok(()) => ProcessState::Yes,
        Err(rustix::io::Errno::SRCH) => ProcessState::No,
        // A process of another user exists too.
        Err(_) => ProcessState::Unknown,
    }
}

/// Other systems are not asked.
#[cfg(not(unix))]
pub fn process_state(_pid: u32) -> ProcessState {
    ProcessState::Unknown
}
