//! News of long work, on a terminal and only after a moment.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "progress is a matter of clock and terminal"
)]

use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Counts work and shows it on stderr if it takes longer than a quarter of a second.
#[derive(Debug)]
pub(crate) struct Progress {
    what: &'static str,
    total: usize,
    done: usize,
    start: Instant,
    shown: Option<Instant>,
    enabled: bool,
}

impl Progress {
    /// Starts counting.
    pub(crate) fn new(what: &'static str, total: usize, quiet: bool) -> Progress {
        let enabled = !quiet && std::io::stderr().is_terminal();
        Progress {
            what,
            total,
            done: 0,
            start: Instant::now(),
            shown: None,
            enabled,
        }
    }

    /// One more is done.
    pub(crate) fn tick(&mut self) {
        self.done += 1;
        if !self.enabled || self.start.elapsed() < Duration::from_millis(250) {
            return;
        }
        if self
            .shown
            .is_none_or(|at| at.elapsed() > Duration::from_millis(100))
        {
            self.shown = Some(Instant::now());
            eprint!("\r{} {} of {}…\x1b[K", self.what, self.done, self.total);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}
