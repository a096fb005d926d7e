//! Which sessions the list shows.

use std::collections::{BTreeSet, HashMap};

use boswell_model::Instant;

use crate::rows::{NameQuery, TextHit};
use crate::state::{Finder, Shown};

impl Finder {
    /// Computes what is shown: sessions that match by name in their order, then those that only
    /// their text matches, best first. The first one is selected.
    pub(crate) fn show(&mut self, now: Instant) {
        let query = NameQuery::parse(self.line.text(), now, &self.zone);
        let is_empty = self.line.text().trim().is_empty();
        let mut best = if is_empty {
            HashMap::new()
        } else {
            self.best_hits()
        };
        let rows = self.rows.iter().enumerate();
        let named = rows.filter(|(_, row)| is_empty || query.matches(row));
        let mut shown: Vec<Shown> = named
            .map(|(row, _)| Shown {
                row: Some(row),
                hit: best.remove(&row),
            })
            .collect();
        if !is_empty {
            shown.extend(self.only_by_text(&best));
        }
        self.shown = shown;
        self.selected = 0;
    }

    /// Returns the best hit of each row that has one.
    fn best_hits(&self) -> HashMap<usize, usize> {
        let mut best = HashMap::new();
        // A title is in the row already, so another hit of the session says more.
        let is_title = |hit: &TextHit| hit.field == "titles";
        for titles in [false, true] {
            let hits = self.found.hits.iter().enumerate();
            for (hit, found) in hits.filter(|(_, it)| is_title(it) == titles) {
                if let Some(row) = self.index.get(&found.session) {
                    best.entry(*row).or_insert(hit);
                }
            }
        }
        best
    }

    /// Returns the sessions that only their text matches: rows of `best`, and those without a row.
    fn only_by_text(&self, best: &HashMap<usize, usize>) -> Vec<Shown> {
        let mut shown = Vec::new();
        let mut seen = BTreeSet::new();
        for (hit, found) in self.found.hits.iter().enumerate() {
            match self.index.get(&found.session) {
                Some(row) if best.get(row) == Some(&hit) => shown.push(Shown {
                    row: Some(*row),
                    hit: Some(hit),
                }),
                None if seen.insert(&found.session) => shown.push(Shown {
                    row: None,
                    hit: Some(hit),
                }),
                _ => {}
            }
        }
        shown
    }
}
