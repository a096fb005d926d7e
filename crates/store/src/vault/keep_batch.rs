//! [`KeepBatch`]: the copies of many files, made durable together.
//!
//! A copy alone needs a sync of each piece, of each piece's folder, and of `kept.jsonl`: a thousand
//! sessions would wait for the disk ten thousand times. A batch writes pieces under temporary
//! names, then syncs all of them, renames them, syncs each folder once, and appends all records
//! with one sync. Nothing is recorded before its pieces are durable, and nothing is reported before
//! it is recorded. After a crash the pieces of an unfinished batch are garbage, which the next
//! clean-up removes, and its files are copied again.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use boswell_model::json::Json;
use boswell_model::{Advice, Error, ErrorKind, Result, SessionRef};

use super::chunked_copies::{ChunkedCopies, ChunkedCopy, Keeping, PIECE};
use super::{Vault, object};
use crate::disk::{DiskFile, Stat, durable, read_full};
use crate::journal;
use crate::locks::{OsLock, Wait};
use crate::runner::place;
use crate::sha256::Digest;

/// Most pieces of a batch: each is an open file until the batch ends.
const MOST_PIECES: usize = 128;
/// Most bytes of a batch, so that an interrupted run loses little work.
const MOST_BYTES: u64 = 64 << 20;

/// Copies that are written, but not durable yet.
#[derive(Debug, Default)]
pub(super) struct KeepBatch {
    pieces: HashMap<Digest, NewPiece>,
    bytes: u64,
    /// Folders whose names have to be synced.
    folders: BTreeSet<PathBuf>,
    records: Vec<ChunkedCopy>,
    /// The vault's lock, from the first file to the end of the batch.
    lock: Option<OsLock>,
}

#[derive(Debug)]
struct NewPiece {
    file: Box<dyn DiskFile>,
    temp: PathBuf,
    path: PathBuf,
}

impl KeepBatch {
    /// Whether the batch should be finished before more is added.
    pub(super) fn is_full(&self) -> bool {
        self.pieces.len() >= MOST_PIECES || self.bytes >= MOST_BYTES
    }

    /// Whether a copy of the file is in the batch.
    pub(super) fn has(&self, root: &Path, key: &str) -> bool {
        let mut records = self.records.iter();
        records.any(|record| record.root == root && record.key == key)
    }

    /// Adds the record of a file whose pieces are in the batch or durable.
    pub(super) fn add(&mut self, record: ChunkedCopy) {
        self.records.push(record);
    }

    /// Returns the keys of the files in the batch.
    pub(super) fn keys(&self) -> Vec<String> {
        self.records.iter().map(|it| it.key.clone()).collect()
    }
}

