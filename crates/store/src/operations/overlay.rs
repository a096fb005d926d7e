//! [`Overlay`]: the files of a store as they will be after a change.

use std::collections::BTreeMap;

use boswell_dialect::{FileInfo, FileKind, Files, RowSource};
use boswell_model::{Error, ErrorKind, Result};

/// The current files, with some replaced by their future bytes, or removed (`None`).
pub(super) struct Overlay<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) becoming: BTreeMap<String, Option<Vec<u8>>>,
}

impl Overlay<'_> {
    fn info(key: &str, bytes: &[u8]) -> FileInfo {
        FileInfo {
            key: key.to_owned(),
            kind: FileKind::File,
            size: bytes.len() as u64,
            modified: None,
            identity: None,
        }
    }
}

impl Files for Overlay<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let mut found = self.files.list(folder)?;
        found.retain(|info| !self.becoming.contains_key(&info.key));
        let here = |key: &str| key.rsplit_once('/').map_or("", |(folder, _)| folder) == folder;
        for (key, bytes) in &self.becoming {
            if let Some(bytes) = bytes.as_ref().filter(|_| here(key)) {
                found.push(Self::info(key, bytes));
            }
        }
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        match self.becoming.get(key) {
            Some(bytes) => Ok(bytes.as_ref().map(|bytes| Self::info(key, bytes))),
            None => self.files.stat(key),
        }
    }

    fn read(&self, key: &str, at: u64, len: usize) -> Result<Vec<u8>> {
        match self.becoming.get(key) {
            Some(Some(bytes)) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes
                    .get(from..from.saturating_add(len).min(bytes.len()))
                    .unwrap_or(b"")
                    .to_vec())
            }
            Some(None) => Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{key}`"),
            )),
            None => self.files.read(key, at, len),
        }
    }

    fn rows(&self, key: &str) -> Result<Option<Box<dyn RowSource>>> {
        self.files.rows(key)
    }
}
