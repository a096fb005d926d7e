//! [`ChunkedCopy`]: copies of files that grow, stored in pieces that successive copies share.
//!
//! A file is cut into pieces of 1 MiB, each an object under its own hash. `vault/kept.jsonl` lists
//! the pieces of each file. A log that grew shares all pieces but its last one with the previous
//! copy, so keeping it again costs what was added and at most one piece. A file that was changed
//! otherwise gets a record of its own, and the previous copy stays.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use boswell_model::json::{Json, Raw};
use boswell_model::{Advice, Error, ErrorKind, Instant, Result, SessionRef};

use super::keep_batch::KeepBatch;
use super::rewrite::{Become, RewrittenCopy};
use super::{Theirs, Vault, names_one, session_ref};
use crate::disk::{DiskFile, Stat, durable, read_full};
use crate::journal::{self, LineAction};
use crate::locks::Wait;
use crate::runner::place;
use crate::sha256::Digest;

/// Size of a piece in bytes.
pub(super) const PIECE: u64 = 1 << 20;

/// `kept.jsonl` is compacted only above this many lines.
const TIDY: usize = 256;

/// A kept state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedCopy {
    /// The session that the file belongs to.
    pub session: SessionRef,
    /// Root of the store that the file came from.
    pub root: PathBuf,
    /// Key of the file in that store.
    pub key: String,
    /// How many bytes of the file are kept, from its beginning.
    pub len: u64,
    /// Permission bits of the file.
    pub mode: u32,
    /// Modification time of the file in nanoseconds since 1970; 0 if it is kept only in part.
    pub modified: i64,
    /// Device and inode of the file.
    pub identity: (u64, u64),
    /// When the copy was made.
    pub at: Instant,
    /// Whether this state extends the previous one, and so replaces its record.
    grew: bool,
    /// Hashes of the pieces, in order.
    pieces: Vec<Digest>,
}

/// All kept files, as read from `kept.jsonl`.
#[derive(Debug, Clone, Default)]
pub struct ChunkedCopies {
    files: HashMap<(PathBuf, String), Vec<ChunkedCopy>>,
    lines: usize,
    /// Length of `kept.jsonl` when it was read: another length means that another process has
    /// written to it.
    len: u64,
}

/// The result of keeping one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keeping {
    /// Number of bytes that were read and stored by this call.
    pub bytes: u64,
    /// Whether the whole file is kept now; false if `go_on` stopped the call.
    pub complete: bool,
}

impl Keeping {
    const NOTHING_NEW: Keeping = Keeping {
        bytes: 0,
        complete: true,
    };
    const NOT_BEGUN: Keeping = Keeping {
        bytes: 0,
        complete: false,
    };
}

impl ChunkedCopy {
    /// Takes over the whole pieces of an earlier copy; its last one has grown since.
    fn share(&mut self, before: &ChunkedCopy) {
        let whole = usize::try_from(before.len / PIECE).unwrap_or(usize::MAX);
        self.pieces
            .extend(before.pieces.iter().take(whole).cloned());
        self.len = self.pieces.len() as u64 * PIECE;
        self.grew = true;
    }

    /// Returns whether the copy is the file in its current state.
    pub fn is_current(&self, stat: &Stat) -> bool {
        self.len == stat.len
            && i128::from(self.modified) == stat.modified
            && self.identity == stat.identity
    }

    pub(super) fn to_json(&self) -> Json {
        let (device, number) = self.identity;
        Json::object()
            .with("ref", self.session.to_string())
            .with("root", self.root.to_string_lossy())
            .with("key", self.key.as_str())
            .with("len", self.len)
            .with("mode", self.mode)
            .with("mtime", self.modified)
            .with(
                "file",
                vec![
                    Json::from(device.to_string()),
                    Json::from(number.to_string()),
                ],
            )
            .with("at", self.at.to_rfc3339())
            .with_some("grew", self.grew.then_some(true))
            .with(
                "pieces",
                self.pieces
                    .iter()
                    .map(|piece| Json::from(piece.to_string()))
                    .collect::<Vec<_>>(),
            )
    }

