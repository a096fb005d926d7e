//! Puts files back to what they were.
//!
//! First everything is looked at, then, if nothing stands in the way, the present content goes to
//! blobs, and only then are files replaced, each in one step. What was done comes back as a
//! snapshot, so that it can be taken back.

use std::path::Path;

use boswell_model::{Error, ErrorKind, Result};

use super::project_path::{self, Found};
use super::{Captured, CapturedFile, Checkpoints, FileSnapshot, Moment, Skipped, State, Tracked};
use crate::blobs::BlobId;
use crate::disk::{Disk, OpenMode, durable};

/// What happens to a file whose present content nobody captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is written at all.
    Stop,
    /// That file stays as it is; the others are put back.
    Skip,
    /// It is put back all the same; its present content is in the undo snapshot.
    Overwrite,
}

/// Why a file was not put back.
#[derive(Debug)]
#[non_exhaustive]
pub enum RestoreRefusal {
    /// It was changed by somebody else since it was captured.
    Conflict,
    /// It was not captured, or something stands in its place that is no regular file.
    Skipped(Skipped),
    /// It lies in git's own folder.
    Git,
    /// It could not be read or written.
    Failed(Error),
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It has its former content again.
    Written,
    /// It was not there before, and is gone again.
    Removed,
}

/// What putting files back came to.
#[derive(Debug)]
pub struct Restored {
    /// What was done, by path.
    pub done: Vec<(String, Done)>,
    /// What was not done, by path, and why. Files that were already as they should be
    /// are in neither list.
    pub refused: Vec<(String, RestoreRefusal)>,
    /// The files that were to be changed, as they were before.
    pub undo: FileSnapshot,
    /// The files of `done`, as they are now.
    pub after: FileSnapshot,
}

impl Restored {
    /// The state to restore in order to take it all back.
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
    /// Puts the files of a state back, below `root` only.
    ///
    /// # Errors
    ///
    /// An I/O error if what the files are now cannot be kept. A file that cannot be put back is
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

    /// Keeps the present content of all files before the first of them is touched.
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
    // Where nothing is, nothing can be lost.
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

/// Looks once more just before the change: somebody may have written since the content was kept.
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

/// Replaces a file in one step, with its permission bits.
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
        // What is left of it is ours; failing to remove it loses nothing.
        let _ = disk.remove(&temp);
        return Err(Error::io(path.display(), "put back", error));
    }
    durable::sync_parent(disk, path)
}
