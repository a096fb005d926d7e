//! Damages of ids, links, order, times, compactions and statements about the leaf.

use serde_json::{Value, json};

use super::operators::{Change, Line, Lines, has_block, is_link, is_message, pick};
use crate::rng::Rng;

pub(super) const CHANGES: &[(&str, Change)] = &[
    ("ParentsPhantom", |lines, rng| {
        let ids: Vec<String> = lines.iter().map(|_| rng.uuid_v4()).collect();
        for (record, id) in lines.iter_mut().zip(ids) {
            if let Some(record) = record.json_mut().filter(|it| it["parentUuid"].is_string()) {
                record["parentUuid"] = json!(id);
            }
        }
    }),
    ("ParentsGone", |lines, _| {
        for record in lines.iter_mut().filter_map(Line::json_mut) {
            if let Some(members) = record.as_object_mut() {
                members.shift_remove("parentUuid");
            }
        }
    }),
    ("ParentNull", |lines, rng| {
        relink(lines, rng, |_, _| Value::Null)
    }),
    ("ParentEarlier", |lines, rng| {
        relink(lines, rng, |ids, at| ids.get(at / 2).cloned().into());
    }),
    ("ParentLater", |lines, rng| {
        relink(lines, rng, |ids, at| {
            ids.get(at + 2).or(ids.last()).cloned().into()
        });
    }),
    ("SameUuid", same_uuid),
    ("SameUuidRelinked", same_uuid_relinked),
    ("CallRemoved", |lines, rng| {
        remove_one(lines, rng, |record| has_block(record, "tool_use"));
    }),
    ("AnswerRemoved", |lines, rng| {
        remove_one(lines, rng, |record| record["type"] == "assistant")
    }),
    ("PromptRemoved", |lines, rng| {
        remove_one(lines, rng, |record| {
            record["type"] == "user" && !has_block(record, "tool_result")
        });
    }),
    ("RunRemoved", |lines, rng| {
        let from = rng.below(lines.len().max(1));
        let until = (from + 1 + rng.below(6)).min(lines.len());
        lines.drain(from.min(until)..until);
    }),
    ("TailRemoved", |lines, rng| {
        lines.truncate(1 + rng.below(lines.len().max(1)))
    }),
    ("HeadRemoved", |lines, rng| {
        drop(lines.drain(..rng.below(lines.len().max(1))))
    }),
    ("LinesSwapped", |lines, rng| {
        let at = rng.below(lines.len().max(2) - 1);
        lines.swap(at, at + 1);
    }),
    ("LineMovedToEnd", |lines, rng| {
        if let Some(at) = pick(lines, rng, is_message) {
            let line = lines.remove(at);
            lines.push(line);
        }
    }),
    ("ResultBeforeCall", |lines, rng| {
        let call = pick(lines, rng, |record| has_block(record, "tool_use"));
        let Some(call) = call else { return };
        let result = lines.iter().skip(call).position(|line| {
            line.json()
                .is_some_and(|record| has_block(record, "tool_result"))
        });
        if let Some(result) = result {
            let line = lines.remove(call + result);
            lines.insert(call, line);
        }
    }),
    ("TimesReversed", times_reversed),
    ("TimesEqual", |lines, _| {
        for record in lines
            .iter_mut()
            .filter_map(Line::json_mut)
            .filter(|it| is_link(it))
        {
            record["timestamp"] = json!("2026-01-01T00:00:00.000Z");
        }
    }),
    ("TimeOfOneNewest", |lines, rng| {
        if let Some(record) = pick(lines, rng, is_message).and_then(|at| lines[at].json_mut()) {
            record["timestamp"] = json!("2030-01-01T00:00:00.000Z");
        }
    }),
    ("Boundary", |lines, rng| boundary(lines, rng, true, false)),
    ("BoundaryUnlinked", |lines, rng| {
        boundary(lines, rng, false, false)
    }),
    ("BoundaryKeeps", |lines, rng| {
        boundary(lines, rng, true, true)
    }),
    ("BoundaryRemoved", |lines, rng| {
        remove_one(lines, rng, |record| record["subtype"] == "compact_boundary");
    }),
    ("LeafStated", |lines, rng| {
        let id = pick(lines, rng, is_message).and_then(|at| uuid_at(lines, at));
        lines.push(Line::Json(
            json!({"type": "last-prompt", "leafUuid": id, "explicit": true}),
        ));
    }),
    ("BranchBelowRoot", |lines, rng| {
        let first = lines
            .iter()
            .filter_map(Line::json)
            .find(|it| is_message(it))
            .cloned();
        let Some(mut record) = first else { return };
        record["parentUuid"] = record["uuid"].clone();
        record["uuid"] = json!(rng.uuid_v4());
        record["message"] = json!({"role": "user", "content": "a short branch <<9001>>"});
        record["type"] = json!("user");
        record["timestamp"] = json!("2030-01-01T00:00:00.000Z");
        lines.push(Line::Json(record));
    }),
];

