//! Large values by the digest of their bytes.

use boswell_store::Result;
use boswell_store::blobs::{BlobId, Blobs};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::call::{Promised, promise};
use crate::error::invalid;

/// Bytes that are stored once for each content. An id is `blob:sha256:` and the digest.
#[napi(js_name = "NativeBlobs")]
#[derive(Debug)]
pub(crate) struct NodeBlobs {
    inner: Blobs,
}

impl NodeBlobs {
    pub(crate) fn new(blobs: Blobs) -> NodeBlobs {
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
        promise(move || Ok(blobs.put(&data)?.reference()))
    }

    /// The bytes of a blob, checked against its digest.
    #[napi]
    pub fn get(&self, id: String) -> Promised<Buffer> {
        let blobs = self.inner.clone();
        promise(move || Ok(blobs.get(&parsed(&id)?)?.into()))
    }

    /// Whether a blob exists; its bytes are not checked.
    #[napi]
    pub fn has(&self, id: String) -> Promised<bool> {
        let blobs = self.inner.clone();
        promise(move || blobs.has(&parsed(&id)?))
    }
}

fn parsed(id: &str) -> Result<BlobId> {
    BlobId::from_reference(id)
        .or_else(|| BlobId::parse(id))
        .ok_or_else(|| {
            invalid(
                format!("`{}` is not the id of a blob", id.escape_debug()),
                "give what `put` returned",
            )
        })
}
