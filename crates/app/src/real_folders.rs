//! Whether two paths are the same folder, with symbolic links resolved once per request.
//!
//! A list asks this for every session, to say with which environment its agent finds the store.
//! The answers differ per store only, and resolving a path costs a system call for each of its
//! parts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Real paths that were looked up during one request; `None` for a path that does not exist.
#[derive(Debug, Default)]
pub(crate) struct RealFolders {
    known: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl RealFolders {
    /// Whether both paths lead to the same folder. Equal paths do, also those of a folder that does
    /// not exist.
    pub(crate) fn are_same(&self, a: &Path, b: &Path) -> bool {
        a == b || matches!((self.real(a), self.real(b)), (Some(a), Some(b)) if a == b)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known.get(path) {
            return real.clone();
        }
        let real = path.canonicalize().ok();
        known.insert(path.to_owned(), real.clone());
        real
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_same_through_a_link_and_a_missing_one_only_by_its_name() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (gone, other) = (place.path().join("gone"), place.path().join("other"));
        let folders = RealFolders::default();
        for _ in 0..2 {
            assert!(folders.are_same(&real, &link));
            assert!(folders.are_same(&gone, &gone));
            assert!(!folders.are_same(&gone, &other));
            assert!(!folders.are_same(&real, &gone));
        }
    }
}
