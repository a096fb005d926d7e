//! The [`SharedFiles`] power: files that contain data of several sessions.

use boswell_model::Result;

use crate::{Dialect, Files};

/// An agent with files about several sessions, such as an index or a prompt history.
pub trait SharedFiles: Dialect {
    /// Whether the file with this key is a shared file.
    fn is_shared(&self, key: &str) -> bool;

    /// Returns the keys of the shared files that exist.
    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>>;

    /// Returns a shared file without the data of these sessions; `None` if it cannot be parsed.
    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>>;

    /// Three-way merge: applies the change from `_base` to `_ours` to `_theirs`, which another
    /// process wrote since; `None` if that is not possible. For indexes, which agents rewrite
    /// often.
    fn merge(&self, _key: &str, _base: &[u8], _ours: &[u8], _theirs: &[u8]) -> Option<Vec<u8>> {
        None
    }
}
