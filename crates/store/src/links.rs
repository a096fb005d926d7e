//! Joins sessions of different stores that are one conversation.
//!
//! MyAgents keeps its own rows beside the transcript of the engine it drives, and clinvoker keeps only a document about a
//! transcript that its backend writes. A list shows such a conversation once, with both places.

use std::collections::HashMap;

use crate::{StoreId, Summary};

/// A conversation: the session that a list shows, and those that are the same conversation elsewhere.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// The session that is shown: the one whose program the user talks to.
    pub front: (StoreId, Summary),
    /// The same conversation in other stores.
    pub linked: Vec<(StoreId, Summary)>,
    /// Links whose other side is nowhere to be found: dialect and id.
    pub dangling: Vec<(&'static str, String)>,
}

/// A session elsewhere: dialect and id.
pub(crate) type Elsewhere = (&'static str, String);

/// Joins summaries into conversations. Order is kept; what is linked moves to its front.
pub(crate) fn join(
    sessions: Vec<(StoreId, Summary)>,
    links: impl Fn(StoreId, &Summary) -> Vec<Elsewhere>,
) -> Vec<Conversation> {
    let links: Vec<Vec<Elsewhere>> = sessions.iter().map(|(store, summary)| links(*store, summary)).collect();
    if links.iter().all(Vec::is_empty) {
        let alone = |front| Conversation { front, linked: Vec::new(), dangling: Vec::new() };
        return sessions.into_iter().map(alone).collect();
    }
    let mut by_ref: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (index, (_, summary)) in sessions.iter().enumerate() {
        let dialect = summary.reference.dialect.clone();
        by_ref.entry((dialect.clone(), summary.reference.id.clone())).or_default().push(index);
        if let Some(id) = summary.facts.id.as_ref().filter(|id| **id != summary.reference.id) {
            by_ref.entry((dialect, id.clone())).or_default().push(index);
        }
    }
    let mut taken = vec![false; sessions.len()];
    let mut joined: Vec<(Vec<usize>, Vec<Elsewhere>)> = Vec::new();
    for (index, elsewhere) in links.into_iter().enumerate() {
        let mut mine = Vec::new();
        let mut dangling = Vec::new();
        for (dialect, id) in elsewhere {
            let others = by_ref.get(&(dialect.to_owned(), id.clone())).cloned().unwrap_or_default();
            let others: Vec<usize> = others.into_iter().filter(|other| *other != index).collect();
            if others.is_empty() {
                dangling.push((dialect, id));
            }
            for other in others {
                if taken.get(other) == Some(&false) {
                    mine.push(other);
                    if let Some(mark) = taken.get_mut(other) {
                        *mark = true;
                    }
                }
            }
        }
        joined.push((mine, dangling));
    }
    let mut slots: Vec<Option<(StoreId, Summary)>> = sessions.into_iter().map(Some).collect();
    let mut conversations = Vec::new();
    for (index, (mine, dangling)) in joined.into_iter().enumerate() {
        if taken.get(index) == Some(&true) {
            continue;
        }
        let linked = mine.into_iter().filter_map(|other| slots.get_mut(other)?.take()).collect();
        if let Some(front) = slots.get_mut(index).and_then(Option::take) {
            conversations.push(Conversation { front, linked, dangling });
        }
    }
    conversations
}
