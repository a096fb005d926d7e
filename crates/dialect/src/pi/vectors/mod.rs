//! What the programs of the family assert about themselves, case by case.
//!
//! Each case has the short name of the test it follows and its line there, as in
//! `build-context:66`; `docs/dialects/pi.md` lists them all and says where boswell differs. What
//! needs files is in `tests/cli/pi_vectors.rs` of the command.

mod context;
mod pairing;
