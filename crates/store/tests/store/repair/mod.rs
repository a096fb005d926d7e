//! Repair on real files: what it writes, that undo restores the original, and that the agents
//! themselves load the result.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::expect_used,
    reason = "tests plant files by hand and fail by panicking"
)]

mod bench;
mod crash;
mod forks;
mod in_place;
mod pi_loads;
