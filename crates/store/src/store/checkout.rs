//! Finds the repository that a folder belongs to.

use std::path::{Path, PathBuf};

use crate::backend::{Backend, FsBackend};

/// Returns the main checkout of the repository that contains a folder; `None` if there is none.
pub fn main_checkout(folder: &Path) -> Option<PathBuf> {
    let root = folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())?;
    if root.join(".git").is_dir() {
        return Some(root.to_owned());
    }
    // The `.git` file of a worktree names the folder of its repository: `gitdir:
    // MAIN/.git/worktrees/NAME`.
    let text = FsBackend::new(root)
        .open(".git")
        .and_then(|file| file.read(0, 64 << 10))
        .ok()?;
    let text = String::from_utf8(text).ok()?;
    let own = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    let git = own
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == ".git"))?;
    git.parent()
        .map(|main| main.canonicalize().unwrap_or_else(|_| main.to_owned()))
}
