//! Sessions handed on: as pages for people, or as documents that lose nothing.

pub(crate) mod document;
mod hidden;
pub(crate) mod html;
pub(crate) mod markdown;
mod prose;
mod transcript;

pub(crate) use hidden::Hidden;
pub(crate) use transcript::{Part, Transcript};
