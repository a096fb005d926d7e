//! The pi family (pi, oh-my-pi, xcsh, and boswell itself): an entry tree in JSON Lines.
//!
//! One line is a header of type `session`, all others are entries that name their parent; the tip
//! is the last entry of the file, regardless of its type. Four programs write this format with
//! small differences, the flavours of [`Pi`]. The page `docs/dialects/pi.md` describes what is read
//! and where boswell differs from the programs on purpose.

mod block;
mod calls;
mod check;
mod compaction;
mod context;
mod context_window;
mod dialect;
mod encode;
mod facts;
mod flavour;
mod fork;
mod head;
mod js_values;
mod layout;
mod link_scheme;
mod meta;
mod migrate;
mod move_project;
mod one_line;
mod orphans;
mod pairing;
mod plan;
mod project_folder;
mod provider_messages;
mod provider_text;
mod recognise;
mod render;
mod repair;
mod resume;
mod roots;
mod session_id;
mod set_title;
mod settings;
mod settings_snapshot;
mod side_files;
mod subagents;
mod tags;
mod text_piece;
mod view;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod vectors;

pub use flavour::{Flavour, Pi};
pub use settings_snapshot::restate;
pub use subagents::output_name;
pub use tags::retag;
