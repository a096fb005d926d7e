//! Reads the data of boswell's own `custom` entries.

use boswell_model::json::Raw;
use boswell_model::{Result, Slot};

use crate::session::Session;

/// Applies `read` to the data of an entry, if it is a `custom` entry of this type.
pub(crate) fn data<T>(
    session: &Session,
    slot: Slot,
    custom_type: &str,
    read: impl FnOnce(Raw<'_>) -> T,
) -> Result<Option<T>> {
    // The word is known without reading the entry.
    if session.log().word(slot) != "custom" {
        return Ok(None);
    }
    let payload = session.view().payload(slot)?.into_owned();
    let Ok(record) = Raw::parse(&payload) else {
        return Ok(None);
    };
    if !record
        .get("customType")
        .is_some_and(|found| found.is(custom_type))
    {
        return Ok(None);
    }
    Ok(Some(read(
        record.get("data").unwrap_or(Raw::trusted(b"null")),
    )))
}
