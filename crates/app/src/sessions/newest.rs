//! Resolves `@last` and `@here` by the catalog: only logs that changed since the last command are
//! read, as for `list`.
//!
//! Without a catalog (no home yet, `--read-only`, an unusable catalog) the result is the same, but
//! every log is read: [`Stores::resolve`](boswell_store::store::Stores::resolve). Notes are not
//! read: they change titles, not the order.

use std::collections::BTreeMap;

use boswell_find::{CatalogRow, WantedRows};
use boswell_model::{Instant, Result};
use boswell_store::links::Conversation;
use boswell_store::store::{Resolved, Selector, Side};

use crate::RequestContext;
use crate::sessions::index::{Create, SessionIndex};
use crate::sessions::list::{Sorted, is_hidden};
use crate::sessions::notes_overlay::NotesOverlay;

/// The selected conversation, and the catalog with the others.
pub(crate) struct Newest {
    session_index: SessionIndex,
    conversation: Conversation,
}

/// Resolves `@last` or `@here`. `None` for other selectors, and if the catalog is unusable.
pub(crate) fn in_catalog(cx: &RequestContext, selector: &Selector) -> Option<Result<Newest>> {
    if !matches!(selector, Selector::Last | Selector::Here) {
        return None;
    }
    // Any error of the catalog is ignored: it is derived, and the logs give the same result.
    let mut session_index = SessionIndex::open(cx, Create::No).ok().flatten()?;
    session_index.read(cx, WantedRows::Ends, &|| true).ok()?;
    let sorted = Sorted::of(cx, &mut session_index, &NotesOverlay::default()).ok()?;
    match choose(cx, selector, &session_index, sorted) {
        Ok(Chosen::Joined(conversation)) => Some(Ok(Newest {
            session_index,
            conversation: *conversation,
        })),
        Ok(Chosen::Alone(index)) => {
            let front = session_index.summary(cx, index).ok().flatten()?;
            let conversation = Conversation {
                front,
                linked: Vec::new(),
                dangling: Vec::new(),
            };
            Some(Ok(Newest {
                session_index,
                conversation,
            }))
        }
        Err(error) => Some(Err(error)),
    }
}

enum Chosen {
    Joined(Box<Conversation>),
    /// A session without links, by its index among the rows.
    Alone(usize),
}

fn choose(
    cx: &RequestContext,
    selector: &Selector,
    session_index: &SessionIndex,
    sorted: Sorted,
) -> Result<Chosen> {
    let Sorted { far, near } = sorted;
    let places: Vec<usize> = near.keys().copied().collect();
    let joined = cx.stores.joined_at(near.into_values().collect());
    let mut joined: BTreeMap<usize, Conversation> = joined
        .into_iter()
        .filter_map(|(at, conversation)| Some((*places.get(at)?, conversation)))
        .collect();
    let mut candidates: Vec<(usize, Option<Instant>)> =
        Vec::with_capacity(far.len() + joined.len());
    for (at, conversation) in &joined {
        if conversation.front.1.hidden().is_none() {
            candidates.push((*at, conversation.last_active()));
        }
    }
    candidates.extend(
        far.into_iter()
            .filter_map(|at| Some((at, alone(cx, session_index.entries.get(at)?)?))),
    );
    // Of several that were active at the same time, the last one of the listing counts.
    candidates.sort_unstable_by_key(|(at, _)| *at);
    let candidates = candidates
        .into_iter()
        .map(|(at, active)| (at, active, folders(session_index, &joined, at)));
    let newest = selector.most_recent(&cx.env.cwd, candidates)?;
    Ok(joined
        .remove(&newest)
        .map_or(Chosen::Alone(newest), |it| Chosen::Joined(Box::new(it))))
}

/// Returns the folders of the conversation of a row.
fn folders<'e>(
    session_index: &'e SessionIndex,
    joined: &'e BTreeMap<usize, Conversation>,
    at: usize,
) -> impl Iterator<Item = &'e str> + use<'e> {
    let joined = joined.get(&at);
    let filter_keys = session_index
        .entries
        .get(at)
        .filter(|_| joined.is_none())
        .and_then(CatalogRow::filter_keys);
    joined
        .into_iter()
        .flat_map(Conversation::projects)
        .chain(filter_keys.and_then(|it| it.project.as_deref()))
}

/// Returns the last activity of a session without links; `None` if it is hidden.
fn alone(cx: &RequestContext, entry: &CatalogRow) -> Option<Option<Instant>> {
    let (sort_keys, store) = (entry.sort_keys()?, cx.stores.get(entry.store)?);
    let is_shown = !is_hidden(store.dialect().name(), entry, &sort_keys);
    is_shown.then(|| sort_keys.last_active().or(entry.location.modified))
}

impl Newest {
    /// Returns the selected side.
    pub(crate) fn side(self, cx: &RequestContext, side: Side<'_>) -> Result<Resolved> {
        let Newest {
            session_index,
            mut conversation,
        } = self;
        if !conversation.linked.is_empty() {
            // The catalog may have counted the records of one side only. Both are read in the same
            // way to find the more complete one.
            for (store, summary) in
                std::iter::once(&mut conversation.front).chain(&mut conversation.linked)
            {
                if let Some(Ok(seen)) = cx
                    .stores
                    .get(*store)
                    .map(|store| store.summary(&summary.location))
                {
                    *summary = seen;
                }
            }
        }
        let found = cx.stores.side_of(conversation, side, |dialect, id| {
            let is_of = |entry: &&CatalogRow| {
                cx.stores
                    .get(entry.store)
                    .is_some_and(|it| it.dialect().name() == dialect)
            };
            let found = session_index
                .entries
                .iter()
                .find(|entry| entry.location.id == id && is_of(entry))?;
            Some((found.store, found.location.clone()))
        });
        session_index.leave();
        found
    }
}

#[cfg(test)]
mod tests;
