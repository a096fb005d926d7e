//! What a hit says about the session or the memory file that it is in.

use boswell_find::Hit;
use boswell_store::store::{StoreId, Summary};

use crate::{RequestContext, text};

/// A session or a memory file with a hit.
pub(super) struct Holder {
    pub(super) reference: String,
    pub(super) agent: String,
    pub(super) project: Option<String>,
    pub(super) name: String,
}

impl Holder {
    pub(super) fn session(cx: &RequestContext, store: StoreId, summary: &Summary) -> Holder {
        let meta = &summary.meta;
        let store = cx.stores.get(store);
        let own = store.map_or("", |store| store.dialect().facts().agent);
        Holder {
            reference: summary.reference.to_string(),
            agent: meta.agent.clone().unwrap_or_else(|| own.to_owned()),
            project: meta.project.clone().filter(|project| !project.is_empty()),
            name: text::cut(&summary.name(), 50),
        }
    }

    pub(super) fn unknown(hit: &Hit) -> Holder {
        Holder {
            reference: hit.reference.to_string(),
            agent: String::new(),
            project: None,
            name: String::new(),
        }
    }
}
