//! The sessions that a listing found in one place, and how rows of the catalog find them.

use std::collections::HashMap;

use boswell_dialect::Located;

use super::Entry;
use super::state::State;

/// How a session is written down within its store.
pub(super) fn place_name(located: &Located) -> String {
    let key = located.key.as_deref().unwrap_or("");
    let mut name = String::with_capacity(key.len() + 1 + located.id.len());
    name.extend([key, "\n", &located.id]);
    name
}

fn is_place_name(name: &str, located: &Located) -> bool {
    let rest = name.strip_prefix(located.key.as_deref().unwrap_or("")).and_then(|rest| rest.strip_prefix('\n'));
    rest == Some(&located.id)
}

/// Places among the entries.
#[derive(Debug, Default)]
pub(super) struct Listed {
    all: Vec<usize>,
    /// Most rows find their session by its file, without a name being made for it.
    by_file: HashMap<(i64, i64), usize>,
    by_name: Option<HashMap<String, usize>>,
}

impl Listed {
    pub(super) fn add(&mut self, index: usize, state: &State) {
        self.all.push(index);
        self.by_file.insert((state.dev, state.ino), index);
    }

    /// The session that is written down under a name, if it is there.
    pub(super) fn find(&mut self, entries: &[Entry], state: &State, name: &str) -> Option<usize> {
        let by_file = self.by_file.get(&(state.dev, state.ino)).copied();
        if let Some(index) = by_file.filter(|it| entries.get(*it).is_some_and(|e| is_place_name(name, &e.located))) {
            return Some(index);
        }
        let by_name = self.by_name.get_or_insert_with(|| {
            let named = |index: &usize| Some((place_name(&entries.get(*index)?.located), *index));
            self.all.iter().filter_map(named).collect()
        });
        by_name.get(name).copied()
    }
}
