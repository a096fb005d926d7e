//! Scrub: replaces a text everywhere boswell can reach, and keeps no copy of it.
//!
//! The caller decides what is replaced. Files of the agent change by an operation that keeps no
//! copy; copies in the vault and lines about the session become what the caller returns for them. A
//! marker in `ops/` records that a scrub was begun.

use std::path::{Path, PathBuf};

use boswell_dialect::Plan;
use boswell_model::json::{Json, Raw};
use boswell_model::{Result, SessionRef};

use crate::disk::durable;
use crate::journal::{self, LineAction, LineChange};
use crate::notes::Notes;
use crate::runner::{Operation, Runner, SCRUB, Start, lower};
use crate::vault::{Reason, RewrittenCopy, session_ref};

/// Returns the new content of a copy, by its key; `None` if it stays.
pub type CopyChange<'a> = &'a dyn Fn(&str, &[u8]) -> Option<Vec<u8>>;

/// The replacements of a scrub.
pub struct Scrubbing<'a> {
    /// Returns whether a copy with that session, root and key is to be scrubbed.
    pub is_meant: &'a dyn Fn(&SessionRef, &Path, &str) -> bool,
    /// Returns the new content of a copy, by its key; `None` if it stays.
    pub copy: CopyChange<'a>,
    /// Returns the new text of a line of notes, operations or prompts, by the session that it
    /// names; `None` if it stays.
    pub line: LineChange<'a>,
}

impl std::fmt::Debug for Scrubbing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scrubbing").finish_non_exhaustive()
    }
}

/// How much was replaced, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// Number of copies in the vault.
    pub copies: usize,
    /// Number of lines of notes, operations and prompts.
    pub lines: usize,
}

impl Runner {
    /// Executes a plan and keeps no copy of what it replaces, so it cannot be undone. After a crash
    /// each file has its old content or its new one.
    pub fn erase(&self, root: &Path, plan: &Plan, session: &SessionRef) -> Result<Operation> {
        let start = Start {
            root,
            session,
            reason: Reason::Erased,
            undoes: None,
            locks: plan.locks.clone(),
        };
        self.operate(&start, || {
            self.check(root, &plan.preconditions)?;
            let mut lowered = lower(self.disk.as_ref(), root, plan)?;
            lowered.kind = SCRUB.to_owned();
            Ok(lowered)
        })
    }

    /// Counts what [`scrub`](Runner::scrub) would replace. Changes nothing.
    pub fn would_scrub(&self, scrubbing: &Scrubbing<'_>) -> Result<Scrubbed> {
        let mut would = Scrubbed::default();
        for record in self.vault.list()?.0 {
            if (scrubbing.is_meant)(&record.session, &record.root, &record.key)
                && self
                    .vault
                    .get(record.sha256)
                    .is_ok_and(|bytes| (scrubbing.copy)(&record.key, &bytes).is_some())
            {
                would.copies += 1;
            }
        }
        for file in self.vault.kept()?.files() {
            if (scrubbing.is_meant)(&file.session, &file.root, &file.key)
                && self
                    .vault
                    .read_kept(file)
                    .is_ok_and(|bytes| (scrubbing.copy)(&file.key, &bytes).is_some())
            {
                would.copies += 1;
            }
        }
        for (name, member) in [
            ("notes.jsonl", "ref"),
            ("ops.jsonl", "ref"),
            ("prompts.jsonl", "session"),
        ] {
            let bytes =
                durable::read(self.disk.as_ref(), &self.home.join(name))?.unwrap_or_default();
            let changes =
                |line: &&[u8]| (scrubbing.line)(speaks_of(line, member).as_ref(), line).is_some();
            would.lines += bytes.split(|byte| *byte == b'\n').filter(changes).count();
        }
        Ok(would)
    }

    /// Replaces text in copies of the vault, and in lines of notes, operations and prompts.
    /// Idempotent.
    pub fn scrub(&self, scrubbing: &Scrubbing<'_>) -> Result<Scrubbed> {
        // The runner lock keeps other processes from making copies of what is being removed.
        let _one = self.locks.exclusive("runner", self.wait())?;
        self.recover_locked()?;
        let change = |_: &SessionRef, key: &str, bytes: &[u8]| match (scrubbing.copy)(key, bytes) {
            Some(new) => RewrittenCopy::New(new),
            None => RewrittenCopy::Stays,
        };
        let copies = self
            .vault
            .rewrite(scrubbing.is_meant, &change, &|replaced| {
                self.relink(replaced)
            })?;
        let unique = self.id_source.hex16();
        let mut lines = Notes::load(self.disk.clone(), &self.home, self.locks.clone())?
            .rewrite(scrubbing.line)?;
        for (name, member, lock) in [
            ("ops.jsonl", "ref", "ops"),
            ("prompts.jsonl", "session", "prompts"),
        ] {
            let _lock = self.locks.exclusive(lock, self.wait())?;
            let action = |line: &[u8]| {
                let new = (scrubbing.line)(speaks_of(line, member).as_ref(), line);
                new.map_or(LineAction::Stays, LineAction::Becomes)
            };
            lines += journal::rewrite(self.disk.as_ref(), &self.home.join(name), &unique, &action)?;
        }
        Ok(Scrubbed { copies, lines })
    }

    /// Writes the marker of a scrub, durably.
    pub fn begin_scrub(&self, session: &SessionRef) -> Result<()> {
        durable::make_folders(self.disk.as_ref(), &self.ops_folder())?;
        let marker = Json::object()
            .with("kind", SCRUB)
            .with("ref", session.to_string());
        durable::put(
            self.disk.as_ref(),
            &self.scrub_path(session),
            &marker.to_bytes(),
            &self.id_source.hex16(),
        )
    }

    /// Returns the sessions whose scrub was begun and not finished, or is running.
    pub fn scrubs(&self) -> Result<Vec<SessionRef>> {
        let mut found = Vec::new();
        for name in self
            .ops_files()?
            .iter()
            .filter(|name| name.starts_with("scrub-") && name.ends_with(".json"))
        {
            let bytes = durable::read(self.disk.as_ref(), &self.ops_folder().join(name))?
                .unwrap_or_default();
            found.extend(speaks_of(&bytes, "ref"));
        }
        Ok(found)
    }

    /// Removes the marker: the scrub is finished, or has changed nothing.
    pub fn end_scrub(&self, session: &SessionRef) -> Result<()> {
        let path = self.scrub_path(session);
        durable::remove_if_there(self.disk.as_ref(), &path)?;
        durable::sync_parent(self.disk.as_ref(), &path)
    }

    fn scrub_path(&self, session: &SessionRef) -> PathBuf {
        let id = crate::sha256::Digest::of(session.to_string().as_bytes()).to_string();
        self.ops_folder()
            .join(format!("scrub-{}.json", id.get(..16).unwrap_or(&id)))
    }
}

/// Returns the session that a member of a line names.
fn speaks_of(line: &[u8], member: &str) -> Option<SessionRef> {
    session_ref(&Raw::parse(line.trim_ascii()).ok()?.get(member)?.text()?)
}
