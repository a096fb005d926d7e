//! Rewrites copies in the vault: removes a purged session from shared files, or a secret from all.
//!
//! The new copies are written first, then everything that names them is changed, and the old copies
//! are removed last. So a crash leaves copies that can be read, and repeating the call finishes it:
//! the new content depends on the old copy alone.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use boswell_model::json::Raw;
use boswell_model::{ErrorKind, Result, SessionRef};

use super::{Theirs, Vault, VaultRecord};
use crate::disk::durable;
use crate::journal::{self, LineAction};
use crate::sha256::Digest;

/// The decision about one copy.
#[derive(Debug)]
pub(crate) enum RewrittenCopy {
    /// The copy stays as it is.
    Stays,
    /// The copy is removed, with the record that refers to it.
    Goes,
    /// The copy is replaced by these bytes.
    New(Vec<u8>),
}

/// Decides about a copy by the session of its record, its key and its bytes.
pub(crate) type Become<'a> = &'a dyn Fn(&SessionRef, &str, &[u8]) -> RewrittenCopy;

/// A copy that was replaced or removed.
#[derive(Debug, Clone)]
pub(crate) struct Replaced {
    pub(crate) root: PathBuf,
    pub(crate) key: String,
    pub(crate) was: Digest,
    /// Hash and length of the new copy; `None` if it was removed.
    pub(crate) now: Option<(Digest, u64)>,
}

impl Vault {
    /// Replaces copies. `relink` is called when the new copies are durable and before the old ones
    /// are removed, so that the caller can change references to them elsewhere. Returns how many
    /// copies were replaced or removed.
    pub(crate) fn rewrite(
        &self,
        of: Theirs<'_>,
        change: Become<'_>,
        relink: &dyn Fn(&[Replaced]) -> Result<()>,
    ) -> Result<usize> {
        let _lock = self.lock()?;
        let records: Vec<VaultRecord> = self.list()?.0;
        let mut replaced: HashMap<(PathBuf, String, Digest), Replaced> = HashMap::new();
        let mut looked_at = HashSet::new();
        for record in records
            .iter()
            .filter(|record| of(&record.session, &record.root, &record.key))
        {
            let place = (record.root.clone(), record.key.clone(), record.sha256);
            if !looked_at.insert(place.clone()) {
                continue;
            }
            if let Some(now) = self.become_of(record, change)? {
                let (root, key, was) = place.clone();
                replaced.insert(
                    place,
                    Replaced {
                        root,
                        key,
                        was,
                        now,
                    },
                );
            }
        }
        let changed: Vec<Replaced> = replaced.values().cloned().collect();
        if !changed.is_empty() {
            relink(&changed)?;
            self.replace_records(&records, &replaced)?;
        }
        let kept = self.rewrite_kept(of, change)?;
        // Also if nothing changed: an earlier run may have been interrupted before this step.
        self.remove_orphans()?;
        Ok(changed.len() + kept)
    }

    /// Applies `change` to the copy of a record: `None` if it stays, `Some(None)` if it is removed,
    /// else hash and length of the new one.
    #[expect(
        clippy::option_option,
        reason = "a copy stays, or it goes, or it becomes another one"
    )]
    fn become_of(
        &self,
        record: &VaultRecord,
        change: Become<'_>,
    ) -> Result<Option<Option<(Digest, u64)>>> {
        let bytes = match self.get(record.sha256) {
            Ok(bytes) => bytes,
            // A log that was copied after a failed `fsync` has no object, only its hard link.
            Err(error) if error.kind() == ErrorKind::NotFound => match &record.inode {
                Some(name) => {
                    durable::read(self.disk.as_ref(), &self.inode(name))?.unwrap_or_default()
                }
                None => return Ok(None),
            },
            // A damaged copy cannot be restored, and may contain what is to be removed.
            Err(error) if error.kind() == ErrorKind::Damaged => return Ok(Some(None)),
            Err(error) => return Err(error),
        };
        Ok(match change(&record.session, &record.key, &bytes) {
            RewrittenCopy::Stays => None,
            RewrittenCopy::Goes => Some(None),
            RewrittenCopy::New(_) if record.op.is_none() && record.inode.is_some() => Some(None),
            RewrittenCopy::New(new) => Some(Some((self.save_piece(&new)?, new.len() as u64))),
        })
    }

    /// Changes the records to the new copies, and removes hard links: the files behind them have
    /// the old content.
    fn replace_records(
        &self,
        records: &[VaultRecord],
        replaced: &HashMap<(PathBuf, String, Digest), Replaced>,
    ) -> Result<()> {
        let of = |record: &VaultRecord| {
            replaced.get(&(record.root.clone(), record.key.clone(), record.sha256))
        };
        for name in records
            .iter()
            .filter(|record| of(record).is_some())
            .filter_map(|record| record.inode.as_deref())
        {
            self.remove_file(&self.inode(name))?;
        }
        let action = |line: &[u8]| {
            let Some(record) = Raw::parse(line).ok().and_then(VaultRecord::from_json) else {
                return LineAction::Stays;
            };
            match of(&record).map(|replaced| replaced.now) {
                None => LineAction::Stays,
                Some(None) => LineAction::Goes,
                Some(Some((sha256, len))) => LineAction::Becomes(
                    VaultRecord {
                        sha256,
                        len,
                        inode: None,
                        ..record
                    }
                    .to_json()
                    .to_bytes(),
                ),
            }
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.log(),
            &self.id_source.hex16(),
            &action,
        )
        .map(drop)
    }
}
