//! Notes about sessions, which have priority over the data in their logs.

use std::collections::{BTreeMap, HashMap};

use boswell_model::{Result, SessionMeta, SessionRef};
use boswell_store::notes::SessionNotes;
use boswell_store::store::Summary;
use boswell_store::vault::Digest;

use crate::RequestContext;

/// Notes by session.
#[derive(Debug, Default)]
pub(crate) struct NotesOverlay(BTreeMap<SessionRef, SessionNotes>);

impl NotesOverlay {
    /// Reads all notes.
    pub(crate) fn read(cx: &RequestContext) -> Result<NotesOverlay> {
        let is_there = cx
            .home
            .as_ref()
            .is_some_and(|home| home.join("notes.jsonl").is_file());
        if is_there {
            Ok(NotesOverlay(cx.notes()?.all()))
        } else {
            Ok(NotesOverlay::default())
        }
    }

    /// Whether there is a note about a session.
    pub(crate) fn speaks_of(&self, dialect: &str, id: &str) -> bool {
        !self.0.is_empty() && self.0.contains_key(&SessionRef::new(dialect, id))
    }

    /// Whether a note sets the status of a session.
    pub(crate) fn has_status(&self, session: &SessionRef) -> bool {
        self.0
            .get(session)
            .is_some_and(|notes| notes.status.is_some())
    }

    /// Returns by session a number that changes with its notes.
    pub(crate) fn sums(&self) -> HashMap<SessionRef, i64> {
        let sum = |notes: &SessionNotes| sum_of(&format!("{notes:?}"));
        (self.0.iter())
            .map(|(session, notes)| (session.clone(), sum(notes)))
            .collect()
    }

    /// Applies the notes.
    pub(crate) fn add_to<'s>(&self, summaries: impl Iterator<Item = &'s mut Summary>) {
        for summary in summaries.take_while(|_| !self.0.is_empty()) {
            if let Some(notes) = self.0.get(&summary.reference) {
                overlay(&mut summary.meta, notes);
            }
        }
    }
}

/// Returns a hash of a text; never 0.
pub(crate) fn sum_of(text: &str) -> i64 {
    let digest = Digest::of(text.as_bytes());
    let first = digest.as_bytes().first_chunk::<8>();
    first.map_or(1, |bytes| i64::from_le_bytes(*bytes) | 1)
}

/// Applies the notes of a session: the user's data has priority over the log's.
fn overlay(meta: &mut SessionMeta, notes: &SessionNotes) {
    for tag in &notes.tags {
        if !meta.tags.contains(tag) {
            meta.tags.push(tag.clone());
        }
    }
    if let Some((status, message)) = &notes.status {
        meta.status = Some(status.clone());
        meta.error.clone_from(message);
    }
    if let Some(title) = &notes.title {
        meta.title = Some(title.clone());
        meta.title_source = Some("note".to_owned());
    } else if let (None, Some(title)) = (&meta.title, &notes.proposed) {
        meta.title = Some(title.clone());
        meta.title_source = Some("summary".to_owned());
    }
    if let Some(summary) = &notes.summary {
        meta.summary = Some(summary.clone());
    }
    if let (None, Some((source, _))) = (&meta.parent, &notes.converted_from) {
        meta.parent = Some(source.to_string());
    }
    let targets = notes.converted_to.iter().map(ToString::to_string);
    meta.converted_to.extend(targets);
    meta.labels.extend(
        notes
            .labels
            .iter()
            .map(|(entry, label)| (entry.clone(), Some(label.clone()))),
    );
}
