//! Receipts and expectations.

use boswell_store::model::json::Json;
use boswell_store::{Durability, Expect, Receipt, Result, Revision};
use napi_derive::napi;

use crate::error::invalid;

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
pub(crate) struct AppendRules {
    pub expect_revision: Option<String>,
    pub expect_leaf: Option<String>,
    pub durability: Option<String>,
}

impl AppendRules {
    /// Reads the state that a caller expects.
    pub(crate) fn expectation(&self) -> Result<Expect> {
        match (&self.expect_revision, &self.expect_leaf) {
            (None, None) => Ok(Expect::Any),
            (None, Some(leaf)) => Ok(Expect::Leaf(leaf.as_str().into())),
            (Some(text), None) => Ok(Expect::Revision(revision(text)?)),
            (Some(_), Some(_)) => Err(invalid(
                "an append expects a revision or a leaf, not both",
                "leave one of `expectRevision` and `expectLeaf` out",
            )),
        }
    }

    /// Reads what an entry is to survive.
    pub(crate) fn durability(&self) -> Result<Durability> {
        match self.durability.as_deref() {
            None | Some("fsync") => Ok(Durability::Fsync),
            Some("os") => Ok(Durability::Os),
            Some(word) => Err(invalid(
                format!("`{}` is not a durability", word.escape_debug()),
                "write `fsync`, which survives a crash of the machine, or `os`",
            )),
        }
    }
}

pub(crate) fn revision(text: &str) -> Result<Revision> {
    text.parse()
}
