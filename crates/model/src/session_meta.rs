//! Metadata of a session as a whole, collected while its records are read.

use std::collections::BTreeMap;

use crate::{Head, Instant, Usage, UsageTally};

/// The metadata of a session: the union of what the supported agents record. `None` means unknown,
/// never zero.
#[derive(Debug, Default, Clone)]
pub struct SessionMeta {
    /// The id that the session's own records state.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Origin of the title: `user`, `auto`, or another word of the agent.
    pub title_source: Option<String>,
    /// A summary that the agent wrote.
    pub summary: Option<String>,
    /// The first prompt of the user, shortened.
    pub first_prompt: Option<String>,
    /// The last prompt of the user, shortened.
    pub last_prompt: Option<String>,
    /// The project folder that the session ran in.
    pub project: Option<String>,
    /// `active`, `paused`, `completed` or `error`.
    pub status: Option<String>,
    /// The error message, for the status `error`.
    pub error: Option<String>,
    /// The tags in force.
    pub tags: Vec<String>,
    /// Every tag that a record added (true) or removed (false), for dialects whose records are
    /// changes. Needed only while further records are read: `tags` is the result.
    pub tag_states: BTreeMap<String, bool>,
    /// Free pairs of key and value.
    pub metadata: BTreeMap<String, String>,
    /// Time of the earliest record.
    pub created: Option<Instant>,
    /// Time of the latest record.
    pub last_active: Option<Instant>,
    /// Models in order of first use.
    pub models: Vec<String>,
    /// The agent that ran the conversation, if the dialect serves several.
    pub agent: Option<String>,
    /// Branch of the project's repository.
    pub git_branch: Option<String>,
    /// The permission mode, in the agent's own word.
    pub permission_mode: Option<String>,
    /// Version of the agent that wrote the last record.
    pub agent_version: Option<String>,
    /// The session that this one was forked from: an id or a path, as the agent wrote it.
    pub parent: Option<String>,
    /// Refs of sessions of other agents that were made from it. No log states them.
    pub converted_to: Vec<String>,
    /// Ids of the same conversation in other programs, by purpose.
    pub external_ids: BTreeMap<String, String>,
    /// Version of the format, if the file states one.
    pub format_version: Option<u64>,
    /// Number of user prompts, if the whole log was read.
    pub turns: u64,
    /// Number of user and assistant messages on all branches.
    pub messages: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Time spent, if the agent recorded it.
    pub duration_ms: Option<u64>,
    /// Number of records by the agent's own type word.
    pub kinds: BTreeMap<String, u64>,
    /// Tokens and cost by message.
    pub usage: UsageTally,
    /// Counts and cost that the agent recorded outside the log (an index, a document), for sessions
    /// whose log contains less.
    pub stated: Stated,
    /// Labels in file order: the entry's id, and its label or `None` if it was removed.
    pub labels: Vec<(String, Option<String>)>,
    /// The reason why lists omit the session (subagent, empty, prepared, archived…); `None` if they
    /// show it.
    pub hidden: Option<&'static str>,
    /// Whether the agent marked it as worth keeping.
    pub pinned: bool,
    /// Whether the agent moved it into its archive.
    pub archived: bool,
}

/// What an index or document states about a session; used where the log itself does not contain it.
#[derive(Debug, Default, Clone)]
pub struct Stated {
    /// Number of messages.
    pub messages: Option<u64>,
    /// Number of turns.
    pub turns: Option<u64>,
    /// Tokens and cost.
    pub usage: Usage,
}

/// The tag that protects a session from being archived and cleaned up.
pub const PINNED: &str = "pinned";

impl SessionMeta {
    /// Extends the session's time range by the time of a record.
    pub fn saw(&mut self, head: &Head) {
        if let Some(time) = head.instant() {
            self.saw_time(time);
        }
    }

    /// Extends the session's time range by `time`.
    pub fn saw_time(&mut self, time: Instant) {
        self.created = Some(self.created.map_or(time, |known| known.min(time)));
        self.last_active = Some(self.last_active.map_or(time, |known| known.max(time)));
    }

    /// Adds a model, if it is not in the list yet.
    pub fn saw_model(&mut self, model: &str) {
        if !model.is_empty() && !self.models.iter().any(|m| m == model) {
            self.models.push(model.to_owned());
        }
    }

    /// Counts a record under the agent's own type word.
    pub fn count(&mut self, word: &str) {
        match self.kinds.get_mut(word) {
            Some(count) => *count += 1,
            None => {
                self.kinds.insert(word.to_owned(), 1);
            }
        }
    }

    /// Records a prompt of the user as the last one, and as the first one if there was none.
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

    /// Whether the session must not be archived or cleaned up: its agent pinned it, or it has the
    /// tag [`PINNED`].
    pub fn is_pinned(&self) -> bool {
        self.pinned || self.tags.iter().any(|tag| tag == PINNED)
    }

    /// Returns the current label of each entry that has one, by entry id.
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
