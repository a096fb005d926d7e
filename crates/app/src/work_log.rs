//! What was asked and done in a session: prompts, changed files, calls that failed, answers.
//!
//! `outline` reads one session of it, `today` all sessions of a time. Every text is redacted before
//! it is cut.

use std::collections::{HashMap, HashSet};

use boswell_find::Secrets;
use boswell_model::{EntryKind, Flags, Instant, Part, Result, Slot, View};
use boswell_store::Session;

use crate::summary::{at_most, open_ends};
use crate::tool_line::{ToolLine, changed_files, command_of};

/// The longest text of a prompt or an answer.
pub(crate) const LONGEST: usize = 4_000;
/// The longest name of what a call worked on.
const SUBJECT: usize = 300;
/// How much of a text is examined: a secret that a cut at [`LONGEST`] would divide is inside it.
const EXAMINED: usize = 64 << 10;
/// Maximum number of answers that are kept, the newest ones.
const ANSWERS: usize = 20;

/// A text with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) session: String,
    pub(crate) entry: String,
    pub(crate) at: Option<Instant>,
    pub(crate) text: String,
}

/// A file that calls changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    pub(crate) path: String,
    /// Lines that were added and removed; `None` if a call does not tell.
    pub(crate) lines: Option<(usize, usize)>,
    pub(crate) edits: usize,
    /// Session and entry of the last change.
    pub(crate) last: (String, String),
}

/// A call whose last run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedCall {
    pub(crate) place: Said,
    pub(crate) tool: String,
    pub(crate) is_command: bool,
    /// What it worked on.
    pub(crate) subject: String,
}

/// Which part of a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// The conversation with the user.
    Session,
    /// A subagent, whose prompts another model wrote.
    Subagent,
}

/// What was asked and done, in order.
#[derive(Debug)]
pub(crate) struct WorkLog<'s> {
    secrets: &'s Secrets,
    pub(crate) prompts: Vec<Said>,
    pub(crate) files: Vec<ChangedFile>,
    /// Assistant messages, the newest ones.
    pub(crate) answers: Vec<Said>,
    /// Entries at which older messages were replaced by a summary.
    pub(crate) compactions: Vec<String>,
    /// Whether no answer follows the last prompt.
    pub(crate) ends_with_prompt: bool,
    /// Calls by tool and subject: the number of the last run, and its failure if it failed.
    outcomes: HashMap<(String, String), (usize, Option<FailedCall>)>,
    runs: usize,
    /// Calls without a result so far.
    waiting: HashMap<String, WaitingCall>,
    /// Prompts and calls that were counted: a fork repeats those of the session it began as.
    known_prompts: HashSet<(Option<Instant>, String)>,
    known_calls: HashSet<String>,
}

#[derive(Debug)]
struct WaitingCall {
    place: Said,
    tool: String,
    subject: String,
    is_command: bool,
    files: Vec<(String, Option<(usize, usize)>)>,
}

