//! Conditional requests: ETags by revision.
//!
//! The ETag of a session is its revision. Answers about its entries have the same ETag, marked as
//! weak, because their form depends on `Accept` and `Accept-Encoding` too.

use axum::http::{HeaderMap, HeaderName, header};

/// The conditions of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions {
    if_none_match: Vec<String>,
    /// The revision that a change requires, if it requires one.
    pub(crate) if_match: Option<String>,
}

impl Conditions {
    pub(crate) fn of(headers: &HeaderMap) -> Conditions {
        let text = |name: HeaderName| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let none = text(header::IF_NONE_MATCH).unwrap_or_default();
        Conditions {
            if_none_match: none.split(',').map(opaque).collect(),
            if_match: text(header::IF_MATCH).map(|it| opaque(&it)),
        }
    }

    /// Whether the client has this version already.
    pub(crate) fn has(&self, tag: &str) -> bool {
        let wanted = opaque(tag);
        let mut known = self.if_none_match.iter();
        known.any(|it| it == "*" || *it == wanted)
    }
}

/// Returns what is between the quotes of an ETag.
fn opaque(tag: &str) -> String {
    let tag = tag.trim();
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    tag.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_without_their_marks() {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, "W/\"a.1\", \"b.2\"".parse().unwrap());
        let conditions = Conditions::of(&headers);
        assert!(conditions.has("\"a.1\"") && conditions.has("W/\"b.2\""));
        assert!(!conditions.has("\"a.2\""));
        assert_eq!(conditions.if_match, None);
    }
}
