//! Paths without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_dots() {
        assert_eq!(plain(Path::new("/w/./a/../b.rs")), Path::new("/w/b.rs"));
    }
}
