//! Plans and their runner, the vault, operations, notes and locks.

#![expect(clippy::unwrap_used, reason = "what a test needs and does not get stops it")]

mod crash;
mod crash_disk;
mod kept;
mod locks;
mod purge;
mod scrub;
mod steps;
mod support;
mod undo;
mod vault;
