//! Followers: new entries of a session while others write to it.

use std::sync::{Arc, Mutex, PoisonError};

use boswell_binding::poll_all;
use boswell_store::Follower;
use boswell_store::blobs::Blobs;
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::entry_page::{Collected, EntryPage};

/// Returns the entries of one session as they are written. Nothing blocks: the caller polls.
#[napi(js_name = "NativeFollower")]
#[derive(Debug)]
pub(crate) struct NodeFollower {
    inner: Arc<Mutex<Follower>>,
    blobs: Option<Blobs>,
}

impl NodeFollower {
    pub(crate) fn new(follower: Follower, blobs: Option<Blobs>) -> NodeFollower {
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
            let (generation, entries) = poll_all(&mut follower)?;
            let mut collected = Collected::new(blobs.as_ref());
            for entry in &entries {
                collected.add(entry)?;
            }
            Ok(collected.page(generation))
        })
    }
}
