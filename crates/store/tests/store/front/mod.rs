//! Stores of programs with more than a log (clinvoker and open-agent-sdk): changed by plans,
//! interrupted, and shared with processes that follow the program's own protocol.
#![expect(clippy::panic, reason = "tests fail by panicking")]

mod clinvoker;
mod clinvoker_peer;
mod crash;
mod oas;
mod support;