    fn from_json(raw: Raw<'_>) -> Option<Self> {
        let text = |key: &str| raw.get(key)?.text().map(std::borrow::Cow::into_owned);
        let file = raw.get("file")?;
        let mut numbers = file.items().map(|number| number.text()?.parse().ok());
        let pieces: Vec<Digest> = raw
            .get("pieces")?
            .items()
            .map(|piece| Digest::parse(&piece.text()?))
            .collect::<Option<_>>()?;
        let len = raw.get("len")?.u64()?;
        // A record whose pieces cannot make up its length is not valid.
        (pieces.len() as u64 == len.div_ceil(PIECE)).then_some(())?;
        Some(ChunkedCopy {
            session: session_ref(&text("ref")?)?,
            root: text("root")?.into(),
            key: text("key")?,
            len,
            mode: u32::try_from(raw.get("mode")?.u64()?).ok()?,
            modified: raw.get("mtime")?.i64()?,
            identity: (numbers.next()??, numbers.next()??),
            at: Instant::parse(&text("at")?)?,
            grew: raw.get("grew").and_then(|grew| grew.bool()) == Some(true),
            pieces,
        })
    }
}

impl ChunkedCopies {
    /// Returns the newest copy of a file.
    pub fn file(&self, root: &Path, key: &str) -> Option<&ChunkedCopy> {
        self.files.get(&(root.to_owned(), key.to_owned()))?.last()
    }

    /// Iterates over the newest copy of every file.
    pub fn files(&self) -> impl Iterator<Item = &ChunkedCopy> {
        self.files.values().filter_map(|versions| versions.last())
    }

    /// Returns the newest copies of a session's files, the one that was kept last first.
    pub fn of(&self, session: &SessionRef) -> Vec<&ChunkedCopy> {
        let mut files: Vec<&ChunkedCopy> = self
            .files()
            .filter(|file| file.session == *session)
            .collect();
        files.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.key.cmp(&b.key)));
        files
    }

    fn add(&mut self, file: ChunkedCopy) {
        self.lines += 1;
        let versions = self
            .files
            .entry((file.root.clone(), file.key.clone()))
            .or_default();
        if file.grew {
            versions.pop();
        }
        versions.push(file);
    }

    /// Returns whether a file is kept in its current state.
    fn is_current(&self, root: &Path, key: &str, stat: &Stat) -> bool {
        let before = self.file(root, key);
        before.is_some_and(|before| before.is_current(stat))
    }

    fn versions(&self) -> impl Iterator<Item = &ChunkedCopy> {
        self.files.values().flatten()
    }
}

impl Vault {
    /// Reads the list of all kept files.
    pub fn kept(&self) -> Result<ChunkedCopies> {
        let loaded = journal::load(self.disk.as_ref(), &self.kept_log(), ChunkedCopy::from_json)?;
        let mut kept = ChunkedCopies {
            len: self.kept_len()?,
            ..ChunkedCopies::default()
        };
        loaded.items.into_iter().for_each(|file| kept.add(file));
        Ok(kept)
    }

    fn kept_len(&self) -> Result<u64> {
        let path = self.kept_log();
        let stat = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        Ok(stat.map_or(0, |stat| stat.len))
    }

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
        let mut record = ChunkedCopy {
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
        };
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

    /// Adds records that were appended to `kept.jsonl`. The caller holds the vault's lock.
    pub(super) fn add_kept(
        &self,
        kept: &mut ChunkedCopies,
        records: Vec<ChunkedCopy>,
    ) -> Result<()> {
        records.into_iter().for_each(|record| kept.add(record));
        kept.len = self.kept_len()?;
        if kept.lines > TIDY && kept.lines > 2 * kept.versions().count() {
            self.tidy(kept)?;
        }
        Ok(())
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

    /// Returns the bytes of a kept file, every piece verified.
    pub fn read_kept(&self, file: &ChunkedCopy) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for piece in &file.pieces {
            bytes.extend_from_slice(&self.get(*piece)?);
        }
        if bytes.len() as u64 == file.len {
            return Ok(bytes);
        }
        Err(Error::new(
            ErrorKind::Damaged,
            format!("the copy of `{}` is damaged", file.key.escape_debug()),
        )
        .because(format!(
            "its pieces have {} bytes instead of {}",
            bytes.len(),
            file.len
        )))
    }

    /// Returns the hashes of all pieces that some record names.
    pub(super) fn pieces(&self) -> Result<std::collections::HashSet<Digest>> {
        Ok(self
            .kept()?
            .versions()
            .flat_map(|file| file.pieces.iter().copied())
            .collect())
    }

    /// Returns the hashes of the pieces of the files that `theirs` selects.
    pub(super) fn kept_of(&self, theirs: Theirs<'_>) -> Result<Vec<Digest>> {
        let kept = self.kept()?;
        let mine = kept
            .versions()
            .filter(|file| theirs(&file.session, &file.root, &file.key));
        Ok(mine.flat_map(|file| file.pieces.iter().copied()).collect())
    }

