//! Converts entries that are not sent to a model but that people still read.
//!
//! A record that the format has no place for becomes a `custom` entry `boswell.import` with the
//! original record.

use boswell_dialect::Body;
use boswell_model::json::Json;
use boswell_model::{EntryKind, MediaSource, Part, Result, Slot, View};

use super::message::{EarlierFacts, known, push_message};
use crate::Session;
use crate::blobs::base64;

/// An image longer than this stays in its original record.
const LONGEST_IMAGE: usize = 64 << 20;

/// Converts an entry.
pub(super) fn record(
    source: &Session,
    slot: Slot,
    earlier: &mut EarlierFacts,
) -> Result<Vec<Body>> {
    let entry = source.entry(slot)?;
    let kind = source.log().kind(slot);
    let view = entry.view.unwrap_or_default();
    for (id, name, _) in view.calls() {
        earlier.reader.note_call(id, name);
    }
    let mut bodies = match kind {
        EntryKind::User | EntryKind::ToolResult | EntryKind::Assistant => {
            message_bodies(&view, kind, earlier)
        }
        EntryKind::Title => vec![Body::Title(view.text())],
        EntryKind::BranchSummary => vec![Body::BranchSummary {
            from: None,
            summary: view.text(),
        }],
        // The cut is converted together with what is kept; an earlier compaction only has a
        // summary.
        EntryKind::Compaction => {
            vec![Body::Compaction {
                summary: view.text(),
                first_kept: "".into(),
                tokens_before: 0,
            }]
        }
        _ => Vec::new(),
    };
    let empty = |body: &Body| matches!(body, Body::Title(text) | Body::Compaction { summary: text, .. } if text.trim().is_empty());
    bodies.retain(|body| !empty(body));
    if bodies.is_empty() || view.parts.iter().any(has_no_place) {
        bodies.push(original(source, slot, &entry.bytes));
    }
    Ok(bodies)
}

/// Converts an entry with metadata that is not sent to a model: to a title, else to its original
/// record.
pub(super) fn side_files(source: &Session, slot: Slot) -> Result<Body> {
    let entry = source.entry(slot)?;
    let title = entry
        .view
        .filter(|_| source.log().kind(slot) == EntryKind::Title)
        .map(|view| view.text());
    match title.filter(|title| !title.trim().is_empty()) {
        Some(title) => Ok(Body::Title(title)),
        None => Ok(original(source, slot, &entry.bytes)),
    }
}

/// The record itself, for what has no place in our format.
pub(super) fn original(source: &Session, slot: Slot, bytes: &[u8]) -> Body {
    let data = Json::object().with("word", source.log().word(slot));
    let data = match std::str::from_utf8(bytes) {
        Ok(text) => data.with("record", text),
        Err(_) => data.with("base64", base64::encode(bytes)),
    };
    Body::Custom {
        kind: "boswell.import".to_owned(),
        data: Some(data),
    }
}

/// Returns messages and tool results in order: some dialects store both in one record.
fn message_bodies(view: &View, who: EntryKind, earlier: &mut EarlierFacts) -> Vec<Body> {
    let mut bodies = Vec::new();
    let mut waiting = Vec::new();
    let by_model = who == EntryKind::Assistant;
    for part in &view.parts {
        let Part::Result {
            call,
            text,
            is_error,
        } = part
        else {
            waiting.extend(placed(part));
            continue;
        };
        push_message(
            by_model,
            Some(view),
            std::mem::take(&mut waiting),
            earlier,
            &mut bodies,
        );
        let tool = earlier.reader.tool(call).or(view.tool.as_deref());
        let tool = tool.unwrap_or("tool").to_owned();
        let content = vec![Part::Text(text.clone())];
        bodies.push(Body::ToolResult {
            call: call.clone(),
            tool,
            content,
            is_error: *is_error,
        });
    }
    push_message(by_model, Some(view), waiting, earlier, &mut bodies);
    // What it cost is counted once.
    let answers = bodies.iter_mut().filter_map(|body| {
        if let Body::Assistant(it) = body {
            Some(it)
        } else {
            None
        }
    });
    if let (Some(last), Some(usage)) = (answers.last(), &view.usage) {
        last.usage = *usage;
    }
    bodies
}

/// A part that our format has a place for.
fn placed(part: &Part) -> Option<Part> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        part if has_no_place(part) => None,
        Part::Media {
            mime: None,
            source: MediaSource::Inline(data),
        } => Some(Part::image(data, "image/png")),
        part => known(part.clone()),
    }
}

fn has_no_place(part: &Part) -> bool {
    match part {
        Part::Other { .. }
        | Part::Media {
            source: MediaSource::Reference(_),
            ..
        } => true,
        Part::Media {
            source: MediaSource::Inline(data),
            ..
        } => data.len() > LONGEST_IMAGE,
        _ => false,
    }
}
