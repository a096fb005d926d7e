//! Sessions handed on: as pages for people, or as documents that lose nothing.

pub(crate) mod document;
pub(crate) mod html;
pub(crate) mod markdown;
mod redact;
mod sanitize_markdown;
mod transcript;

pub(crate) use redact::Redactor;
pub(crate) use transcript::{Part, Transcript};
