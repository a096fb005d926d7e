//! Writing to MyAgents stores: the guarantees of the app's own tests, the requirements in §14 of
//! the format notes, and concurrent access with the app.

mod append;
mod crash;
mod index;
mod life;
mod node;
mod operations;
mod rewind;
mod shop;

use crate::plans::support;
