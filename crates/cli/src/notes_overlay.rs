//! What notes say of sessions, laid over what their logs say.

use std::collections::BTreeMap;

use boswell_model::{SessionMeta, Result, SessionRef};
use boswell_store::{SessionNotes, Summary};

use crate::app::App;

/// Notes by the session that they speak of.
#[derive(Debug, Default)]
pub(crate) struct NotesOverlay(BTreeMap<SessionRef, SessionNotes>);

impl NotesOverlay {
    /// All notes there are.
    pub(crate) fn read(machine: &App) -> Result<NotesOverlay> {
        let is_there = machine
            .home
            .as_ref()
            .is_some_and(|home| home.join("notes.jsonl").is_file());
        if is_there {
            Ok(NotesOverlay(machine.notes()?.all()))
        } else {
            Ok(NotesOverlay::default())
        }
    }

    /// Whether any note speaks of a session.
    pub(crate) fn speaks_of(&self, dialect: &str, id: &str) -> bool {
        !self.0.is_empty() && self.0.contains_key(&SessionRef::new(dialect, id))
    }

    /// Adds what they say.
    pub(crate) fn add_to<'s>(&self, summaries: impl Iterator<Item = &'s mut Summary>) {
        for summary in summaries.take_while(|_| !self.0.is_empty()) {
            if let Some(notes) = self.0.get(&summary.reference) {
                overlay(&mut summary.facts, notes);
            }
        }
    }
}

/// What the user said of a session comes before what its log says.
fn overlay(facts: &mut SessionMeta, notes: &SessionNotes) {
    for tag in &notes.tags {
        if !facts.tags.contains(tag) {
            facts.tags.push(tag.clone());
        }
    }
    if let Some((status, message)) = &notes.status {
        facts.status = Some(status.clone());
        facts.error.clone_from(message);
    }
    if let Some(title) = &notes.title {
        facts.title = Some(title.clone());
        facts.title_source = Some("note".to_owned());
    } else if let (None, Some(title)) = (&facts.title, &notes.proposed) {
        facts.title = Some(title.clone());
        facts.title_source = Some("summary".to_owned());
    }
    if let Some(summary) = &notes.summary {
        facts.summary = Some(summary.clone());
    }
    facts.labels.extend(
        notes
            .labels
            .iter()
            .map(|(entry, label)| (entry.clone(), Some(label.clone()))),
    );
}
