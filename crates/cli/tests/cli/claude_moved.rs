//! A renamed project folder: the real client finds its sessions there after `move`.

use boswell_testkit::disk;

use crate::claude_desk::Desk;
use crate::keep::below;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const SAID: [&str; 4] = ["u: one", "a: ECHO: one", "u: two 你好", "a: ECHO: two 你好"];

fn projects(desk: &Desk) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = below(&desk.config().join("projects")).into_iter();
    files
        .map(|path| (path.clone(), disk::read(&path)))
        .collect()
}

#[test]
fn a_moved_session_is_continued_and_resumed_in_the_new_folder_and_undo_brings_all_back() {
    let Some(desk) = Desk::new() else { return };
    let mut desk = desk.working_in("old_app");
    let old = desk.work().to_str().unwrap().to_owned();
    desk.say("one", &["--session-id", ID]);
    desk.say("two 你好", &["--resume", ID]);
    desk.rename_work("新 app");
    let new = desk.work().to_str().unwrap().to_owned();
    desk.say("anybody?", &["--continue", "--no-session-persistence"]);
    let sent = serde_json::to_string(&desk.model.asked("anybody?").unwrap()).unwrap();
    assert!(
        !sent.contains("ECHO: one"),
        "in the new folder the client knows of nothing yet: {sent}"
    );
    let before = projects(&desk);
    desk.run(&["move", &old, &new, "--apply"]);
    desk.run(&["undo"]);
    assert_eq!(projects(&desk), before);
    desk.run(&["move", &old, &new, "--apply"]);
    assert_eq!(desk.continued("go on"), SAID);
    let all: Vec<&str> = SAID
        .into_iter()
        .chain(["u: go on", "a: ECHO: go on"])
        .collect();
    assert_eq!(desk.resumed(ID, "and on"), all);
    assert_eq!(
        desk.context(&format!("claude:{ID}")).len(),
        all.len() + 2,
        "boswell reads the same"
    );
}
