//! Session files of the pi family: pi, oh-my-pi and xcsh, in every version of their format.
//!
//! A file is a header line and entries that name their parents. The three flavours differ in ids,
//! titles, folder names, in how a model is named and in whether large images are stored as blobs.

mod layout;
mod old;
mod session;
mod shape;
mod side;
#[cfg(test)]
mod tests;
mod v3;

pub use layout::{PiLayout, file_name, pi_folder, snowflake, title_slot, xcsh_folder};
pub use session::PiSession;
pub use shape::{PiShape, deep, file};
pub use side::{artifacts, breadcrumb, history_db};

/// The agent of the family that writes the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiFlavour {
    /// pi: UUIDs, `--…--` folders, names in `session_info` entries, images inline.
    Pi,
    /// oh-my-pi: nanoid or UUIDv7 ids, a title slot before the header in newer files, blobs.
    Omp,
    /// xcsh: snowflake ids, folders relative to the home, titles in the header, blobs.
    Xcsh,
}

impl PiFlavour {
    /// All flavours.
    pub const ALL: &'static [PiFlavour] = &[PiFlavour::Pi, PiFlavour::Omp, PiFlavour::Xcsh];

    /// Returns the name of the dialect.
    pub fn name(self) -> &'static str {
        match self {
            PiFlavour::Pi => "pi",
            PiFlavour::Omp => "omp",
            PiFlavour::Xcsh => "xcsh",
        }
    }

    pub(crate) fn has_blobs(self) -> bool {
        self != PiFlavour::Pi
    }
}
