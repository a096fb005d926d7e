//! Wording that several commands share.

pub(crate) mod acknowledgement;
pub(crate) mod files;
pub(crate) mod planned_change;
mod folder;
mod size;

pub(crate) use folder::short_path;
pub(crate) use size::size;
