//! Replays the operations of a log: which messages are left, and what each followed.

use boswell_model::{EntryKind, Log, Slot};

/// What a replay comes to.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// The messages that are left, in order.
    pub(super) live: Vec<Slot>,
    /// What each record follows. Messages that were dropped keep their parents: they are branches
    /// that were left, so that people still find them.
    pub(super) parents: Vec<Option<Slot>>,
}

pub(super) fn replay(log: &Log) -> Replayed {
    let mut out = Replayed::default();
    for (slot, head) in log.entries() {
        let place = |id| {
            let mut live = out.live.iter();
            live.position(|slot| log.head(*slot).and_then(|head| head.id) == id)
        };
        let mut parent = None;
        match head.kind {
            EntryKind::User | EntryKind::Assistant => {
                match head.id.and_then(|id| place(Some(id))) {
                    Some(at) => {
                        // It takes the place of the first one, and what followed that follows it.
                        parent = out.parents[out.live[at].index()];
                        if let Some(next) = out.live.get(at + 1) {
                            out.parents[next.index()] = Some(slot);
                        }
                        out.live[at] = slot;
                    }
                    None => {
                        parent = out.live.last().copied();
                        out.live.push(slot);
                    }
                }
            }
            // An id that is not there drops everything: so does the agent.
            EntryKind::Leaf => {
                let at = head.group.and_then(|id| place(Some(id)));
                out.live.truncate(at.unwrap_or(0));
            }
            EntryKind::Compaction => {
                parent = out.live.last().copied();
                out.live = vec![slot];
            }
            _ => {}
        }
        out.parents.push(parent);
    }
    out
}
