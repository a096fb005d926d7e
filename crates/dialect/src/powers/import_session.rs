//! The [`ImportSession`] power: an agent whose own program takes new sessions.

use std::fmt;

use boswell_model::Instant;
use boswell_model::json::Json;

use crate::{ChatMessage, IdSource};

/// What the document of a new session states besides its messages.
#[derive(Debug, Clone)]
pub struct SessionToImport<'a> {
    /// Id of the session.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The project folder.
    pub project: &'a str,
    /// The model that the store's newest session used, if it states one.
    pub model: Option<&'a str>,
    /// When the conversation began.
    pub created: Instant,
}

/// An agent with a database, into which nothing is written but by its own program.
pub trait ImportSession: Send + Sync + fmt::Debug {
    /// Returns the id of a new session.
    fn new_id(&self, id_source: &dyn IdSource) -> String;

    /// Whether the program keeps the id of a document; if not, it gives the session one of its own.
    fn keeps_id(&self) -> bool;

    /// Returns the document that the program imports. Equal input gives equal bytes.
    fn document(&self, session: &SessionToImport<'_>, messages: &[ChatMessage]) -> Json;

    /// Returns program and arguments that import a document at a path.
    fn import_words(&self, document: &str) -> Vec<String>;

    /// Returns program and arguments that remove a session.
    fn removal_words(&self, id: &str) -> Vec<String>;

    /// Whether the program removes a session only after a question on a terminal.
    fn removal_asks(&self) -> bool;
}
