//! Wording that several commands share.

pub(crate) mod files;
mod size;

pub(crate) use size::size;
