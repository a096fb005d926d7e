//! The kinds of damage that trials use.

use super::{messages, order};
use crate::damage::{self, Damage};
use crate::rng::Rng;

/// Lines as JSON values; a line that is not JSON stays as it is.
pub(super) type Lines = Vec<Line>;

/// One line of a transcript.
#[derive(Debug, Clone)]
pub(super) enum Line {
    Json(serde_json::Value),
    Other(Vec<u8>),
}

impl Line {
    pub(super) fn json(&self) -> Option<&serde_json::Value> {
        match self {
            Line::Json(value) => Some(value),
            Line::Other(_) => None,
        }
    }

    pub(super) fn json_mut(&mut self) -> Option<&mut serde_json::Value> {
        match self {
            Line::Json(value) => Some(value),
            Line::Other(_) => None,
        }
    }
}

/// A change of the lines of a transcript.
pub(super) type Change = fn(&mut Lines, &mut Rng);

/// A kind of damage.
#[derive(Debug, Clone, Copy)]
pub enum Operator {
    /// One that every dialect's logs can have.
    Known(Damage),
    /// One of Claude Code's transcripts, by its name.
    Own(&'static str),
}

impl Operator {
    /// Returns an operator by number; numbers go around.
    pub fn nth(number: usize) -> Operator {
        let known = known();
        let own: Vec<&'static str> = changes().map(|(name, _)| name).collect();
        let at = number % (known.len() + own.len());
        match own.get(at) {
            Some(name) => Operator::Own(name),
            None => Operator::Known(
                known
                    .get(at - own.len())
                    .copied()
                    .unwrap_or(Damage::TornTail),
            ),
        }
    }

    /// Returns the name of the operator.
    pub fn name(self) -> String {
        match self {
            Operator::Known(damage) => format!("{damage:?}"),
            Operator::Own(name) => name.to_owned(),
        }
    }

    /// Damages a transcript at a random place.
    pub fn apply(self, bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
        match self {
            Operator::Known(damage) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                let place = rng.below(lines.max(1));
                damage::apply(damage, bytes, place, rng)
            }
            Operator::Own(name) => {
                let Some((_, change)) = changes().find(|(own, _)| *own == name) else {
                    return bytes.to_vec();
                };
                let (mut lines, ended) = parse(bytes);
                change(&mut lines, rng);
                join(&lines, ended)
            }
        }
    }
}

fn changes() -> impl Iterator<Item = (&'static str, Change)> {
    messages::CHANGES.iter().chain(order::CHANGES).copied()
}

/// The damages that change what a client does; a long line costs time and changes nothing.
fn known() -> Vec<Damage> {
    let is_short = |damage: &Damage| !matches!(damage, Damage::LongLine(_) | Damage::EmptyFile);
    damage::ALL.iter().copied().filter(is_short).collect()
}

fn parse(bytes: &[u8]) -> (Lines, bool) {
    let ended = bytes.ends_with(b"\n");
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = |line: &[u8]| match serde_json::from_slice(line) {
        // A value is written back with the same bytes only if it was written by the same writer.
        Ok(value) if is_same(&value, line) => Line::Json(value),
        _ => Line::Other(line.to_vec()),
    };
    (
        whole.split(|byte| *byte == b'\n').map(line).collect(),
        ended,
    )
}

fn is_same(value: &serde_json::Value, line: &[u8]) -> bool {
    value.to_string().as_bytes() == line
}

fn join(lines: &Lines, ended: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        match line {
            Line::Json(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Line::Other(bytes) => out.extend_from_slice(bytes),
        }
    }
    if ended {
        out.push(b'\n');
    }
    out
}

/// Returns the index of a random line that suits, if there is one.
pub(super) fn pick(
    lines: &Lines,
    rng: &mut Rng,
    suits: impl Fn(&serde_json::Value) -> bool,
) -> Option<usize> {
    let found: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.json().is_some_and(&suits))
        .map(|(index, _)| index)
        .collect();
    if found.is_empty() {
        return None;
    }
    found.get(rng.below(found.len())).copied()
}

/// Whether a record is a message of the user or the model.
pub(super) fn is_message(record: &serde_json::Value) -> bool {
    matches!(record["type"].as_str(), Some("user" | "assistant"))
}

/// Whether a record is part of the chain.
pub(super) fn is_link(record: &serde_json::Value) -> bool {
    record["uuid"].is_string()
        && matches!(
            record["type"].as_str(),
            Some("user" | "assistant" | "attachment" | "system" | "progress")
        )
}

/// Whether a message contains a block of this type.
pub(super) fn has_block(record: &serde_json::Value, word: &str) -> bool {
    let content = record.pointer("/message/content");
    let blocks = content.and_then(serde_json::Value::as_array);
    blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == word))
}