fn uuid_at(lines: &Lines, at: usize) -> Option<String> {
    lines.get(at)?.json()?["uuid"].as_str().map(str::to_owned)
}

/// Gives one message another parent, chosen from the ids of the chain and its place among them.
fn relink(lines: &mut Lines, rng: &mut Rng, parent: fn(&[String], usize) -> Value) {
    let Some(at) = pick(lines, rng, is_message) else {
        return;
    };
    let ids: Vec<String> = lines
        .iter()
        .filter_map(|line| line.json()?["uuid"].as_str().map(str::to_owned))
        .collect();
    let own = uuid_at(lines, at).unwrap_or_default();
    let place = ids.iter().position(|id| *id == own).unwrap_or(0);
    if let Some(record) = lines[at].json_mut() {
        record["parentUuid"] = parent(&ids, place);
    }
}

/// Gives a message the id of another one.
fn same_uuid(lines: &mut Lines, rng: &mut Rng) {
    let (one, other) = (pick(lines, rng, is_message), pick(lines, rng, is_message));
    let (Some(one), Some(other)) = (one, other) else {
        return;
    };
    let id = uuid_at(lines, one);
    if let Some(record) = lines[other].json_mut() {
        record["uuid"] = id.into();
    }
}

/// Gives a message the id of an earlier one, also where it is named.
fn same_uuid_relinked(lines: &mut Lines, rng: &mut Rng) {
    let (one, other) = (pick(lines, rng, is_message), pick(lines, rng, is_message));
    let (Some(one), Some(other)) = (one, other) else {
        return;
    };
    let (one, other) = (one.min(other), one.max(other));
    let (Some(new), Some(old)) = (uuid_at(lines, one), uuid_at(lines, other)) else {
        return;
    };
    for record in lines.iter_mut().skip(other).filter_map(Line::json_mut) {
        for key in ["uuid", "parentUuid"] {
            if record[key] == *old {
                record[key] = json!(new);
            }
        }
    }
}

fn remove_one(lines: &mut Lines, rng: &mut Rng, suits: impl Fn(&Value) -> bool) {
    if let Some(at) = pick(lines, rng, suits) {
        lines.remove(at);
    }
}

fn times_reversed(lines: &mut Lines, _: &mut Rng) {
    let time = |line: &Line| line.json().map(|record| record["timestamp"].clone());
    let mut times: Vec<Value> = lines
        .iter()
        .filter_map(time)
        .filter(Value::is_string)
        .collect();
    for record in lines.iter_mut().filter_map(Line::json_mut) {
        if record["timestamp"].is_string() {
            record["timestamp"] = times.pop().unwrap_or(Value::Null);
        }
    }
}

/// Inserts a compaction before a message, which then follows it.
fn boundary(lines: &mut Lines, rng: &mut Rng, linked: bool, keeps: bool) {
    let Some(at) = pick(lines, rng, |it| {
        is_message(it) && it["parentUuid"].is_string()
    }) else {
        return;
    };
    let id = rng.uuid_v4();
    let Some(record) = lines[at].json_mut() else {
        return;
    };
    let parent = record["parentUuid"].clone();
    record["parentUuid"] = json!(id);
    let mut line = record.clone();
    line["type"] = json!("system");
    line["subtype"] = json!("compact_boundary");
    line["uuid"] = json!(id);
    line["parentUuid"] = Value::Null;
    line["content"] = json!("Conversation compacted");
    line["compactMetadata"] = json!({"trigger": "manual", "preTokens": 1});
    if linked {
        line["logicalParentUuid"] = parent.clone();
    }
    if keeps {
        line["compactMetadata"]["preservedMessages"] =
            json!({"anchorUuid": id, "uuids": [parent], "allUuids": [parent]});
    }
    if let Some(members) = line.as_object_mut() {
        members.shift_remove("message");
    }
    lines.insert(at, Line::Json(line));
}
