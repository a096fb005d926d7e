//! Files that speak of several sessions.

use boswell_model::Result;

use crate::{Dialect, Files};

/// An agent that keeps files about several sessions, such as an index or a history of prompts.
pub trait SharedFiles: Dialect {
    /// Whether a file of this key is one of them.
    fn is_shared(&self, key: &str) -> bool;

    /// Keys of the shared files that are there.
    fn shared_files(&self, files: &dyn Files) -> Result<Vec<String>>;

    /// A shared file without what it says of sessions with these ids; none if it cannot be read.
    fn without(&self, key: &str, bytes: &[u8], ids: &[String]) -> Option<Vec<u8>>;

    /// Brings the change of a shared file from `base` to `ours` into what another process made of
    /// it since; none where that cannot be done. For indexes, which agents rewrite all the time.
    fn merge(&self, _key: &str, _base: &[u8], _ours: &[u8], _theirs: &[u8]) -> Option<Vec<u8>> {
        None
    }
}
