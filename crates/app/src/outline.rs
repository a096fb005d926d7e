//! Outlines a session: its prompts by number, what it changed, what failed, what is open.
//!
//! An outline contains only text of the session: no model writes it. Secrets are redacted. A
//! program that the request names may digest it.

use std::fmt::Write as _;

use boswell_dialect::Depth;
use boswell_find::Secrets;
use boswell_model::{Instant, Result, Slot};
use boswell_store::store::Resolved;

use crate::gaps::require_known_format;
use crate::open_sessions::{Extent, OpenSession};
use crate::redaction::redacted_name;
use crate::sessions::linked_transcript;
use crate::shape::{Maybe, shape};
use crate::summary::ExternalProgram;
use crate::work_log::{Author, ChangedFile, FailedCall, Said, WorkLog};
use crate::{App, AppResult, RequestContext, show};

/// A request for an outline.
#[derive(Debug, Clone)]
pub struct OutlineRequest {
    /// The session as users name it: see `boswell_store::store::Selector`.
    pub session: String,
    /// A program with its arguments that digests the outline: it gets the text on its standard
    /// input.
    pub with: Option<String>,
}

impl Default for OutlineRequest {
    fn default() -> OutlineRequest {
        OutlineRequest {
            session: "@last".to_owned(),
            with: None,
        }
    }
}

shape! {
    /// From `outline`: what was asked and done on the current branch of a session.
    OutlineShape: "outline" {
        /// the session
        session: String,
        /// title, else summary, else first prompt
        name: String,
        /// the agent that wrote it
        agent: String,
        /// project folder
        project: Option<String>,
        /// when it was created
        created: Option<Instant>,
        /// time of the last entry
        last_active: Option<Instant>,
        /// summary, if there is one
        summary: Option<String>,
        /// the prompts in order
        prompts: Vec<OutlinePrompt>,
        /// files that tools of the session and of its subagents changed
        files: Vec<EditedFile>,
        /// calls whose last run failed
        failures: Vec<FailureShape>,
        /// entries at which older messages were replaced by a summary
        compactions: Vec<String>,
        /// how many other branches leave the current one
        other_branches: usize,
        /// sentences about what is still to be done, and a prompt without an answer
        open_ends: Vec<String>,
        /// the last answer
        last_answer: Option<QuotedText>,
        /// what the program of `--with` printed about all of this
        digest: Maybe<String>,
    }

    /// A prompt of an outline.
    OutlinePrompt {
        /// its number, from 1
        number: usize,
        /// the entry
        entry: String,
        /// time of the prompt
        at: Option<Instant>,
        /// its text, or the beginning of it
        text: String,
    }

    /// A file that calls changed.
    EditedFile {
        /// the file, as the tools name it
        path: String,
        /// lines that were added; `null` if a tool does not tell
        added: Option<usize>,
        /// lines that were removed
        removed: Option<usize>,
        /// how many calls changed it
        edits: usize,
        /// the session of the last change
        session: String,
        /// the entry of the last change
        entry: String,
    }

    /// A call whose last run failed.
    FailureShape {
        /// the session
        session: String,
        /// the entry with the result
        entry: String,
        /// time of the result
        at: Option<Instant>,
        /// the tool
        tool: String,
        /// the command that was run, or what the tool worked on
        subject: String,
        /// what the tool said, or the beginning of it
        said: String,
    }

    /// A text of a session with its place.
    QuotedText {
        /// the entry
        entry: String,
        /// when it was written
        at: Option<Instant>,
        /// the text, or the beginning of it
        text: String,
    }
}

impl App {
    /// Returns the outline of a session.
    ///
    /// # Errors
    ///
    /// NotFound if there is no such session, Unavailable if the program of the request fails.
    pub fn outline(&self, request: &OutlineRequest) -> AppResult<OutlineShape> {
        self.answer(|cx| {
            let mut outline = outline(cx, request)?;
            if let Some(program) = &request.with {
                let program = ExternalProgram::named(program, &cx.config);
                let said = program.answer(text_of(&outline))?;
                outline.digest = Maybe::Given(said.trim().to_owned());
            }
            Ok(outline)
        })
    }
}

