//! Finds the bytes that an undo writes and those that it removes: in the vault, or in the current
//! files.

use std::collections::{BTreeMap, HashMap};

use boswell_model::{Advice, Error, ErrorKind, Result};

use super::Undoing;
use crate::disk::{OpenMode, Stat, durable};
use crate::runner::{Change, Content, FileFacts, State, place, shown};
use crate::sha256::Digest;

impl Undoing<'_> {
    /// Makes the bytes available that a change writes and those that it removes.
    pub(super) fn gather(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::Write { key, before, after } => {
                if !self.out.contents.contains_key(&after.sha256)
                    && !self.runner.vault.has(after.sha256)?
                {
                    return Err(Error::new(
                        ErrorKind::NotFound,
                        format!("{} cannot be restored", shown(key)),
                    )
                    .because("its copy was purged, or its retention has ended")
                    .advising(Advice::ListOperations));
                }
                before.map_or(Ok(()), |before| self.find_content(before.sha256))
            }
            Change::Remove { before, .. } => self.find_content(before.sha256),
            Change::Truncate {
                before, after, cut, ..
            } => self.find_cut(before, after.len, *cut),
            _ => Ok(()),
        }
    }

    pub(super) fn find_content(&mut self, sha256: Digest) -> Result<()> {
        if self.runner.vault.has(sha256)? || self.out.contents.contains_key(&sha256) {
            return Ok(());
        }
        for (key, state) in &self.current {
            if state.file().is_some_and(|file| file.sha256 == sha256) {
                let path = place(&self.op.root, key)?;
                self.out.contents.insert(sha256, Content::File(path));
                return Ok(());
            }
        }
        Err(Error::new(
            ErrorKind::Damaged,
            format!("no content with the hash {sha256} exists any more"),
        ))
    }

    /// Finds the end that is cut off a file: in the current file, or in a copy of it.
    pub(super) fn find_cut(&mut self, before: &FileFacts, from: u64, cut: Digest) -> Result<()> {
        let mut wholes = HashMap::new();
        for (key, state) in &self.current {
            if state.file().is_some_and(|file| file.len >= before.len) {
                wholes.insert(key.clone(), self.read(key)?);
            }
        }
        if self.runner.vault.has(before.sha256)? {
            wholes.insert(String::new(), self.runner.vault.get(before.sha256)?);
        }
        let range = usize::try_from(from).unwrap_or(usize::MAX)
            ..usize::try_from(before.len).unwrap_or(usize::MAX);
        let mut ends = wholes.values().filter_map(|whole| whole.get(range.clone()));
        match ends.find(|end| Digest::of(end) == cut) {
            Some(end) => {
                self.out.contents.insert(cut, Content::Bytes(end.to_vec()));
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::Damaged,
                "what was appended does not exist any more".to_owned(),
            )),
        }
    }

    pub(super) fn read(&self, key: &str) -> Result<Vec<u8>> {
        Ok(
            durable::read(self.runner.disk.as_ref(), &place(&self.op.root, key)?)?
                .unwrap_or_default(),
        )
    }

    pub(super) fn stats(&self) -> Result<BTreeMap<String, Stat>> {
        let mut stats = BTreeMap::new();
        for (key, _) in self
            .current
            .iter()
            .filter(|(_, state)| matches!(state, State::File(_)))
        {
            let path = place(&self.op.root, key)?;
            let fault = |error| Error::io(path.display(), "look at", error);
            let file = self
                .runner
                .disk
                .open(&path, OpenMode::Read)
                .map_err(fault)?;
            stats.insert(key.clone(), file.stat().map_err(fault)?);
        }
        Ok(stats)
    }
}
