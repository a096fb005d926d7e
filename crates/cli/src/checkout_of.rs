//! Which repository a folder belongs to: agents share memory between all checkouts of one.

use std::path::{Path, PathBuf};

use boswell_dialect::claude::project_key;
use boswell_store::{Backend, FsBackend};

/// The main checkout of the repository that a folder lies in; none if it lies in none.
pub(crate) fn main_checkout(folder: &Path) -> Option<PathBuf> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    if root.join(".git").is_dir() {
        return Some(root.to_owned());
    }
    // A worktree says where its repository keeps what belongs to it: `gitdir: MAIN/.git/worktrees/NAME`.
    let text = FsBackend::new(root).open(".git").and_then(|file| file.read(0, 64 << 10)).ok()?;
    let text = String::from_utf8(text).ok()?;
    let own = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    let git = own.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".git"))?;
    git.parent().map(|main| main.canonicalize().unwrap_or_else(|_| main.to_owned()))
}

/// Keys under which memory of a folder may be filed: first the one that today's client uses.
pub(crate) fn keys(folder: &Path) -> Vec<String> {
    let own = project_key(&folder.display().to_string());
    let mut keys: Vec<String> =
        main_checkout(folder).map(|main| project_key(&main.display().to_string())).into_iter().collect();
    if !keys.contains(&own) {
        keys.push(own);
    }
    keys
}
