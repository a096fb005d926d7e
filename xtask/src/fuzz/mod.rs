//! `cargo xtask fuzz`: smoke fuzzing on a stable toolchain.
//!
//! A blind mutator over real and hand-written inputs. It does not replace a coverage-guided fuzzer,
//! but it needs only cargo, runs in CI within seconds, and the same seed gives the same inputs in
//! the same order.
//!
//! Each target runs in a child process (`worker`), because a stack overflow or an endless loop
//! cannot be caught inside one. The parent (`command`) finds the failing input by running the same
//! seed again with a trace.

mod command;
mod inputs;
mod mutator;
mod options;
mod rng;
mod targets;
mod worker;

pub(crate) use command::run;
