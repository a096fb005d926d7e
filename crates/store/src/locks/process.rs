//! Whether a process lives.

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

/// Tells whether a process lives. Tests give their own.
pub trait Processes: Send + Sync + fmt::Debug {
    /// Whether there is a process of that number.
    fn process(&self, pid: u32) -> ProcessState;
}

/// Asks the system. Where it cannot be asked, nothing is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLiveness;

impl Processes for SystemLiveness {
    #[cfg(unix)]
    fn process(&self, pid: u32) -> ProcessState {
        let Some(pid) = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        else {
            return ProcessState::Unknown;
        };
        match rustix::process::test_kill_process(pid) {
            Ok(()) => ProcessState::Yes,
            Err(rustix::io::Errno::SRCH) => ProcessState::No,
            // A process of somebody else's is one all the same.
            Err(_) => ProcessState::Unknown,
        }
    }

    #[cfg(not(unix))]
    fn process(&self, _pid: u32) -> ProcessState {
        ProcessState::Unknown
    }
}
