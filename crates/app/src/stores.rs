//! Lists the discovered stores, and what each supports.

use boswell_dialect::Capability;
use boswell_model::{Advice, Remark, Result};
use boswell_store::Store;
use boswell_store::links::{Conversation, drift};
use boswell_store::store::{Listing, StoreId};

use crate::list::{LookedAt, looked_at, warn_about};
use crate::sessions::counts::SessionCounts;
use crate::sessions::expiry::{AHEAD, Expiries};
use crate::shape::{Map, Maybe, shape};
use crate::{App, AppResult, RequestContext};

shape! {
    /// A store: the folder of an agent's sessions.
    StoreShape: "store" {
        /// the format of its sessions
        dialect: &'static str,
        /// name of the agent
        title: &'static str,
        /// its folder
        root: String,
        /// label in the settings
        label: Option<String>,
        /// how many sessions `list` shows
        sessions: usize,
        /// how many sessions `list` hides
        hidden: usize,
        /// size of all logs
        bytes: u64,
        /// how well it supports each operation: `native`, `rewrites`, `note`, `no`
        can: Map<&'static str>,
        /// problems of the store
        warnings: Vec<StoreWarning>,
    }

    /// A problem of a store.
    StoreWarning {
        /// kind of problem
        problem: &'static str,
        /// the file; absent for `lost_soon`
        path: Maybe<String>,
        /// for `lost_soon`: how many sessions
        sessions: Maybe<usize>,
        /// details, in one sentence
        detail: Remark,
    }

    /// Conversations of a store, compared with their transcripts in other stores.
    PairsShape: "pairs" {
        /// the format of the store
        dialect: &'static str,
        /// its folder
        root: String,
        /// conversations that are also in another store
        twice: usize,
        /// conversations that are only in this store
        once: usize,
        /// of these, conversations whose transcript is missing
        transcript_gone: usize,
        /// conversations in two stores whose copies differ
        drifted: usize,
        /// bytes of these conversations in this store
        bytes: u64,
        /// bytes in the other stores
        other_bytes: u64,
        /// both together
        total_bytes: u64,
        /// bytes in this store for each byte in the others
        ratio: Option<f64>,
    }
}

/// The discovered stores.
#[derive(Debug)]
pub struct StoreList {
    /// Stores that could be listed.
    pub stores: Vec<StoreShape>,
    /// Folders of agents that do not exist.
    pub absent: Vec<LookedAt>,
}

impl App {
    /// Lists the discovered stores: format, folder, sessions, bytes, capabilities.
    ///
    /// # Errors
    ///
    /// Any error of reading the list of kept copies.
    pub fn stores(&self) -> AppResult<StoreList> {
        self.answer(stores)
    }

    /// Compares conversations that exist in two stores, for each store that has any.
    ///
    /// # Errors
    ///
    /// Any error of reading notes or catalog.
    pub fn store_pairs(&self) -> AppResult<Vec<PairsShape>> {
        self.answer(pairs)
    }
}

fn stores(cx: &RequestContext) -> Result<StoreList> {
    let expiries = Expiries::read(cx)?;
    let counts = SessionCounts::of(cx)?;
    let mut stores = Vec::new();
    for (id, store) in cx.stores.iter() {
        match store.list() {
            Ok(listing) => {
                let soon = expiries
                    .lost_soon(id, store, &listing.sessions, cx.now)
                    .len();
                let counted = counts.split(id, listing.sessions.len());
                stores.push(store_shape(store, &listing, counted, soon));
                for error in boswell_store::store::unlisted(&listing.unlisted, store) {
                    cx.fail(error);
                }
            }
            Err(error) => cx.fail(error),
        }
    }
    let mut absent = looked_at(cx);
    absent.retain(|folder| !folder.exists);
    Ok(StoreList { stores, absent })
}

fn store_shape(
    store: &Store,
    listing: &Listing,
    (shown, hidden): (usize, usize),
    soon: usize,
) -> StoreShape {
    let sessions = &listing.sessions;
    let can = Capability::ALL.iter();
    let problems = listing.problems.iter();
    let problems = problems.map(|(key, problem)| StoreWarning {
        problem: problem.kind.word(),
        path: Maybe::Given(store.backend().describe(key)),
        sessions: Maybe::Absent,
        detail: Remark {
            text: problem.detail.clone(),
            advice: problem.advice.clone(),
        },
    });
    StoreShape {
        dialect: store.dialect().name(),
        title: store.dialect().facts().title,
        root: store.root().display().to_string(),
        label: store.label().map(str::to_owned),
        sessions: shown,
        hidden,
        bytes: sessions.iter().map(|s| s.size).sum(),
        can: can
            .map(|it| (it.word().to_owned(), store.support(*it).word()))
            .collect(),
        warnings: problems.chain(lost_soon(soon)).collect(),
    }
}

fn lost_soon(count: usize) -> Option<StoreWarning> {
    (count > 0).then(|| StoreWarning {
        problem: "lost_soon",
        path: Maybe::Absent,
        sessions: Maybe::Given(count),
        detail: Remark::new(format!(
            "{count} sessions will be deleted by their agent within {AHEAD} days and are not kept"
        ))
        .advising(Advice::KeepCopies),
    })
}

fn pairs(cx: &RequestContext) -> Result<Vec<PairsShape>> {
    let (conversations, rest) = cx.conversations()?;
    let pairs = cx
        .stores
        .iter()
        .filter_map(|(id, store)| pairs_of(id, store, &conversations))
        .collect();
    warn_about(cx, rest);
    Ok(pairs)
}

/// Returns the comparison of a store; `None` if no conversation of it has, or had, a transcript
/// elsewhere.
fn pairs_of(id: StoreId, store: &Store, conversations: &[Conversation]) -> Option<PairsShape> {
    let mut pairs = PairsShape {
        dialect: store.dialect().name(),
        root: store.root().display().to_string(),
        twice: 0,
        once: 0,
        transcript_gone: 0,
        drifted: 0,
        bytes: 0,
        other_bytes: 0,
        total_bytes: 0,
        ratio: None,
    };
    for conversation in conversations.iter().filter(|it| it.front.0 == id) {
        let (front, linked) = (&conversation.front.1, &conversation.linked);
        if linked.is_empty() {
            pairs.once += 1;
            pairs.transcript_gone += usize::from(!conversation.dangling.is_empty());
            continue;
        }
        pairs.twice += 1;
        pairs.bytes += front.location.size;
        let mut drifts = false;
        for (_, side) in linked {
            pairs.other_bytes += side.location.size;
            drifts |= !drift(front, side).is_empty();
        }
        pairs.drifted += usize::from(drifts);
    }
    if pairs.twice == 0 && pairs.transcript_gone == 0 {
        return None;
    }
    pairs.total_bytes = pairs.bytes + pairs.other_bytes;
    if pairs.other_bytes > 0 {
        pairs.ratio = Some(pairs.bytes as f64 / pairs.other_bytes as f64);
    }
    Some(pairs)
}
