//! The context of a session as typed messages.

use boswell_dialect::{ChatMessage, ChatReader};
use boswell_model::{Result, Tip};

use super::Session;

impl Session {
    /// Returns the context at the tip: the messages that would be sent to the model.
    ///
    /// The messages have the same types in every dialect, those of a [`Draft`](crate::Draft). Tool
    /// results are separate messages, even if an agent puts several into one user message.
    /// [`context`](Session::context) and [`render`](Session::render) return the agent's own JSON
    /// instead, one message at a time.
    ///
    /// # Errors
    ///
    /// `Conflict` if the log was rewritten since it was read; an I/O error if it cannot be read.
    pub fn messages(&self) -> Result<Vec<ChatMessage>> {
        self.messages_at(self.tip()?)
    }

    /// As [`messages`](Session::messages), for the branch that ends at `tip`.
    ///
    /// # Errors
    ///
    /// As for [`messages`](Session::messages).
    pub fn messages_at(&self, tip: Tip) -> Result<Vec<ChatMessage>> {
        let (mut reader, mut messages) = (ChatReader::default(), Vec::new());
        for item in &self.context(tip)?.items {
            messages.extend(reader.read(&self.render(item)?.message));
        }
        Ok(messages)
    }
}
