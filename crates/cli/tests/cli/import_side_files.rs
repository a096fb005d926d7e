//! Import: the side files of a session are copied, and every command that reads them finds them
//! again.

use std::path::{Path, PathBuf};

use boswell_testkit::corpus;
use boswell_testkit::disk::{read, write};
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};
use crate::pi_lab::{Lab, header, user};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

fn claude(uuid: &str, parent: Option<&str>, kind: &str, content: Value, more: Value) -> String {
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/w", "sessionId": ID, "version": "2.1.300", "message": {"role": kind, "content": content},
    });
    if kind == "assistant" {
        line["message"]["model"] = "m".into();
        line["message"]["id"] = format!("msg_{uuid}").into();
        line["message"]["type"] = "message".into();
    }
    for (key, value) in more.as_object().unwrap() {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

/// Creates a Claude session with one side file of every kind.
fn plant(bench: &Bench) -> PathBuf {
    let root = bench.home().join(".claude");
    let side_files =
        |name: &str, bytes: &[u8]| write(&root.join(format!("projects/-w/{ID}/{name}")), bytes);
    let (call, result) = (
        |id: &str, tool: &str| json!([{"type":"tool_use","id":id,"name":tool,"input":{}}]),
        |id: &str, text: &str| json!([{"type":"tool_result","tool_use_id":id,"content":text}]),
    );
    let spilled =
        json!({"toolUseResult":{"persistedOutputPath":format!("/old/{ID}/tool-results/b1.txt")}});
    let log = [
        claude("u1", None, "user", json!("查一下"), json!({})),
        claude(
            "a1",
            Some("u1"),
            "assistant",
            call("toolu_task", "Task"),
            json!({}),
        ),
        claude(
            "r1",
            Some("a1"),
            "user",
            result("toolu_task", "it is red"),
            json!({}),
        ),
        claude(
            "a2",
            Some("r1"),
            "assistant",
            call("toolu_cat", "Bash"),
            json!({}),
        ),
        claude(
            "r2",
            Some("a2"),
            "user",
            result("toolu_cat", "<persisted-output>cut"),
            spilled,
        ),
        claude(
            "a3",
            Some("r2"),
            "assistant",
            json!([{"type":"text","text":"done"}]),
            json!({}),
        ),
    ];
    side_files(
        "subagents/agent-a1.meta.json",
        br#"{"toolUseId":"toolu_task","description":"look at the build"}"#,
    );
    let side = json!({"isSidechain":true,"agentId":"a1"});
    let agent = [
        claude("s1", None, "user", json!("look at the build"), side.clone()),
        claude(
            "s2",
            Some("s1"),
            "assistant",
            json!([{"type":"text","text":"a rule is missing"}]),
            side,
        ),
    ];
    side_files("subagents/agent-a1.jsonl", agent.concat().as_bytes());
    side_files("tool-results/b1.txt", "line 1\n第999行\n".as_bytes());
    side_files("images/1.png", b"\x89PNG\r\n\x1a\nnot really");
    write(
        &root.join(format!("file-history/{ID}/0123456789abcdef@v1")),
        b"old file\n",
    );
    write(
        &root.join(format!("tasks/{ID}/1.json")),
        b"{\"subject\":\"task\"}",
    );
    let path = root.join(format!("projects/-w/{ID}.jsonl"));
    write(&path, log.concat().as_bytes());
    path
}

#[track_caller]
fn import(bench: &Bench, path: &Path) -> (String, Value) {
    let made = bench
        .run(["import", path.to_str().unwrap(), "--json"])
        .ends(0)
        .of_type("session")
        .remove(0);
    (made["ref"].as_str().unwrap().to_owned(), made)
}

fn kinds(files: &Value) -> Vec<&str> {
    let mut kinds: Vec<&str> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    kinds
}

/// Returns every file below a folder, with its bytes.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = corpus::files(folder)
        .into_iter()
        .map(|path| (path.clone(), read(&path)))
        .collect();
    found.sort();
    found
}

