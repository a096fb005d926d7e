//! Tests of repository rules: dependencies between crates, access to files, printing, and claims in
//! the docs.
//!
//! They read the checkout as text, so they also see code that is disabled on this platform.

mod advice;
mod architecture_page;
mod book;
mod conformance_page;
mod crate_metadata;
mod dialect_names;
mod forge;
mod form;
mod ignored_syncs;
mod layering;
mod paths;
mod public_api;
mod retired_words;
mod seeds_page;
mod silence;
mod toys;
mod truth_page;
mod web_page;
mod weight;
