//! Where keys are, and how they are shown.

use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};

/// Where a key is. Keys never leave the root.
pub(crate) fn place(root: &Path, key: &str) -> Result<PathBuf> {
    let mut path = root.to_owned();
    for part in key.split('/') {
        let leads_out = matches!(part, "" | "." | "..") || part.contains('\0');
        if leads_out || (cfg!(windows) && part.contains(['\\', ':'])) {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("{} is no key of a file in the store", shown(key)),
            ));
        }
        path.push(part);
    }
    Ok(path)
}

/// A key as it may be shown: file names are other people's text.
pub(crate) fn shown(key: &str) -> String {
    format!("`{}`", key.escape_debug())
}
