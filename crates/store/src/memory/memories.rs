//! [`Memories`]: the memory pages of all projects, read without a lock and changed under one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use boswell_model::{Advice, Error, ErrorKind, Result};

use crate::disk::{Disk, DiskFile, LockMode, OpenMode, StatKind, durable};

use super::page::checked_name;
use super::{INDEX, LOADED_LINES, Page, project_key};

/// Names the project of a folder, whose key cannot be turned back into a path.
const PROJECT: &str = ".project";
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The memory of every project.
#[derive(Debug, Clone)]
pub struct Memories {
    disk: Arc<dyn Disk>,
    home: PathBuf,
    unique: Arc<str>,
    count: Arc<AtomicU64>,
}

/// The memory of one project, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The first [`LOADED_LINES`] lines of the index; empty if there is none.
    pub loaded: String,
    /// How many lines the index has.
    pub lines: usize,
    /// Every page, the index first, then topics by name.
    pub pages: Vec<Page>,
}

impl Memory {
    /// The memory that these pages make up.
    pub fn of(mut pages: Vec<Page>) -> Self {
        pages.sort_by(|a, b| (a.name != INDEX, &a.name).cmp(&(b.name != INDEX, &b.name)));
        let index = pages.first().filter(|page| page.name == INDEX);
        let loaded = index.map(|page| page.text.split_inclusive('\n').take(LOADED_LINES).collect());
        let lines = index.map_or(0, Page::lines);
        Memory {
            loaded: loaded.unwrap_or_default(),
            lines,
            pages,
        }
    }
}

/// A page before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The page.
    pub path: PathBuf,
    /// Text before the change; `None` if the page did not exist.
    pub before: Option<Vec<u8>>,
    /// Text after the change; `None` if the page was removed.
    pub after: Option<Vec<u8>>,
}

impl Memories {
    /// The memories below a home folder. `unique` must never be used twice: it
    /// names temporary files.
    pub(crate) fn new(disk: Arc<dyn Disk>, home: &Path, unique: &str) -> Self {
        Memories {
            disk,
            home: home.to_path_buf(),
            unique: unique.into(),
            count: Arc::default(),
        }
    }

    /// The folder of a project's memory.
    pub fn folder(&self, project: &str) -> PathBuf {
        self.home.join("memory").join(project_key(project))
    }

    /// Reads the memory of a project; one that has none is empty. Takes no lock.
    pub fn load(&self, project: &str) -> Result<Memory> {
        let (folder, below) = (
            self.folder(project),
            format!("memory/{}", project_key(project)),
        );
        let names = match self.disk.list_below(&self.home, &below) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io(folder.display(), "list", error)),
        };
        let mut pages = Vec::new();
        for (name, stat) in names {
            if stat.kind != StatKind::File || checked_name(&name).is_err() {
                continue;
            }
            // It may have been removed since it was listed.
            if let Some(bytes) =
                durable::read_below(self.disk.as_ref(), &self.home, &format!("{below}/{name}"))?
            {
                pages.push(Page::new(name, &bytes));
            }
        }
        Ok(Memory::of(pages))
    }

    /// Writes a page as a whole.
    pub fn put(&self, project: &str, name: &str, text: &str) -> Result<Changed> {
        self.change(project, name, |_| Ok(Some(text.as_bytes().to_vec())))
    }

    /// Adds text at the end of a page, on a line of its own.
    pub fn append(&self, project: &str, name: &str, text: &str) -> Result<Changed> {
        self.change(project, name, |before| {
            let mut bytes = before.unwrap_or_default().to_vec();
            if bytes.last().is_some_and(|last| *last != b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(text.as_bytes());
            if !text.ends_with('\n') {
                bytes.push(b'\n');
            }
            Ok(Some(bytes))
        })
    }

    /// Removes a page.
    pub fn remove(&self, project: &str, name: &str) -> Result<Changed> {
        self.change(project, name, |before| match before {
            Some(_) => Ok(None),
            // An earlier attempt may have removed it and failed to sync that: it would
            // be back after a crash.
            None => durable::sync_removal(self.disk.as_ref(), &self.folder(project).join(name))
                .and(Err(Error::new(
                    ErrorKind::NotFound,
                    format!("memory of `{project}` has no page `{name}`"),
                )
                .advising(Advice::ShowMemory))),
        })
    }

    fn change(
        &self,
        project: &str,
        name: &str,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Option<Vec<u8>>>,
    ) -> Result<Changed> {
        checked_name(name)?;
        let folder = self.folder(project);
        let path = folder.join(name);
        let _lock = self.lock(project)?;
        let before = durable::read(self.disk.as_ref(), &path)?;
        let after = edit(before.as_deref())?;
        match &after {
            Some(_) if after == before => {
                // The process that wrote it may have died before its name was durable.
                self.found(&folder, project)?;
                durable::sync_parent(self.disk.as_ref(), &path)?;
            }
            None if before.is_none() => {}
            Some(bytes) => {
                self.found(&folder, project)?;
                durable::put(self.disk.as_ref(), &path, bytes, &self.temp_name())?;
            }
            None => {
                self.disk
                    .remove(&path)
                    .map_err(|error| Error::io(path.display(), "remove", error))?;
                durable::sync_parent(self.disk.as_ref(), &path)?;
            }
        }
        Ok(Changed {
            path,
            before,
            after,
        })
    }

    /// Makes the folder of a project, with the note that names the project.
    fn found(&self, folder: &Path, project: &str) -> Result<()> {
        durable::make_folders(self.disk.as_ref(), folder)?;
        let note = folder.join(PROJECT);
        if durable::read(self.disk.as_ref(), &note)?.is_none() {
            durable::put(
                self.disk.as_ref(),
                &note,
                format!("{project}\n").as_bytes(),
                &self.temp_name(),
            )?;
        }
        Ok(())
    }

    fn lock(&self, project: &str) -> Result<Box<dyn DiskFile>> {
        let folder = self.home.join("locks");
        durable::make_folders(self.disk.as_ref(), &folder)?;
        let path = folder.join(format!("memory-{}.lock", project_key(project)));
        let fault = |error| Error::io(path.display(), "lock", error);
        let file = self.disk.open(&path, OpenMode::Lock).map_err(fault)?;
        for _ in 0..TRIES {
            if file.try_lock(LockMode::Exclusive).map_err(fault)? {
                return Ok(file);
            }
            self.disk.sleep(BETWEEN_TRIES);
        }
        Err(Error::new(
            ErrorKind::Busy,
            format!("memory of `{project}` is being changed by another process"),
        )
        .because(format!(
            "`{}` stayed locked for {} s",
            path.display(),
            (BETWEEN_TRIES * TRIES).as_secs()
        ))
        .advising(Advice::RetryLater))
    }

    fn temp_name(&self) -> String {
        format!(
            "{}-{}",
            self.unique,
            self.count.fetch_add(1, Ordering::Relaxed)
        )
    }
}
