//! What a model would be sent for a leaf.

use crate::json::Json;
use crate::{Slot, Tip};

/// The messages for a tip, and the settings recorded on the way to it.
///
/// Holds slots, not payloads: a context of a gigabyte is a list of numbers until it is
/// rendered message by message.
#[derive(Debug, Default, Clone)]
pub struct Context {
    /// Where the conversation stands.
    pub tip: Tip,
    /// The messages in order.
    pub items: Vec<ContextItem>,
    /// What was in force there.
    pub settings: Settings,
}

impl Context {
    /// A context whose messages are entries as they are stored, with no settings.
    pub fn stored(tip: Tip, slots: impl IntoIterator<Item = Slot>) -> Self {
        Context {
            tip,
            items: slots.into_iter().map(ContextItem::stored).collect(),
            settings: Settings::default(),
        }
    }
}

/// One message of a context: the entries it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextItem {
    /// The entry that it is, or the first of those that make it up.
    pub slot: Slot,
    /// Further entries of the same message, in order.
    pub more: Vec<Slot>,
    /// How it comes about.
    pub form: ContextForm,
}

/// How a message of a context comes about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContextForm {
    /// As it is stored.
    Stored,
    /// The summary of a compaction stands for what came before.
    CompactionSummary,
    /// The summary of a branch that was left.
    BranchSummary,
    /// One of several messages that the entry holds, counted from 0: a compaction that
    /// wrote down what it kept.
    Part(u32),
    /// A message of the agent's own making, which no entry holds: a role and a text.
    Made {
        /// Role in the dialect's words.
        role: &'static str,
        /// Text.
        text: String,
    },
}

impl ContextItem {
    /// The message that the entry at `slot` holds.
    pub fn stored(slot: Slot) -> Self {
        ContextItem {
            slot,
            more: Vec::new(),
            form: ContextForm::Stored,
        }
    }

    /// A message in another form.
    pub fn with_form(slot: Slot, form: ContextForm) -> Self {
        ContextItem {
            slot,
            more: Vec::new(),
            form,
        }
    }

    /// Every entry of the message.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        std::iter::once(self.slot).chain(self.more.iter().copied())
    }
}

/// A message as the agent would send it, rendered from an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Role in the dialect's own words.
    pub role: String,
    /// Parts, as JSON in the dialect's own shape; plain text is one text part.
    pub content: Vec<Json>,
    /// The whole message in the dialect's own shape, where that says more than role and content.
    pub native: Option<Json>,
}

impl Message {
    /// A message of these parts.
    pub fn new(role: impl Into<String>, content: impl IntoIterator<Item = Json>) -> Self {
        Message {
            role: role.into(),
            content: content.into_iter().collect(),
            native: None,
        }
    }
}

/// Settings in force at a tip. Absent means that nothing on the way states it.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Settings {
    /// The model, `provider/model` where the dialect has providers.
    pub model: Option<String>,
    /// Models by role.
    pub models: Vec<(String, String)>,
    /// How much to think.
    pub thinking_level: Option<String>,
    /// Mode of the agent, such as `plan`.
    pub mode: Option<String>,
    /// JSON that belongs to the mode.
    pub mode_data: Option<String>,
    /// Rules injected on the way, each once.
    pub rules: Vec<String>,
    /// How far the agent may act on its own.
    pub permission_mode: Option<String>,
    /// Further settings of the dialect, name and JSON value.
    pub other: Vec<(String, String)>,
}

impl Settings {
    /// Sets the model of a role.
    pub fn set_model(&mut self, role: &str, model: &str) {
        match self.models.iter_mut().find(|(r, _)| r == role) {
            Some(entry) => model.clone_into(&mut entry.1),
            None => self.models.push((role.to_owned(), model.to_owned())),
        }
        if role == "default" {
            self.model = Some(model.to_owned());
        }
    }

    /// Sets a further setting.
    pub fn set_other(&mut self, name: &str, json: String) {
        match self.other.iter_mut().find(|(n, _)| n == name) {
            Some(entry) => entry.1 = json,
            None => self.other.push((name.to_owned(), json)),
        }
    }
}
