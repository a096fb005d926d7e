//! Damages of the content and the envelope of single records.

use serde_json::{Value, json};

use super::operators::{Change, Line, Lines, has_block, is_link, is_message, pick};
use crate::rng::Rng;

pub(super) const CHANGES: &[(&str, Change)] = &[
    ("MessageNull", |lines, rng| {
        set(lines, rng, "message", Value::Null)
    }),
    ("MessageText", |lines, rng| {
        set(lines, rng, "message", json!("error"))
    }),
    ("MessageGone", |lines, rng| drop_key(lines, rng, "message")),
    ("ContentGone", |lines, rng| content(lines, rng, None)),
    ("ContentNull", |lines, rng| {
        content(lines, rng, Some(Value::Null))
    }),
    ("ContentNumber", |lines, rng| {
        content(lines, rng, Some(json!(7)))
    }),
    ("ContentEmpty", |lines, rng| {
        content(lines, rng, Some(json!([])))
    }),
    ("ContentOfTexts", |lines, rng| {
        content(lines, rng, Some(json!(["wow"])))
    }),
    ("RoleGone", |lines, rng| {
        with(lines, rng, is_message, |record| {
            if let Some(message) = record["message"].as_object_mut() {
                message.shift_remove("role");
            }
        });
    }),
    ("UuidGone", |lines, rng| drop_key(lines, rng, "uuid")),
    ("UuidNull", |lines, rng| {
        set(lines, rng, "uuid", Value::Null)
    }),
    ("UuidsGone", |lines, _| {
        each(lines, |record| remove(record, "uuid"))
    }),
    ("TimestampsGone", |lines, _| {
        each(lines, |record| remove(record, "timestamp"))
    }),
    ("TimestampWrong", |lines, rng| {
        set(lines, rng, "timestamp", json!("yesterday"))
    }),
    ("TimestampNumber", |lines, rng| {
        set(lines, rng, "timestamp", json!(1_790_000_000))
    }),
    ("TypeGone", |lines, rng| drop_key(lines, rng, "type")),
    ("SessionsWrong", |lines, _| {
        each(lines, |record| {
            record["sessionId"] = json!("11111111-1111-4111-8111-111111111111")
        });
    }),
    ("SidechainOne", |lines, rng| {
        set(lines, rng, "isSidechain", json!(true))
    }),
    ("SidechainAll", |lines, _| {
        each(lines, |record| record["isSidechain"] = json!(true))
    }),
    ("MetaOne", |lines, rng| {
        set(lines, rng, "isMeta", json!(true))
    }),
    ("ErrorOne", |lines, rng| {
        with(
            lines,
            rng,
            |record| record["type"] == "assistant",
            |record| {
                record["isApiErrorMessage"] = json!(true);
            },
        );
    }),
    ("BlankBlock", |lines, rng| {
        with(
            lines,
            rng,
            |record| has_block(record, "text"),
            |record| {
                if let Some(blocks) = record
                    .pointer_mut("/message/content")
                    .and_then(Value::as_array_mut)
                {
                    blocks.insert(0, json!({"type": "text", "text": "\n\n"}));
                }
            },
        );
    }),
    ("BlankOnly", |lines, rng| {
        content(lines, rng, Some(json!([{"type": "text", "text": "\n\n"}])));
    }),
    ("NullLine", |lines, rng| {
        insert(lines, rng, Line::Other(b"null".to_vec()))
    }),
    ("ArrayLine", |lines, rng| {
        insert(lines, rng, Line::Other(b"[]".to_vec()))
    }),
    ("NumberLine", |lines, rng| {
        insert(lines, rng, Line::Other(b"7".to_vec()))
    }),
    ("TextLine", |lines, rng| {
        insert(lines, rng, Line::Other(b"\"text\"".to_vec()))
    }),
    ("EmptyObjectLine", |lines, rng| {
        insert(lines, rng, Line::Other(b"{}".to_vec()))
    }),
    ("Untouched", |_, _| {}),
];

fn with(
    lines: &mut Lines,
    rng: &mut Rng,
    suits: impl Fn(&Value) -> bool,
    change: impl FnOnce(&mut Value),
) {
    let at = pick(lines, rng, suits);
    if let Some(record) = at.and_then(|at| lines.get_mut(at)).and_then(Line::json_mut) {
        change(record);
    }
}

fn set(lines: &mut Lines, rng: &mut Rng, key: &str, value: Value) {
    with(lines, rng, is_message, |record| record[key] = value);
}

fn drop_key(lines: &mut Lines, rng: &mut Rng, key: &str) {
    with(lines, rng, is_message, |record| remove(record, key));
}

fn remove(record: &mut Value, key: &str) {
    if let Some(members) = record.as_object_mut() {
        members.shift_remove(key);
    }
}

fn content(lines: &mut Lines, rng: &mut Rng, value: Option<Value>) {
    with(lines, rng, is_message, |record| {
        let Some(message) = record["message"].as_object_mut() else {
            return;
        };
        match value {
            Some(value) => drop(message.insert("content".to_owned(), value)),
            None => drop(message.shift_remove("content")),
        }
    });
}

/// Changes every record of the chain.
fn each(lines: &mut Lines, change: impl Fn(&mut Value)) {
    for record in lines.iter_mut().filter_map(Line::json_mut) {
        if is_link(record) {
            change(record);
        }
    }
}

fn insert(lines: &mut Lines, rng: &mut Rng, line: Line) {
    let at = rng.below(lines.len() + 1);
    lines.insert(at, line);
}
