//! `cargo xtask fuzz`: smoke fuzzing on a stable toolchain.
//!
//! A blind mutator over real and hand-made inputs. It is not a replacement for a coverage-guided
//! fuzzer, but it needs nothing but cargo, runs in CI within seconds, and the same seed gives the
//! same inputs in the same order.
//!
//! Each target runs in a child process (`worker`), because a stack overflow or an endless loop
//! cannot be caught inside one. The parent (`command`) finds the guilty input by running the same
//! seed again with a trace.

mod command;
mod inputs;
mod mutator;
mod options;
mod rng;
mod targets;
mod worker;

pub(crate) use command::run;
