//! Groups about finding: catalog, index, search, statistics, over generated Claude sessions.
//!
//! A figure of another program that is not run here is marked `allowed`.

mod bed;
mod databases;
pub(super) mod fast_resume;
mod first_index;
mod known_page;
mod refresh;
mod scan;
mod search;
mod usage;

pub(super) use bed::Bed;
pub(crate) use databases::Databases;
pub(crate) use first_index::FirstIndex;
pub(crate) use known_page::{KnownFirstPage, run as known_page};
pub(crate) use refresh::Refresh;
pub(crate) use scan::Scan;
pub(crate) use search::Search;
pub(crate) use usage::UsageReport;