fn outline(cx: &RequestContext, request: &OutlineRequest) -> Result<OutlineShape> {
    let found = linked_transcript::followed(cx, cx.resolve(&request.session)?)?;
    let session = cx.open_sessions.read(&found, Extent::Conversation)?;
    require_known_format(&session)?;
    let branch = session.open_branch(None)?;
    let secrets = Secrets::new()?;
    let mut work = WorkLog::new(&secrets);
    let slots = branch.slots.iter().copied();
    work.add(&session, slots, Author::Session, &|_| true)?;
    add_subagents(&found, &session, &mut work, &|_| true)?;
    let mut summary = found.store.summary(&found.location)?;
    cx.add_notes(std::iter::once(&mut summary))?;
    let meta = &summary.meta;
    let own = found.store.dialect().facts().agent;
    let redacted = |text: &String| secrets.redact(text).into_owned();
    Ok(OutlineShape {
        session: found.reference().to_string(),
        name: redacted_name(&secrets, &summary.name()),
        agent: meta.agent.clone().unwrap_or_else(|| own.to_owned()),
        project: meta.project.clone().filter(|project| !project.is_empty()),
        created: meta.created,
        last_active: summary.last_active(),
        summary: meta.summary.as_ref().map(redacted),
        open_ends: work.open_ends(),
        failures: work.failures().into_iter().map(Into::into).collect(),
        last_answer: work.answers.last().cloned().map(Into::into),
        prompts: numbered(work.prompts),
        files: work.files.into_iter().map(Into::into).collect(),
        compactions: work.compactions,
        other_branches: other_branches(&session, &branch.slots),
        digest: Maybe::Absent,
    })
}

/// Returns an outline as text, for a program that digests it.
fn text_of(outline: &OutlineShape) -> String {
    let mut text = format!("session: {}\n", outline.name);
    let mut put = |what: &str, said: &str| {
        let _ = writeln!(text, "{what}: {said}");
    };
    for prompt in &outline.prompts {
        put(&format!("prompt {}", prompt.number), &prompt.text);
    }
    for file in &outline.files {
        put("file changed", &file.path);
    }
    for failure in &outline.failures {
        let said = format!("{} {}: {}", failure.tool, failure.subject, failure.said);
        put("failed last", &said);
    }
    for open in &outline.open_ends {
        put("open end", open);
    }
    if let Some(answer) = &outline.last_answer {
        put("last answer", &answer.text);
    }
    text
}

/// Adds what the subagents of a session changed, and which of their calls failed.
pub(crate) fn add_subagents(
    found: &Resolved,
    session: &boswell_store::Session,
    work: &mut WorkLog<'_>,
    is_wanted: &dyn Fn(Option<Instant>) -> bool,
) -> Result<()> {
    for subagent in found.store.subagents(session)? {
        let log = found.store.read(&subagent.location, Depth::Heads)?;
        work.add(&log, log.log().slots(), Author::Subagent, is_wanted)?;
    }
    Ok(())
}

fn numbered(prompts: Vec<Said>) -> Vec<OutlinePrompt> {
    let prompts = prompts.into_iter().enumerate();
    prompts
        .map(|(place, prompt)| OutlinePrompt {
            number: place + 1,
            entry: prompt.entry,
            at: prompt.at,
            text: prompt.text,
        })
        .collect()
}

/// How many branches leave the one that is shown.
fn other_branches(session: &OpenSession, branch: &[Slot]) -> usize {
    let ends = session.ends();
    let is_alive = |slot: Slot| ends.get(slot.index()).copied().flatten().is_some();
    let on_branch: std::collections::HashSet<_> = branch.iter().copied().collect();
    let leaving = |slot: &Slot| {
        let branches = show::branches_after(session, is_alive, *slot, |it| on_branch.contains(&it));
        branches.map_or(0, |(branches, _)| branches.len() - 1)
    };
    branch.iter().map(leaving).sum()
}

impl From<ChangedFile> for EditedFile {
    fn from(file: ChangedFile) -> EditedFile {
        EditedFile {
            path: file.path,
            added: file.lines.map(|(added, _)| added),
            removed: file.lines.map(|(_, removed)| removed),
            edits: file.edits,
            session: file.last.0,
            entry: file.last.1,
        }
    }
}

impl From<FailedCall> for FailureShape {
    fn from(failure: FailedCall) -> FailureShape {
        FailureShape {
            session: failure.place.session,
            entry: failure.place.entry,
            at: failure.place.at,
            tool: failure.tool,
            subject: failure.subject,
            said: failure.place.text,
        }
    }
}

impl From<Said> for QuotedText {
    fn from(said: Said) -> QuotedText {
        QuotedText {
            entry: said.entry,
            at: said.at,
            text: said.text,
        }
    }
}
