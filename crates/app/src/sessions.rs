//! The sessions of all stores: catalog, order, filters, notes and expiry.

pub(crate) mod counts;
pub(crate) mod cursor;
pub(crate) mod deleted;
pub(crate) mod expiry;
pub(crate) mod filter;
pub(crate) mod index;
pub(crate) mod linked_transcript;
pub(crate) mod list;
pub(crate) mod misspelt;
pub(crate) mod newest;
pub(crate) mod notes_overlay;
mod short_ids;
