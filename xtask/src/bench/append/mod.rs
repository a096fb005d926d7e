//! Measures the cost of an append beyond the necessary system calls.
//!
//! Boswell and the baseline write the same bytes to files in the same folder, alternately, in this
//! process.

mod bed;
mod durable;
mod open;
mod os;
mod shared;

pub(crate) use durable::AppendDurable;
pub(crate) use open::AppendOpen;
pub(crate) use os::AppendOs;
pub(crate) use shared::AppendShared;
