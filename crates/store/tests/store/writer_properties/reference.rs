//! The reference: a list of entries, and the state derived from it.

use std::collections::BTreeMap;

use super::{ANSWERING, Entry, Reference, What};
use crate::picture::Picture;

impl Reference {
    pub(super) fn add(&mut self, id: &str, parent: Option<String>, what: What) {
        self.shown |= matches!(what, What::Says("assistant", _));
        self.entries.push(Entry {
            id: id.to_owned(),
            parent,
            what,
        });
    }

    pub(super) fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    pub(super) fn tip(&self) -> Option<String> {
        self.entries.last().map(|entry| entry.id.clone())
    }

    pub(super) fn path(&self) -> Vec<&Entry> {
        let mut path: Vec<&Entry> =
            std::iter::successors(self.entries.last(), |e| self.get(e.parent.as_ref()?)).collect();
        path.reverse();
        path
    }

    pub(super) fn last<T>(&self, pick: impl Fn(&What) -> Option<T>) -> Option<T> {
        self.path().iter().rev().find_map(|entry| pick(&entry.what))
    }

    /// Returns the model in force: the one chosen or that of the last assistant message, whichever
    /// is later.
    pub(super) fn model(&self) -> Option<String> {
        self.last(|what| match what {
            What::Model(model) => Some(model.clone()),
            What::Says("assistant", _) => Some(ANSWERING.to_owned()),
            _ => None,
        })
    }

    pub(super) fn context(&self) -> Vec<(String, String)> {
        let path = self.path();
        let said = |entry: &&Entry| match &entry.what {
            What::Says(role, text) => Some(((*role).to_owned(), text.clone())),
            _ => None,
        };
        let compacted = path
            .iter()
            .rposition(|entry| matches!(entry.what, What::Compaction { .. }));
        let Some(at) = compacted else {
            return path.iter().filter_map(said).collect();
        };
        let What::Compaction { summary, kept } = &path[at].what else {
            return Vec::new();
        };
        let from = path
            .iter()
            .position(|entry| entry.id == *kept)
            .unwrap_or(at);
        let summary = ("compactionSummary".to_owned(), summary.clone());
        std::iter::once(summary)
            .chain(path[from..].iter().filter_map(said))
            .collect()
    }

    pub(super) fn picture(&self) -> Picture {
        let mut labels = BTreeMap::new();
        let mut title = None;
        for entry in &self.entries {
            match &entry.what {
                What::Label(target, Some(label)) => {
                    drop(labels.insert(target.clone(), label.clone()))
                }
                What::Label(target, None) => drop(labels.remove(target)),
                What::Title(text) => title = Some(text.clone()),
                _ => {}
            }
        }
        let text_pieces = |e: &&&Entry| matches!(e.what, What::Says(..) | What::Compaction { .. });
        Picture {
            entries: self
                .entries
                .iter()
                .map(|e| (e.id.clone(), e.parent.clone()))
                .collect(),
            tip: self.tip(),
            leaf: self
                .path()
                .iter()
                .rev()
                .find(text_pieces)
                .map(|e| e.id.clone()),
            labels,
            title,
            context: self.context(),
        }
    }
}
