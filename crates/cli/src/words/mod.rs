//! Wording that several commands share.

pub(crate) mod acknowledgement;
mod advice;
mod called;
mod count;
pub(crate) mod digest;
pub(crate) mod files;
mod folder;
pub(crate) mod planned_change;
mod size;
pub(crate) mod table;
mod unsent;
pub(crate) mod wrap;

pub(crate) use advice::{command, phrase};
pub(crate) use called::{as_called, remember};
pub(crate) use count::count;
pub(crate) use folder::short_path;
pub(crate) use size::size;
pub(crate) use unsent::unsent_line;