/// Checks that all side files of the session are found.
fn found_again(bench: &Bench, session: &str) {
    let shown = bench
        .run(["show", session, "--subagents", "--json"])
        .ends(0)
        .of_type("entry");
    let of_agent = |entry: &&Value| entry["session"].as_str().unwrap().ends_with(".agent-a1");
    let said: Vec<&str> = shown
        .iter()
        .filter(of_agent)
        .filter_map(|entry| entry["text"].as_str())
        .collect();
    assert_eq!(said, ["look at the build", "a rule is missing"]);
    let first = shown.iter().position(|entry| of_agent(&entry)).unwrap();
    assert_eq!(
        shown[first - 1]["tool"]["call"],
        "toolu_task",
        "it stands below the call that started it"
    );
    let text = bench.run(["show", session]).ends(0).text();
    assert!(
        text.contains("agent-a1: look at the build") && !text.contains("第999行"),
        "{text}"
    );
    assert!(
        bench
            .run(["show", session, "--tools=full"])
            .ends(0)
            .text()
            .contains("第999行"),
        "the whole output is shown"
    );
    let files = bench
        .run(["files", session, "--json"])
        .ends(0)
        .of_type("checkpoint");
    assert_eq!(files.len(), 1);
    assert_eq!(
        read(Path::new(files[0]["path"].as_str().unwrap())),
        b"old file\n"
    );
    let listed = bench
        .run(["attachments", session, "--json"])
        .ends(0)
        .of_type("attachment");
    let place = listed[0]["place"].as_str().unwrap();
    assert_eq!(
        (listed.len(), read(Path::new(place))),
        (1, b"\x89PNG\r\n\x1a\nnot really".to_vec())
    );
    bench.run(["check", session]).ends(0);
}

#[test]
fn every_side_file_of_a_claude_session_is_imported_and_found() {
    let bench = Bench::new();
    let log = plant(&bench);
    let before = tree(&bench.home());
    let (session, made) = import(&bench, &log);
    let expected = [
        "attachment",
        "checkpoint",
        "meta",
        "meta",
        "subagent",
        "tool_output",
    ];
    assert_eq!(kinds(&made["brought"]), expected);
    assert_eq!(made["left"], json!([]));
    assert_eq!(tree(&bench.home()), before, "the source stays as it is");
    found_again(&bench, &session);
    let hits = bench
        .run(["search", "rule is missing", "--json"])
        .ends(0)
        .of_type("hit");
    assert!(
        hits.iter()
            .any(|hit| hit["session"].as_str().unwrap().starts_with(&session)),
        "{hits:?}"
    );
}

#[test]
fn importing_again_adds_nothing_and_what_is_deleted_goes_with_its_files() {
    let bench = Bench::new();
    let log = plant(&bench);
    let (session, _) = import(&bench, &log);
    let before = tree(&bench.own().join("sessions"));
    assert_eq!(before.len(), 7, "the log and six files");
    bench
        .run(["import", log.to_str().unwrap()])
        .ends(3)
        .says(&session);
    assert_eq!(tree(&bench.own().join("sessions")), before);
    bench.run(["delete", "--apply", &session]).ends(0);
    assert_eq!(tree(&bench.own().join("sessions")), []);
    bench.run(["restore", &session]).ends(0);
    assert_eq!(tree(&bench.own().join("sessions")), before);
    let second = bench
        .run(["import", log.to_str().unwrap(), "--again"])
        .ends(0)
        .says("subagent×1")
        .text();
    found_again(&bench, second.trim());
    assert_eq!(tree(&bench.own().join("sessions")).len(), 14);
}

#[test]
fn an_exported_document_brings_the_same_files_from_the_source_and_from_its_import() {
    let bench = Bench::new();
    let log = plant(&bench);
    let (mut session, _) = import(&bench, &log);
    for from in [log.to_str().unwrap().to_owned(), session.clone()] {
        let path = bench.tmp().join("s.json");
        write(
            &path,
            &bench
                .run(["export", &from, "--format", "json", "-q"])
                .ends(0)
                .stdout,
        );
        let other = Bench::new();
        let copy = other.tmp().join("s.json");
        write(&copy, &read(&path));
        let made;
        (session, made) = import(&other, &copy);
        assert_eq!(made["brought"].as_array().unwrap().len(), 6, "{from}");
        found_again(&other, &session);
    }
}

