//! Test vectors: what the programs of the family assert in their own tests, case by case.
//!
//! Each case has the short name of the upstream test and its line, as in `build-context:66`;
//! `docs/dialects/pi.md` lists them all and states where boswell differs. Cases that need files are
//! in `tests/cli/pi_vectors.rs` of the command.

mod context;
mod pairing;
