//! What a model would be sent, as typed messages.

use boswell_dialect::{ChatMessage, ChatReader};
use boswell_model::{Result, Tip};

use super::Session;

impl Session {
    /// What a model would be sent where the conversation stands.
    ///
    /// The messages have the same types in every dialect, those of a [`Draft`](crate::Draft). The
    /// results of tools are messages of their own, also where an agent puts several into one
    /// message of the user. [`context`](Session::context) and [`render`](Session::render) give the
    /// agent's own JSON instead, one message at a time.
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
