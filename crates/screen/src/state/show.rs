//! Which sessions the list shows.

use std::collections::{BTreeSet, HashMap};

use boswell_model::Instant;

use crate::rows::{NameQuery, TextHit};
use crate::state::{Finder, Named, Shown};

impl Finder {
    /// Computes what is shown: sessions that match by name in their order, then those that only
    /// their text matches, best first. The first one is selected.
    pub(crate) fn show(&mut self, now: Instant) {
        let is_empty = self.line.text().trim().is_empty();
        let mut best = if is_empty {
            HashMap::new()
        } else {
            self.best_hits()
        };
        let named = if is_empty {
            (0..self.rows.len()).collect()
        } else {
            self.named(now)
        };
        let mut shown: Vec<Shown> = named
            .into_iter()
            .map(|row| Shown {
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

    /// Returns the rows that match the box by name.
    fn named(&mut self, now: Instant) -> Vec<usize> {
        let query = NameQuery::parse(self.line.text(), now, &self.zone);
        let words = self.line.text().trim().to_lowercase();
        // Letters behind words can only rule out rows that matched before, so that a keystroke need
        // not look at the prompts of all sessions. A filter was a word before its colon was typed.
        let before = self.named.take();
        let before = before.filter(|it| query.has_words_only() && words.starts_with(&it.words));
        let matches = |row: &usize| self.rows.get(*row).is_some_and(|row| query.matches(row));
        let rows: Vec<usize> = match before {
            Some(before) if before.words == words => before.rows,
            Some(before) => before.rows.into_iter().filter(matches).collect(),
            None => (0..self.rows.len()).filter(matches).collect(),
        };
        if query.has_words_only() {
            let rows = rows.clone();
            self.named = Some(Named { words, rows });
        }
        rows
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Row;

    #[test]
    fn typing_shows_what_the_same_query_shows_at_once() {
        let now = Instant::parse("2026-03-10T12:00:00Z").unwrap();
        let rows: Vec<Row> = ["the lease", "agent of change", "a second lease", "tag"]
            .iter()
            .map(|name| Row {
                session: (*name).to_owned(),
                agent: "claude".to_owned(),
                searched: (*name).to_owned(),
                ..Row::default()
            })
            .collect();
        let shown = |finder: &mut Finder, text: &str| -> Vec<Option<usize>> {
            finder.line = crate::line::Line::new(text.to_owned());
            finder.show(now);
            finder.shown.iter().map(|it| it.row).collect()
        };
        let filled = || {
            let mut finder = Finder::default();
            finder.set_rows(rows.clone(), now);
            finder
        };
        for query in ["lease second", "agent:claude", "LEASE", "tag:x", "a !lease"] {
            let mut typed = filled();
            let mut ends: Vec<usize> = query.char_indices().map(|(at, _)| at).skip(1).collect();
            ends.push(query.len());
            // Forwards, then backwards with the key that deletes a letter.
            for end in ends.iter().chain(ends.iter().rev()) {
                let text = &query[..*end];
                assert_eq!(
                    shown(&mut typed, text),
                    shown(&mut filled(), text),
                    "{text}"
                );
            }
        }
        let mut finder = filled();
        assert_eq!(shown(&mut finder, "lease").len(), 2);
        finder.set_rows(rows[..1].to_vec(), now);
        assert_eq!(shown(&mut finder, "lease").len(), 1, "other rows");
    }
}
