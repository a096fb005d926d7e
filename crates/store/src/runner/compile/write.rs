//! Simulates the steps that change the bytes of a file: put, assemble, append.

use std::path::Path;

use boswell_dialect::{Modified, Patch};
use boswell_model::{Error, ErrorKind, Result};

use super::file::{facts_after, feed_pieces};
use super::{Content, Lowering, Virtual, VirtualContent, not_a_file};
use crate::disk::{OpenMode, durable};
use crate::runner::change::{Change, FileFacts, State};
use crate::runner::paths::shown;
use crate::sha256::{Digest, Hasher};

impl Lowering<'_> {
    /// Returns the bytes of a file after the steps so far.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Vec<u8>> {
        match self.look(key)? {
            State::File(_) => {}
            State::Absent => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("there is no file {}", shown(key)),
                ));
            }
            State::Folder => return Err(not_a_file(key)),
        }
        let read = |path: &Path| durable::read(self.disk, path).map(Option::unwrap_or_default);
        match self.files.get(key).map(|file| &file.content) {
            Some(VirtualContent::Bytes(bytes)) => Ok(bytes.clone()),
            Some(VirtualContent::Disk(path)) => read(path),
            Some(VirtualContent::Pieces(path, patch)) => {
                let mut bytes = Vec::new();
                feed_pieces(self.disk, path, patch, &mut |chunk| {
                    bytes.extend_from_slice(chunk);
                    Ok(())
                })?;
                Ok(bytes)
            }
            Some(VirtualContent::Grown(path, more)) => Ok([read(path)?.as_slice(), more].concat()),
            None => Err(not_a_file(key)),
        }
    }

    /// Makes the current content of a file available for the copy in the vault.
    pub(super) fn keep_before(&mut self, key: &str) -> Result<()> {
        let Some(file) = self.files.get(key) else {
            return Err(not_a_file(key));
        };
        let sha256 = file.meta.sha256;
        let content = match &file.content {
            VirtualContent::Disk(path) => Content::File(path.clone()),
            VirtualContent::Bytes(bytes) => Content::Bytes(bytes.clone()),
            VirtualContent::Pieces(..) | VirtualContent::Grown(..) => {
                Content::Bytes(self.bytes(key)?)
            }
        };
        self.out.contents.entry(sha256).or_insert(content);
        Ok(())
    }

    /// Prepares for writing a file as a whole: its old content is kept, or missing folders are
    /// made. Returns the facts of the old file.
    pub(super) fn make_way(&mut self, key: &str) -> Result<Option<FileFacts>> {
        match self.look(key)? {
            State::File(before) => {
                self.keep_before(key)?;
                Ok(Some(before))
            }
            State::Absent => {
                self.folders_above(key)?;
                Ok(None)
            }
            State::Folder => Err(not_a_file(key)),
        }
    }

    pub(super) fn put(
        &mut self,
        key: &str,
        bytes: Vec<u8>,
        mode: Option<u32>,
        modified: Modified,
    ) -> Result<()> {
        let before = self.make_way(key)?;
        let mut hasher = Hasher::default();
        hasher.add(&bytes);
        let meta = facts_after(&hasher, before, mode, modified);
        self.out
            .contents
            .insert(meta.sha256, Content::Bytes(bytes.clone()));
        self.files.insert(
            key.to_owned(),
            Virtual {
                hasher,
                meta,
                content: VirtualContent::Bytes(bytes),
            },
        );
        self.change(Change::Write {
            key: key.to_owned(),
            before,
            after: meta,
        });
        Ok(())
    }

    pub(super) fn assemble(
        &mut self,
        key: &str,
        from: &str,
        patch: &Patch,
        modified: Modified,
    ) -> Result<()> {
        let old = self.look(from)?;
        let source = match (old, self.files.get(from).map(|file| &file.content)) {
            (State::File(_), Some(VirtualContent::Disk(path))) => path.clone(),
            (State::Folder, _) => return Err(not_a_file(from)),
            _ => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("there is no file {} on disk", shown(from)),
                ));
            }
        };
        let before = self.make_way(key)?;
        let mut hasher = Hasher::default();
        feed_pieces(self.disk, &source, patch, &mut |chunk| {
            hasher.add(chunk);
            Ok(())
        })?;
        let mode = old.file().map(|file| file.mode);
        let meta = facts_after(&hasher, before.or(old.file()), mode, modified);
        self.out
            .contents
            .insert(meta.sha256, Content::Pieces(source.clone(), patch.clone()));
        let content = VirtualContent::Pieces(source, patch.clone());
        self.files.insert(
            key.to_owned(),
            Virtual {
                hasher,
                meta,
                content,
            },
        );
        self.change(Change::Write {
            key: key.to_owned(),
            before,
            after: meta,
        });
        Ok(())
    }

    /// Loads the bytes of a file that this plan assembled. To append to one is rare.
    fn load_pieces(&mut self, key: &str) -> Result<()> {
        if let Some(file) = self.files.get(key)
            && matches!(file.content, VirtualContent::Pieces(..))
        {
            let bytes = self.bytes(key)?;
            if let Some(file) = self.files.get_mut(key) {
                file.content = VirtualContent::Bytes(bytes);
            }
        }
        Ok(())
    }

    pub(super) fn append(&mut self, key: &str, lines: &[u8], modified: Modified) -> Result<()> {
        let before = match self.look(key)? {
            State::File(before) => before,
            State::Absent => return self.put(key, lines.to_vec(), None, Modified::Now),
            State::Folder => return Err(not_a_file(key)),
        };
        self.load_pieces(key)?;
        let separate = !self.ends_with_newline(key)?;
        let Some(file) = self.files.get_mut(key) else {
            return Err(not_a_file(key));
        };
        let mut added = if separate { vec![b'\n'] } else { Vec::new() };
        added.extend_from_slice(lines);
        file.hasher.add(&added);
        let modified = before.modified.filter(|_| modified == Modified::Kept);
        file.meta = FileFacts {
            sha256: file.hasher.finish(),
            len: file.hasher.len(),
            modified,
            ..before
        };
        match &mut file.content {
            VirtualContent::Disk(path) => {
                file.content = VirtualContent::Grown(path.clone(), added.clone())
            }
            VirtualContent::Bytes(bytes) | VirtualContent::Grown(_, bytes) => {
                bytes.extend_from_slice(&added)
            }
            VirtualContent::Pieces(..) => return Err(not_a_file(key)),
        }
        let after = file.meta;
        let digest = Digest::of(&added);
        self.out.contents.insert(digest, Content::Bytes(added));
        self.change(Change::Append {
            key: key.to_owned(),
            before,
            added: digest,
            after,
        });
        Ok(())
    }

    pub(super) fn ends_with_newline(&self, key: &str) -> Result<bool> {
        match self.files.get(key).map(|file| &file.content) {
            Some(VirtualContent::Bytes(bytes)) => {
                Ok(bytes.last().is_none_or(|byte| *byte == b'\n'))
            }
            Some(VirtualContent::Grown(_, more)) => {
                Ok(more.last().is_none_or(|byte| *byte == b'\n'))
            }
            Some(VirtualContent::Disk(path)) => {
                let fault = |error| Error::io(path.display(), "read", error);
                let file = self.disk.open(path, OpenMode::Read).map_err(fault)?;
                durable::ends_with_newline(file.as_ref()).map_err(fault)
            }
            Some(VirtualContent::Pieces(..)) | None => Err(not_a_file(key)),
        }
    }
}
