//! What a caller appends: a message, or a record in the form of the log.

use boswell_store::writer::Parent;
use boswell_store::{Body, Draft, Result};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::error::invalid;
use crate::message::body;

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
            (Some(text), None, None) => body(&text)?,
            (None, Some(text), None) => Body::Native(text.into_bytes()),
            (None, None, Some(bytes)) => Body::Native(bytes.to_vec()),
            _ => return Err(invalid("this cannot be appended", HINT)),
        };
        let draft = match self.id {
            Some(id) => Draft::new(body).with_id(id),
            None => Draft::new(body),
        };
        Ok(match self.parent {
            Some(parent) => draft.below(Parent::Entry(parent.into())),
            None if self.root == Some(true) => draft.below(Parent::Root),
            None => draft,
        })
    }
}

/// Reads a list of items.
pub(crate) fn drafts(items: Vec<DraftItem>) -> Result<Vec<Draft>> {
    items.into_iter().map(DraftItem::draft).collect()
}
