//! Prompt histories that agents store next to their sessions.
//!
//! Claude Code and Codex have files of lines, oh-my-pi and xcsh an SQLite database
//! (`prompt_history.rs` of `boswell-find`).

use std::path::PathBuf;

use boswell_dialect::HistoryKind;
use boswell_find::PromptHistory;
use boswell_model::json::Raw;
use boswell_model::{Instant, Result};
use boswell_store::Store;
use boswell_store::disk::{Clock, IdSource, SystemIds};
use boswell_store::store::Resolved;

use crate::RequestContext;

/// A larger history is not read.
const LARGEST: u64 = 256 << 20;

/// A prompt of an agent's own history.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) at: Option<Instant>,
    pub(crate) project: Option<String>,
    pub(crate) session: Option<String>,
}

/// Reads the prompts of a store's `history.jsonl`, oldest first; unreadable lines are skipped.
pub(crate) fn read(store: &Store) -> Result<Vec<Asked>> {
    if store.dialect().facts().prompt_history != HistoryKind::Lines {
        return Ok(Vec::new());
    }
    let bytes = store.file("history.jsonl", LARGEST)?.unwrap_or_default();
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(asked)
        .collect())
}

/// Reads the history of xcsh and oh-my-pi, which is in SQLite: it is copied, and the copy is read.
/// An unreadable one is reported, not fatal.
pub(crate) fn database(cx: &RequestContext, store: &Store) -> Result<Vec<Asked>> {
    let Some(home) = cx.home.as_ref().filter(|_| {
        matches!(
            store.dialect().facts().prompt_history,
            HistoryKind::Database { .. }
        )
    }) else {
        return Ok(Vec::new());
    };
    // A symbolic link that leads out of the store is not a database of this agent.
    if !store
        .backend()
        .stat("history.db")?
        .is_some_and(|info| info.is_file())
    {
        return Ok(Vec::new());
    }
    let found = PromptHistory::open(
        &store.root().join("history.db"),
        &home.join("cache"),
        &SystemIds.hex16(),
    )
    .and_then(|history| {
        history.map_or_else(|| Ok(Vec::new()), |history| history.recent(usize::MAX))
    });
    match found {
        Ok(prompts) => Ok(prompts
            .into_iter()
            .map(|it| Asked {
                text: it.text,
                at: it.at,
                project: it.project,
                session: None,
            })
            .collect()),
        Err(error) => {
            cx.warn(error);
            Ok(Vec::new())
        }
    }
}

/// The prompt history of xcsh: prompts that we append to a session are added to it, as if they had
/// been typed. Current versions of oh-my-pi have their own rules for it, so theirs is not changed.
#[derive(Debug)]
pub(crate) struct AgentHistory {
    database: PathBuf,
    project: Option<String>,
}

impl AgentHistory {
    /// Returns the history of a session's store; `None` if its agent has none.
    pub(crate) fn of(found: &Resolved) -> Result<Option<AgentHistory>> {
        let database = found.store.root().join("history.db");
        let takes_prompts = HistoryKind::Database {
            takes_prompts: true,
        };
        if found.store.dialect().facts().prompt_history != takes_prompts
            || !boswell_find::has_history(&database)
        {
            return Ok(None);
        }
        let project = found.store.summary(&found.location)?.meta.project;
        Ok(Some(AgentHistory { database, project }))
    }

    /// Adds prompts.
    ///
    /// # Errors
    ///
    /// Errors of the database. The prompts are already in the session, so the caller reports a
    /// warning instead of failing the append.
    pub(crate) fn remember(&self, prompts: &[String]) -> Result<()> {
        let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        boswell_find::remember_all(
            &self.database,
            &prompts,
            self.project.as_deref(),
            SystemIds.now(),
        )
        .map(drop)
    }
}

fn asked(line: &[u8]) -> Option<Asked> {
    let record = Raw::parse(line.trim_ascii()).ok()?;
    let text = |key: &str| Some(record.get(key)?.text()?.into_owned());
    let number = |key: &str| record.get(key)?.f64();
    // Claude Code stores milliseconds, Codex seconds.
    let seconds = || number("ts").map(|seconds| seconds * 1000.0);
    let millis = number("timestamp").or_else(seconds);
    let asked = text("display").or_else(|| text("text"))?;
    if asked.trim().is_empty() {
        return None;
    }
    Some(Asked {
        text: asked,
        at: millis.map(|millis| Instant::from_millis(millis as i64)),
        project: text("project"),
        session: text("sessionId").or_else(|| text("session_id")),
    })
}
