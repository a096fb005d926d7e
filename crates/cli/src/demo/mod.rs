//! A small home to try boswell on: sessions of every agent, in two languages, one of them damaged.
//!
//! Texts, times and ids are fixed, so that whoever reads the tour sees what it shows. It is not a
//! test bench: that makes thousands of odd shapes, and is not part of the program.

mod agent_files;
mod layout;
mod native_session;
mod tour;

pub(crate) use layout::DemoLayout;
pub(crate) use tour::TOUR;
