//! A small home to try boswell on: sessions of every agent, in two languages, one of them damaged.
//!
//! Texts, times and ids are fixed, so that whoever reads the tour sees what it shows. It is not a
//! test bench: that makes thousands of odd shapes, and is not part of the program.

mod own;
mod place;
mod planted;
mod tour;

pub(crate) use place::Place;
pub(crate) use tour::TOUR;
