//! The conversations of hits: linked sessions of two stores are one.

use std::collections::{HashMap, HashSet};

use boswell_dialect::{Capability, Support};
use boswell_find::{Hit, Origin};
use boswell_model::Result;
use boswell_store::store::Summary;

use super::{Scope, Sessions};
use crate::RequestContext;
use crate::sessions::index::SessionIndex;
use crate::sessions::list::links_of;

/// A conversation with hits. It may have hits in two stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConversation {
    /// The session that lists show; for memory: the path.
    pub session: String,
    /// Its hits in order, as indexes in `Found::hits`.
    pub hits: Vec<usize>,
    /// Whether the agent of its first hit has a command to resume it.
    pub resumes: bool,
}

impl Scope {
    /// Groups hits by conversation: linked sessions of two stores are one.
    pub(super) fn conversations(
        &self,
        cx: &RequestContext,
        sessions: &Sessions,
        hits: &[Hit],
    ) -> Vec<FoundConversation> {
        let fronts = fronts(cx, sessions);
        let mut found: Vec<FoundConversation> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (index, hit) in hits.iter().enumerate() {
            let name = match self.origin(hit) {
                Some(Origin::Memory(memory)) => memory.path.clone(),
                Some(Origin::Session(place)) => match fronts.get(place) {
                    Some(front) => front.clone(),
                    None => hit.reference.to_string(),
                },
                None => hit.reference.to_string(),
            };
            let at = *known.entry(name).or_insert_with_key(|name| {
                found.push(FoundConversation {
                    session: name.clone(),
                    hits: Vec::new(),
                    resumes: self.resumes(cx, sessions, hit),
                });
                found.len() - 1
            });
            if let Some(conversation) = found.get_mut(at) {
                conversation.hits.push(index);
            }
        }
        found
    }

    fn resumes(&self, cx: &RequestContext, sessions: &Sessions, hit: &Hit) -> bool {
        let Some(Origin::Session(place)) = self.origin(hit) else {
            return false;
        };
        let session = sessions.get(place);
        let store = session.and_then(|(store, _)| cx.stores.get(*store));
        store.is_some_and(|store| store.support(Capability::Resume) != Support::No)
    }

    /// How many of the sessions with hits are another side of a conversation that is counted.
    pub(super) fn doubles(
        &self,
        cx: &RequestContext,
        session_index: &mut SessionIndex,
        found: &[usize],
    ) -> Result<u64> {
        let mut linked = Sessions::new();
        let mut others = Vec::new();
        for place in self.session_places(found) {
            let entry = session_index.entries.get(place);
            let keys = entry.and_then(|entry| entry.sort_keys());
            // What is not known of a session is read, as for a list.
            if keys.is_none_or(|keys| keys.is_linked()) {
                linked.extend(session_index.summary(cx, place)?.map(|it| (place, it)));
            } else {
                others.push(place);
            }
        }
        // The other side need not know that it is one.
        let links = links_of(cx, linked.values());
        for place in others.into_iter().filter(|_| !links.is_empty()) {
            let Some(entry) = session_index.entries.get(place) else {
                continue;
            };
            let store = cx.stores.get(entry.store);
            let dialect = store.map_or("", |store| store.dialect().name());
            let is_renamed = entry.sort_keys().is_some_and(|keys| keys.is_renamed());
            if is_renamed || links.contains(&(dialect, entry.location.id.clone())) {
                linked.extend(session_index.summary(cx, place)?.map(|it| (place, it)));
            }
        }
        let names: HashSet<String> = fronts(cx, &linked).into_values().collect();
        Ok(u64::try_from(linked.len() - names.len()).unwrap_or(0))
    }

    /// The places of those sources that are sessions.
    fn session_places(&self, sources: &[usize]) -> impl Iterator<Item = usize> {
        let places = sources.iter().filter_map(|source| self.places.get(*source));
        places.filter_map(|place| match self.sources.origin(*place)? {
            Origin::Session(session) => Some(*session),
            Origin::Memory(_) => None,
        })
    }
}

/// The session that lists show of each session's conversation.
fn fronts(cx: &RequestContext, sessions: &Sessions) -> HashMap<usize, String> {
    let mut places: Vec<usize> = sessions.keys().copied().collect();
    places.sort_unstable();
    let name = |it: &Summary| (it.reference.to_string(), it.path.clone());
    let all = places.iter().filter_map(|place| sessions.get(place));
    let by_name: HashMap<_, usize> = places
        .iter()
        .filter_map(|place| Some((name(&sessions.get(place)?.1), *place)))
        .collect();
    let mut fronts = HashMap::new();
    for conversation in cx.stores.joined(all.cloned().collect()) {
        let front = conversation.front.1.reference.to_string();
        for side in conversation.sides() {
            let place = by_name.get(&name(side));
            fronts.extend(place.map(|place| (*place, front.clone())));
        }
    }
    fronts
}
