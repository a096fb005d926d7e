//! A comparable summary of a session as a reader sees it.

use std::collections::BTreeMap;

use boswell_store::Session;
use boswell_store::model::{EntryKind, Tip};
use serde_json::Value;

/// Everything that a reader sees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Picture {
    /// Id and parent of each entry, in file order.
    pub(crate) entries: Vec<(String, Option<String>)>,
    /// The last entry.
    pub(crate) tip: Option<String>,
    /// The current leaf.
    pub(crate) leaf: Option<String>,
    /// Labels in force.
    pub(crate) labels: BTreeMap<String, String>,
    /// The title.
    pub(crate) title: Option<String>,
    /// Role and text of each message of the context.
    pub(crate) context: Vec<(String, String)>,
}

impl Picture {
    /// Summarises a session.
    pub(crate) fn of(session: &Session) -> Picture {
        let log = session.log();
        let name = |slot| log.label(slot).into_owned();
        let tip = session.tip().unwrap();
        let header = |slot| log.kind(slot) == EntryKind::Header;
        Picture {
            entries: log
                .slots()
                .filter(|slot| !header(*slot))
                .map(|slot| {
                    (
                        name(slot),
                        session
                            .tree()
                            .parent(slot)
                            .filter(|p| !header(*p))
                            .map(name),
                    )
                })
                .collect(),
            tip: tip.slot().map(name),
            leaf: session.leaf().unwrap().map(name),
            labels: session
                .meta()
                .labels_now()
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            title: session.meta().title.clone(),
            context: context(session, tip),
        }
    }
}

/// Returns role and text of each message of the context at a tip.
fn context(session: &Session, tip: Tip) -> Vec<(String, String)> {
    let items = session.context(tip).unwrap().items;
    let message = |item| {
        let message = session.render(item).unwrap().message;
        let parts = message
            .content
            .iter()
            .map(|part| serde_json::from_slice(&part.to_bytes()).unwrap());
        let text = parts
            .map(|part: Value| part["text"].as_str().unwrap_or_default().to_owned())
            .collect();
        (message.role, text)
    };
    items.iter().map(message).collect()
}
