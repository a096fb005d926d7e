//! A session of the real client is deleted behind our back and restored: the client resumes it with
//! all its files.

use std::path::{Path, PathBuf};

use boswell_testkit::disk;

use crate::claude_desk::Desk;
use crate::keep::below;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
/// In non-interactive mode the client stores copies of files only with this setting.
const SETTINGS: &[u8] = br#"{"env":{"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING":"1"}}"#;

/// Runs one exchange in which the client starts a subagent and changes a file.
fn hold(desk: &Desk, file: &Path) {
    let file = file.to_str().unwrap();
    let script = serde_json::json!([
        [{"tool": "Agent", "input": {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}}],
        [{"tool": "Read", "input": {"file_path": file}}],
        [{"tool": "Edit", "input": {"file_path": file, "old_string": "red", "new_string": "green"}}],
        [{"text": "done"}],
    ]);
    let prompt = format!("mend it SCRIPT={script}");
    let more = ["--session-id", ID, "--tools", "Agent,Read,Edit"];
    let output = desk.say(&prompt, &more);
    assert!(output.status.success(), "{output:?}");
}

/// Returns the client's files of the session: its log, its side folder, and copies of files.
fn parts(desk: &Desk) -> [PathBuf; 3] {
    let log = desk.log(ID);
    [
        log.with_extension(""),
        desk.config().join("file-history").join(ID),
        log,
    ]
}

fn files(desk: &Desk) -> Vec<(PathBuf, Vec<u8>)> {
    let [side, copies, log] = parts(desk);
    let files = below(&side).into_iter().chain(below(&copies)).chain([log]);
    files
        .map(|path| (path.clone(), disk::read(&path)))
        .collect()
}

#[test]
fn a_swept_session_comes_back_with_its_subagent_and_its_files_and_the_client_goes_on() {
    let Some(desk) = Desk::new() else { return };
    disk::write(&desk.config().join("settings.json"), SETTINGS);
    let file = desk.work().join("build.txt");
    disk::write(&file, b"red\n");
    hold(&desk, &file);
    let session = format!("claude:{ID}");
    let before = files(&desk);
    let named = |part: &str| {
        before
            .iter()
            .filter(|(path, _)| path.to_string_lossy().contains(part))
            .count()
    };
    assert!(
        named("/subagents/agent-") >= 2 && named("/file-history/") == 1,
        "the client wrote them: {before:?}"
    );
    let said = desk.context(&session);
    for words in ["calls Agent", "calls Edit", "a: done"] {
        assert!(
            said.iter().any(|line| line.contains(words)),
            "{words}: {said:?}"
        );
    }

    desk.run(&["keep", "run"]);
    let [side, copies, log] = parts(&desk);
    std::fs::remove_dir_all(side).unwrap();
    std::fs::remove_dir_all(copies).unwrap();
    std::fs::remove_file(log).unwrap();
    let lost = desk.say("is anybody there?", &["--resume", ID]);
    assert!(
        !lost.status.success(),
        "without its log there is nothing to take up: {lost:?}"
    );

    desk.run(&["restore", &session]);
    assert_eq!(files(&desk), before, "byte for byte");
    assert_eq!(desk.resumed(&session, "go on"), said);
    let subagents = desk.run(&["list", "--hidden", "--json"]).of_type("session");
    assert!(
        subagents
            .iter()
            .any(|it| it["hidden"] == "subagent" && it["parent"] == ID),
        "{subagents:?}"
    );
    assert_eq!(disk::read(&file), b"green\n");
    let prompt = desk
        .run(&["show", &session, "--json"])
        .of_type("entry")
        .remove(0);
    let words = [
        "--resume",
        ID,
        "--rewind-files",
        prompt["id"].as_str().unwrap(),
    ]
    .map(str::to_owned);
    let rewound = desk.client(&words);
    assert_eq!(
        disk::read(&file),
        b"red\n",
        "the client finds its copies of files: {rewound:?}"
    );
}
