//! Keeps files of a project as they are now.

use std::path::Path;
use std::sync::Arc;

use boswell_dialect::IdSource;
use boswell_model::Result;

use super::{Captured, CapturedFile, FileSnapshot, Moment, Skipped, project_path};
use crate::blobs::Blobs;
use crate::disk::Disk;

/// Captures files, compares them and puts them back.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    /// Where the project is.
    pub(super) disk: Arc<dyn Disk>,
    /// Says when files were captured, and names temporary files.
    pub(super) id_source: Arc<dyn IdSource>,
    pub(super) blobs: Blobs,
}

impl Checkpoints {
    /// Checkpoints of projects on `disk` that keep the content of files in these blobs. An agent
    /// gets them from [`Home::checkpoints`](crate::Home::checkpoints).
    pub fn new(disk: Arc<dyn Disk>, id_source: Arc<dyn IdSource>, blobs: Blobs) -> Self {
        Checkpoints {
            disk,
            id_source,
            blobs,
        }
    }

    /// Keeps files of a project as they are now. Their bytes are durable when this returns; the
    /// snapshot is not: append it.
    ///
    /// Paths are relative to `root`, or absolute and below it. What cannot be kept is
    /// recorded with the reason.
    ///
    /// # Errors
    ///
    /// An I/O error if the content of a file cannot be kept: then the edit must not go on.
    pub fn capture(&self, root: &Path, paths: &[&Path], moment: Moment) -> Result<FileSnapshot> {
        let at = self.id_source.now();
        let mut files: Vec<CapturedFile> = Vec::with_capacity(paths.len());
        for path in paths {
            let (name, content) = match project_path::relative(root, path) {
                Some(name) => {
                    let content = self.capture_one(root, &name)?;
                    (name, content)
                }
                None => (
                    path.to_string_lossy().into_owned(),
                    Captured::Skipped(Skipped::Outside),
                ),
            };
            if !files.iter().any(|file| file.path == name) {
                files.push(CapturedFile {
                    path: name,
                    content,
                });
            }
        }
        Ok(FileSnapshot { files, moment, at })
    }

    fn capture_one(&self, root: &Path, name: &str) -> Result<Captured> {
        match project_path::read(self.disk.as_ref(), root, name) {
            project_path::Found::Absent => Ok(Captured::Absent),
            project_path::Found::Skipped(why) => Ok(Captured::Skipped(why)),
            // A blob that cannot be kept is an error: the edit must not go on as if it
            // could be taken back.
            project_path::Found::File { bytes, mode } => Ok(Captured::File {
                blob: self.blobs.put(&bytes)?,
                mode,
                len: bytes.len() as u64,
            }),
        }
    }
}
