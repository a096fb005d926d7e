//! The `boswell` program from the outside: its real binary in an environment of its own.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bad_input;
mod bench;
mod corpus;
mod damage;
mod help;
mod links;
mod listing;
mod output;
mod page;
mod reference;
mod repair;
mod silence;
mod streaming;
mod writing;
