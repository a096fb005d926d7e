//! The text of attachments in a context: the client sends the recorded text again unchanged.

use boswell_model::json::{Object, Raw};

/// Returns the role under which the text is sent: `user` or `system`. `None` if the model never saw
/// the attachment.
pub(super) fn role(object: &Object<'_>) -> Option<&'static str> {
    parts(object).next()?;
    match object.get("renderedRole") {
        Some(role) if role.is("system") => Some("system"),
        _ => Some("user"),
    }
}

/// Iterates over the recorded texts, each a string or a list of blocks.
pub(super) fn parts<'a>(object: &Object<'a>) -> impl Iterator<Item = Raw<'a>> + use<'a> {
    let rendered = object.get("rendered");
    rendered
        .into_iter()
        .flat_map(|list| list.items())
        .filter_map(|part| part.get("content"))
}

/// Returns the type of the attachment.
pub(super) fn word<'a>(object: &Object<'a>) -> Option<std::borrow::Cow<'a, str>> {
    object.get("attachment")?.get("type")?.text()
}
