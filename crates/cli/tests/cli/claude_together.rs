//! Two real clients and boswell on one session: nothing is lost, and lost branches are found again.

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::disk;

use crate::claude_desk::Desk;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn held(name: &str) -> String {
    format!(r#"{name} asks SCRIPT=[[{{"hold":"{name}"}},{{"text":"{name} is answered"}}]]"#)
}

/// Waits until a client's prompt is in the log: the client sends its request before it writes.
fn wait_until_written(desk: &Desk, text: &str) {
    let written = || {
        disk::read(&desk.log(ID))
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    for _ in 0..600 {
        if written() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{text:?} was not written in time");
}

#[test]
fn while_a_client_is_at_work_the_conversation_is_its_own_and_the_rest_is_not() {
    let Some(desk) = Desk::new() else { return };
    desk.say("one", &["--session-id", ID]);
    let session = format!("claude:{ID}");
    let first = desk.run(&["show", &session, "--json"]).of_type("entry")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let client = desk.start(&held("gate"), &["--resume", ID]);
    desk.model.wait_for("gate", 1);
    let pid = client.id().to_string();
    let before = disk::read(&desk.log(ID));
    for args in [
        &["append", &session, "--user", "x"] as &[&str],
        &["branch", &session, &first],
        &["branch", &session, "--root"],
        &["rewind", &session, &first],
        &["delete", "--apply", &session],
    ] {
        desk.bench
            .run(args)
            .ends(3)
            .says(&format!("pid {pid}"))
            .says("boswell fork");
    }
    assert!(disk::read(&desk.log(ID)).starts_with(&before));
    let listed = desk.run(&["list", "--json"]).of_type("session");
    assert_eq!(listed[0]["live"], serde_json::json!([client.id()]));
    desk.run(&["rename", &session, "named meanwhile"]);
    desk.run(&["tag", &session, "busy"]);
    let fork = desk.run(&["fork", &session]).text().trim().to_owned();
    desk.model.release("gate");
    assert!(client.wait_with_output().unwrap().status.success());
    let listed = desk
        .run(&["list", "--json", "--tag", "busy"])
        .of_type("session");
    assert_eq!(
        (&listed[0]["title"], &listed[0]["live"]),
        (&"named meanwhile".into(), &serde_json::Value::Null)
    );
    desk.run(&["append", &session, "--user", "now it can"]);
    let said = desk.resumed(&session, "PROBE");
    assert_eq!(
        said[said.len() - 2..],
        ["a: gate is answered", "u: now it can"]
    );
    assert_eq!(
        desk.resumed(&fork, "PROBE OF THE FORK")[..2],
        ["u: one", "a: ECHO: one"]
    );
}

/// Returns the start time of a process as the kernel reports it.
pub(crate) fn start_of(pid: u32) -> String {
    let stat = String::from_utf8(disk::read(std::path::Path::new(&format!(
        "/proc/{pid}/stat"
    ))))
    .unwrap();
    stat.rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .nth(19)
        .unwrap()
        .to_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_counts_by_its_registry_only_while_it_lives() {
    let bench = crate::bench::Bench::new();
    let made = boswell_testkit::make::claude::file(
        boswell_testkit::make::claude::ClaudeShape::ALL[0],
        "/proj/demo",
        1,
    );
    made.write_to(&bench.home().join(".claude"));
    let session = format!("claude:{}", made.id);
    let own = std::process::id();
    let register = |pid: u32, start: &str| {
        let entry = format!(
            r#"{{"pid":{pid},"sessionId":"{}","procStart":"{start}","status":"idle"}}"#,
            made.id
        );
        bench.plant(&format!(".claude/sessions/{own}.json"), entry.as_bytes());
    };
    register(own, &start_of(own));
    bench
        .run(["append", &session, "--user", "x"])
        .ends(3)
        .says(&format!("pid {own}"));
    bench.run(["rename", &session, "meanwhile"]).ends(0);
    // Left by a client that was killed, whose pid is reused by another process or unused.
    register(own, "1");
    bench.run(["append", &session, "--user", "x"]).ends(0);
    register(i32::MAX.unsigned_abs(), "1");
    bench.run(["append", &session, "--user", "x"]).ends(0);
    bench.plant(&format!(".claude/sessions/{own}.json"), b"garbage");
    bench.run(["append", &session, "--user", "x"]).ends(0);
}

#[test]
fn a_session_whose_client_was_killed_goes_on() {
    let Some(desk) = Desk::new() else { return };
    desk.say("one", &["--session-id", ID]);
    let mut client = desk.start(&held("never"), &["--resume", ID]);
    desk.model.wait_for("never", 1);
    client.kill().unwrap();
    client.wait().unwrap();
    desk.run(&[
        "append",
        &format!("claude:{ID}"),
        "--assistant",
        "after the kill",
    ]);
    let said = desk.resumed(&format!("claude:{ID}"), "PROBE");
    assert_eq!(said.last().map(String::as_str), Some("a: after the kill"));
}

#[test]
fn the_branch_that_a_second_client_wrote_over_is_shown_and_can_be_stood_at() {
    let Some(desk) = Desk::new() else { return };
    desk.say("base", &["--session-id", ID]);
    let session = format!("claude:{ID}");
    let first = desk.start(&held("first"), &["--resume", ID]);
    desk.model.wait_for("first", 1);
    wait_until_written(&desk, "first asks");
    let second = desk.start(&held("second"), &["--resume", ID]);
    desk.model.wait_for("second asks", 1);
    wait_until_written(&desk, "second asks");
    desk.run(&["rename", &session, "two at once"]);
    desk.model.release("first");
    assert!(first.wait_with_output().unwrap().status.success());
    desk.model.release("second");
    assert!(second.wait_with_output().unwrap().status.success());
    let everything = desk
        .run(&["show", &session, "--records", "--json"])
        .of_type("entry");
    for text in [
        "base",
        "ECHO: base",
        "first is answered",
        "second is answered",
    ] {
        assert_eq!(
            everything
                .iter()
                .filter(|entry| entry["text"] == text)
                .count(),
            1,
            "{text}"
        );
    }
    let damage = desk
        .bench
        .run(["check", &session, "--json"])
        .ends(1)
        .of_type("damage");
    let lost: Vec<_> = damage
        .iter()
        .filter(|it| it["problem"] == "lost_branch")
        .collect();
    assert_eq!(lost.len(), 1, "{damage:?}");
    let end = lost[0]["entry"].as_str().unwrap();
    let nodes = desk.run(&["tree", &session, "--json"]).of_type("node");
    assert!(
        nodes
            .iter()
            .any(|node| node["id"] == end && node["on_branch"] == false),
        "{nodes:?}"
    );
    let stands = desk.resumed(&session, "who is here?");
    assert_eq!(
        stands.last().map(String::as_str),
        Some("a: second is answered")
    );
    desk.run(&["branch", &session, end]);
    let said = desk.resumed(&session, "and now?");
    let first = format!("u: {}", held("first"));
    assert_eq!(
        said,
        [
            "u: base",
            "a: ECHO: base",
            first.as_str(),
            "a: first is answered"
        ]
    );
}

#[test]
fn titles_given_while_two_clients_write_glue_no_lines() {
    let Some(desk) = Desk::new() else { return };
    desk.say("base", &["--session-id", ID]);
    let session = format!("claude:{ID}");
    let clients = ["left", "right"].map(|name| {
        let script: Vec<String> = (0..6)
            .map(|_| r#"[{"tool":"Bash","input":{"command":"true"}}]"#.to_owned())
            .collect();
        desk.start(
            &format!(
                "{name} SCRIPT=[{},[{{\"text\":\"{name} ends\"}}]]",
                script.join(",")
            ),
            &["--resume", ID],
        )
    });
    let mut given = 0;
    for number in 0..12 {
        let ran = desk
            .bench
            .run(["rename", &session, &format!("title {number}")]);
        // A client may have written between our read and our append: then nothing is appended, and
        // the command reports it.
        assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
        given += usize::from(ran.code == Some(0));
    }
    for client in clients {
        assert!(client.wait_with_output().unwrap().status.success());
    }
    assert!(given > 0);
    // A change that conflicted with a client's is not left half done.
    desk.run(&["rename", &session, "at last"]);
    assert!(desk.run(&["ops", "--json"]).of_type("op").len() > given);
    let log = disk::read(&desk.log(ID));
    for line in log
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
    }
    let text = String::from_utf8(log).unwrap();
    for said in ["left ends", "right ends"] {
        assert!(text.contains(said), "{said}");
    }
    let listed = desk.run(&["list", "--json"]).of_type("session");
    assert_eq!(listed.len(), 1, "{listed:#?}");
}

#[test]
fn an_old_client_takes_up_what_was_appended_and_forked() {
    let Some(client) = ClaudeClient::old_or_skip() else {
        return;
    };
    let desk = Desk::with(client);
    let model = ["--model", "claude-sonnet-4-5-20250929"];
    desk.say("one", &["--session-id", ID, model[0], model[1]]);
    let session = format!("claude:{ID}");
    desk.run(&["append", &session, "--user", "two", "--assistant", "three"]);
    let fork = desk
        .run(&["fork", &session, "--style", "sdk"])
        .text()
        .trim()
        .to_owned();
    let expected = ["u: one", "a: ECHO: one", "u: two", "a: three"];
    assert_eq!(desk.resumed(&session, "PROBE"), expected);
    assert_eq!(desk.resumed(&fork, "PROBE OF THE FORK"), expected);
    let first = desk.run(&["show", &session, "--json"]).of_type("entry")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    desk.bench
        .run(["branch", &session, &first])
        .ends(0)
        .says("2.1.150");
}
