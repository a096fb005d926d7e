//! From a plan to changes: every step is played through against what stands on disk, before
//! anything is touched.
//!
//! So a plan that cannot work (text to edit that is not there, a name that is taken, a check that
//! would fail) fails here, and what every file will be afterwards is known by its hash.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use boswell_dialect::{Assertion, Modified, Patch, PatchPiece, Plan, Step};
use boswell_model::{Error, ErrorKind, Result};

use super::change::{Change, FileFacts, State, States};
use super::paths::{place, shown};
use crate::backend::leads_outside;
use crate::disk::{Disk, OpenMode, Stat, StatKind, durable};
use crate::sha256::{Digest, Hasher, chunks, hash_file};

/// Where bytes are until they are needed.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// In memory.
    Bytes(Vec<u8>),
    /// In a file that has not been changed yet.
    File(PathBuf),
    /// In pieces of a file that has not been changed yet, and between them.
    Pieces(PathBuf, Patch),
}

/// What a plan comes down to.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    /// The sort of change in one word.
    pub(crate) kind: String,
    /// What the user reads about it.
    pub(crate) title: String,
    pub(crate) initial: States,
    pub(crate) changes: Vec<Change>,
    pub(crate) contents: HashMap<Digest, Content>,
    /// What each file was when it was looked at.
    pub(crate) seen: BTreeMap<String, Stat>,
    /// Keys of files that follow from others.
    pub(crate) derived: Vec<String>,
}

/// A file as the steps so far would have left it.
#[derive(Debug, Clone)]
struct Virtual {
    hasher: Hasher,
    meta: FileFacts,
    content: VirtualContent,
}

#[derive(Debug, Clone)]
enum VirtualContent {
    Disk(PathBuf),
    Pieces(PathBuf, Patch),
    Bytes(Vec<u8>),
    Grown(PathBuf, Vec<u8>),
}

struct Lowering<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    out: Lowered,
    states: States,
    files: HashMap<String, Virtual>,
}

/// Plays a plan through.
pub(crate) fn lower(disk: &dyn Disk, root: &Path, plan: &Plan) -> Result<Lowered> {
    let (kind, title, derived) = (plan.kind.clone(), plan.title.clone(), plan.derived.clone());
    let out = Lowered {
        kind,
        title,
        derived,
        ..Lowered::default()
    };
    let mut lowering = Lowering {
        disk,
        root,
        out,
        states: States::new(),
        files: HashMap::new(),
    };
    for step in &plan.steps {
        lowering.step(step)?;
    }
    Ok(lowering.out)
}