    /// Removes the copies of sessions that must not be kept, and the pieces that only they use.
    /// Returns the number of files.
    pub fn drop_kept(&self, goes: &dyn Fn(&SessionRef, &Path) -> bool) -> Result<usize> {
        if !self
            .kept()?
            .versions()
            .any(|file| goes(&file.session, &file.root))
        {
            return Ok(0);
        }
        let _lock = self.lock_for(Wait::For(std::time::Duration::from_secs(30)))?;
        let gone = self.forget_kept(&|session, root, _| goes(session, root), &[])?;
        self.remove_orphans()?;
        Ok(gone)
    }

    /// Removes files from `kept.jsonl`. Unreadable lines stay unless they name one of the sessions:
    /// they may be all that is left of a record.
    pub(super) fn forget_kept(&self, theirs: Theirs<'_>, sessions: &[SessionRef]) -> Result<usize> {
        let action = |line: &[u8]| {
            let file = Raw::parse(line).ok().and_then(ChunkedCopy::from_json);
            let goes = |file: &ChunkedCopy| theirs(&file.session, &file.root, &file.key);
            if file
                .as_ref()
                .map_or_else(|| names_one(line, sessions), goes)
            {
                LineAction::Goes
            } else {
                LineAction::Stays
            }
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.kept_log(),
            &self.id_source.hex16(),
            &action,
        )
    }

    fn replace_pieces(&self, file: &mut ChunkedCopy, bytes: &[u8]) -> Result<()> {
        file.pieces.clear();
        for piece in bytes.chunks(usize::try_from(PIECE).unwrap_or(usize::MAX)) {
            file.pieces.push(self.save_piece(piece)?);
        }
        file.len = bytes.len() as u64;
        Ok(())
    }

    /// Replaces kept files by the result of `change`; the caller holds the vault's lock. Pieces
    /// that no record names any more stay until `remove_orphans`.
    pub(super) fn rewrite_kept(&self, of: Theirs<'_>, change: Become<'_>) -> Result<usize> {
        let mut lines: HashMap<Vec<u8>, Option<Json>> = HashMap::new();
        let bytes = durable::read(self.disk.as_ref(), &self.kept_log())?.unwrap_or_default();
        for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            let Some(mut file) = Raw::parse(line).ok().and_then(ChunkedCopy::from_json) else {
                continue;
            };
            if !of(&file.session, &file.root, &file.key) {
                continue;
            }
            // A damaged copy cannot be restored, and may contain what is to be removed.
            let becoming = self.read_kept(&file).map_or(RewrittenCopy::Goes, |bytes| {
                change(&file.session, &file.key, &bytes)
            });
            match becoming {
                RewrittenCopy::Stays => {}
                RewrittenCopy::Goes => drop(lines.insert(line.to_vec(), None)),
                RewrittenCopy::New(new) => {
                    self.replace_pieces(&mut file, &new)?;
                    lines.insert(line.to_vec(), Some(file.to_json()));
                }
            }
        }
        if lines.is_empty() {
            return Ok(0);
        }
        let action = |line: &[u8]| match lines.get(line) {
            None => LineAction::Stays,
            Some(None) => LineAction::Goes,
            Some(Some(json)) => LineAction::Becomes(json.to_bytes()),
        };
        journal::rewrite(
            self.disk.as_ref(),
            &self.kept_log(),
            &self.id_source.hex16(),
            &action,
        )
    }

    /// Compacts `kept.jsonl`: drops superseded lines, and removes pieces that no record names any
    /// more.
    fn tidy(&self, kept: &mut ChunkedCopies) -> Result<()> {
        let loaded = journal::load(self.disk.as_ref(), &self.kept_log(), ChunkedCopy::from_json)?;
        if !loaded.damaged.is_empty() {
            // Unreadable lines are not dropped: they may be all that is left of a record.
            return Ok(());
        }
        let mut now = ChunkedCopies::default();
        loaded.items.into_iter().for_each(|file| now.add(file));
        // The superseded line before it is gone, so a line must not replace another one when it is
        // loaded.
        now.files
            .values_mut()
            .flatten()
            .for_each(|file| file.grew = false);
        now.lines = now.versions().count();
        let lines: Vec<Json> = now.versions().map(ChunkedCopy::to_json).collect();
        durable::put(
            self.disk.as_ref(),
            &self.kept_log(),
            &journal::text(&lines),
            &self.id_source.hex16(),
        )?;
        self.remove_orphans()?;
        now.len = self.kept_len()?;
        *kept = now;
        Ok(())
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
