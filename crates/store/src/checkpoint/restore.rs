//! Restores files to their former state.
//!
//! First everything is examined; if there is no conflict, the current content is stored in blobs,
//! and only then are files replaced, each atomically. The result contains a snapshot for undo.
//!
//! A file that was also changed outside the session is a conflict, which stops the checkout unless
//! it is forced (`--force`).

use std::path::Path;

use boswell_model::{Error, ErrorKind, Result};

use super::project_path::{self, Found};
use super::{Captured, CapturedFile, Checkpoints, FileSnapshot, Moment, Skipped, State, Tracked};
use crate::blobs::BlobId;
use crate::disk::{Disk, OpenMode, durable};

/// What happens to a file whose current content was not captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is written at all.
    Stop,
    /// That file stays as it is; the others are restored.
    Skip,
    /// It is restored all the same; its current content is in the undo snapshot.
    Overwrite,
}

/// Why a file was not restored.
#[derive(Debug)]
#[non_exhaustive]
pub enum RestoreRefusal {
    /// Another program changed it since it was captured.
    Conflict,
    /// It was not captured, or something other than a regular file is in its place.
    Skipped(Skipped),
    /// It is in git's own folder.
    Git,
    /// It could not be read or written.
    Failed(Error),
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// The former content was written.
    Written,
    /// The file did not exist before, and was removed.
    Removed,
}

/// The result of a restore.
#[derive(Debug)]
pub struct Restored {
    /// What was done, by path.
    pub done: Vec<(String, Done)>,
    /// What was not done, by path, with the reason. Files that were already correct are in neither
    /// list.
    pub refused: Vec<(String, RestoreRefusal)>,
    /// The former state of the files that were to be changed.
    pub undo: FileSnapshot,
    /// The files of `done` in their new state.
    pub after: FileSnapshot,
}

impl Restored {
    /// Returns the state that undoes everything.
    pub fn undo_state(&self) -> State {
        State::before([&self.undo, &self.after])
    }
}

struct Step<'a> {
    path: &'a str,
    then: &'a Captured,
    now: Option<(Vec<u8>, u32)>,
}

impl Checkpoints {
    /// Restores the files of a state, only below `root`.
    ///
    /// # Errors
    ///
    /// An I/O error if the current content cannot be stored. A file that cannot be restored is
    /// reported in [`Restored::refused`].
    pub fn restore(&self, state: &State, root: &Path, on_conflict: OnConflict) -> Result<Restored> {
        let disk = self.disk.as_ref();
        let (at, unique) = (self.id_source.now(), self.id_source.hex16());
        let mut steps = Vec::new();
        let mut refused = Vec::new();
        for (path, tracked) in state.files() {
            match look(disk, root, path, tracked, on_conflict) {
                Ok(Some(step)) => steps.push(step),
                Ok(None) => {}
                Err(refusal) => refused.push((path.to_owned(), refusal)),
            }
        }
        let conflict = refused
            .iter()
            .any(|(_, refusal)| matches!(refusal, RestoreRefusal::Conflict));
        if conflict && on_conflict == OnConflict::Stop {
            steps.clear();
        }
        let undo = FileSnapshot {
            files: self.keep(&steps)?,
            moment: Moment::Before,
            at,
        };
        let mut after = FileSnapshot {
            files: Vec::new(),
            moment: Moment::After,
            at,
        };
        let mut done = Vec::new();
        for step in &steps {
            match self.apply(root, step, &unique) {
                Ok(did) => {
                    after.files.push(CapturedFile {
                        path: step.path.to_owned(),
                        content: step.then.clone(),
                    });
                    done.push((step.path.to_owned(), did));
                }
                Err(error) => refused.push((step.path.to_owned(), RestoreRefusal::Failed(error))),
            }
        }
        Ok(Restored {
            done,
            refused,
            undo,
            after,
        })
    }

