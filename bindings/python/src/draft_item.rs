//! What a caller appends: a message, or a record in the form of the log.

use boswell_binding::{DraftPlace, Language, message_body};
use boswell_store::{Body, Draft};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{invalid, raise};
use crate::json::json_text;

const HINT: &str = "give {\"role\": \"user\", \"content\": \"…\"}, or a record such as \
                    {\"type\": \"custom\", \"customType\": \"…\", \"data\": {…}}, or its JSON as bytes";
const PLAIN: &str = "give texts, numbers, lists and dictionaries";

/// Reads one item. A message may state its own `id` and `parent`, a record `id` and `parentId`.
pub(crate) fn draft(item: &Bound<'_, PyAny>) -> PyResult<Draft> {
    let py = item.py();
    if let Ok(bytes) = item.cast::<PyBytes>() {
        return Ok(Draft::new(Body::Native(bytes.as_bytes().to_vec())));
    }
    let Ok(item) = item.cast::<PyDict>() else {
        return Err(invalid(py, "this cannot be appended", HINT));
    };
    if item.contains("type")? {
        return Ok(Draft::new(Body::Native(json_text(item)?.into_bytes())));
    }
    if !item.contains("role")? {
        return Err(invalid(py, "this has neither `role` nor `type`", HINT));
    }
    let Ok(text) = json_text(item) else {
        return Err(invalid(py, "a message has a value that is no JSON", PLAIN));
    };
    let body = message_body(&text, Language::Python).map_err(|error| raise(py, &error))?;
    let place = DraftPlace {
        id: extracted(item, "id")?,
        parent: extracted(item, "parent")?,
        root: false,
    };
    Ok(place.put(Draft::new(body)))
}

fn extracted(item: &Bound<'_, PyDict>, key: &str) -> PyResult<Option<String>> {
    match item.get_item(key)? {
        Some(value) => value.extract(),
        None => Ok(None),
    }
}

/// Reads a list of items.
pub(crate) fn drafts(items: &Bound<'_, PyAny>) -> PyResult<Vec<Draft>> {
    let mut drafts = Vec::new();
    for item in items.try_iter()? {
        drafts.push(draft(&item?)?);
    }
    Ok(drafts)
}
