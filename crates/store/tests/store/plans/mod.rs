//! Plans and their runner, the vault, operations, notes and locks.

mod crash;
mod crash_disk;
mod kept;
mod locks;
mod purge;
mod scrub;
mod steps;
pub(crate) mod support;
mod undo;
mod vault;
