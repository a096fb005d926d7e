//! A copy of a database, for one that changes whenever it is read, or that needs a rollback.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::file_state::{FileState, side_file};

/// How often a copy is tried while a writer is at work.
const ATTEMPTS: usize = 20;

/// Numbers the copies of this process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A copy in a private folder, which is removed with this value.
#[derive(Debug)]
pub(super) struct DatabaseCopy {
    folder: PathBuf,
    path: PathBuf,
}

impl DatabaseCopy {
    /// Copies a database with its side files, all of one state.
    pub(super) fn of(database: &Path, copies: &Path) -> Result<DatabaseCopy> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = copies.join(format!("boswell-rows-{}-{number}", std::process::id()));
        make_private(&folder)?;
        let copy = DatabaseCopy {
            path: folder.join("copy.db"),
            folder,
        };
        for _ in 0..ATTEMPTS {
            let before = FileState::of(database)?;
            // The WAL first: what a checkpoint moves meanwhile is then there twice, not missing.
            for ending in ["-wal", "-journal", ""] {
                copy_file(&side_file(database, ending), &side_file(&copy.path, ending))?;
            }
            if before.is_some() && FileState::of(database)? == before {
                return Ok(copy);
            }
        }
        let what = format!("`{}` is written without a pause", database.display());
        Err(Error::new(ErrorKind::Busy, what).advising(Advice::RetryLater))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        // Best effort: what remains is a copy in a folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    match std::fs::copy(from, to) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            match std::fs::remove_file(to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::io(to.display(), "remove", error))
                }
                _ => Ok(()),
            }
        }
        Err(error) => Err(Error::io(from.display(), "copy", error)),
    }
}

/// Only the user may look at copies: rows contain conversations.
fn make_private(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(|error| Error::io(folder.display(), "make", error))
}
