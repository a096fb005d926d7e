//! The pi family (pi, oh-my-pi, xcsh, and boswell itself): an entry tree in JSON Lines.
//!
//! One line is a header of type `session`, all others are entries that name their parent; where the
//! conversation stands is the last line of the file, whatever it is. Four programs write this with
//! small differences, the flavours of [`Pi`]. The page `docs/dialects/pi.md` says what is read and
//! where boswell differs from the programs on purpose.

mod block;
mod fork;
mod calls;
mod check;
mod context;
mod dialect;
mod encode;
mod flavour;
mod meta;
mod head;
mod compaction;
mod layout;
mod migrate;
mod orphans;
mod provider_messages;
mod pairing;
mod roots;
mod plan;
mod project_folder;
mod context_window;
mod recognise;
mod move_project;
mod one_line;
mod render;
mod repair;
mod settings_snapshot;
mod resume;
mod set_title;
mod session_id;
mod settings;
mod link_scheme;
mod side_files;
mod subagents;
mod tags;
mod js_values;
mod view;
mod provider_text;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod vectors;

pub use flavour::{Flavour, Pi};
pub use settings_snapshot::restate;
pub use subagents::output_name;
pub use tags::retag;
