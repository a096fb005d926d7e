//! The pi family (pi, oh-my-pi, xcsh, and boswell itself): an entry tree in JSON Lines.
//!
//! One line is a header of type `session`, all others are entries that name their parent; where the conversation stands
//! is the last line of the file, whatever it is. Four programs write this with small differences, the flavours of [`Pi`].
//! The page `docs/dialects/pi.md` says what is read and where boswell differs from the programs on purpose.

mod block;
mod check;
mod context;
mod dialect;
mod encode;
mod flavour;
mod fold;
mod head;
mod kept;
mod layout;
mod places;
mod recognise;
mod remark;
mod render;
mod repair;
mod resume;
mod settings;
mod shape;
mod side;
mod value;
mod view;

#[cfg(test)]
mod fixture;

pub use flavour::{Flavour, Pi};
