//! What a caller appends: a message, or a record in the form of the log.

use boswell_binding::{DraftPlace, Language, message_body, refused};
use boswell_store::{Body, Draft, Result};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

const HINT: &str = "give { role: \"user\", content: \"…\" }, or a record such as \
                    { type: \"custom\", customType: \"…\", data: {…} }, or its JSON as bytes";

/// One item: exactly one of `message`, `record` and `bytes`. The first two are JSON.
#[napi(object, object_to_js = false)]
pub(crate) struct DraftItem {
    pub message: Option<String>,
    pub record: Option<String>,
    pub bytes: Option<Buffer>,
    pub id: Option<String>,
    pub parent: Option<String>,
    pub root: Option<bool>,
}

impl DraftItem {
    /// Reads the item. Without `id` and `parent`, a record may state its own `id` and `parentId`.
    fn draft(self) -> Result<Draft> {
        let body = match (self.message, self.record, self.bytes) {
            (Some(text), None, None) => message_body(&text, Language::JavaScript)?,
            (None, Some(text), None) => Body::Native(text.into_bytes()),
            (None, None, Some(bytes)) => Body::Native(bytes.to_vec()),
            _ => return Err(refused("this cannot be appended", HINT)),
        };
        let place = DraftPlace {
            id: self.id,
            parent: self.parent,
            root: self.root == Some(true),
        };
        Ok(place.put(Draft::new(body)))
    }
}

/// Reads a list of items.
pub(crate) fn drafts(items: Vec<DraftItem>) -> Result<Vec<Draft>> {
    items.into_iter().map(DraftItem::draft).collect()
}
