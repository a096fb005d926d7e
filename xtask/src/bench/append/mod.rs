//! Measures what an append costs beyond the system calls that it cannot do without.
//!
//! Ours and the baseline write the same bytes to files in the same folder, in turn,
//! within this process.

mod bed;
mod durable;
mod open;
mod os;
mod shared;

pub(crate) use durable::AppendDurable;
pub(crate) use open::AppendOpen;
pub(crate) use os::AppendOs;
pub(crate) use shared::AppendShared;
