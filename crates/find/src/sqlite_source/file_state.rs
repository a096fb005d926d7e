//! The state of a database's files, which differs after every write.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use boswell_model::{Error, ErrorKind, Result};

/// Sizes, times and counters of a database and its side files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileState {
    main: OneFile,
    wal: Option<OneFile>,
    journal: Option<OneFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OneFile {
    size: u64,
    modified: Option<std::time::SystemTime>,
    /// Of a database its change counter, of a WAL its checkpoint number and salts.
    counter: Vec<u8>,
}

/// Position and length of the change counter of a database.
const CHANGE_COUNTER: (u64, usize) = (24, 4);
/// Position and length of checkpoint number and salts of a WAL.
const WAL_SALTS: (u64, usize) = (12, 12);

impl FileState {
    /// Looks at the files of a database; `None` if there is none.
    pub(super) fn of(path: &Path) -> Result<Option<FileState>> {
        let Some(main) = one(path, CHANGE_COUNTER)? else {
            return Ok(None);
        };
        Ok(Some(FileState {
            main,
            wal: one(&side_file(path, "-wal"), WAL_SALTS)?,
            journal: one(&side_file(path, "-journal"), (0, 0))?,
        }))
    }

    /// Whether the pages of this state are still in place in a later one: the database was not
    /// written, and the WAL, if there was one, at most grew.
    pub(super) fn is_kept_in(&self, later: &FileState) -> bool {
        let wal_grew = match (&self.wal, &later.wal) {
            (Some(then), _) if then.size == 0 => true,
            (Some(then), Some(now)) => then.counter == now.counter && then.size <= now.size,
            (Some(_), None) => false,
            (None, _) => true,
        };
        self.main == later.main && wal_grew && !later.has_journal()
    }

    /// Whether a WAL contains pages.
    pub(super) fn has_wal(&self) -> bool {
        self.wal.as_ref().is_some_and(|wal| wal.size > 0)
    }

    /// Whether a crash left a journal that must be rolled back, or a writer is at work on one.
    pub(super) fn has_journal(&self) -> bool {
        self.journal
            .as_ref()
            .is_some_and(|journal| journal.size > 0)
    }
}

/// Returns the path of a side file.
pub(super) fn side_file(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a database is read by SQLite, which opens the same regular file"
)]
fn one(path: &Path, (at, len): (u64, usize)) -> Result<Option<OneFile>> {
    let fault = |error| Error::io(path.display(), "read", error);
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
    };
    // A link may lead out of the store, and a pipe would block.
    if !meta.is_file() {
        let what = format!("`{}` is not a regular file", path.display());
        return Err(Error::new(ErrorKind::Denied, what));
    }
    let mut counter = vec![0; len];
    if len > 0 && meta.len() >= at + len as u64 {
        let mut file = std::fs::File::open(path).map_err(fault)?;
        file.seek(SeekFrom::Start(at)).map_err(fault)?;
        file.read_exact(&mut counter).map_err(fault)?;
    }
    Ok(Some(OneFile {
        size: meta.len(),
        modified: meta.modified().ok(),
        counter,
    }))
}
