//! A row of the index: nine fields with the names of Go's struct, which are the id and eight
//! members of the document (`FIELDS`).

use boswell_model::json::{Raw, RawKind, set_member};

use crate::json_layout;

use super::go_json::{self, NEVER};

/// The fields of a row in Go's order, and the members of a document that they come from. The id is
/// the file's name.
const FIELDS: [(&str, &str); 8] = [
    ("Backend", "backend"),
    ("Status", "status"),
    ("LastUsed", "last_used"),
    ("Model", "model"),
    ("WorkDir", "working_dir"),
    ("Title", "title"),
    ("Tags", "tags"),
    ("CreatedAt", "created_at"),
];

/// The correct row of a document: each field with its encoded value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row(Vec<(&'static str, Vec<u8>)>);

impl Row {
    /// Returns the row of a document; `None` if it is not a JSON object, which clinvoker would skip
    /// too.
    pub(crate) fn of(id: &str, document: &[u8]) -> Option<Row> {
        let document = Raw::parse(document)
            .ok()
            .filter(|raw| raw.kind() == RawKind::Object)?;
        let mut fields = vec![("ID", go_json::string(id))];
        for (name, member) in FIELDS {
            let value = go_json::member(document, member);
            let token = match name {
                "Tags" => tags(value),
                // Times are copied with their nanoseconds and offset.
                "LastUsed" | "CreatedAt" => text(value).unwrap_or_else(|| go_json::string(NEVER)),
                _ => text(value).unwrap_or_else(|| b"\"\"".to_vec()),
            };
            fields.push((name, token));
        }
        Some(Row(fields))
    }

    /// Returns the row as compact JSON.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        json_layout::object(&self.0, b"")
    }

    /// Returns the existing row with its wrong fields replaced; `None` if no field is wrong.
    pub(crate) fn fixed(&self, row: &[u8]) -> Option<Vec<u8>> {
        if Raw::trusted(row).kind() != RawKind::Object {
            return Some(self.bytes());
        }
        let mut new = row.to_vec();
        for (name, want) in &self.0 {
            if !go_json::member(Raw::trusted(&new), name)
                .is_some_and(|is| same(is, Raw::trusted(want)))
            {
                new = set_member(&new, &[name], want).unwrap_or_else(|_| self.bytes());
            }
        }
        (new != row).then_some(new)
    }
}

fn text(value: Option<Raw<'_>>) -> Option<Vec<u8>> {
    value
        .filter(|value| value.kind() == RawKind::String)
        .map(|value| value.bytes().to_vec())
}

fn tags(value: Option<Raw<'_>>) -> Vec<u8> {
    match value.filter(|value| value.kind() == RawKind::Array) {
        Some(tags) => json_layout::array(
            &tags
                .items()
                .map(|tag| tag.bytes().to_vec())
                .collect::<Vec<_>>(),
            b"",
        ),
        None => b"null".to_vec(),
    }
}

/// Whether two values are equal: strings by their text, lists item by item.
fn same(a: Raw<'_>, b: Raw<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (RawKind::String, RawKind::String) => a.text() == b.text(),
        (RawKind::Array, RawKind::Array) => {
            a.items().count() == b.items().count()
                && a.items()
                    .zip(b.items())
                    .all(|(a, b)| a.text() == b.text() && a.kind() == b.kind())
        }
        (a, b) => a == b && a == RawKind::Null,
    }
}
