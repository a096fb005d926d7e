//! Imports the side files of a session: transcripts of subagents as new logs, everything else byte
//! for byte.
//!
//! The files are durable before the log exists: a session that names its origin has all side files.
//! A crash before that leaves an artifact folder without a log, which `check` reports and `clean
//! --leftovers` removes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use boswell_dialect::{Depth, NewSession, SessionLocation, SideFile, SideKind, Subagent};
use boswell_model::json::Json;
use boswell_model::{EntryKind, Error, ErrorKind, Framing, Part, Result};

use super::artifact::ArtifactNames;
use super::{ImportLimits, too_large};
use crate::blobs;
use crate::disk::{Disk, durable};
use crate::{Session, SessionWriter, Store, WritableStore};

/// How much of a file is copied at a time.
const PIECE: u64 = 1 << 20;

/// An imported session.
#[derive(Debug)]
pub struct Imported {
    /// The open writer of the new session.
    pub writer: SessionWriter,
    /// Imported side files, with their keys in the source.
    pub brought: Vec<SideFile>,
    /// Side files that were not imported.
    pub left: Vec<LeftBehind>,
}

/// A file that could not be imported.
#[derive(Debug)]
pub struct LeftBehind {
    /// The file.
    pub file: SideFile,
    /// The reason.
    pub why: Error,
}

/// A side file of the source, with its facts if it is a transcript.
struct SideFileImport {
    file: SideFile,
    subagent: Option<Subagent>,
}

impl WritableStore {
    /// Imports a session with its side files. `from` is the store of the source.
    ///
    /// # Errors
    ///
    /// Those of [`import`](WritableStore::import). A side file that cannot be read is left behind,
    /// which is not an error.
    pub fn import_whole(
        &self,
        from: &Store,
        source: &Session,
        new: NewSession,
        origin: Json,
        limits: ImportLimits,
    ) -> Result<Imported> {
        let (id, log) = self.converted_log(source, &new, origin, limits)?;
        let side_files = side_files(from, source, limits)?;
        let mut carrying = Carrying {
            own: self,
            from,
            source,
            new: &new,
            limits,
            folder: self
                .root()
                .join(log.key.strip_suffix(".jsonl").unwrap_or(&log.key)),
            begun: Vec::new(),
            brought: Vec::new(),
            left: Vec::new(),
        };
        carrying.blobs(&log.bytes)?;
        carrying
            .carry(side_files)
            .inspect_err(|_| carrying.take_back())?;
        let writer = self.create_log(&id, log, new.visible).inspect_err(|_| {
            // The log exists even if its name could not be synced, so its files stay.
            if self.find(&id).is_err_and(|error| error.is_not_found())
                && matches!(self.pending(&id), Ok(None))
            {
                carrying.take_back();
            }
        })?;
        Ok(Imported {
            writer,
            brought: carrying.brought,
            left: carrying.left,
        })
    }
}

/// Returns all side files of a session.
fn side_files(from: &Store, source: &Session, limits: ImportLimits) -> Result<Vec<SideFileImport>> {
    let mut subagents: HashMap<String, Subagent> = HashMap::new();
    for subagent in from.subagents(source)? {
        subagents.extend(subagent.location.key.clone().map(|key| (key, subagent)));
    }
    let mut all = Vec::new();
    for file in from.side_files(source.location())? {
        let subagent = match subagents.remove(&file.key) {
            None if file.kind == SideKind::Subagent => unnamed(from, &file)?,
            found => found,
        };
        all.push(SideFileImport { file, subagent });
    }
    // Old versions stored transcripts elsewhere than next to the log.
    for (key, subagent) in subagents {
        let file = SideFile {
            key,
            kind: SideKind::Subagent,
            size: subagent.location.size,
        };
        all.push(SideFileImport {
            file,
            subagent: Some(subagent),
        });
    }
    all.sort_by(|a, b| a.file.key.cmp(&b.file.key));
    let bytes = all
        .iter()
        .fold(0, |sum: u64, it| sum.saturating_add(it.file.size));
    if all.len() > limits.records || bytes > limits.bytes as u64 {
        let why = format!("it has {} side files of {bytes} bytes", all.len());
        return Err(too_large(source, why));
    }
    Ok(all)
}

/// Returns a transcript of which only the location is known.
fn unnamed(from: &Store, file: &SideFile) -> Result<Option<Subagent>> {
    let Some(info) = from.backend().stat(&file.key)? else {
        return Ok(None);
    };
    let stem = info.stem(".jsonl").unwrap_or(info.name()).to_owned();
    let location = SessionLocation {
        hidden: Some("subagent"),
        ..SessionLocation::at(stem, &info, Framing::Lines)
    };
    Ok(Some(Subagent {
        location,
        call: None,
        task: None,
    }))
}

/// The import while it runs.
struct Carrying<'a> {
    own: &'a WritableStore,
    from: &'a Store,
    source: &'a Session,
    new: &'a NewSession,
    limits: ImportLimits,
    /// The artifact folder.
    folder: PathBuf,
    /// Files that were written, and the one that is being written.
    begun: Vec<PathBuf>,
    brought: Vec<SideFile>,
    left: Vec<LeftBehind>,
}

