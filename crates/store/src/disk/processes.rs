//! [`Processes`]: what the system reports about processes.

use std::fmt;

use boswell_dialect::Environment;
use boswell_model::Instant;

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

    /// Returns when a process was started, to about a second, as far as the system reports it.
    fn started_at(&self, _pid: u32) -> Option<Instant> {
        None
    }

    /// Returns environment, folder and terminal of a process; `None` if there is no such process or
    /// the system does not report them.
    fn environment_of(&self, _pid: u32) -> Option<Environment> {
        None
    }

    /// Returns whether a process runs the same program as this one.
    fn is_this_program(&self, _pid: u32) -> bool {
        false
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

/// Returns when a process was started, as Linux reports it: in ticks since the machine was started.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel describes processes in files, which are no user's"
)]
pub(super) fn started_at(pid: u32) -> Option<Instant> {
    /// Ticks of a second, as the kernel shows them to programs.
    const TICKS: i64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = field_of_stat(&stat, 22)?.parse::<i64>().ok()?;
    let machine = std::fs::read_to_string("/proc/stat").ok()?;
    let booted = machine
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let seconds = booted.trim().parse::<i64>().ok()? + ticks / TICKS;
    Some(Instant::from_millis(seconds * 1_000))
}

/// Returns a field of `/proc/PID/stat`, counted from 1. The second one is the program's name in
/// brackets and may contain anything.
#[cfg(target_os = "linux")]
pub(super) fn field_of_stat(stat: &str, number: usize) -> Option<&str> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number.checked_sub(3)?)
}

/// Returns environment, folder and terminal of a process, as Linux reports them.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel describes processes in files, which are no user's"
)]
pub(super) fn environment_of(pid: u32) -> Option<Environment> {
    let place = format!("/proc/{pid}");
    let bytes = std::fs::read(format!("{place}/environ")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let vars: std::collections::BTreeMap<String, String> = text
        .split('\0')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let input = std::fs::read_link(format!("{place}/fd/0")).ok();
    let terminal = input.and_then(|path| path.to_str().map(str::to_owned));
    let is_terminal = |path: &String| path.starts_with("/dev/pts/") || path.starts_with("/dev/tty");
    Some(Environment {
        home: vars.get("HOME").map(Into::into),
        cwd: std::fs::read_link(format!("{place}/cwd")).unwrap_or_default(),
        terminal: terminal.filter(is_terminal),
        vars,
        ..Environment::default()
    })
}
