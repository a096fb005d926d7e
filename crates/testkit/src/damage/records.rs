//! Damage inside records: texts, calls and results, fields.

use std::ops::Range;

use super::splice::{body_end, field, fields, find, string_after, text_place};
use super::{Damage, Log};

const CALLS: [&str; 3] = [
    "\"type\":\"tool_use\",\"id\":",
    "\"type\":\"toolCall\",\"id\":",
    "\"type\":\"function_call\"",
];
const RESULTS: [&str; 3] = [
    "\"tool_use_id\":",
    "\"toolCallId\":",
    "\"type\":\"function_call_output\",\"call_id\":",
];

pub(super) fn apply(damage: Damage, log: &mut Log, at: usize) {
    match damage {
        Damage::InvalidUtf8 => put(log, at, b"\xff\xc3(\xed\xa0\xbd"),
        Damage::LoneSurrogate => put(log, at, b"\\ud83d"),
        Damage::DuplicateKeys => {
            if let Some(open) = log[at].iter().position(|&byte| byte == b'{') {
                log[at].splice(open + 1..open + 1, *b"\"type\":\"overridden\",");
            }
        }
        Damage::DuplicateToolUseId => duplicate_call(log),
        Damage::ResultRemoved => {
            if let Some(line) = from(log, at, |line| result(line).is_some()) {
                log.remove(line);
            }
        }
        Damage::OrphanResult => orphan_result(log, at),
        Damage::DanglingCall => {
            if let Some(line) = log.iter().rposition(|line| is_call(line)) {
                log.truncate(line + 1);
            }
        }
        Damage::UnknownType => replace(log, at, "type", b"\"from_the_future\""),
        Damage::WrongSession => replace(
            log,
            at,
            "sessionId",
            b"\"00000000-0000-4000-8000-000000000bad\"",
        ),
        Damage::NoSession => drop_field(log, at, "sessionId"),
        Damage::NoTimestamp => drop_field(log, at, "timestamp"),
        Damage::UnsignedThinking => {
            empty_string(log, at, &["\"signature\":", "\"thinkingSignature\":"])
        }
        Damage::EmptyText => empty_string(log, at, &["\"text\":"]),
        Damage::SidechainTail => sidechain_tail(log),
        Damage::LongLine(mb) => lengthen(&mut log[at], mb),
        _ => {}
    }
}

fn orphan_result(log: &mut Log, at: usize) {
    if let Some(line) = from(log, at, |line| result(line).is_some()) {
        let place = result(&log[line]).unwrap_or_default();
        log[line].splice(place, *b"toolu_of_nobody");
    }
}

fn lengthen(line: &mut Vec<u8>, mb: usize) {
    let end = body_end(line);
    if end > 0 && line[end - 1] == b'}' {
        let comma = if fields(line).is_empty() { "" } else { "," };
        let pad = format!("{comma}\"pad\":\"{}\"", "x".repeat(mb * 1_000_000));
        line.splice(end - 1..end - 1, pad.into_bytes());
    }
}

/// Searches from a line to the end, then from the start.
fn from(log: &Log, at: usize, suits: impl Fn(&[u8]) -> bool) -> Option<usize> {
    (at..log.len()).chain(0..at).find(|&line| suits(&log[line]))
}

fn put(log: &mut Log, at: usize, bytes: &[u8]) {
    if let Some(place) = text_place(&log[at]) {
        log[at].splice(place..place, bytes.iter().copied());
    }
}

fn result(line: &[u8]) -> Option<Range<usize>> {
    RESULTS.iter().find_map(|mark| string_after(line, mark))
}

fn is_call(line: &[u8]) -> bool {
    CALLS
        .iter()
        .any(|mark| find(line, mark.as_bytes(), 0).is_some())
}

fn call_ids(line: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for mark in &CALLS[..2] {
        let mut from = 0;
        while let Some(at) = find(line, mark.as_bytes(), from) {
            from = at + mark.len();
            if let Some(place) = string_after(&line[at..], mark) {
                found.push(at + place.start..at + place.end);
            }
        }
    }
    found
}

fn duplicate_call(log: &mut Log) {
    let calls: Vec<(usize, Range<usize>)> = (0..log.len())
        .flat_map(|line| {
            call_ids(&log[line])
                .into_iter()
                .map(move |place| (line, place))
        })
        .collect();
    if let [(first, one), .., (second, other)] = calls.as_slice() {
        let id = log[*first][one.clone()].to_vec();
        log[*second].splice(other.clone(), id);
    }
}

fn replace(log: &mut Log, at: usize, key: &str, new: &[u8]) {
    if let Some(line) = from(log, at, |line| field(line, key).is_some()) {
        let place = field(&log[line], key).unwrap_or_default();
        log[line].splice(place, new.iter().copied());
    }
}

fn drop_field(log: &mut Log, at: usize, key: &str) {
    let Some(line) = from(log, at, |line| field(line, key).is_some()) else {
        return;
    };
    let all = fields(&log[line]);
    let Some(number) = all
        .iter()
        .rposition(|(name, _)| log[line][name.clone()] == *key.as_bytes())
    else {
        return;
    };
    // Up to the next key, or from the end of the value before.
    let cut = match all.get(number + 1) {
        Some((next, _)) => all[number].0.start - 1..next.start - 1,
        None if number > 0 => all[number - 1].1.end..all[number].1.end,
        None => all[number].0.start - 1..all[number].1.end,
    };
    log[line].drain(cut);
}

fn empty_string(log: &mut Log, at: usize, marks: &[&str]) {
    let place = |line: &[u8]| {
        marks
            .iter()
            .find_map(|mark| string_after(line, mark))
            .filter(|place| !place.is_empty())
    };
    if let Some(line) = from(log, at, |line| place(line).is_some()) {
        let cut = place(&log[line]).unwrap_or_default();
        log[line].drain(cut);
    }
}

fn sidechain_tail(log: &mut Log) {
    let Some(line) = log
        .iter()
        .rposition(|line| field(line, "isSidechain").is_some())
    else {
        return;
    };
    let mut copy = log[line].clone();
    for (key, new) in [
        ("isSidechain", "true"),
        ("uuid", "\"51de0000-0000-4000-8000-000000000000\""),
        ("parentUuid", "null"),
    ] {
        if let Some(place) = field(&copy, key) {
            copy.splice(place, new.bytes());
        }
    }
    if let Some(last) = log.last_mut().filter(|last| !last.ends_with(b"\n")) {
        last.push(b'\n');
    }
    log.push(copy);
}
