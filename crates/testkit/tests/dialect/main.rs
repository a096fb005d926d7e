//! Tests of the dialect suite: every dialect, the toys through the real store, and defective
//! dialects that the suite must detect.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod conversions;
mod mutants;
mod registry;
mod row_source;
mod toys;
