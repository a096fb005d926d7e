//! Converts keys of a store to paths, and to text for messages.

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};

/// Returns the path of a key. Keys never leave the root.
pub(crate) fn place(root: &Path, key: &str) -> Result<PathBuf> {
    let mut path = root.to_owned();
    for part in key.split('/') {
        let leads_out = matches!(part, "" | "." | "..") || part.contains('\0');
        if leads_out || (cfg!(windows) && part.contains(['\\', ':'])) {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("{} is not a key of a file in the store", shown(key)),
            ));
        }
        path.push(part);
    }
    Ok(path)
}

/// Returns a key as text for messages, escaped: file names come from other programs.
pub(crate) fn shown(key: &str) -> String {
    format!("`{}`", key.escape_debug())
}
