//! What the system tells about processes.

use std::fmt;

/// What is known about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// There is one of that number.
    Yes,
    /// There is none.
    No,
    /// The system does not say.
    Unknown,
}

/// What the system tells about processes: whether they live, what they have open and locked.
/// Tests give their own. Where nothing is known, the defaults say so.
pub trait Processes: Send + Sync + fmt::Debug {
    /// Whether there is a process of that number.
    fn process_state(&self, pid: u32) -> ProcessState;

    /// When a process was started, in the system's own words; none if there is no such process or
    /// the system does not tell.
    fn start_time(&self, _pid: u32) -> Option<String> {
        None
    }

    /// Whether [`start_time`](Processes::start_time) answers for every process that there is.
    fn knows_start_times(&self) -> bool {
        false
    }

    /// Processes other than this one that have the file open for writing, as far as the system
    /// tells.
    fn writers_of(&self, _file: (u64, u64)) -> Vec<u32> {
        Vec::new()
    }

    /// Which process holds the OS lock of a file, where the system tells: its number and program.
    fn lock_holder(&self, _file: (u64, u64)) -> Option<(u32, String)> {
        None
    }

    /// Whether [`lock_holder`](Processes::lock_holder) can answer; if not, the process that takes
    /// a lock must write its name into it.
    fn knows_lock_holders(&self) -> bool {
        false
    }
}

/// Asks the system whether there is a process of that number. Where it cannot be asked, nothing is
/// known.
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
        // A process of another user is one all the same.
        Err(_) => ProcessState::Unknown,
    }
}

/// Other systems are not asked.
#[cfg(not(unix))]
pub fn process_state(_pid: u32) -> ProcessState {
    ProcessState::Unknown
}
