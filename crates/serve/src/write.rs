//! Requests that change something, and those that give access.

mod append;
mod blobs;
mod door;
mod session;
mod sessions;
mod tree;
mod work;

pub(crate) use append::append;
pub(crate) use blobs::put_blob;
pub(crate) use door::{allow_changes, login, take, ticket};
pub(crate) use session::{close, delete, label, patch, restore, undo};
pub(crate) use sessions::create;
pub(crate) use tree::{branch, fork, repair, rewind};
pub(crate) use work::{Progress, index, keep};
