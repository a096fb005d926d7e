//! What a caller appends: a message, or a record in the form of the log.

use boswell_store::writer::Parent;
use boswell_store::{Body, Draft};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::invalid;
use crate::message::{body, json_text};

const HINT: &str = "give {\"role\": \"user\", \"content\": \"…\"}, or a record such as \
                    {\"type\": \"custom\", \"customType\": \"…\", \"data\": {…}}, or its JSON as bytes";

/// Reads one item. A message may state its own `id` and `parent`, a record `id` and `parentId`.
pub(crate) fn draft(item: &Bound<'_, PyAny>) -> PyResult<Draft> {
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(Draft::new(Body::Native(bytes.as_bytes().to_vec())));
    }
    let Ok(item) = item.cast::<PyDict>() else {
        return Err(invalid(item.py(), "this cannot be appended", HINT));
    };
    if item.contains("type")? {
        return Ok(Draft::new(Body::Native(json_text(item)?.into_bytes())));
    }
    if !item.contains("role")? {
        return Err(invalid(
            item.py(),
            "this has neither `role` nor `type`",
            HINT,
        ));
    }
    let id: Option<String> = extracted(item, "id")?;
    let parent: Option<String> = extracted(item, "parent")?;
    placed(Draft::new(body(item)?), id, parent, false)
}

fn extracted(item: &Bound<'_, PyDict>, key: &str) -> PyResult<Option<String>> {
    match item.get_item(key)? {
        Some(value) => value.extract(),
        None => Ok(None),
    }
}

/// Sets id and parent, as far as they are given.
pub(crate) fn placed(
    draft: Draft,
    id: Option<String>,
    parent: Option<String>,
    root: bool,
) -> PyResult<Draft> {
    let draft = match id {
        Some(id) => draft.with_id(id),
        None => draft,
    };
    Ok(match parent {
        Some(parent) => draft.below(Parent::Entry(parent.into())),
        None if root => draft.below(Parent::Root),
        None => draft,
    })
}

/// Reads a list of items.
pub(crate) fn drafts(items: &Bound<'_, PyAny>) -> PyResult<Vec<Draft>> {
    let mut drafts = Vec::new();
    for item in items.try_iter()? {
        drafts.push(draft(&item?)?);
    }
    Ok(drafts)
}
