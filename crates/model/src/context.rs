//! The context of a session: the messages and settings that the agent would send for a tip.
//!
//! The dialect selects the entries (compaction, branch summaries, hidden entries) and renders each
//! message when it is needed. This module only contains the data that passes between the two steps.
//! It sends nothing and counts no tokens.

use crate::json::Json;
use crate::{Slot, Tip};

/// The messages for a tip, and the settings recorded on the path to it.
///
/// Contains slots, not payloads: a context of a gigabyte is a list of numbers until it is rendered
/// message by message.
#[derive(Debug, Default, Clone)]
pub struct Context {
    /// The tip that the context was built for.
    pub tip: Tip,
    /// The messages in order.
    pub items: Vec<ContextItem>,
    /// The settings in force at the tip.
    pub settings: Settings,
}

impl Context {
    /// Creates a context of entries as they are stored, without settings.
    pub fn stored(tip: Tip, slots: impl IntoIterator<Item = Slot>) -> Self {
        Context {
            tip,
            items: slots.into_iter().map(ContextItem::stored).collect(),
            settings: Settings::default(),
        }
    }
}

/// One message of a context: the entries that it is made of, and how it is rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextItem {
    /// The entry of the message, or the first of several.
    pub slot: Slot,
    /// Further entries of the same message, in order. Some agents write one API message as several
    /// records.
    pub more: Vec<Slot>,
    /// How the message is made from the entries.
    pub form: ContextForm,
}

/// How a message of a context is made from its entries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContextForm {
    /// The entry's own message, unchanged.
    Stored,
    /// The summary of a compaction, in place of the messages before it.
    CompactionSummary,
    /// The summary of a branch that was abandoned.
    BranchSummary,
    /// One of several messages inside the entry, counted from 0: some compactions store the
    /// messages that they kept.
    Part(u32),
    /// A message that the agent adds itself and that no entry contains.
    Made {
        /// Role in the dialect's own terms.
        role: &'static str,
        /// Text of the message.
        text: String,
    },
}

impl ContextItem {
    /// Creates the item for the stored message of the entry at `slot`.
    pub fn stored(slot: Slot) -> Self {
        ContextItem {
            slot,
            more: Vec::new(),
            form: ContextForm::Stored,
        }
    }

    /// Creates an item in another form.
    pub fn with_form(slot: Slot, form: ContextForm) -> Self {
        ContextItem {
            slot,
            more: Vec::new(),
            form,
        }
    }

    /// Iterates over all entries of the message.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        std::iter::once(self.slot).chain(self.more.iter().copied())
    }
}

/// A message as the agent would send it, rendered from a [`ContextItem`].
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Role in the dialect's own terms.
    pub role: String,
    /// The parts as JSON in the dialect's own form; plain text is one text part.
    pub content: Vec<Json>,
    /// The whole message in the dialect's own form, if it contains more than role and content.
    pub native: Option<Json>,
}

impl Message {
    /// Creates a message of these parts.
    pub fn new(role: impl Into<String>, content: impl IntoIterator<Item = Json>) -> Self {
        Message {
            role: role.into(),
            content: content.into_iter().collect(),
            native: None,
        }
    }
}

/// The settings in force at a tip. `None` or empty if no entry on the path sets it.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Settings {
    /// The default model, as `provider/model` if the dialect has providers.
    pub model: Option<String>,
    /// Models by role: pairs of role and model.
    pub models: Vec<(String, String)>,
    /// The thinking level, in the agent's own word.
    pub thinking_level: Option<String>,
    /// Mode of the agent, such as `plan`.
    pub mode: Option<String>,
    /// JSON data of the mode.
    pub mode_data: Option<String>,
    /// Rules injected on the path, without duplicates.
    pub rules: Vec<String>,
    /// The permission mode, in the agent's own word.
    pub permission_mode: Option<String>,
    /// Further settings of the dialect: pairs of name and JSON value.
    pub other: Vec<(String, String)>,
}

impl Settings {
    /// Sets the model of a role. The role `default` also sets `model`.
    pub fn set_model(&mut self, role: &str, model: &str) {
        match self.models.iter_mut().find(|(r, _)| r == role) {
            Some(entry) => model.clone_into(&mut entry.1),
            None => self.models.push((role.to_owned(), model.to_owned())),
        }
        if role == "default" {
            self.model = Some(model.to_owned());
        }
    }

    /// Sets or replaces a further setting.
    pub fn set_other(&mut self, name: &str, json: String) {
        match self.other.iter_mut().find(|(n, _)| n == name) {
            Some(entry) => entry.1 = json,
            None => self.other.push((name.to_owned(), json)),
        }
    }
}
