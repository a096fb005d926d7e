//! Tests of the context for damaged files, compared case by case with the newest client.
//!
//! The expected values were read from requests of Claude Code 2.1.325 that resumed the same lines.
//! A file with side chains only is the one exception: the client does not resume it, but we read
//! it. One thing is left out on purpose: if a session ends with a message of the user, the client
//! inserts the answer "No response requested." before the next prompt. That is part of the next
//! request, not of the session.

mod calls;
mod compactions;
mod leaves;
mod links;
mod versions;

use super::fixture::{base, file};

const ALL: [&str; 9] = [
    "U ONE",
    "A one done",
    "U TWO",
    "A call t1 + call t2",
    "U result t1: out t1",
    "U result t2: out t2",
    "A two done",
    "U THREE",
    "A three done",
];

fn with(change: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
    let mut lines = base();
    change(&mut lines);
    file(&lines)
}

/// Returns the base session with the parent of one line replaced.
fn reparented(uuid: &str, parent: &str) -> Vec<u8> {
    with(|lines| reparent(lines, uuid, parent))
}

fn reparent(lines: &mut [String], uuid: &str, parent: &str) {
    let own = format!("\"uuid\":\"{uuid}\"");
    let line = lines.iter_mut().find(|line| line.contains(&own)).unwrap();
    let rest = line.split_once(",\"isSidechain\"").unwrap().1.to_owned();
    *line = format!("{{\"parentUuid\":{parent},\"isSidechain\"{rest}");
}

fn side(line: String) -> String {
    line.replace("\"isSidechain\":false", "\"isSidechain\":true")
}

fn without(expected: &[&str]) -> Vec<&'static str> {
    ALL.iter()
        .copied()
        .filter(|message| !expected.contains(message))
        .collect()
}
