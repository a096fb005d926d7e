//! The real client resumes sessions that boswell wrote, with exactly the right messages.

use boswell_testkit::disk;
use serde_json::Value;

use crate::claude_desk::{Desk, id_of};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

/// Runs three exchanges with the client; returns the session and the ids of its prompts.
fn three_turns(desk: &Desk) -> (String, Vec<String>) {
    desk.say("one", &["--session-id", ID]);
    desk.say("two", &["--resume", ID]);
    desk.say("three", &["--resume", ID]);
    let session = format!("claude:{ID}");
    let entries = desk.run(&["show", &session, "--json"]).of_type("entry");
    let is_prompt = |entry: &&Value| {
        ["one", "two", "three"]
            .iter()
            .any(|word| entry["text"] == *word)
    };
    let prompts: Vec<String> = entries
        .iter()
        .filter(is_prompt)
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(prompts.len(), 3);
    (session, prompts)
}

const ONE: [&str; 2] = ["u: one", "a: ECHO: one"];
const TWO: [&str; 4] = ["u: one", "a: ECHO: one", "u: two", "a: ECHO: two"];
const THREE: [&str; 6] = [
    "u: one",
    "a: ECHO: one",
    "u: two",
    "a: ECHO: two",
    "u: three",
    "a: ECHO: three",
];

fn text(ran: &crate::bench::Ran) -> String {
    ran.text().lines().last().unwrap().trim().to_owned()
}

#[test]
fn a_session_that_boswell_made_and_filled_is_taken_up_by_the_client() {
    let Some(desk) = Desk::new() else { return };
    let session = text(&desk.run(&["new", "--dialect", "claude", "--title", "会话 one"]));
    assert!(
        desk.log(id_of(&session)).is_file(),
        "it lies where the client looks for it"
    );
    desk.run(&["append", &session, "--user", "why? 你好 \u{2028} 🚀"]);
    desk.run(&["append", &session, "--assistant", "because"]);
    let call = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"pwd"}}]}}"#;
    let results = [1, 2].map(|n| {
        format!(r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n}","content":"out"}}]}}}}"#)
    });
    let input = format!(
        "{call}\n{}\n{}\n{{\"role\":\"assistant\",\"text\":\"done\"}}\n",
        results[0], results[1]
    );
    assert_eq!(
        crate::writing::fed(&desk.bench, &["append", &session, "--json"], &input)
            .ends(0)
            .lines()
            .len(),
        4
    );
    let expected = [
        "u: why? 你好 \u{2028} 🚀",
        "a: because",
        "a: look",
        r#"a: calls Bash {"command":"ls"}"#,
        r#"a: calls Bash {"command":"pwd"}"#,
        "u: result toolu_1",
        "u: result toolu_2",
        "a: done",
    ];
    assert_eq!(desk.context(&session), expected);
    assert_eq!(desk.resumed(&session, "and now?"), expected);
    assert_eq!(
        desk.context(&session).len(),
        expected.len() + 2,
        "the client went on in the same file"
    );
    desk.run(&["check", &session]);
    let output = desk.say("by its title", &["--resume", "会话 one"]);
    assert!(
        desk.model.asked("by its title").is_some(),
        "the client finds it by its title: {output:?}"
    );
}

#[test]
fn what_is_appended_is_a_child_of_the_clients_leaf() {
    let Some(desk) = Desk::new() else { return };
    let (session, _) = three_turns(&desk);
    desk.run(&["append", &session, "--user", "four", "--assistant", "five"]);
    let expected: Vec<&str> = THREE.into_iter().chain(["u: four", "a: five"]).collect();
    assert_eq!(desk.resumed(&session, "PROBE"), expected);
    // A torn end stays, on a separate line.
    let log = desk.log(ID);
    let mut bytes = disk::read(&log);
    bytes.extend_from_slice(b"{\"parentUuid\":\"x\",\"type\":\"us");
    disk::write(&log, &bytes);
    desk.run(&["append", &session, "--user", "six"]);
    assert!(
        disk::read(&log).starts_with(&bytes),
        "nothing that was there is gone"
    );
    assert_eq!(
        desk.resumed(&session, "AGAIN").last().map(String::as_str),
        Some("u: six")
    );
}

