//! MyAgents' stores, written: what its own tests promise of its store, what §14 of the format notes asks for, and both of us at once.
#![expect(clippy::unwrap_used, reason = "what a test needs and does not get stops it")]

mod append;
mod crash;
mod index;
mod life;
mod node;
mod rewind;
mod shop;
#[path = "../plans/support.rs"]
#[expect(dead_code, reason = "shared with the tests of plans, which need more of it")]
mod support;
