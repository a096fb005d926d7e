//! Symbolic links that lead out of their stores: found by requests, never followed, reported once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use boswell_model::{Advice, Error, ErrorKind};
use boswell_store::store::{StoreId, Stores};

/// Links that were found and not reported yet: their paths, and the store of each.
#[derive(Debug, Default)]
pub(crate) struct OutsideLinks(Mutex<BTreeMap<String, StoreId>>);

impl OutsideLinks {
    /// Adds the links that the stores of a request found.
    pub(crate) fn remember(&self, stores: &Stores) {
        let links = stores.outside_links().into_iter();
        let named =
            links.filter_map(|(id, key)| Some((stores.get(id)?.backend().describe(&key), id)));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(named);
    }

    /// Returns one warning about all links, and clears the list.
    pub(crate) fn take(&self) -> Option<Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let links = std::mem::take(&mut *known);
        // The first link of the first store that has one.
        let (first, _) = links.iter().min_by_key(|(path, id)| (**id, *path))?;
        let what = match links.len() {
            1 => format!("`{first}` was not followed"),
            count => format!(
                "`{first}` and {} other symbolic links were not followed",
                count - 1
            ),
        };
        let because = "a link that leads out of a store could put any file into a session";
        Some(
            Error::new(ErrorKind::Denied, what)
                .because(because)
                .advising(Advice::Check { session: None }),
        )
    }
}
