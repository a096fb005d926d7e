//! Which sessions there are: catalog, order, filters, and what notes and agents add.

pub mod cursor;
pub mod deleted;
pub mod expiry;
pub mod filter;
pub mod index;
pub mod linked_transcript;
pub mod list;
pub mod newest;
pub mod notes_overlay;