impl Vault {
    /// Keeps the current state of a file, as far as `go_on` allows; pieces that are kept already
    /// are not stored again.
    ///
    /// `wait` is for another process that writes to the vault. A file that is missing, empty or
    /// kept already costs one `stat`.
    pub fn keep_growing(
        &self,
        kept: &mut ChunkedCopies,
        (root, key): (&Path, &str),
        session: &SessionRef,
        wait: Wait,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Keeping> {
        let mut batch = KeepBatch::default();
        let done = self.add_growing(&mut batch, kept, (root, key), session, (wait, go_on))?;
        self.finish(batch, kept)?;
        Ok(done)
    }

    /// Returns the record of a copy that has no pieces yet.
    fn empty_copy(
        &self,
        session: &SessionRef,
        (root, key): (&Path, &str),
        stat: &Stat,
    ) -> ChunkedCopy {
        ChunkedCopy {
            session: session.clone(),
            root: root.to_owned(),
            key: key.to_owned(),
            len: 0,
            mode: stat.mode,
            modified: i64::try_from(stat.modified).unwrap_or_default(),
            identity: stat.identity,
            at: self.id_source.now(),
            grew: false,
            pieces: Vec::new(),
        }
    }

    /// As [`Vault::keep_growing`], as part of a batch: nothing is durable before the batch is
    /// [finished](Vault::finish).
    pub(super) fn add_growing(
        &self,
        batch: &mut KeepBatch,
        kept: &mut ChunkedCopies,
        (root, key): (&Path, &str),
        session: &SessionRef,
        (wait, go_on): (Wait, &dyn Fn() -> bool),
    ) -> Result<Keeping> {
        let path = place(root, key)?;
        let fault = |error| Error::io(path.display(), "keep", error);
        let file = match self.disk.open_below(root, key) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Keeping::NOTHING_NEW);
            }
            opened => opened.map_err(fault)?,
        };
        let stat = file.stat().map_err(fault)?;
        if stat.len == 0 || kept.is_current(root, key, &stat) || batch.has(root, key) {
            return Ok(Keeping::NOTHING_NEW);
        }
        if self.lock_batch(batch, wait)? && self.kept_len()? != kept.len {
            // Another process has written since `kept` was read, and may have kept this very file.
            *kept = self.kept()?;
            if kept.is_current(root, key, &stat) {
                return Ok(Keeping::NOTHING_NEW);
            }
        }
        let mut record = self.empty_copy(session, (root, key), &stat);
        if let Some(before) = kept.file(root, key)
            && still_begins_with(file.as_ref(), before).map_err(fault)?
        {
            record.share(before);
        }
        let whole = (file.as_ref(), path.as_path(), stat.len);
        let bytes = self.store_pieces(batch, whole, &mut record, go_on)?;
        let complete = record.len == stat.len;
        if record.pieces.is_empty() {
            return Ok(Keeping::NOT_BEGUN);
        }
        if !complete {
            // With the real time, a partial copy would count as current.
            record.modified = 0;
        }
        batch.add(record);
        Ok(Keeping { bytes, complete })
    }

    fn store_pieces(
        &self,
        batch: &mut KeepBatch,
        (file, path, len): (&dyn DiskFile, &Path, u64),
        record: &mut ChunkedCopy,
        go_on: &dyn Fn() -> bool,
    ) -> Result<u64> {
        let mut done = 0;
        while record.len < len && go_on() {
            let mut bytes = vec![0; usize::try_from((len - record.len).min(PIECE)).unwrap_or(0)];
            let got = read_full(file, &mut bytes, record.len)
                .map_err(|error| Error::io(path.display(), "keep", error))?;
            if got < bytes.len() {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("`{}` shrank while it was kept", path.display()),
                )
                .advising(Advice::Retry));
            }
            record.pieces.push(self.add_piece(batch, &bytes)?);
            record.len += got as u64;
            done += got as u64;
        }
        Ok(done)
    }

    /// Takes the vault's lock for the batch, unless it has it. Returns whether it was taken now, so
    /// that another process may have written before.
    pub(super) fn lock_batch(&self, batch: &mut KeepBatch, wait: Wait) -> Result<bool> {
        if batch.lock.is_some() {
            return Ok(false);
        }
        batch.lock = Some(self.lock_for(wait)?);
        Ok(true)
    }

    /// Writes a piece of a file, unless there is one with this content.
    pub(super) fn add_piece(&self, batch: &mut KeepBatch, bytes: &[u8]) -> Result<Digest> {
        let sha256 = Digest::of(bytes);
        if batch.pieces.contains_key(&sha256) {
            return Ok(sha256);
        }
        let path = self.object(sha256);
        self.prepare_folder(batch, &path)?;
        // The content of an existing piece was synced before it got its name; the name may not be
        // durable yet, so its folder is synced with the batch.
        if self.has(sha256)? {
            return Ok(sha256);
        }
        let temp = durable::temp_sibling(&path, &self.id_source.hex16());
        match object::write_bytes(self.disk.as_ref(), bytes, &temp) {
            Ok(file) => drop(batch.pieces.insert(sha256, NewPiece { file, temp, path })),
            Err(error) => {
                // If this fails too, `remove_orphans` removes it later.
                let _ = self.disk.remove(&temp);
                return Err(error);
            }
        }
        batch.bytes += bytes.len() as u64;
        Ok(sha256)
    }

    /// Makes the folder of a piece.
    fn prepare_folder(&self, batch: &mut KeepBatch, path: &Path) -> Result<()> {
        let Some((folder, above)) = path.parent().and_then(|it| Some((it, it.parent()?))) else {
            return Ok(());
        };
        if batch.folders.contains(folder) {
            return Ok(());
        }
        if batch.folders.insert(above.to_owned()) {
            durable::make_folders(self.disk.as_ref(), above)?;
        }
        match self.disk.make_folder(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(folder.display(), "make the folder", error));
            }
            _ => {}
        }
        batch.folders.insert(folder.to_owned());
        Ok(())
    }

    /// Makes everything in the batch durable and releases the vault's lock. If it fails, nothing of
    /// the batch is recorded.
    pub(super) fn finish(&self, batch: KeepBatch, kept: &mut ChunkedCopies) -> Result<()> {
        let Some(_lock) = batch.lock else {
            return Ok(());
        };
        let pieces: Vec<NewPiece> = batch.pieces.into_values().collect();
        if let Err(error) = self.name_pieces(&pieces, &batch.folders) {
            for piece in &pieces {
                let _ = self.disk.remove(&piece.temp);
            }
            return Err(error);
        }
        let lines: Vec<Json> = batch.records.iter().map(ChunkedCopy::to_json).collect();
        journal::append(self.disk.as_ref(), &self.kept_log(), &lines)?;
        self.add_kept(kept, batch.records)
    }

    /// Syncs the pieces, gives them their names, and syncs those.
    fn name_pieces(&self, pieces: &[NewPiece], folders: &BTreeSet<PathBuf>) -> Result<()> {
        let files: Vec<&dyn DiskFile> = pieces.iter().map(|piece| piece.file.as_ref()).collect();
        let fault = |error| Error::io(self.folder.display(), "sync new copies in", error);
        self.disk.sync_files(&files).map_err(fault)?;
        for piece in pieces {
            self.disk
                .rename(&piece.temp, &piece.path)
                .map_err(|error| Error::io(piece.path.display(), "keep", error))?;
        }
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        self.disk.sync_folders(&folders).map_err(fault)
    }
}

/// Returns whether the file still begins with the copy, judged by its first and its last piece.
fn still_begins_with(file: &dyn DiskFile, before: &ChunkedCopy) -> std::io::Result<bool> {
    if file.stat()?.len < before.len || before.pieces.is_empty() {
        return Ok(false);
    }
    let last = before.pieces.len() - 1;
    for index in [0, last] {
        let at = index as u64 * PIECE;
        let mut bytes = vec![0; usize::try_from((before.len - at).min(PIECE)).unwrap_or(0)];
        let got = read_full(file, &mut bytes, at)?;
        if got < bytes.len() || before.pieces.get(index) != Some(&Digest::of(&bytes)) {
            return Ok(false);
        }
    }
    Ok(true)
}
