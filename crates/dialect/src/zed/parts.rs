//! The parts of a message: an object with one member, whose name is the type.

use boswell_model::json::{Raw, RawKind};
use boswell_model::{EntryKind, Part};

use crate::ROW_ITEM;
use crate::content_blocks;
use crate::members::{lossy, plain, text};

/// Returns the type of a message and its value; older threads have a role instead.
pub(super) fn message(record: Raw<'_>) -> Option<(&'static str, Raw<'_>)> {
    let tagged = ["User", "Agent", "Compaction"]
        .into_iter()
        .find_map(|tag| Some((tag, record.get(tag)?)));
    let older = || {
        record.get("segments")?;
        match text(record, "role").as_deref() {
            Some("user") => Some(("User", record)),
            Some("assistant") => Some(("Agent", record)),
            Some("system") => Some(("System", record)),
            _ => None,
        }
    };
    tagged.or_else(older)
}

/// Returns the kind of a record.
pub(super) fn kind(record: Raw<'_>) -> EntryKind {
    match message(record) {
        Some(("User", _)) => EntryKind::User,
        Some(("Agent", _)) => EntryKind::Assistant,
        Some(("System", _)) => EntryKind::System,
        Some(("Compaction", _)) => EntryKind::Compaction,
        _ if record.get(ROW_ITEM).is_some() => EntryKind::Meta,
        _ => EntryKind::Unknown,
    }
}

/// Returns the word of a record.
pub(super) fn word(record: Raw<'_>) -> String {
    match (message(record), record.get(ROW_ITEM)) {
        (Some((tag, _)), _) => tag.to_owned(),
        (None, Some(item)) => plain(item),
        (None, None) => String::new(),
    }
}

/// Returns the id of a message of the user; others have none.
pub(super) fn id(record: Raw<'_>) -> Option<String> {
    let (_, value) = message(record)?;
    value.get("id").filter(|it| !it.is_null()).map(plain)
}

/// Returns the parts of a message. Results of tools are beside the calls, by their ids.
pub(super) fn parts(record: Raw<'_>) -> Vec<Part> {
    let Some((tag, value)) = message(record) else {
        return Vec::new();
    };
    if tag == "Compaction" {
        let said = value.text().map(|it| it.into_owned());
        let said = said.or_else(|| text(value, "summary"));
        return vec![said.map_or_else(|| other("Compaction", value), Part::Text)];
    }
    let mut parts: Vec<Part> = Vec::new();
    for item in value.get("content").into_iter().flat_map(|it| it.items()) {
        parts.extend(content(item));
    }
    for segment in value.get("segments").into_iter().flat_map(|it| it.items()) {
        parts.extend(older(segment));
    }
    for call in value.get("tool_uses").into_iter().flat_map(|it| it.items()) {
        parts.push(tool_use(call));
    }
    let results = value.get("tool_results").into_iter();
    for result in results.flat_map(values) {
        let id = text(result, "tool_use_id").unwrap_or_default();
        let failed = result.get("is_error").and_then(|it| it.bool()) == Some(true);
        parts.extend(answered(id, result, failed));
    }
    parts
}

/// Returns the items of a list, or the values of a map.
fn values(of: Raw<'_>) -> Vec<Raw<'_>> {
    match of.kind() {
        RawKind::Object => of.members().map(|(_, value)| value).collect(),
        _ => of.items().collect(),
    }
}

fn other(word: &str, value: Raw<'_>) -> Part {
    Part::Other {
        word: word.to_owned(),
        json: lossy(value),
    }
}

/// The content of a result is a text, a list of tagged contents, or one of them.
fn answered(call: String, result: Raw<'_>, is_error: bool) -> Vec<Part> {
    let Some(content) = result.get("content") else {
        return content_blocks::result(call, result.get("output"), is_error);
    };
    let items: Vec<Raw<'_>> = match content.kind() {
        RawKind::Array => content.items().collect(),
        _ => vec![content],
    };
    let mut said = Vec::new();
    for item in items {
        let text_of = item.get("Text").or_else(|| item.get("text"));
        said.push(plain(text_of.unwrap_or(item)));
    }
    vec![Part::Result {
        call,
        text: said.join("\n"),
        is_error,
    }]
}

fn content(item: Raw<'_>) -> Option<Part> {
    let Some((tag, value)) = item.members().next() else {
        return item.text().map(|text| Part::Text(text.into_owned()));
    };
    let tag = tag.to_text();
    Some(match tag.as_ref() {
        "Text" => Part::Text(plain(value)),
        "Thinking" => Part::Thinking {
            text: text(value, "text").unwrap_or_default(),
            signature: text(value, "signature"),
        },
        "ToolUse" => tool_use(value),
        "Image" => match text(value, "source") {
            Some(data) => Part::image(data, "image/png"),
            None => other("Image", value),
        },
        tag => other(tag, value),
    })
}

fn tool_use(call: Raw<'_>) -> Part {
    let input = call.get("input").or_else(|| call.get("raw_input"));
    Part::Call {
        id: text(call, "id").unwrap_or_default(),
        name: text(call, "name").unwrap_or_default(),
        input: input.map(plain).unwrap_or_default().into(),
    }
}

fn older(segment: Raw<'_>) -> Option<Part> {
    let said = text(segment, "text");
    match text(segment, "type").as_deref() {
        Some("text") => said.map(Part::Text),
        Some("thinking") => said.map(|text| Part::Thinking {
            text,
            signature: crate::members::text(segment, "signature"),
        }),
        word => Some(other(word.unwrap_or_default(), segment)),
    }
}