#[test]
fn artifacts_of_the_pi_family_keep_their_names_and_their_bytes() {
    for dialect in ["pi", "omp", "xcsh"] {
        let lab = Lab::new(dialect);
        let base = "--proj-demo--/2026-02-16T10-20-30-000Z_0b7e";
        let agent = format!(
            "{}\n{}\n",
            header("x1", "/proj/demo", ""),
            user("s1", "", "看看")
        );
        lab.plant(&format!("{base}/0-Explore.jsonl"), &agent);
        lab.plant(
            &format!("{base}/0-Explore/1-Deep.jsonl"),
            &agent.replace("看看", "deep"),
        );
        lab.plant(&format!("{base}/pic.png"), "png");
        let made = lab
            .run(&["import", lab.log().to_str().unwrap(), "--json"])
            .ends(0)
            .of_type("session")
            .remove(0);
        assert_eq!(
            kinds(&made["brought"]),
            ["attachment", "subagent", "subagent", "tool_output"],
            "{dialect}"
        );
        let folder = PathBuf::from(made["path"].as_str().unwrap()).with_extension("");
        assert_eq!(read(&folder.join("1.bash.log")), b"whole output");
        assert_eq!(read(&folder.join("pic.png")), b"png");
        let deep = String::from_utf8(read(&folder.join("0-Explore/1-Deep.jsonl"))).unwrap();
        let record = agent.lines().nth(1).unwrap().replace("看看", "deep");
        assert!(deep.lines().any(|line| line == record), "{dialect}: {deep}");
        let session = made["ref"].as_str().unwrap();
        let shown = lab
            .bench
            .run(["show", session, "--subagents"])
            .ends(0)
            .text();
        assert!(
            shown.contains("看看") && shown.contains("deep"),
            "{dialect}: {shown}"
        );
        lab.bench.run(["check", session]).ends(0);
    }
}

/// Returns the texts of the subagents of a session, in order.
fn subagents_say(ran: &Ran) -> Vec<String> {
    let agent = |entry: &&Value| {
        let session = entry["session"].as_str().unwrap();
        session.contains("agent-")
            && entry["role"]
                .as_str()
                .is_some_and(|role| ["user", "assistant", "tool"].contains(&role))
    };
    let text = |entry: &Value| {
        let parts = entry["content"].as_array().into_iter().flatten();
        parts
            .filter_map(|part| part["text"].as_str().map(|text| text.replace('\n', "")))
            .collect::<String>()
    };
    ran.of_type("entry")
        .iter()
        .filter(agent)
        .map(text)
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn subagents_of_real_sessions_say_the_same_once_they_are_imported() {
    let Some(captures) = corpus::require_or_skip("BOSWELL_CAPTURES") else {
        return;
    };
    for (capture, count) in [
        ("subagent", 2),
        ("subnested", 2),
        ("subbg", 1),
        ("old-2.1.17", 1),
        ("old-2.1.150", 1),
        ("old-2.0.76", 0),
    ] {
        let bench = Bench::new();
        let root = captures.join("claude-code").join(capture);
        let store = format!("claude={}", root.display());
        let run = |args: &[&str]| bench.run(["--store", &store].iter().chain(args)).ends(0);
        let log = corpus::files(&root)
            .into_iter()
            .find(|path| path.ends_with(format!("{ID}.jsonl")))
            .unwrap();
        let was = subagents_say(&run(&[
            "show",
            &format!("claude:{ID}"),
            "--subagents",
            "--json",
        ]));
        let made = run(&["import", log.to_str().unwrap(), "--json"])
            .of_type("session")
            .remove(0);
        let brought = kinds(&made["brought"])
            .into_iter()
            .filter(|kind| *kind == "subagent")
            .count();
        assert!(
            brought >= count && made["left"] == json!([]),
            "{capture}: {made}"
        );
        let session = made["ref"].as_str().unwrap();
        let is = subagents_say(
            &bench
                .run(["show", session, "--subagents", "--json"])
                .ends(0),
        );
        assert_eq!(is, was, "{capture}");
        assert!(count == 0 || !is.is_empty(), "{capture}");
    }
}
