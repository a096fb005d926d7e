//! Wording that several commands share.

pub(crate) mod files;
mod folder;
mod size;

pub(crate) use folder::short_path;
pub(crate) use size::size;
