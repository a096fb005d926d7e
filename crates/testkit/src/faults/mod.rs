//! Fault injection through the real binary: a preloaded C shim makes one system call fail, or kills
//! the process before it.
//!
//! The test disks ([`crate::fault_disk`], [`crate::crash_disk`]) stand in for the operating system
//! inside one process. This module tests the whole program instead, with `std`, SQLite and every
//! command as users run it:
//!
//! 1. [`FaultLab`] builds a home with sessions of every dialect and copies it
//!    back before each trial.
//! 2. [`cases`] lists the commands that write, each with what has to be there first.
//! 3. A first run without a fault counts the calls that change or sync files ([`CallLog`]) and
//!    shows the new state.
//! 4. `trial` repeats the command with one fault, runs the next command, and compares the state
//!    with the old and the new one.
//!
//! `cargo xtask soak faults` does this for every call; a test of the program does it for a sample.
#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are files of real programs, outside of any backend"
)]

mod call_log;
mod case;
mod cases;
mod known;
mod known_words;
mod lab;
mod plan;
mod report;
mod shim;
mod soak;
mod state;
mod tally;
mod trial;

pub use call_log::{CallLog, LoggedCall};
pub use case::{Case, Judged};
pub use cases::cases;
pub use lab::{FaultLab, Ran};
pub use plan::{FaultKind, InjectedFault};
pub use report::page;
pub use shim::Shim;
pub use soak::{Soak, WantedFaults};
pub use tally::{FaultTally, Row, Violation};