#[test]
fn the_client_follows_a_rewind_and_a_branch_and_a_reset() {
    let Some(desk) = Desk::new() else { return };
    let (session, prompts) = three_turns(&desk);
    let before = disk::read(&desk.log(ID));
    assert_eq!(
        desk.run(&["rewind", &session, &prompts[1]]).text().trim(),
        "two"
    );
    assert_eq!(desk.context(&session), ONE);
    desk.run(&["undo"]);
    assert_eq!(
        disk::read(&desk.log(ID)),
        before,
        "what was said by appending is taken back to the byte"
    );
    desk.run(&["rewind", &session, &prompts[2]]);
    assert_eq!(desk.resumed(&session, "other three"), TWO);
    desk.run(&["rename", &session, "a title does not move the leaf"]);
    // The abandoned branch can be selected again: the reply to `three`.
    let nodes = desk.run(&["tree", &session, "--json"]).of_type("node");
    let left = nodes
        .iter()
        .find(|node| node["text"] == "ECHO: three")
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    desk.run(&["branch", &session, &left]);
    assert_eq!(desk.context(&session), THREE);
    assert_eq!(desk.resumed(&session, "back again"), THREE);
    desk.run(&["branch", &session, "--root"]);
    assert_eq!(desk.context(&session), [] as [&str; 0]);
    desk.run(&["append", &session, "--user", "from the start"]);
    assert_eq!(
        desk.resumed(&session, "after a reset"),
        ["u: from the start"]
    );
}

