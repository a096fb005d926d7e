//! Sanitises Markdown written by models and users.
//!
//! A reader of the page must not run, load or follow the contents of a session: markup in it
//! becomes text, remote images become links, and links have only safe schemes.
//!
//! A text is parsed (`piece.rs`) and written again from the parsed pieces (`markdown.rs`,
//! `html.rs`), never copied. So each text is self-contained: no fence, list, definition or tag of
//! one can extend into the next.

mod html;
mod inline;
mod linkify;
mod markdown;
mod piece;
mod shape;
mod writer;

pub(super) use html::{html, push_text};
pub(super) use inline::{code, fenced, plain};
pub(super) use markdown::{Tail, markdown};