impl Lowering<'_> {
    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Append { key, bytes } => self.append(key, bytes, Modified::Now),
            Step::AppendKeepingTime { key, bytes } => self.append(key, bytes, Modified::Kept),
            Step::Put {
                key,
                bytes,
                mode,
                modified,
            } => self.put(key, bytes.clone(), *mode, *modified),
            Step::Edit {
                key,
                at,
                old,
                new,
                modified,
            } => {
                let bytes = edited(key, &self.bytes(key)?, *at, old, new)?;
                self.put(key, bytes, None, *modified)
            }
            Step::Assemble {
                key,
                from,
                patch,
                modified,
            } => self.assemble(key, from, patch, *modified),
            Step::Rename { from, to } => self.rename(from, to),
            Step::Remove { key } => match self.look(key)? {
                State::File(before) => {
                    self.keep_before(key)?;
                    self.change(Change::Remove {
                        key: key.clone(),
                        before,
                    });
                    Ok(())
                }
                State::Absent => Ok(()),
                State::Folder => Err(not_a_file(key)),
            },
            Step::MakeFolder { key } => self.folders(key),
            Step::RemoveFolder { key } => {
                if self.look(key)? == State::Folder {
                    self.refuse_link(key)?;
                    self.change(Change::RemoveFolder { key: key.clone() });
                }
                Ok(())
            }
            Step::Verify { key, is } => self.verify(key, is),
            other => Err(Error::new(
                ErrorKind::Unsupported,
                format!("nobody knows how to {other}"),
            )),
        }
    }

    /// A link in place of a folder may lead to files that are nobody's to remove.
    fn refuse_link(&self, key: &str) -> Result<()> {
        let Some(now) = self.origin(key) else {
            return Ok(());
        };
        let path = place(self.root, &now)?;
        if self
            .disk
            .is_link(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?
        {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("`{}` is a link to a folder elsewhere", path.display()),
            )
            .because("what lies behind it may belong to others, so it is not removed")
            .hinting("take the link away, and try again"));
        }
        Ok(())
    }

    /// What is behind a link that leads out of the store is not the store's.
    fn refuse_outside(&self, key: &str) -> Result<()> {
        let path = place(self.root, key)?;
        let fault = |error| Error::io(path.display(), "look at", error);
        match self.disk.stat_below(self.root, key).map_err(fault)? {
            Some(Stat {
                kind: StatKind::Outside,
                ..
            }) => {}
            _ => return Ok(()),
        }
        self.refuse_link(key)?;
        Err(leads_outside(&path, self.root))
    }

    fn change(&mut self, change: Change) {
        change.advance(&mut self.states);
        self.out.changes.push(change);
    }

    /// What stands at a key by now. Links, and whatever else is neither file nor
    /// folder, are refused.
    fn look(&mut self, key: &str) -> Result<State> {
        if let Some(state) = self.states.get(key) {
            return Ok(*state);
        }
        // What was renamed above it stands elsewhere still.
        let Some(now) = self.origin(key) else {
            return Ok(self.first_look(key, None, State::Absent));
        };
        self.refuse_outside(&now)?;
        let path = place(self.root, &now)?;
        let (state, stat) = read_state(self.disk, &path)?;
        if let (State::File(meta), Some(stat)) = (state, stat) {
            let hasher = hash_file(self.disk, &path, stat.len)?;
            let meta = FileFacts {
                sha256: hasher.finish(),
                ..meta
            };
            let content = VirtualContent::Disk(path);
            self.files.insert(
                key.to_owned(),
                Virtual {
                    hasher,
                    meta,
                    content,
                },
            );
            self.out.seen.insert(now.clone(), stat);
            return Ok(self.first_look(key, Some(now), State::File(meta)));
        }
        Ok(self.first_look(key, Some(now), state))
    }

    fn first_look(&mut self, key: &str, origin: Option<String>, state: State) -> State {
        if let Some(origin) = origin {
            self.states.insert(origin.clone(), State::Absent);
            self.out.initial.insert(origin, state);
        }
        self.states.insert(key.to_owned(), state);
        state
    }

    /// The key under which something still stands on disk; none if it was renamed away and
    /// nothing took its place.
    fn origin(&self, key: &str) -> Option<String> {
        let below = |key: &str, folder: &str| {
            key.strip_prefix(folder)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::to_owned)
        };
        let mut key = key.to_owned();
        for change in self.out.changes.iter().rev() {
            if let Change::Rename { from, to } = change {
                if let Some(rest) = below(&key, to) {
                    key = format!("{from}{rest}");
                } else if below(&key, from).is_some() {
                    return None;
                }
            }
        }
        Some(key)
    }

    /// The bytes of a file by now.
    fn bytes(&mut self, key: &str) -> Result<Vec<u8>> {
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

    /// Sees to it that what a file is by now can be copied to the vault.
    fn keep_before(&mut self, key: &str) -> Result<()> {
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

    /// Makes a file ready to be written as a whole: what stands there is kept, and says what it
    /// was; folders are made.
    fn make_way(&mut self, key: &str) -> Result<Option<FileFacts>> {
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

    fn put(
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

    fn assemble(&mut self, key: &str, from: &str, patch: &Patch, modified: Modified) -> Result<()> {
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

    fn append(&mut self, key: &str, lines: &[u8], modified: Modified) -> Result<()> {
        let before = match self.look(key)? {
            State::File(before) => before,
            State::Absent => return self.put(key, lines.to_vec(), None, Modified::Now),
            State::Folder => return Err(not_a_file(key)),
        };
        if matches!(
            self.files.get(key),
            Some(Virtual {
                content: VirtualContent::Pieces(..),
                ..
            })
        ) {
            let bytes = self.bytes(key)?;
            if let Some(file) = self.files.get_mut(key) {
                file.content = VirtualContent::Bytes(bytes);
            }
        }
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

    fn ends_with_newline(&self, key: &str) -> Result<bool> {
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

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        if self.look(from)? == State::Absent {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is nothing at {}", shown(from)),
            ));
        }
        if self.look(to)? != State::Absent {
            return Err(
                Error::new(ErrorKind::Conflict, format!("{} is taken", shown(to)))
                    .because("nothing is renamed onto something else"),
            );
        }
        if to
            .strip_prefix(from)
            .is_some_and(|rest| rest.starts_with('/'))
        {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("{} cannot move into itself", shown(from)),
            ));
        }
        self.folders_above(to)?;
        let below = format!("{from}/");
        let moved: Vec<String> = self
            .files
            .keys()
            .filter(|key| *key == from || key.starts_with(&below))
            .cloned()
            .collect();
        for key in moved {
            if let Some(file) = self.files.remove(&key) {
                self.files.insert(
                    format!("{to}{}", key.get(from.len()..).unwrap_or_default()),
                    file,
                );
            }
        }
        self.change(Change::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
        });
        Ok(())
    }

    fn folders_above(&mut self, key: &str) -> Result<()> {
        match key.rsplit_once('/') {
            Some((folder, _)) => self.folders(folder),
            None => Ok(()),
        }
    }

    fn folders(&mut self, key: &str) -> Result<()> {
        match self.look(key)? {
            State::Folder => Ok(()),
            State::File(_) => Err(Error::new(
                ErrorKind::Invalid,
                format!("{} is a file, not a folder", shown(key)),
            )),
            State::Absent => {
                self.folders_above(key)?;
                self.change(Change::MakeFolder {
                    key: key.to_owned(),
                });
                Ok(())
            }
        }
    }

    fn verify(&mut self, key: &str, is: &Assertion) -> Result<()> {
        let state = self.look(key)?;
        let good = match (is, state.file()) {
            (Assertion::Absent, _) => state == State::Absent,
            (Assertion::Sha256(hex), Some(file)) => file.sha256.to_string() == *hex,
            (Assertion::Len(len), Some(file)) => file.len == *len,
            (Assertion::Contains(part), Some(_)) => {
                memchr::memmem::find(&self.bytes(key)?, part).is_some()
            }
            _ => false,
        };
        if good {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!("{} would not become what it should", shown(key)),
        )
        .because("it is not what it was when the plan was made")
        .hinting("try again"))
    }
}

