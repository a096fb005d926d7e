//! Tests that hold the house rules: who may depend on whom, who may touch files or print, and
//! what the docs claim.
//!
//! They read the checkout as text, so they also see code that is switched off on this platform.

mod advice;
mod conformance_page;
mod dialect_names;
mod form;
mod ignored_syncs;
mod layering;
mod paths;
mod retired_words;
mod seeds_page;
mod silence;
mod toys;
mod weight;