impl Carrying<'_> {
    fn carry(&mut self, side_files: Vec<SideFileImport>) -> Result<()> {
        let Some(disk) = self.own.own_disk() else {
            for SideFileImport { file, .. } in side_files {
                let why = "sessions have no side files in a store that is not a folder";
                let why = Error::new(ErrorKind::Unsupported, why);
                self.left.push(LeftBehind { file, why });
            }
            return Ok(());
        };
        let mut outputs = HashMap::new();
        self.outputs(self.source, &mut outputs)?;
        for subagent in side_files.iter().filter_map(|it| it.subagent.as_ref()) {
            // A file that cannot be read is reported when it is copied.
            if let Ok(session) = self.from.read(&subagent.location, Depth::Heads) {
                self.outputs(&session, &mut outputs)?;
            }
        }
        let in_family = self.source.dialect().facts().has_own_records;
        let mut names = ArtifactNames::new(self.source.location(), outputs, in_family);
        for SideFileImport { file, subagent } in side_files {
            let path = self.folder.join(names.of(&file));
            self.begun.push(path.clone());
            durable::make_folders(disk.as_ref(), path.parent().unwrap_or(&self.folder))?;
            let read = match subagent {
                Some(subagent) => self.transcript(disk.as_ref(), &subagent, &path)?,
                None => self.copy(disk.as_ref(), &file.key, &path)?,
            };
            match read {
                Ok(()) => self.brought.push(file),
                Err(why) => self.left.push(LeftBehind { file, why }),
            }
        }
        Ok(())
    }

    /// Copies blobs that a new log names and that only the source's store contains: attachments,
    /// and project files.
    fn blobs(&self, log: &[u8]) -> Result<()> {
        let (Some(theirs), Some(ours)) = (self.from.blobs(), self.own.blobs()) else {
            return Ok(());
        };
        for line in log
            .split(|byte| *byte == b'\n')
            .filter(|line| blobs::names_any(line))
        {
            for id in blobs::references(line) {
                // Also existing ones: only `put` checks whether a blob is complete, and makes its
                // name durable.
                if let Ok(bytes) = theirs.get(&id) {
                    ours.put(&bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Collects the calls of a log whose complete output is in a separate file.
    fn outputs(&self, session: &Session, outputs: &mut HashMap<String, String>) -> Result<()> {
        let Some(side_files) = session.dialect().powers().side_files else {
            return Ok(());
        };
        for (slot, head) in session.log().entries() {
            if !matches!(head.kind, EntryKind::ToolResult | EntryKind::User) {
                continue;
            }
            let location = session.location();
            let key = session
                .view()
                .with_object(slot, |object| side_files.full_output_key(location, object))?;
            let Some(key) = key.flatten() else { continue };
            let view = session.entry(slot)?.view.unwrap_or_default();
            let call = view.parts.into_iter().find_map(|block| match block {
                Part::Result { call, .. } => Some(call),
                _ => None,
            });
            outputs.extend(call.map(|call| (key, call)));
        }
        Ok(())
    }

    /// Converts the transcript of a subagent. The inner error is one of the source.
    fn transcript(&self, disk: &dyn Disk, subagent: &Subagent, path: &Path) -> Result<Result<()>> {
        let session = match self.from.read(&subagent.location, Depth::Facts) {
            Ok(session) => session,
            Err(why) => return Ok(Err(why)),
        };
        let origin = Json::object()
            .with("ref", session.reference().to_string())
            .with_some("call", subagent.call.as_deref())
            .with_some("task", subagent.task.as_deref());
        let project = session
            .meta()
            .project
            .clone()
            .unwrap_or_else(|| self.new.project.clone());
        let new = NewSession {
            project,
            title: subagent.task.clone(),
            ..NewSession::default()
        };
        let (_, log) = self
            .own
            .converted_log(&session, &new, origin, self.limits)?;
        self.blobs(&log.bytes)?;
        durable::put(disk, path, &log.bytes, &self.own.id_source().hex16()).map(Ok)
    }

    /// Copies a file unchanged. The inner error is one of the source.
    fn copy(&self, disk: &dyn Disk, key: &str, path: &Path) -> Result<Result<()>> {
        let object = match self.from.backend().open(key) {
            Ok(object) => object,
            Err(why) => return Ok(Err(why)),
        };
        let unique = self.own.id_source().hex16();
        let copied = durable::put_with(disk, path, &unique, |sink| {
            let mut at = 0;
            loop {
                let piece = object.read(at, PIECE)?;
                if piece.is_empty() {
                    return Ok(());
                }
                at += piece.len() as u64;
                sink(&piece).map_err(|error| Error::io(path.display(), "write", error))?;
            }
        });
        copied.map(Ok)
    }

    /// Removes the files written so far; `check` reports remaining ones.
    fn take_back(&self) {
        let Some(disk) = self.own.own_disk() else {
            return;
        };
        let mut folders: Vec<&Path> = Vec::new();
        // Not synced: no log names these files, so files that a crash brings back are leftovers.
        for path in &self.begun {
            let _ = disk.remove(path);
            folders.extend(
                path.ancestors()
                    .skip(1)
                    .take_while(|folder| folder.starts_with(&self.folder)),
            );
        }
        folders.push(&self.folder);
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        folders.dedup();
        for folder in folders {
            let _ = disk.remove_folder(folder);
        }
    }
}
