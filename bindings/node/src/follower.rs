//! Followers: new entries of a session while others write to it.

use std::sync::{Arc, Mutex, PoisonError};

use boswell_store::blobs::Blobs;
use boswell_store::{Follower, Result};
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::entry_page::{Collected, EntryPage};

/// Returns the entries of one session as they are written. Nothing blocks: the caller polls.
#[napi(js_name = "NativeFollower")]
#[derive(Debug)]
pub(crate) struct NodeFollower {
    inner: Arc<Mutex<Follower>>,
    blobs: Blobs,
}

impl NodeFollower {
    pub(crate) fn new(follower: Follower, blobs: Blobs) -> NodeFollower {
        NodeFollower {
            inner: Arc::new(Mutex::new(follower)),
            blobs,
        }
    }
}

#[napi]
impl NodeFollower {
    /// Everything new since the last poll. The generation grows when the log was replaced; entries
    /// of earlier generations are void then.
    #[napi]
    pub fn poll(&self) -> Promised<EntryPage> {
        let (follower, blobs) = (Arc::clone(&self.inner), self.blobs.clone());
        promise(move || {
            let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
            polled(&mut follower, &blobs)
        })
    }
}

fn polled(follower: &mut Follower, blobs: &Blobs) -> Result<EntryPage> {
    let mut news = follower.poll()?;
    let mut entries = std::mem::take(&mut news.entries);
    while news.more {
        let more = follower.poll()?;
        if more.generation != news.generation {
            entries.clear();
        }
        news = more;
        entries.append(&mut news.entries);
    }
    let mut collected = Collected::default();
    for entry in &entries {
        collected.take(entry, blobs)?;
    }
    Ok(collected.page(news.generation))
}
