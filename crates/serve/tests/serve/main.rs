//! The server over real connections: answers, conditions, live updates, changes, attacks.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and look at files themselves"
)]

mod bench;
mod clinvoker;
mod conditions;
mod contract;
mod events;
mod files;
mod limits;
mod mcp;
mod reading;
mod safety;
mod transcript;
mod writing;
