//! Dialects: the suite over every dialect there is, the toys through the real store, and broken
//! dialects that the suite must find.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod mutants;
mod registry;
mod row_source;
mod toys;
