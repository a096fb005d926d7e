//! Locks: our own, and those that agents take.
//!
//! Our own are OS locks on files that are never renamed or unlinked; they end with the process that
//! holds them and are never stolen by age. Agents that have locks of their own are met on theirs:
//! [`MkdirLock`] is MyAgents' folder with an owner file, [`AgentFlock`] clinvoker's file that is
//! unlinked by whoever lets go of it.

mod acquire;
mod file_lock;
mod flock;
mod holder;
mod mkdir;

pub use acquire::Owner;
pub(crate) use acquire::{HeldLock, Taker, try_every};
pub use file_lock::{Locks, OsLock};
pub use flock::AgentFlock;
pub(crate) use holder::{holder, write_owner};
pub use mkdir::{Abandoned, MkdirLock, MkdirOwner, abandoned};

pub use crate::lease::Wait;
