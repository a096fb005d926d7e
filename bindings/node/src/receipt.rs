//! Receipts and expectations.

use boswell_binding::{AppendRules, Language};
use boswell_store::model::json::Json;
use boswell_store::{Durability, Expect, Receipt, Result};
use napi_derive::napi;

/// Describes the acknowledgement of an entry.
pub(crate) fn described(receipt: &Receipt) -> Json {
    Json::object()
        .with("session", receipt.session.id.as_str())
        .with("entry", receipt.entry.as_str())
        .with("revision", receipt.revision.to_string())
        .with("deduplicated", receipt.deduplicated)
        .with("durability", receipt.durable.word())
}

/// What an append expects and promises.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub(crate) struct NodeAppendRules {
    pub expect_revision: Option<String>,
    pub expect_leaf: Option<String>,
    pub durability: Option<String>,
}

impl NodeAppendRules {
    /// Reads them.
    pub(crate) fn read(&self) -> Result<(Expect, Durability)> {
        let rules = AppendRules {
            expect_revision: self.expect_revision.as_deref(),
            expect_leaf: self.expect_leaf.as_deref(),
            durability: self.durability.as_deref(),
        };
        rules.read(Language::JavaScript)
    }
}
