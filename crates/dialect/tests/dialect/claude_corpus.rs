//! Published session files are read completely and recognised, and have the context that the client
//! would send.
//!
//! Contexts were compared with the requests of Claude Code 2.1.325 that resumed the same files, as
//! far as it does.

#![expect(
    clippy::disallowed_methods,
    reason = "tests over the corpus read real files, named by the environment, and stop at the first that is not there"
)]

use boswell_dialect::claude::Claude;
use boswell_dialect::{Dialect, Match, Sample};
use boswell_model::json::{Member, Object, scan_object};

use crate::claude_support::{Session, files_below, root};

/// File, tip, entries of the branch, messages of the context, its first and last text.
const EXPECTED: &[(&str, &str, usize, usize, &str, &str)] = &[
    (
        "agent-sessions-schema-drift",
        "a1",
        1,
        1,
        "Read README and extracte",
        "Read README and extracte",
    ),
    (
        "agent-sessions-small",
        "att-nest",
        6,
        3,
        "Hello",
        "a.txt\nb.txt\n",
    ),
    (
        "claude-code-log-edge-cases",
        "edge_011",
        1,
        1,
        "Testing special characte",
        "Testing special characte",
    ),
    (
        "cli-995ebed6e4-2",
        "9a1d53b3",
        158,
        89,
        "We should add the agent ",
        "I can see there's a `Get",
    ),
    (
        "cli-c45bc32212-0",
        "122c196a",
        205,
        119,
        "when doing `entire resum",
        "Great! All tests pass. L",
    ),
    (
        "cli-e4c2a0fbd1-0",
        "ac88b9af",
        51,
        12,
        "This session is being co",
        "All tests pass and no li",
    ),
    (
        "context-evaluator-7e610ffc3f-1",
        "f20ad743",
        25,
        17,
        "<local-command-caveat>Ca",
        "Done. Changed all 6 \"Bro",
    ),
    ("ctx-neovate-session-1", "root", 0, 0, "", ""),
    (
        "ctx-session-iflow-malformed",
        "iflow-ma",
        1,
        1,
        "iflow after malformed or",
        "iflow after malformed or",
    ),
    (
        "entire-graph-0f3d39319d-1",
        "029aed90",
        67,
        20,
        "Review PR #36",
        "",
    ),
    ("getspecstory-session-system-only", "s-1", 1, 0, "", ""),
    (
        "git-sync-1792c3daba-0",
        "ed74db38",
        143,
        82,
        "review the changes, I'm ",
        "No response requested.",
    ),
    (
        "git-sync-62a3481172-0",
        "e7089bc2",
        41,
        21,
        "can you check why lintin",
        "Committed and pushed. CI",
    ),
    ("git-sync-86f7ee4631-0", "c3ef4b0f", 42, 17, "ship it", ""),
    (
        "git-sync-b26e1c2584-0",
        "afd37e16",
        357,
        278,
        "Is there an easy way to ",
        "Two commits, each self-c",
    ),
    (
        "spotter-agent-acompact-70d8e7",
        "5c2c89aa",
        15,
        15,
        "<system-reminder>\nPostTo",
        "\n\n<analysis>\nLet me trac",
    ),
    (
        "spotter-agent-acompact-946d2b",
        "f52738c8",
        2,
        2,
        "Your task is to create a",
        "\n\n<analysis>\nLet me chro",
    ),
    (
        "spotter-agent-acompact-e1f845",
        "b569c8ce",
        5,
        5,
        "<system-reminder>\nPostTo",
        "\n\n<analysis>\nLet me chro",
    ),
    (
        "spotter-agent-acompact-fffbd0",
        "eeb1170a",
        4,
        4,
        "<system-reminder>\nPostTo",
        "\n\n<analysis>\nLet me chro",
    ),
];

#[test]
fn every_file_is_sent_as_the_client_sends_it() {
    let Some(root) = root("BOSWELL_CORPUS") else {
        return;
    };
    let folder = root.join("claude-code");
    // A file without a row is listed and not compared: a new file in the corpus must not fail the
    // rows of others.
    for path in files_below(&folder, ".jsonl") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !EXPECTED.iter().any(|row| row.0 == name) {
            eprintln!("NOT PINNED: {name} has no row in EXPECTED");
        }
    }
    for (name, tip, branch, count, first, last) in EXPECTED {
        let session = Session::read(&folder.join(format!("{name}.jsonl")));
        assert_eq!(session.tip_label(), *tip, "{name}: tip");
        assert_eq!(session.branch().len(), *branch, "{name}: branch");
        let messages = session.messages();
        assert_eq!(messages.len(), *count, "{name}: messages");
        let text = |message: Option<&(String, String)>| {
            message
                .map_or("", |(_, text)| text.as_str())
                .chars()
                .take(24)
                .collect::<String>()
        };
        assert_eq!(text(messages.first()), *first, "{name}: first");
        assert_eq!(text(messages.last()), *last, "{name}: last");
    }
}

#[test]
fn spans_tile_every_file_of_every_agent() {
    let Some(root) = root("BOSWELL_CORPUS") else {
        return;
    };
    for path in files_below(&root, "") {
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            crate::claude_support::spans(&bytes) == bytes,
            "{}",
            path.display()
        );
    }
}

#[test]
fn no_file_of_any_agent_makes_a_question_fail() {
    let Some(root) = root("BOSWELL_CORPUS") else {
        return;
    };
    for path in files_below(&root, "") {
        let session = Session::read(&path);
        let count = session.read.log.heads.len();
        assert!(
            session.branch().len() <= count && session.messages().len() <= count + 2,
            "{}",
            path.display()
        );
        for (slot, _) in session.read.log.entries() {
            session
                .view()
                .with_object(slot, |object| Claude.view(object))
                .unwrap();
        }
        assert!(session.problems().len() <= count);
    }
}

/// Files in Claude Code's folder whose lines have another format.
const OTHERS: [&str; 2] = ["ctx-neovate-session-1", "getspecstory-session-system-only"];

/// Folders of the corpus with lines in the format of Claude Code. iFlow writes the same envelope,
/// message and blocks.
const FOLDERS: [&str; 2] = ["claude-code", "iflow"];

#[test]
fn files_of_the_clients_shape_are_recognised_and_others_are_not() {
    let Some(root) = root("BOSWELL_CORPUS") else {
        return;
    };
    for path in files_below(&root, "") {
        let bytes = std::fs::read(&path).unwrap();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_claude = FOLDERS
            .iter()
            .any(|folder| path.starts_with(root.join(folder)))
            && !OTHERS.contains(&stem.as_str());
        let likeness = recognise(&path.file_name().unwrap().to_string_lossy(), &bytes);
        assert_eq!(
            likeness > Match::No,
            is_claude,
            "{}: {likeness:?}",
            path.display()
        );
    }
}

fn recognise(name: &str, bytes: &[u8]) -> Match {
    let mut scanned: Vec<(&[u8], Vec<Member>)> = Vec::new();
    for line in bytes
        .split(|b| *b == b'\n')
        .filter(|line| line.first() == Some(&b'{'))
        .take(20)
    {
        let mut members = Vec::new();
        if let Ok(end) = scan_object(line, &mut members) {
            scanned.push((&line[..end], members));
        }
    }
    let records: Vec<_> = scanned
        .iter()
        .map(|(bytes, members)| Object::new(bytes, members))
        .collect();
    Claude.recognises(&Sample {
        name,
        folders: &[],
        records: &records,
    })
}
