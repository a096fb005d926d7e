//! MyAgents' stores, written: what its own tests promise of its store, what §14 of the format notes
//! asks for, and both of us at once.

mod append;
mod crash;
mod index;
mod life;
mod node;
mod rewind;
mod shop;

use crate::plans::support;
