//! Copies that become something else: without what they say of a session that shall leave no trace,
//! or without a secret.
//!
//! The new copies come first, then everything that names them, and the old ones go last. So a crash
//! leaves copies that can be read, and the same call again finishes: what becomes of a copy follows
//! from the copy alone.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use boswell_model::json::Raw;
use boswell_model::{ErrorKind, Result, SessionRef};

use super::{Theirs, Vault, VaultRecord};
use crate::disk::durable;
use crate::journal::{self, LineAction};
use crate::sha256::Digest;

/// What becomes of a copy.
#[derive(Debug)]
pub(crate) enum RewrittenCopy {
    /// It stays as it is.
    Stays,
    /// It goes, with the record that speaks of it.
    Goes,
    /// It is replaced.
    New(Vec<u8>),
}

/// Says what becomes of a copy, by the session of its record, its key and its bytes.
pub(crate) type Become<'a> = &'a dyn Fn(&SessionRef, &str, &[u8]) -> RewrittenCopy;

/// A copy that was replaced or went.
#[derive(Debug, Clone)]
pub(crate) struct Replaced {
    pub(crate) root: PathBuf,
    pub(crate) key: String,
    pub(crate) was: Digest,
    /// What it is now, and its length; none if it went.
    pub(crate) now: Option<(Digest, u64)>,
}

impl Vault {
    /// Replaces copies. `relink` is called once the new copies are durable, and before the old ones
    /// go: whoever names copies elsewhere is told then. Says how many copies were replaced or went.
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
        // Also where nothing changed: an earlier run may have been cut off before it came to this.
        self.remove_orphans()?;
        Ok(changed.len() + kept)
    }

    /// What becomes of the copy that a record speaks of: none if it stays, else what it is now.
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
            // A log that was in doubt has no copy but its second name.
            Err(error) if error.kind() == ErrorKind::NotFound => match &record.inode {
                Some(name) => {
                    durable::read(self.disk.as_ref(), &self.inode(name))?.unwrap_or_default()
                }
                None => return Ok(None),
            },
            // It can be restored by nobody, and what it holds is not known.
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

    /// Lets the log speak of the new copies, and removes second names: the files behind them are
    /// what the old copies were.
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
