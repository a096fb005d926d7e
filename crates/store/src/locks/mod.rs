//! Locks: boswell's own, and those that agents take.
//!
//! Boswell's own locks are OS locks on files that are never renamed or unlinked; they end with the
//! process that holds them and are never stolen by age. For agents that lock their stores, boswell
//! takes the agent's lock too: [`MkdirLock`] is MyAgents' folder with an owner file, [`AgentFlock`]
//! clinvoker's file, which its holder unlinks when it releases the lock. Agents' locks can be lost
//! while they are held, so the runner checks them before every change.

mod acquire;
mod file_lock;
mod flock;
mod holder;
pub(crate) mod lease;
mod mkdir;

pub use acquire::Owner;
pub(crate) use acquire::{HeldLock, Taker, try_every};
pub use file_lock::{Locks, OsLock};
pub use flock::AgentFlock;
pub(crate) use holder::{with_holder, write_owner};
pub use mkdir::{Abandoned, MkdirLock, MkdirOwner, abandoned};

pub use lease::Wait;
