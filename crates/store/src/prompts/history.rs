//! The history of prompts: adds and finds them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::IdSource;
use boswell_model::json::{Json, Raw};
use boswell_model::{Error, Instant, Result};

use crate::disk::{Disk, DiskFile, LockMode, OpenMode, durable};
use crate::journal::{self, LineAction};

use super::MOST;
use super::reverse_lines::Backwards;

/// File name of the history in boswell's home.
const FILE: &str = "prompts.jsonl";

/// A prompt of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Text of the prompt.
    pub text: String,
    /// When.
    pub at: Instant,
    /// The folder of the project.
    pub project: Option<String>,
    /// The session.
    pub session: Option<String>,
}

/// The result of adding a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is in the history.
    Yes,
    /// It had no text.
    Empty,
    /// It equals the newest one.
    Repeated,
}

/// Prompts that were found, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundPrompt {
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// How many of the lines that were looked at could not be read. They stay in the file.
    pub damaged: usize,
}

/// The history of prompts.
#[derive(Debug, Clone)]
pub struct Prompts {
    disk: Arc<dyn Disk>,
    id_source: Arc<dyn IdSource>,
    home: PathBuf,
}

impl Prompts {
    /// The history below a home folder.
    pub(crate) fn new(disk: Arc<dyn Disk>, id_source: Arc<dyn IdSource>, home: &Path) -> Self {
        Prompts {
            disk,
            id_source,
            home: home.to_path_buf(),
        }
    }

    /// Adds a prompt, without space around it; one without text or equal to the newest is
    /// left out. Never waits.
    pub fn add(&self, prompt: &Prompt) -> Result<Added> {
        let text = prompt.text.trim();
        if text.is_empty() {
            return Ok(Added::Empty);
        }
        durable::make_folders(self.disk.as_ref(), &self.home)?;
        // Without the lock two equal prompts may both get in, which is the lesser evil.
        let _lock = self.try_lock();
        if self
            .recent(1)?
            .prompts
            .first()
            .is_some_and(|newest| newest.text == text)
        {
            return Ok(Added::Repeated);
        }
        let line = Json::object()
            .with("text", text)
            .with("at", prompt.at.to_rfc3339())
            .with("project", prompt.project.as_deref())
            .with("session", prompt.session.as_deref());
        self.append(line.to_bytes())?;
        Ok(Added::Yes)
    }

    /// The newest prompts, newest first; at most [`MOST`].
    pub fn recent(&self, count: usize) -> Result<FoundPrompt> {
        self.scan(count, |_| true)
    }

    /// The newest prompts that hold every word of a query, in any place and any
    /// case; at most [`MOST`].
    pub fn search(&self, query: &str, count: usize) -> Result<FoundPrompt> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        self.scan(count, |prompt| {
            let text = prompt.text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
    }

    fn scan(&self, count: usize, wanted: impl Fn(&Prompt) -> bool) -> Result<FoundPrompt> {
        let mut found = FoundPrompt::default();
        let count = count.min(MOST);
        let path = self.path();
        let fault = |error| Error::io(path.display(), "read", error);
        let file = match self.disk.open_below(&self.home, FILE) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(fault(error)),
        };
        let mut lines = Backwards::new(file.as_ref()).map_err(fault)?;
        while found.prompts.len() < count {
            let Some(line) = lines.next_line().map_err(fault)? else {
                break;
            };
            match parse(&line.bytes) {
                Some(prompt) if wanted(&prompt) => found.prompts.push(prompt),
                Some(_) => {}
                // Another process may be writing the last line now.
                None if line.is_pending || line.bytes.trim_ascii().is_empty() => {}
                None => found.damaged += 1,
            }
        }
        Ok(found)
    }

    /// Removes the prompts of sessions, by the session that each prompt names. Unreadable lines are
    /// removed if they contain one of the names.
    ///
    /// # Errors
    ///
    /// An I/O error if the history cannot be read or written.
    pub fn forget(&self, sessions: &[String]) -> Result<usize> {
        let path = self.path();
        let there = self
            .disk
            .stat(&path)
            .map_err(|error| Error::io(path.display(), "look at", error))?;
        if there.is_none() {
            return Ok(0);
        }
        // A prompt that is added meanwhile by a process that does without the lock may be
        // lost; its session has it.
        let _lock = self.try_lock();
        let unique = self.id_source.hex16();
        journal::rewrite(self.disk.as_ref(), &path, &unique, &|line| {
            let is_one =
                |session: &String| memchr::memmem::find(line, session.as_bytes()).is_some();
            let goes = match parse(line) {
                Some(prompt) => prompt.session.is_some_and(|it| sessions.contains(&it)),
                None => sessions.iter().any(is_one),
            };
            if goes {
                LineAction::Goes
            } else {
                LineAction::Stays
            }
        })
    }

    fn append(&self, line: Vec<u8>) -> Result<()> {
        let path = self.path();
        let fault = |error| Error::io(path.display(), "append to", error);
        let file = self.open_for_append(&path).map_err(fault)?;
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if !durable::ends_with_newline(file.as_ref()).map_err(fault)? {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
        // One call for the whole line: lines of several processes do not mix. Not synced, as the
        // module says: the session has it.
        durable::append_all(file.as_ref(), &bytes).map_err(fault)
    }

    fn open_for_append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        match self.disk.open(path, OpenMode::Append) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match self.disk.open(path, OpenMode::CreateNew) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        self.disk.open(path, OpenMode::Append)
                    }
                    made => made,
                }
            }
            opened => opened,
        }
    }

    /// Returns `None` if the lock is held or cannot be taken for any reason: the history works
    /// without it.
    fn try_lock(&self) -> Option<Box<dyn DiskFile>> {
        let folder = self.home.join("locks");
        // A lock need not be durable: it ends with its process.
        durable::make_folders(self.disk.as_ref(), &folder).ok()?;
        let file = self
            .disk
            .open(&folder.join("prompts.lock"), OpenMode::Lock)
            .ok()?;
        file.try_lock(LockMode::Exclusive).ok()?.then_some(file)
    }

    fn path(&self) -> PathBuf {
        self.home.join(FILE)
    }
}

fn parse(line: &[u8]) -> Option<Prompt> {
    let record = Raw::parse(line).ok()?;
    let text = |key: &str| {
        record
            .get(key)
            .and_then(|value| value.text())
            .map(|text| text.into_owned())
    };
    Some(Prompt {
        text: text("text")?,
        at: Instant::parse(&text("at")?)?,
        project: text("project"),
        session: text("session"),
    })
}