/// What stands at a path; its hash is left out. Opened as writers do, which refuses links even
/// if they lead nowhere.
pub(crate) fn read_state(disk: &dyn Disk, path: &Path) -> Result<(State, Option<Stat>)> {
    let fault = |error| Error::io(path.display(), "open", error);
    if let Some(Stat {
        kind: StatKind::Folder,
        ..
    }) = disk.stat(path).map_err(fault)?
    {
        return Ok((State::Folder, None));
    }
    let opened = match disk.open(path, OpenMode::Append) {
        // A link would have been refused before the permissions were looked at.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            disk.open(path, OpenMode::Read)
        }
        other => other,
    };
    match opened {
        Ok(file) => {
            let stat = file.stat().map_err(fault)?;
            let modified = i64::try_from(stat.modified).ok();
            let meta = FileFacts {
                sha256: Digest::of(b""),
                len: stat.len,
                mode: stat.mode,
                modified,
            };
            Ok((State::File(meta), Some(stat)))
        }
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok((State::Absent, None))
        }
        Err(error) => {
            Err(fault(error).hinting("links and special files are never written through"))
        }
    }
}

fn edited(key: &str, bytes: &[u8], at: Option<u64>, old: &[u8], new: &[u8]) -> Result<Vec<u8>> {
    let conflict = |why: String| {
        Error::new(
            ErrorKind::Conflict,
            format!("{} cannot be edited", shown(key)),
        )
        .because(why)
        .hinting("it changed since it was read; try again")
    };
    let found = match at {
        Some(at) => usize::try_from(at)
            .ok()
            .filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(old))),
        None => {
            let mut all = memchr::memmem::find_iter(bytes, old);
            let first = all.next();
            if old.is_empty() || all.next().is_some() {
                return Err(conflict(
                    "what is to be replaced stands there more than once".to_owned(),
                ));
            }
            first
        }
    };
    let Some(at) = found else {
        return Err(conflict(
            "what is to be replaced does not stand there".to_owned(),
        ));
    };
    let (head, rest) = bytes.split_at(at);
    Ok([head, new, rest.get(old.len()..).unwrap_or_default()].concat())
}

/// Hands over the bytes of a patched file, chunk by chunk.
pub(crate) fn feed_pieces(
    disk: &dyn Disk,
    path: &Path,
    patch: &Patch,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> Result<()> {
    let fault = |error| Error::io(path.display(), "read", error);
    let file = disk.open(path, OpenMode::Read).map_err(fault)?;
    for piece in patch.pieces() {
        match piece {
            PatchPiece::Old { at, len } => {
                chunks(file.as_ref(), *at, at + len, sink).map_err(fault)?
            }
            PatchPiece::New(bytes) => sink(bytes).map_err(fault)?,
        }
    }
    Ok(())
}

fn facts_after(
    hasher: &Hasher,
    before: Option<FileFacts>,
    mode: Option<u32>,
    modified: Modified,
) -> FileFacts {
    FileFacts {
        sha256: hasher.finish(),
        len: hasher.len(),
        mode: mode.or(before.map(|before| before.mode)).unwrap_or(0o600),
        modified: match modified {
            Modified::Now => None,
            Modified::Kept => before.and_then(|before| before.modified),
            Modified::At(time) => Some(time),
        },
    }
}

fn not_a_file(key: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("{} is a folder, not a file", shown(key)),
    )
}
