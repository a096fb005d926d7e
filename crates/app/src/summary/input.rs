//! The input of a summary: the first prompt, the main operations, the last assistant message.
//! Secrets are redacted here, before any program reads the text.

use std::fmt::Write as _;

use boswell_dialect::Depth;
use boswell_find::{SecretCount, Secrets};
use boswell_model::{EntryKind, Flags, Result, View};
use boswell_store::Session;
use boswell_store::store::Resolved;

use crate::tool_line::{changes_files, command_of};

/// Maximum length of a text that is examined: summaries are short, and logs may contain any amount.
const LONGEST: usize = 4_000;
/// Maximum number of prompts, messages, files and commands.
const MOST: usize = 200;

/// The input of a summary.
#[derive(Debug, Default)]
pub(crate) struct SummaryInput {
    /// The prompts in order.
    pub(crate) prompts: Vec<String>,
    /// Files that tools changed, each once.
    pub(crate) edited: Vec<String>,
    /// Commands that were run, each once.
    pub(crate) ran: Vec<String>,
    /// The last assistant message.
    pub(crate) answer: Option<String>,
    /// All assistant messages in order.
    pub(crate) answers: Vec<String>,
    /// Whether no answer follows the last prompt.
    pub(crate) ends_with_prompt: bool,
}

impl SummaryInput {
    /// Reads the current branch of a session.
    pub(crate) fn read(found: &Resolved, secrets: &Secrets) -> Result<SummaryInput> {
        let session = found
            .store
            .read_conversation(&found.location, Depth::Facts)?;
        let mut summary_input = SummaryInput::default();
        let shown = |text: &str| {
            let kept = short(text);
            // A truncated text may end with the beginning of a key.
            secrets
                .redact_into(kept, kept.len() < text.len(), &mut SecretCount::default())
                .into_owned()
        };
        let first = |text: &str| {
            secrets
                .redact_into(short(text), true, &mut SecretCount::default())
                .into_owned()
        };
        for slot in session.branch(session.tip()?)? {
            let Some(head) = session.log().head(slot) else {
                continue;
            };
            if head.flags.has(Flags::HIDDEN) || !head.kind.is_conversation() {
                continue;
            }
            let Some(view) = session.entry(slot)?.view.filter(|view| !view.hidden) else {
                continue;
            };
            summary_input.note_calls(&session, &view, &shown);
            let text = view.text();
            if text.trim().is_empty() {
                continue;
            }
            match head.kind {
                EntryKind::User => {
                    keep(&mut summary_input.prompts, shown(text.trim()));
                    summary_input.ends_with_prompt = true;
                }
                EntryKind::Assistant => {
                    let answer = shown(text.trim());
                    summary_input.ends_with_prompt = false;
                    keep_newest(&mut summary_input.answers, answer.clone());
                    summary_input.answer = Some(answer);
                }
                _ => {}
            }
        }
        // After a compaction the branch begins with a summary; the metadata still contains the
        // first prompt.
        if let Some(first) = session.meta().first_prompt.as_deref().map(first)
            && !summary_input
                .prompts
                .iter()
                .any(|prompt| begins_alike(prompt, &first))
        {
            summary_input.prompts.insert(0, first);
        }
        Ok(summary_input)
    }

    fn note_calls(&mut self, session: &Session, view: &View, shown: &dyn Fn(&str) -> String) {
        for (path, tool) in session.dialect().powers().refine.touched_files(view) {
            if changes_files(&tool) {
                let name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
                keep(&mut self.edited, shown(name));
            }
        }
        for (_, _, input) in view.calls() {
            if let Some(command) = command_of(input)
                && let Some(line) = command.lines().next()
            {
                keep(&mut self.ran, shown(line.trim()));
            }
        }
    }

    /// The last prompt, if no answer follows it.
    pub(crate) fn unanswered(&self) -> Option<&str> {
        let last = self.prompts.last().filter(|_| self.ends_with_prompt);
        last.map(String::as_str)
    }

    /// Whether there is nothing to summarise.
    pub(crate) fn is_empty(&self) -> bool {
        self.prompts.is_empty() && self.answer.is_none()
    }

    /// Returns everything as text of at most `limit` bytes, for an external program.
    pub(crate) fn text(&self, limit: usize) -> String {
        let mut text = String::new();
        let answer = self.answer.iter().map(|answer| ("last answer", answer));
        // The message comes before parts that may be long, so that it is not truncated.
        let first = self.prompts.first().map(|prompt| ("first prompt", prompt));
        let rest = self
            .prompts
            .iter()
            .skip(1)
            .map(|prompt| ("later prompt", prompt));
        let edited = self.edited.iter().map(|name| ("file changed", name));
        let ran = self.ran.iter().map(|command| ("command run", command));
        for (what, said) in first
            .into_iter()
            .chain(answer)
            .chain(edited)
            .chain(ran)
            .chain(rest)
        {
            let _ = writeln!(text, "{what}: {said}");
        }
        let mut end = text.len().min(limit);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }
}

fn keep(kept: &mut Vec<String>, text: String) {
    if !text.is_empty() && kept.len() < MOST && !kept.contains(&text) {
        kept.push(text);
    }
}

/// Keeps the newest texts.
fn keep_newest(kept: &mut Vec<String>, text: String) {
    if kept.len() == MOST {
        kept.remove(0);
    }
    kept.push(text);
}

fn short(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Whether a prompt begins like `first`. Metadata contains only the beginning of a prompt, on one
/// line.
fn begins_alike(prompt: &str, first: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .take(20)
            .collect::<String>()
    };
    letters(prompt) == letters(first)
}
