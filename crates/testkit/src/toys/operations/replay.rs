//! Replays the operations of a log: the remaining messages, and their parents.

use boswell_model::{EntryKind, Log, Slot};

/// The result of a replay.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// The remaining messages, in order.
    pub(super) live: Vec<Slot>,
    /// The parent of each record. Dropped messages keep their parents: they are abandoned branches,
    /// which users can still find.
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
                        // It replaces the first one, and the child of that one becomes its child.
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
            // An unknown id drops everything, as in the agent.
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
