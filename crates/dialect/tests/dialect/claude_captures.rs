//! Every file that the real client wrote is read completely, and its tip is the one from which the
//! client resumes.
//!
//! Tips and contexts were compared with the requests of Claude Code 2.1.325 that resumed the same
//! files.

#![expect(
    clippy::disallowed_methods,
    reason = "tests over captures read real files, named by the environment, and stop at the first that is not there"
)]

mod a_to_m;
mod n_to_r;
mod s_to_z;

use boswell_dialect::claude::{Claude, project_key};
use boswell_dialect::{Dialect, MemoryFiles, SideFiles};
use boswell_model::EntryKind;

use crate::claude_support::{Session, files_below, root};

use a_to_m::A_TO_M;
use n_to_r::N_TO_R;
use s_to_z::S_TO_Z;

/// Scenario and file, tip, number of entries on the branch, roles of the context, its first and
/// last text.
type Expected = (
    &'static str,
    &'static str,
    usize,
    &'static str,
    &'static str,
    &'static str,
);

#[test]
fn every_capture_stands_where_the_client_takes_it_up_again() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = files_below(&root.join("claude-code"), ".jsonl");
    let mut seen = 0;
    for (name, tip, branch, roles, first, last) in A_TO_M.iter().chain(N_TO_R).chain(S_TO_Z) {
        let path = files
            .iter()
            .find(|path| short(path) == *name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        let session = Session::read(path);
        assert_eq!(session.tip_label(), *tip, "{name}: tip");
        assert_eq!(session.branch().len(), *branch, "{name}: branch");
        let messages = session.messages();
        let sent: String = messages
            .iter()
            .map(|(role, _)| role.chars().next().unwrap_or('?'))
            .collect();
        assert_eq!(sent, *roles, "{name}: roles");
        let text = |message: Option<&(String, String)>| {
            message.map_or("", |(_, text)| text.as_str()).to_owned()
        };
        assert_eq!(cut(&text(messages.first())), *first, "{name}: first");
        assert_eq!(cut(&text(messages.last())), *last, "{name}: last");
        seen += 1;
    }
    assert_eq!(seen, files.len(), "a capture without an expectation");
}

/// Returns the scenario and the start of the file's name.
fn short(path: &std::path::Path) -> String {
    let name = |path: &std::path::Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let project = path
        .ancestors()
        .find(|p| name(p).starts_with("-srv"))
        .unwrap_or(path);
    let scenario = project.parent().map(name).unwrap_or_default();
    let folder = name(project);
    let tail: String = folder
        .chars()
        .rev()
        .take(6)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    format!(
        "{scenario}/{tail}/{}",
        name(path).trim_end_matches(".jsonl")
    )
}

fn cut(text: &str) -> String {
    text.chars().take(24).collect()
}

#[test]
fn spans_tile_every_capture() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = files_below(&root.join("claude-code"), ".jsonl");
    assert!(files.len() > 90);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(
            crate::claude_support::spans(&bytes),
            bytes,
            "{}",
            path.display()
        );
    }
}

#[test]
fn no_line_of_a_capture_is_of_an_unknown_kind() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    for path in files_below(&root.join("claude-code"), ".jsonl") {
        let session = Session::read(&path);
        assert_eq!(session.read.log.gaps, [], "{}", path.display());
        for (slot, head) in session.read.log.entries() {
            assert_ne!(
                head.kind,
                EntryKind::Unknown,
                "{}: {}",
                path.display(),
                session.read.log.word(slot)
            );
        }
    }
}

#[test]
fn project_keys_of_the_captures_follow_from_the_folders_they_name() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let mut checked = 0;
    for path in files_below(&root.join("claude-code/paths"), ".jsonl") {
        let folder = path
            .parent()
            .and_then(|p| p.file_name())
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let project = Session::read(&path).read.meta.project.unwrap();
        // The folders were renamed in the captures, so the names of long ones no longer have the
        // hash of their path.
        if folder.len() <= 200 && project_key(&project).len() <= 200 {
            assert_eq!(project_key(&project), folder);
            checked += 1;
        }
    }
    assert!(checked >= 12, "{checked}");
}

#[test]
fn facts_of_captures_are_those_that_the_client_recorded() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let meta = |scenario: &str, start: &str| {
        let files = files_below(&root.join("claude-code").join(scenario), ".jsonl");
        let name = |path: &std::path::PathBuf| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(start)
        };
        Session::read(files.iter().find(|path| name(path)).unwrap())
            .read
            .meta
    };
    let plain = meta("plain", "aaaa");
    assert_eq!(plain.stated.usage.cost, Some(0.058_460_000_000_000_005));
    assert_eq!(plain.usage.total().output, Some(20));
    assert_eq!(plain.models, ["claude-opus-5-5"]);
    assert_eq!((plain.messages, plain.turns), (2, 1));
    let renamed = meta("interactive", "33bddc9c");
    assert_eq!(renamed.title.as_deref(), Some("Login bug fix"));
    assert_eq!(renamed.title_source.as_deref(), Some("user"));
    assert!(renamed.duration_ms.is_some());
    let branched = meta("interactive", "9620801f");
    assert_eq!(
        branched.parent.as_deref(),
        Some("c99b62da-2c1a-4a93-b269-80d1dbf6d76f")
    );
    let agent = meta("old-2.0.76", "agent-a016bda");
    assert_eq!(agent.hidden, Some("subagent"));
    assert_eq!(
        meta("git", "aaaa").git_branch.as_deref(),
        Some("wt"),
        "last held in a worktree"
    );
}

#[test]
fn the_branch_that_a_second_client_wrote_over_is_reported() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let lost = |scenario: &str| -> usize {
        files_below(&root.join("claude-code").join(scenario), ".jsonl")
            .iter()
            .map(|p| Session::read(p).problems().len())
            .sum()
    };
    assert_eq!(lost("concurrent"), 1);
    for scenario in [
        "multi",
        "rewindat",
        "compact",
        "interactive",
        "attach",
        "old-1.0.128",
        "subagent",
    ] {
        assert_eq!(lost(scenario), 0, "{scenario}");
    }
}

/// Returns the files below a folder as a store.
fn memory_files(folder: &std::path::Path) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    for path in files_below(folder, "") {
        let key = path
            .strip_prefix(folder)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        files.put(&key, std::fs::read(&path).unwrap(), None);
    }
    files
}

#[test]
fn stores_of_captures_are_discovered_from_their_folders() {
    let Some(root) = root("BOSWELL_CAPTURES") else {
        return;
    };
    let files = memory_files(&root.join("claude-code/old-2.0.76"));
    let found = Claude.discover(&files).unwrap();
    let count = |hidden: Option<&str>| found.sessions.iter().filter(|s| s.hidden == hidden).count();
    assert_eq!(
        (count(None), count(Some("empty")), count(Some("subagent"))),
        (1, 3, 9)
    );
    let files = memory_files(&root.join("claude-code/subagent"));
    let found = Claude.discover(&files).unwrap();
    let owned = found
        .sessions
        .iter()
        .filter(|s| s.owner.as_deref() == Some("aaaaaaaa-0001-4001-8001-000000000001"));
    assert_eq!(owned.count(), 2);
    let main = found.sessions.iter().find(|s| s.hidden.is_none()).unwrap();
    assert_eq!(Claude.side_files(&files, main).unwrap().len(), 4);
    let files = memory_files(&root.join("claude-code/old-2.1.17"));
    assert!(
        Claude.discover(&files).unwrap().problems.is_empty(),
        "its index lists the one session there is"
    );
}
