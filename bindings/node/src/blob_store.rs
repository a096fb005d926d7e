//! Large values by the digest of their bytes.

use boswell_binding::blob_id;
use boswell_store::blobs::Blobs;
use boswell_store::{Error, ErrorKind, Result};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::call::{Promised, promise};

/// Bytes that are stored once for each content. An id is `blob:sha256:` and the digest.
#[napi(js_name = "NativeBlobs")]
#[derive(Debug)]
pub(crate) struct NodeBlobs {
    inner: Option<Blobs>,
}

impl NodeBlobs {
    pub(crate) fn new(blobs: Option<Blobs>) -> NodeBlobs {
        NodeBlobs { inner: blobs }
    }
}

#[napi]
impl NodeBlobs {
    /// Stores bytes, durably, and returns their id.
    #[napi]
    pub fn put(&self, data: Buffer) -> Promised<String> {
        // A copy: the caller may change its buffer while the call runs.
        let (blobs, data) = (self.inner.clone(), data.to_vec());
        promise(move || Ok(there(blobs)?.put(&data)?.reference()))
    }

    /// The bytes of a blob, checked against its digest.
    #[napi]
    pub fn get(&self, id: String) -> Promised<Buffer> {
        let blobs = self.inner.clone();
        promise(move || Ok(there(blobs)?.get(&blob_id(&id)?)?.into()))
    }

    /// Whether a blob exists; its bytes are not checked.
    #[napi]
    pub fn has(&self, id: String) -> Promised<bool> {
        let blobs = self.inner.clone();
        promise(move || there(blobs)?.has(&blob_id(&id)?))
    }
}

fn there(blobs: Option<Blobs>) -> Result<Blobs> {
    blobs.ok_or_else(|| {
        let what = "a store in a database has no place for blobs";
        Error::new(ErrorKind::Unsupported, what).advising("keep the value in the entry")
    })
}