#[test]
fn the_client_takes_up_forks_of_either_style_and_the_source_is_untouched() {
    let Some(desk) = Desk::new() else { return };
    let (session, prompts) = three_turns(&desk);
    desk.run(&["rename", &session, "source"]);
    let before = disk::read(&desk.log(ID));
    let nodes = desk.run(&["show", &session, "--json"]).of_type("entry");
    let second = nodes
        .iter()
        .find(|node| node["text"] == "ECHO: two")
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for style in ["client", "sdk"] {
        let whole = text(&desk.run(&["fork", &session, "--style", style]));
        let part = text(&desk.run(&[
            "fork",
            &session,
            "--style",
            style,
            "--at",
            &second,
            "--title",
            "second try",
        ]));
        assert_eq!(
            desk.resumed(&whole, &format!("whole {style}")),
            THREE,
            "{style}"
        );
        assert_eq!(
            desk.resumed(&part, &format!("part {style}")),
            TWO,
            "{style}"
        );
        let log = String::from_utf8(disk::read(&desk.log(id_of(&part)))).unwrap();
        let kept = log.contains(&format!(r#""uuid":"{}""#, prompts[0]));
        assert_eq!(kept, style == "client", "{style}");
        assert!(log.contains(&format!(
            r#""forkedFrom":{{"sessionId":"{ID}","messageUuid":"{}"}}"#,
            prompts[0]
        )));
        desk.run(&["check", &part]);
        let listed = desk
            .run(&["list", "--json", "--match", "second try"])
            .of_type("session");
        assert!(
            listed
                .iter()
                .any(|it| it["ref"] == part.as_str() && it["parent"] == ID),
            "{listed:?}"
        );
        let listed = desk
            .run(&["list", "--json", "--match", "source (fork)"])
            .of_type("session");
        assert!(
            listed.iter().any(|it| it["ref"] == whole.as_str()),
            "copies can be told apart: {listed:?}"
        );
    }
    assert_eq!(disk::read(&desk.log(ID)), before);
}

#[test]
fn titles_and_tags_are_the_clients_own_and_it_keeps_them() {
    let Some(desk) = Desk::new() else { return };
    desk.say("one", &["--session-id", ID]);
    let session = format!("claude:{ID}");
    desk.run(&["rename", &session, " red\nbuild "]);
    desk.run(&["tag", &session, "urgent"]);
    let side = desk.log(ID).with_extension("").join("custom-title.json");
    assert_eq!(disk::read(&side), br#"{"customTitle":"red build"}"#);
    desk.say("by title", &["--resume", "red build"]);
    assert!(desk.model.asked("by title").is_some());
    let found = desk
        .run(&["list", "--json", "--tag", "urgent"])
        .of_type("session");
    assert_eq!(
        (&found[0]["title"], &found[0]["ref"]),
        (&"red build".into(), &session.as_str().into())
    );
    // The client supports one tag: the second is stored in notes, and removed from there.
    desk.bench
        .run(["tag", &session, "later"])
        .ends(0)
        .says("note");
    assert_eq!(
        desk.run(&["list", "--json", "--tag", "later"])
            .of_type("session")
            .len(),
        1
    );
    desk.run(&["untag", &session, "later"]);
    assert_eq!(
        desk.run(&["list", "--json", "--tag", "later"])
            .of_type("session")
            .len(),
        0
    );
    assert_eq!(
        desk.run(&["list", "--json", "--tag", "urgent"])
            .of_type("session")
            .len(),
        1
    );
    desk.run(&["untag", &session, "urgent"]);
    assert_eq!(
        desk.run(&["list", "--json", "--tag", "urgent"])
            .of_type("session")
            .len(),
        0
    );
    desk.bench.run(["rename", &session, " \n "]).ends(2);
}

#[test]
fn a_deleted_session_is_gone_with_all_its_files_and_a_restored_one_is_taken_up() {
    let Some(desk) = Desk::new() else { return };
    let (session, _) = three_turns(&desk);
    let config = desk.config();
    let side = desk.log(ID).with_extension("");
    for (path, bytes) in [
        (side.join("subagents/agent-a1.jsonl"), "{}\n"),
        (side.join("tool-results/t.txt"), "out"),
        (
            config
                .join("file-history")
                .join(ID)
                .join("0123456789abcdef@v1"),
            "old",
        ),
        (config.join("tasks").join(ID).join("1.json"), "{}"),
        (config.join(format!("todos/{ID}-agent-{ID}.json")), "[]"),
        (config.join("session-env").join(ID).join("hook"), "A=1"),
    ] {
        disk::write(&path, bytes.as_bytes());
    }
    let others = config.join("history.jsonl");
    disk::write(&others, b"{}\n");
    desk.run(&["rename", &session, "gone soon"]);
    let holds = |text: &str| {
        boswell_testkit::corpus::files(&config)
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(text))
            .map(|path| (disk::read(&path), path))
            .collect::<Vec<_>>()
    };
    let before = holds(ID);
    assert!(before.len() >= 8, "{before:?}");
    desk.bench.run(["delete", &session]).ends(2);
    assert_eq!(holds(ID), before);
    desk.run(&["delete", "--apply", &session]);
    assert_eq!(holds(ID), []);
    assert!(!side.exists() && others.is_file());
    let output = desk.say("nobody", &["--resume", ID]);
    assert!(!output.status.success(), "{output:?}");
    desk.run(&["restore", &session]);
    let after = holds(ID);
    assert_eq!(after, before, "every file is back as it was");
    assert_eq!(desk.resumed(&session, "back"), THREE);
}

#[test]
fn what_a_session_was_allowed_is_asked_for_again_unless_the_user_says_otherwise() {
    let Some(desk) = Desk::new() else { return };
    desk.say("one", &["--session-id", ID]);
    let session = format!("claude:{ID}");
    let words = |more: &[&str], mark: &str| -> Vec<String> {
        let args: Vec<&str> = ["resume", &session, "--json"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let resume = desk.run(&args).lines().remove(0);
        let argv = resume["argv"]
            .as_array()
            .unwrap()
            .iter()
            .skip(1)
            .map(|word| word.as_str().unwrap().to_owned());
        let script = format!(
            r#"SCRIPT=[[{{"tool":"Bash","input":{{"command":"touch {mark}"}}}}],[{{"text":"ok"}}]]"#
        );
        argv.chain(["-p".to_owned(), script]).collect()
    };
    desk.client(&words(&[], "unasked"));
    assert!(
        !desk.bench.cwd().join("unasked").exists(),
        "nobody allowed it this time"
    );
    desk.say("two", &["--resume", ID]);
    desk.client(&words(&["--same-permissions"], "allowed"));
    assert!(
        desk.bench.cwd().join("allowed").exists(),
        "the user said: as before"
    );
}
