//! The pi family (pi, oh-my-pi, xcsh, and boswell itself): an entry tree in JSON Lines.
//!
//! One line is a header of type `session`, all others are entries that name their parent; where the
//! conversation stands is the last line of the file, whatever it is. Four programs write this with
//! small differences, the flavours of [`Pi`]. The page `docs/dialects/pi.md` says what is read and
//! where boswell differs from the programs on purpose.

mod block;
mod branched;
mod calls;
mod check;
mod context;
mod dialect;
mod encode;
mod flavour;
mod fold;
mod head;
mod kept;
mod layout;
mod migrate;
mod orphans;
mod outgoing;
mod pairing;
mod places;
mod plan;
mod project_folder;
mod reach;
mod recognise;
mod relocate;
mod remark;
mod render;
mod repair;
mod restated;
mod resume;
mod retitle;
mod session_id;
mod settings;
mod shape;
mod side;
mod subagents;
mod tags;
mod value;
mod view;
mod wording;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod vectors;

pub use flavour::{Flavour, Pi};
pub use restated::restate;
pub use subagents::output_name;
pub use tags::retag;