impl<'s> WorkLog<'s> {
    pub(crate) fn new(secrets: &'s Secrets) -> WorkLog<'s> {
        WorkLog {
            secrets,
            prompts: Vec::new(),
            files: Vec::new(),
            answers: Vec::new(),
            compactions: Vec::new(),
            ends_with_prompt: false,
            outcomes: HashMap::new(),
            runs: 0,
            waiting: HashMap::new(),
            known_prompts: HashSet::new(),
            known_calls: HashSet::new(),
        }
    }

    /// Adds entries of a session whose time is wanted.
    pub(crate) fn add(
        &mut self,
        session: &Session,
        slots: impl Iterator<Item = Slot>,
        author: Author,
        is_wanted: &dyn Fn(Option<Instant>) -> bool,
    ) -> Result<()> {
        let reference = session.reference().to_string();
        for slot in slots {
            let Some(head) = session.log().head(slot) else {
                continue;
            };
            let is_talk = head.kind.is_conversation() && !head.flags.has(Flags::HIDDEN);
            if !is_talk || !is_wanted(head.instant()) {
                continue;
            }
            let (kind, at) = (head.kind, head.instant());
            // Some agents write the entries of subagents into the log of the session.
            let author = match head.flags.has(Flags::SIDECHAIN) {
                true => Author::Subagent,
                false => author,
            };
            let Some(view) = session.entry(slot)?.view.filter(|view| !view.hidden) else {
                continue;
            };
            let place = Said {
                session: reference.clone(),
                entry: session.log().label(slot).into_owned(),
                at,
                text: String::new(),
            };
            self.add_view(session, kind, &view, place, author);
        }
        self.finish_waiting();
        Ok(())
    }

    fn add_view(
        &mut self,
        session: &Session,
        kind: EntryKind,
        view: &View,
        place: Said,
        author: Author,
    ) {
        for part in &view.parts {
            match part {
                Part::Call { .. } => self.call(session, part, &place),
                Part::Result {
                    call,
                    text,
                    is_error,
                } => self.result(call, (text, *is_error), &place),
                _ => {}
            }
        }
        if kind == EntryKind::Compaction {
            self.compactions.push(place.entry.clone());
        }
        let text = view.text();
        if text.trim().is_empty() || author == Author::Subagent {
            return;
        }
        match kind {
            EntryKind::User => self.prompt(place, text.trim()),
            EntryKind::Assistant => {
                self.ends_with_prompt = false;
                if self.answers.len() == ANSWERS {
                    self.answers.remove(0);
                }
                let text = self.shown(text.trim(), LONGEST);
                self.answers.push(Said { text, ..place });
            }
            _ => {}
        }
    }

    fn prompt(&mut self, place: Said, text: &str) {
        let text = self.shown(text, LONGEST);
        if self.known_prompts.insert((place.at, text.clone())) {
            self.ends_with_prompt = true;
            self.prompts.push(Said { text, ..place });
        }
    }

    fn call(&mut self, session: &Session, part: &Part, place: &Said) {
        let Part::Call { id, name, input } = part else {
            return;
        };
        let is_known = !id.is_empty() && !self.known_calls.insert(id.clone());
        if is_known {
            return;
        }
        let refine = session.dialect().powers().refine;
        let touched = refine.touched_files(&View::of([part.clone()]));
        let touched = touched.into_iter().map(|(path, _)| path).collect();
        let command = command_of(input);
        let subject = match &command {
            Some(command) => command.lines().next().unwrap_or_default().trim().to_owned(),
            None => ToolLine::of(input).subject,
        };
        let call = WaitingCall {
            place: place.clone(),
            tool: name.clone(),
            subject: self.shown(&subject, SUBJECT),
            is_command: command.is_some(),
            files: changed_files(name, input, touched),
        };
        if let Some(before) = self.waiting.insert(id.clone(), call) {
            // Some agents give no ids to calls: the one before has no result.
            self.changed(before);
        }
    }

    /// Settles a call: what it changed counts only if it succeeded.
    fn result(&mut self, call: &str, (said, is_error): (&str, bool), place: &Said) {
        let Some(call) = self.waiting.remove(call) else {
            return;
        };
        let failure = is_error.then(|| FailedCall {
            place: Said {
                text: self.shown(said.trim(), LONGEST),
                ..place.clone()
            },
            tool: call.tool.clone(),
            is_command: call.is_command,
            subject: call.subject.clone(),
        });
        self.runs += 1;
        let key = (call.tool.clone(), call.subject.clone());
        self.outcomes.insert(key, (self.runs, failure));
        if !is_error {
            self.changed(call);
        }
    }

    fn changed(&mut self, call: WaitingCall) {
        let last = (call.place.session, call.place.entry);
        for (path, lines) in call.files {
            let path = self.shown(&path, SUBJECT);
            match self.files.iter_mut().find(|file| file.path == path) {
                Some(file) => {
                    let sum = |(a, b): ((usize, usize), (usize, usize))| (a.0 + b.0, a.1 + b.1);
                    file.lines = file.lines.zip(lines).map(sum);
                    file.edits += 1;
                    file.last.clone_from(&last);
                }
                None => self.files.push(ChangedFile {
                    path,
                    lines,
                    edits: 1,
                    last: last.clone(),
                }),
            }
        }
    }

    /// Counts the changes of calls whose result is not recorded, as agents without results of calls
    /// leave them.
    fn finish_waiting(&mut self) {
        let mut rest: Vec<WaitingCall> = self.waiting.drain().map(|(_, call)| call).collect();
        rest.sort_by_key(|call| call.place.at);
        rest.into_iter().for_each(|call| self.changed(call));
    }

    /// Returns the calls whose last run failed, oldest first.
    pub(crate) fn failures(&mut self) -> Vec<FailedCall> {
        let mut all: Vec<_> = self.outcomes.drain().map(|(_, outcome)| outcome).collect();
        all.sort_by_key(|(run, _)| *run);
        all.into_iter().filter_map(|(_, failure)| failure).collect()
    }

    /// Returns what is still to be done.
    pub(crate) fn open_ends(&self) -> Vec<String> {
        let answers: Vec<String> = self.answers.iter().map(|it| it.text.clone()).collect();
        let unanswered = self.prompts.last().filter(|_| self.ends_with_prompt);
        open_ends(&answers, unanswered.map(|it| it.text.as_str()))
    }

    /// Redacts a text, then cuts it.
    fn shown(&self, text: &str, most: usize) -> String {
        redacted_beginning(self.secrets, text, most)
    }
}

/// Redacts a text, then cuts it.
pub(crate) fn redacted_beginning(secrets: &Secrets, text: &str, most: usize) -> String {
    let mut end = text.len().min(EXAMINED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let examined = text.get(..end).unwrap_or(text);
    at_most(&secrets.redact(examined), most)
}
