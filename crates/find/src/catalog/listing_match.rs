//! Matches the sessions of a directory listing with the rows of the catalog.
//!
//! A row is found by the file identity (device and inode) first, which needs no allocation, and
//! then by its place name. The identity alone does not decide: an inode can be reused for another
//! session.

use std::collections::HashMap;
use std::ops::Range;

use boswell_dialect::SessionLocation;

use super::CatalogRow;
use super::file_state::State;

/// Returns the name by which the catalog identifies a session within its store: key, newline, id.
pub(super) fn place_name(location: &SessionLocation) -> String {
    let key = location.key.as_deref().unwrap_or("");
    let mut name = String::with_capacity(key.len() + 1 + location.id.len());
    name.extend([key, "\n", &location.id]);
    name
}

/// Returns a CRC-32 of key and id, a short form of the place name.
pub(super) fn place_sum(location: &SessionLocation) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(location.key.as_deref().unwrap_or("").as_bytes());
    sum.update(location.id.as_bytes());
    sum.finalize()
}

/// Compares as `name == place_name(location)`, without allocating.
fn is_place_name(name: &str, location: &SessionLocation) -> bool {
    let rest = name
        .strip_prefix(location.key.as_deref().unwrap_or(""))
        .and_then(|rest| rest.strip_prefix('\n'));
    rest == Some(&location.id)
}

/// The listed sessions of one store, as indexes into the entries.
#[derive(Debug, Default)]
pub(super) struct Listed {
    ranges: Vec<Range<usize>>,
    /// Index by (device, inode), built on first use; it finds most rows without building names.
    by_file: Option<HashMap<(i64, i64), usize>>,
    by_name: Option<HashMap<String, usize>>,
}

impl Listed {
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.ranges.push(range);
    }

    /// Returns the range in the entries, or `None` if the place was listed more than once.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self.ranges.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// Returns the indexes of all listed sessions.
    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().cloned().flatten()
    }

    /// Returns the listed session that has this place name; `state` is the file state of its row.
    pub(super) fn find(
        &mut self,
        entries: &[CatalogRow],
        state: &State,
        name: &str,
    ) -> Option<usize> {
        let all = || {
            self.ranges
                .iter()
                .cloned()
                .flatten()
                .filter_map(|index| Some((index, entries.get(index)?)))
        };
        let by_file = self.by_file.get_or_insert_with(|| {
            let filed = |(index, entry): (usize, &CatalogRow)| {
                let state = State::of(&entry.location);
                ((state.dev, state.ino), index)
            };
            all().map(filed).collect()
        });
        let by_file = by_file.get(&(state.dev, state.ino)).copied();
        if let Some(index) = by_file.filter(|it| {
            entries
                .get(*it)
                .is_some_and(|e| is_place_name(name, &e.location))
        }) {
            return Some(index);
        }
        let by_name = self.by_name.get_or_insert_with(|| {
            all()
                .map(|(index, entry)| (place_name(&entry.location), index))
                .collect()
        });
        by_name.get(name).copied()
    }
}
