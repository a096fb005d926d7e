//! A session that the agent's own program takes: its document, and the read-back afterwards.

use std::sync::Arc;

use boswell_dialect::conversion::{DerivedIds, differences};
use boswell_dialect::{
    Body, ChatMessage, Clock as _, Draft, ImportSession, NewSession, Role, SessionToImport,
};
use boswell_model::{Instant, Result};

use super::Conversion;
use super::compose::Composed;
use crate::Store;

/// A session that the agent's own program imports.
#[derive(Debug, Clone)]
pub struct PlannedImport {
    /// Whether the program keeps the id of the document; if not, it gives the session another one.
    pub keeps_id: bool,
    /// The project folder, in which the program is run.
    pub project: String,
    drafts: Vec<Draft>,
}

/// Writes drafts as the document that the program of the target imports.
pub(super) fn compose(
    target: &Store,
    importer: &dyn ImportSession,
    new: &NewSession,
    (drafts, ids): (&[Draft], &Arc<DerivedIds>),
) -> Composed {
    let messages: Vec<ChatMessage> = drafts.iter().filter_map(message).collect();
    let id = importer.new_id(&**ids);
    let model = newest_model(target);
    let session = SessionToImport {
        id: &id,
        title: new.title.as_deref().unwrap_or("Imported session"),
        project: &new.project,
        model: model.as_deref(),
        created: began(drafts).unwrap_or_else(|| ids.now()),
    };
    let document = importer.document(&session, &messages).to_bytes();
    Composed {
        steps: Vec::new(),
        preconditions: Vec::new(),
        remarks: Vec::new(),
        sent: messages,
        log: document,
        import: Some(PlannedImport {
            keeps_id: importer.keeps_id(),
            project: new.project.clone(),
            drafts: drafts.to_vec(),
        }),
        id,
    }
}

fn began(drafts: &[Draft]) -> Option<Instant> {
    drafts.iter().find_map(|draft| draft.at)
}

fn message(draft: &Draft) -> Option<ChatMessage> {
    Some(match &draft.body {
        Body::User(parts) => ChatMessage::new(Role::User, parts.clone()),
        Body::Assistant(answer) => ChatMessage::new(Role::Assistant, answer.content.clone()),
        Body::ToolResult {
            call,
            tool,
            content,
            is_error,
        } => {
            let role = Role::Tool {
                call: call.clone(),
                tool: tool.clone(),
                is_error: *is_error,
            };
            ChatMessage::new(role, content.clone())
        }
        _ => return None,
    })
}

/// Returns the model of the newest session that states one, because the program goes on with the
/// model of the last prompt.
fn newest_model(target: &Store) -> Option<String> {
    let mut sessions = target.list().ok()?.sessions;
    sessions.sort_by_key(|location| std::cmp::Reverse(location.modified));
    let models = sessions.iter().map(|location| {
        let meta = target.dialect().begin(location);
        meta.models.last().cloned()
    });
    models.flatten().next()
}

impl Store {
    /// Returns how a session that was imported differs from what was to be imported; empty if it
    /// does not.
    ///
    /// # Errors
    ///
    /// If there is no such session, or if it cannot be read.
    pub fn import_differences(&self, id: &str, conversion: &Conversion) -> Result<Vec<String>> {
        let session = super::compose::session_in(self, id)?;
        let (Some(import), Some(intake)) = (&conversion.import, &self.dialect().facts().intake)
        else {
            return Ok(Vec::new());
        };
        Ok(differences(&import.drafts, &session.messages()?, intake))
    }
}
