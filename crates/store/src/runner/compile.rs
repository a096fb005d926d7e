//! Compiles a plan to changes: simulates every step against the files on disk, before anything is
//! written.
//!
//! So a plan that cannot work (the text to edit is missing, a name is taken, an assertion would
//! fail) fails here, and the hash of every file after every change is known. The intent contains
//! these hashes, and recovery compares files with them.
//!
//! The simulation keeps a virtual file system: `states` is what each key would be by now, `files`
//! the content of the files among them, and `origin` maps a key back through the renames so far to
//! the path where its bytes still are. Content stays on disk where possible
//! (`VirtualContent::Disk`, `Pieces`): a log may be larger than memory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use boswell_dialect::{Assertion, Modified, Patch, Plan, Step};
use boswell_model::{Advice, Error, ErrorKind, Result};

use super::change::{Change, FileFacts, State, States};
use super::paths::{place, shown};
use crate::backend::leads_outside;
use crate::disk::{Disk, Stat, StatKind};
use crate::sha256::{Digest, Hasher, hash_file};

mod file;
mod write;

use file::edited;
pub(crate) use file::{feed_pieces, read_state};

/// Where the bytes of a change come from.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A file that no change has touched yet.
    File(PathBuf),
    /// Pieces of a file that no change has touched yet, with new bytes between them.
    Pieces(PathBuf, Patch),
}

/// A compiled plan.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    /// The kind of operation in one word.
    pub(crate) kind: String,
    /// The description that the user reads.
    pub(crate) title: String,
    /// The state of every key before the first change.
    pub(crate) initial: States,
    pub(crate) changes: Vec<Change>,
    /// The bytes that changes write or replace, by hash.
    pub(crate) contents: HashMap<Digest, Content>,
    /// Metadata of each file when it was hashed, to detect a write by others before the first
    /// change.
    pub(crate) seen: BTreeMap<String, Stat>,
    /// Keys of files that can be rebuilt from others.
    pub(crate) derived: Vec<String>,
}

/// A file as the steps so far would leave it.
#[derive(Debug, Clone)]
struct Virtual {
    hasher: Hasher,
    meta: FileFacts,
    content: VirtualContent,
}

#[derive(Debug, Clone)]
/// The content of a virtual file.
enum VirtualContent {
    /// Unchanged, at this path.
    Disk(PathBuf),
    /// Assembled from pieces of the file at this path.
    Pieces(PathBuf, Patch),
    Bytes(Vec<u8>),
    /// The file at this path, with these bytes appended.
    Grown(PathBuf, Vec<u8>),
}

struct Lowering<'a> {
    disk: &'a dyn Disk,
    root: &'a Path,
    out: Lowered,
    states: States,
    files: HashMap<String, Virtual>,
}

/// Compiles a plan for the store at `root`.
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
    fn remove(&mut self, key: &str) -> Result<()> {
        match self.look(key)? {
            State::File(before) => {
                self.keep_before(key)?;
                self.change(Change::Remove {
                    key: key.to_owned(),
                    before,
                });
                Ok(())
            }
            State::Absent => Ok(()),
            State::Folder => Err(not_a_file(key)),
        }
    }

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
            Step::Remove { key } => self.remove(key),
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
                format!("this version does not know how to {other}"),
            )),
        }
    }

    /// Refuses a symbolic link in place of a folder: it may lead to files of others, which must not
    /// be removed.
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
            .because("what it leads to may belong to other programs, so it is not removed")
            .advising("remove the link, and try again"));
        }
        Ok(())
    }

    /// Refuses a key behind a symbolic link that leads out of the store.
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

    /// Returns the state of a key after the steps so far. Symbolic links, and other things that are
    /// neither file nor folder, are refused.
    fn look(&mut self, key: &str) -> Result<State> {
        if let Some(state) = self.states.get(key) {
            return Ok(*state);
        }
        // If a folder above was renamed by an earlier step, the bytes are still under the old path:
        // nothing has been written yet.
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
            // The operation starts from the key that exists on disk, which need not be `key`. After
            // the renames so far nothing is left there.
            self.states.insert(origin.clone(), State::Absent);
            self.out.initial.insert(origin, state);
        }
        self.states.insert(key.to_owned(), state);
        state
    }

    /// Returns the key under which the bytes of `key` are on disk now; `None` if an earlier step
    /// renamed it away and nothing took its place.
    fn origin(&self, key: &str) -> Option<String> {
        let below = |key: &str, folder: &str| {
            key.strip_prefix(folder)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
                .map(str::to_owned)
        };
        let mut key = key.to_owned();
        // Backwards, because a later rename applies to the result of the earlier ones.
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
        .advising(Advice::Retry))
    }
}

fn not_a_file(key: &str) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("{} is a folder, not a file", shown(key)),
    )
}
