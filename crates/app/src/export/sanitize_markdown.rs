//! Markdown that models and people write, made harmless.
//!
//! A reader of the page must not run, load or follow the contents of a session: markup in it
//! becomes text, pictures from elsewhere become links, and links go only where browsers go safely.
//!
//! A text is parsed (`piece.rs`) and written again from what the parser saw (`markdown.rs`,
//! `html.rs`), never copied. So each text is closed in itself: no fence, list, definition or tag of
//! one can reach into what comes after it.

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
