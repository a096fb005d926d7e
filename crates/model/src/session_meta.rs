//! What is known about a session as a whole, gathered while its records go by.

use std::collections::BTreeMap;

use crate::{Head, Instant, Usage, UsageTally};

/// Everything the five seed systems know of a session. Absent means unknown, never zero.
#[derive(Debug, Default, Clone)]
pub struct SessionMeta {
    /// The id that the session states of itself.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Who gave the title: `user`, `auto`, or another word of the agent.
    pub title_source: Option<String>,
    /// A summary that the agent wrote.
    pub summary: Option<String>,
    /// The first thing the user asked.
    pub first_prompt: Option<String>,
    /// The last thing the user asked.
    pub last_prompt: Option<String>,
    /// The folder it was held in.
    pub project: Option<String>,
    /// active, paused, completed, error.
    pub status: Option<String>,
    /// What went wrong, for status error.
    pub error: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Every tag that a record added (true) or removed (false), for dialects whose records say what
    /// changed. Only needed while further records are folded in: `tags` is the outcome.
    pub tag_states: BTreeMap<String, bool>,
    /// Free key and value pairs.
    pub metadata: BTreeMap<String, String>,
    /// When it began.
    pub created: Option<Instant>,
    /// When something last happened in it.
    pub last_active: Option<Instant>,
    /// Models in order of first use.
    pub models: Vec<String>,
    /// The agent that held the conversation, where the dialect serves several.
    pub agent: Option<String>,
    /// Branch of the project's repository.
    pub git_branch: Option<String>,
    /// How far the agent was allowed to act on its own.
    pub permission_mode: Option<String>,
    /// Version of the agent that wrote last.
    pub agent_version: Option<String>,
    /// The session that it was forked from: an id or a path, as the agent wrote it.
    pub parent: Option<String>,
    /// Ids of the same conversation in other programs, by what they are for.
    pub external_ids: BTreeMap<String, String>,
    /// Version of the format, where the file states one.
    pub format_version: Option<u64>,
    /// User prompts, where the whole log was read.
    pub turns: u64,
    /// User and assistant messages on all branches.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Time spent, where the agent recorded it.
    pub duration_ms: Option<u64>,
    /// Records by their own type word.
    pub kinds: BTreeMap<String, u64>,
    /// Tokens and cost.
    pub usage: UsageTally,
    /// Counts and cost that the agent itself recorded elsewhere (an index, a document), for
    /// sessions whose log says less.
    pub stated: Stated,
    /// Labels in file order: the entry's id, and its label or none if it was cleared.
    pub labels: Vec<(String, Option<String>)>,
    /// Whether the user should not be shown it in lists, and why: subagent,
    /// empty, prepared, archived…
    pub hidden: Option<&'static str>,
    /// Whether the agent marked it as worth keeping.
    pub pinned: bool,
    /// Whether the agent put it into its archive.
    pub archived: bool,
}

/// What an index or document says about a session, taken where the log itself does not tell.
#[derive(Debug, Default, Clone)]
pub struct Stated {
    /// Messages.
    pub messages: Option<u64>,
    /// Turns.
    pub turns: Option<u64>,
    /// Tokens and cost.
    pub usage: Usage,
}

/// The tag that keeps a session from being archived and cleaned up.
pub const PINNED: &str = "pinned";

impl SessionMeta {
    /// Takes the time of a record as a bound of the session's life.
    pub fn saw(&mut self, head: &Head) {
        if let Some(time) = head.instant() {
            self.saw_time(time);
        }
    }

    /// Takes a time as a bound of the session's life.
    pub fn saw_time(&mut self, time: Instant) {
        self.created = Some(self.created.map_or(time, |known| known.min(time)));
        self.last_active = Some(self.last_active.map_or(time, |known| known.max(time)));
    }

    /// Notes a model, once.
    pub fn saw_model(&mut self, model: &str) {
        if !model.is_empty() && !self.models.iter().any(|m| m == model) {
            self.models.push(model.to_owned());
        }
    }

    /// Counts a record under its own type word.
    pub fn count(&mut self, word: &str) {
        match self.kinds.get_mut(word) {
            Some(count) => *count += 1,
            None => {
                self.kinds.insert(word.to_owned(), 1);
            }
        }
    }

    /// Notes something the user asked: the first stays, the last moves on.
    pub fn saw_prompt(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        // A prompt can be a pasted megabyte; a list shows a line of it.
        let short: String = text.chars().take(400).collect();
        if self.first_prompt.is_none() {
            self.first_prompt = Some(short.clone());
        }
        self.last_prompt = Some(short);
    }

    /// Whether it shall stay where it is: its agent marked it as worth keeping, or it
    /// has the tag [`PINNED`].
    pub fn is_pinned(&self) -> bool {
        self.pinned || self.tags.iter().any(|tag| tag == PINNED)
    }

    /// The label of each entry that has one now, by id.
    pub fn labels_now(&self) -> BTreeMap<&str, &str> {
        let mut now = BTreeMap::new();
        for (target, label) in &self.labels {
            match label {
                Some(label) => now.insert(target.as_str(), label.as_str()),
                None => now.remove(target.as_str()),
            };
        }
        now
    }
}