    /// Stores the current content of all files before the first of them is changed.
    fn keep(&self, steps: &[Step<'_>]) -> Result<Vec<CapturedFile>> {
        let mut files = Vec::with_capacity(steps.len());
        for step in steps {
            let content = match &step.now {
                None => Captured::Absent,
                Some((bytes, mode)) => Captured::File {
                    blob: self.blobs.put(bytes)?,
                    mode: *mode,
                    len: bytes.len() as u64,
                },
            };
            files.push(CapturedFile {
                path: step.path.to_owned(),
                content,
            });
        }
        Ok(files)
    }

    fn apply(&self, root: &Path, step: &Step<'_>, unique: &str) -> Result<Done> {
        let disk = self.disk.as_ref();
        let outside = || {
            Error::new(
                ErrorKind::Denied,
                format!("`{}` is not below the project", step.path),
            )
        };
        let path = project_path::below(root, step.path).ok_or_else(outside)?;
        match step.then {
            Captured::File { blob, mode, .. } => {
                let bytes = self.blobs.get(blob)?;
                unchanged(disk, root, step)?;
                if let Some(folder) = path.parent() {
                    durable::make_folders(disk, folder)?;
                }
                write(disk, &path, &bytes, *mode, unique)?;
                Ok(Done::Written)
            }
            _ => {
                unchanged(disk, root, step)?;
                disk.remove(&path)
                    .map_err(|error| Error::io(path.display(), "remove", error))?;
                durable::sync_parent(disk, &path)?;
                Ok(Done::Removed)
            }
        }
    }
}

fn look<'a>(
    disk: &dyn Disk,
    root: &Path,
    path: &'a str,
    tracked: &'a Tracked,
    on_conflict: OnConflict,
) -> std::result::Result<Option<Step<'a>>, RestoreRefusal> {
    if let Captured::Skipped(why) = &tracked.then {
        return Err(RestoreRefusal::Skipped(*why));
    }
    if project_path::is_git(path) {
        return Err(RestoreRefusal::Git);
    }
    let now = match project_path::read(disk, root, path) {
        Found::Skipped(why) => return Err(RestoreRefusal::Skipped(why)),
        Found::Absent => None,
        Found::File { bytes, mode } => Some((bytes, mode)),
    };
    let hash = now.as_ref().map(|(bytes, _)| BlobId::of(bytes));
    let same = |captured: &Captured| match captured {
        Captured::Absent => hash.is_none(),
        Captured::File { blob, .. } => hash == Some(*blob),
        Captured::Skipped(_) => false,
    };
    let mode_differs = match (&tracked.then, &now) {
        (Captured::File { mode, .. }, Some((_, now))) => mode != now,
        _ => false,
    };
    if same(&tracked.then) && !mode_differs {
        return Ok(None);
    }
    // If there is no file, nothing can be lost.
    let known = hash.is_none() || tracked.known.iter().any(same);
    if !known && on_conflict != OnConflict::Overwrite {
        return Err(RestoreRefusal::Conflict);
    }
    Ok(Some(Step {
        path,
        then: &tracked.then,
        now,
    }))
}

/// Compares again just before the change: another program may have written since the content was
/// stored.
fn unchanged(disk: &dyn Disk, root: &Path, step: &Step<'_>) -> Result<()> {
    let same = match (project_path::read(disk, root, step.path), &step.now) {
        (Found::Absent, None) => true,
        (Found::File { bytes, .. }, Some((kept, _))) => bytes == *kept,
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!("`{}` changed while files were restored", step.path),
    )
    .because("its content is not the one that was kept a moment ago")
    .advising("look at it, then restore it again"))
}

/// Replaces a file atomically, with its permission bits.
fn write(disk: &dyn Disk, path: &Path, bytes: &[u8], mode: u32, unique: &str) -> Result<()> {
    let temp = durable::temp_sibling(path, unique);
    let written = (|| {
        let file = disk.open(&temp, OpenMode::CreateNew)?;
        durable::append_all(file.as_ref(), bytes)?;
        let modified = file.stat()?.modified;
        file.set_mode_and_time(mode & 0o777, modified)?;
        file.sync()?;
        disk.rename(&temp, path)
    })();
    if let Err(error) = written {
        // The temporary file is ours; failing to remove it loses nothing.
        let _ = disk.remove(&temp);
        return Err(Error::io(path.display(), "put back", error));
    }
    durable::sync_parent(disk, path)
}
