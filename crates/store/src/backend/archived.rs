//! [`VaultBackend`]: reads the files of an archived session from their copies in the vault, under
//! the keys that they had in their store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use boswell_dialect::{FileInfo, FileKind};
use boswell_model::{Error, ErrorKind, Instant, Result};

use super::compressed::{LastUnpacked, is_packed, unpack};
use super::memory::MemoryObject;
use super::{Backend, ObjectReader};
use crate::runner::FileFacts;
use crate::sha256::Digest;
use crate::vault::Vault;

/// Copies as files. A copy is decompressed and verified when it is opened, not before; the last one
/// is cached, because a search opens a log for every piece that it reads.
#[derive(Debug, Clone)]
pub(crate) struct VaultBackend {
    vault: Vault,
    root: PathBuf,
    files: BTreeMap<String, FileFacts>,
    last: LastUnpacked<Digest>,
}

impl VaultBackend {
    /// Returns a backend for the files that were below `root`, by key.
    pub(crate) fn new(vault: Vault, root: PathBuf, files: BTreeMap<String, FileFacts>) -> Self {
        VaultBackend {
            vault,
            root,
            files,
            last: LastUnpacked::default(),
        }
    }

    fn file(key: &str, meta: &FileFacts) -> FileInfo {
        let modified = meta
            .modified
            .map(|nanos| Instant::from_millis(nanos.div_euclid(1_000_000)));
        FileInfo {
            key: key.to_owned(),
            kind: FileKind::File,
            size: meta.len,
            modified,
            identity: None,
        }
    }

    fn folder(key: &str) -> FileInfo {
        FileInfo {
            key: key.to_owned(),
            kind: FileKind::Folder,
            size: 0,
            modified: None,
            identity: None,
        }
    }
}

impl Backend for VaultBackend {
    fn list(&self, folder: &str) -> Result<Vec<FileInfo>> {
        let mut found = Vec::new();
        let mut folders = BTreeSet::new();
        for (key, meta) in &self.files {
            let below = match folder {
                "" => Some(key.as_str()),
                _ => key
                    .strip_prefix(folder)
                    .and_then(|rest| rest.strip_prefix('/')),
            };
            match below.map(|below| (below, below.split_once('/'))) {
                Some((below, Some((name, _)))) => {
                    let around = key.strip_suffix(below).unwrap_or_default();
                    folders.insert(format!("{around}{name}"));
                }
                Some((_, None)) => found.push(Self::file(key, meta)),
                None => {}
            }
        }
        found.extend(folders.iter().map(|key| Self::folder(key)));
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    fn stat(&self, key: &str) -> Result<Option<FileInfo>> {
        if let Some(meta) = self.files.get(key) {
            return Ok(Some(Self::file(key, meta)));
        }
        let within = |file: &String| {
            key.is_empty()
                || file
                    .strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        Ok(self.files.keys().any(within).then(|| Self::folder(key)))
    }

    fn open(&self, key: &str) -> Result<Box<dyn ObjectReader>> {
        let Some(meta) = self.files.get(key) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no file `{}`", self.describe(key)),
            )
            .because("the session is archived, and this file was not archived with it"));
        };
        let unpacked = self.last.bytes(meta.sha256, || {
            let bytes = self.vault.get(meta.sha256)?;
            if is_packed(key) {
                unpack(&bytes, &self.describe(key))
            } else {
                Ok(bytes)
            }
        })?;
        Ok(Box::new(MemoryObject::of(unpacked)))
    }

    fn describe(&self, key: &str) -> String {
        self.root.join(key).display().to_string()
    }
}
