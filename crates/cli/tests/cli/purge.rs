//! `delete --purge`: no byte is left of a session that was used in every way.

mod every_dialect;
mod interrupted;

use boswell_testkit::make::myagents;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran};
use crate::traces::holding;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";

/// Words that occur in one place each: prompt, assistant message, title, prompt of a subagent,
/// output of a tool, copy of a file, tag, label, message of a status, prompt history, name of a
/// file.
const WORDS: [&str; 11] = [
    "zebuprompt",
    "yakanswer",
    "xerustitle",
    "walrusagent",
    "vicunaoutput",
    "uakarifile",
    "tapirtag",
    "shrewlabel",
    "quollstatus",
    "pandahistory",
    "numbatname",
];

/// A session to be purged, and another one of the same store that stays.
struct Case {
    bench: Bench,
    root: std::path::PathBuf,
    session: String,
    other: Option<String>,
    /// An entry that can be labelled.
    entry: Option<&'static str>,
}

fn case(bench: Bench, root: &str, session: &str, other: Option<String>) -> Case {
    let root = bench.home().join(root);
    Case {
        bench,
        root,
        session: session.to_owned(),
        other,
        entry: None,
    }
}

impl Case {
    fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args)
    }

    /// Returns everything below boswell's folder and the agent's folder that contains one of the
    /// words.
    fn traces(&self) -> Vec<String> {
        let found = [self.bench.own(), self.root.clone()]
            .into_iter()
            .flat_map(|folder| holding(&folder, &WORDS));
        found
            .map(|(path, word)| format!("{word} in {}", path.display()))
            .collect()
    }

    /// Uses the session in every way that leaves a trace. Operations that its dialect does not
    /// support are refused, which is fine.
    fn live(&self) -> Vec<String> {
        let session = self.session.as_str();
        let mut made = vec![session.to_owned()];
        let may = |args: &[&str]| {
            let ran = self.run(args);
            assert!(matches!(ran.code, Some(0..=3)), "{ran:?}");
            ran
        };
        may(&[
            "append",
            session,
            "--user",
            "zebuprompt once more",
            "--assistant",
            "yakanswer once more",
        ]);
        may(&["index"]);
        may(&["list", "--hidden"]);
        self.run(&["summarize", session]).ends(0);
        self.run(&["rename", session, "xerustitle one"]).ends(0);
        self.run(&["rename", session, "xerustitle two"]).ends(0);
        self.run(&["tag", session, "tapirtag"]).ends(0);
        self.run(&["untag", session, "tapirtag"]).ends(0);
        self.run(&["status", session, "error", "--message", "quollstatus"])
            .ends(0);
        if let Some(entry) = self.entry {
            self.run(&["label", session, entry, "shrewlabel"]).ends(0);
        }
        may(&["keep", "on", "--apply"]);
        may(&["keep", "run"]);
        self.run(&["delete", "--apply", session]).ends(0);
        self.run(&["restore", session]).ends(0);
        self.run(&["status", session, "completed"]).ends(0);
        self.run(&["archive", session, "--apply"]).ends(0);
        self.run(&["list", "--hidden"]).ends(0);
        may(&["index"]);
        self.run(&["restore", session]).ends(0);
        may(&["repair", session, "--apply", "--likely"]);
        let forked = may(&["fork", session]);
        if forked.code == Some(0) {
            made.push(forked.text().trim().to_owned());
        }
        let imported = may(&["import", session]);
        if imported.code == Some(0) {
            made.push(imported.text().lines().next().unwrap().trim().to_owned());
        }
        may(&["index", "--native", "--apply"]);
        // Changes of another session create copies of shared files.
        if let Some(other) = &self.other {
            self.run(&["rename", other, "a title that stays"]).ends(0);
            may(&["append", other, "--user", "a prompt that stays"]);
        }
        may(&["keep", "run"]);
        self.run(&["index"]).ends(0);
        may(&["search", "zebuprompt"]);
        self.run(&["list", "--hidden"]).ends(0);
        self.run(&["show", session]).ends(0);
        made
    }

    fn deleted_sessions(&self, gone: &[String]) -> Vec<Value> {
        let mut rows = self
            .run(&["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session");
        let is_gone = |row: &Value| {
            let reference = row["ref"].as_str().unwrap();
            gone.iter().any(|it| it == reference)
                || reference.contains(ID)
                || row["hidden"] == "ghost"
        };
        rows.retain(is_gone);
        rows
    }

    fn leaves_nothing(&self) {
        let made = self.live();
        assert!(
            !self.traces().is_empty(),
            "{}: there is something to purge",
            self.session
        );
        let mut purge = vec!["delete", "--purge"];
        purge.extend(made.iter().map(String::as_str));
        let before = self.traces();
        let plan = self.run(&purge).ends(2).says("--apply");
        assert!(plan.text().contains("cannot be undone"), "{plan:?}");
        assert_eq!(self.traces(), before, "{}: shown, not done", self.session);
        purge.push("--apply");
        self.run(&purge).ends(0);
        assert_eq!(self.traces(), [] as [String; 0], "{}", self.session);
        assert_eq!(
            self.deleted_sessions(&made),
            [] as [Value; 0],
            "{}",
            self.session
        );
        for args in [
            &["index"][..],
            &["keep", "run"],
            &["stats"],
            &["check"],
            &["search", "zebuprompt"],
        ] {
            assert!(matches!(self.run(args).code, Some(0..=2)), "{args:?}");
        }
        assert_eq!(
            self.deleted_sessions(&made),
            [] as [Value; 0],
            "{}",
            self.session
        );
        assert_eq!(
            self.traces(),
            [] as [String; 0],
            "{}: also later",
            self.session
        );
        let ops = self.run(&["ops", "--json"]).ends(0).of_type("op");
        let purged: Vec<&Value> = ops.iter().filter(|op| op["kind"] == "purge").collect();
        assert_eq!(purged.len(), made.len(), "{ops:?}");
        assert!(
            purged
                .iter()
                .all(|op| op["undoable"] == false && op["files"] == json!([])),
            "{purged:?}"
        );
        self.run(&["undo", purged[0]["op"].as_str().unwrap()])
            .ends(2)
            .says("leaves no copy");
        self.run(&["restore", &self.session]).ends(2);
        if let Some(other) = &self.other {
            self.run(&["show", other]).ends(0);
            let listed = self
                .run(&["list", "--hidden", "--json"])
                .ends(0)
                .of_type("session");
            let row = listed
                .iter()
                .find(|row| row["ref"] == other.as_str())
                .unwrap();
            assert_eq!(row["title"], "a title that stays");
        }
    }
}

fn claude_line(id: &str, number: usize, parent: Option<usize>, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{id}-{parent}\""));
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,{more},\"uuid\":\"{id}-{number}\",\"timestamp\":\"2026-01-01T00:00:0{number}.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

fn claude_user(text: &str) -> String {
    format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}")
}

fn claude() -> Case {
    let bench = Bench::new();
    let call = r#""type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"yakanswer"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls uakarifile"}}],"usage":{"input_tokens":1,"output_tokens":1}}"#;
    let result = r#""type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"vicunaoutput"}]}"#;
    let log = [
        claude_line(ID, 0, None, &claude_user("zebuprompt and more")),
        claude_line(ID, 1, Some(0), call),
        claude_line(ID, 2, Some(1), result),
    ];
    let history = |id: &str, text: &str| {
        format!(
            "{{\"display\":\"{text}\",\"pastedContents\":{{}},\"timestamp\":1767225600000,\"project\":\"/w\",\"sessionId\":\"{id}\"}}\n"
        )
    };
    let row = |id: &str, text: &str| json!({"sessionId": id, "fullPath": format!("/x/{id}.jsonl"), "firstPrompt": text});
    let index = json!({"version": 1, "entries": [row(OTHER, "other"), row(ID, "zebuprompt")], "originalPath": "/w"});
    for (key, text) in [
        (format!("projects/-w/{ID}.jsonl"), log.concat()),
        (
            format!("projects/-w/{OTHER}.jsonl"),
            claude_line(OTHER, 0, None, &claude_user("other")),
        ),
        (
            format!("projects/-w/{ID}/subagents/agent-a1.jsonl"),
            claude_line(ID, 1, None, &claude_user("walrusagent")).replace(
                "\"isSidechain\":false",
                "\"isSidechain\":true,\"agentId\":\"a1\"",
            ),
        ),
        (
            format!("projects/-w/{ID}/subagents/agent-a1.meta.json"),
            "{\"agentType\":\"x\",\"description\":\"walrusagent\"}".to_owned(),
        ),
        (
            format!("projects/-w/{ID}/tool-results/numbatname.txt"),
            "vicunaoutput, all of it".to_owned(),
        ),
        (
            format!("file-history/{ID}/0123456789abcdef@v1"),
            "uakarifile\n".to_owned(),
        ),
        (
            format!("tasks/{ID}/1.json"),
            "{\"subject\":\"zebuprompt\"}".to_owned(),
        ),
        (
            format!("todos/{ID}-agent-{ID}.json"),
            "[{\"content\":\"zebuprompt\"}]".to_owned(),
        ),
        (
            "projects/-w/sessions-index.json".to_owned(),
            serde_json::to_string_pretty(&index).unwrap(),
        ),
        (
            "history.jsonl".to_owned(),
            [history(OTHER, "stays"), history(ID, "pandahistory")].concat(),
        ),
        ("settings.json".to_owned(), "{}".to_owned()),
    ] {
        bench.plant(&format!(".claude/{key}"), text.as_bytes());
    }
    let entry = "aaaaaaaa-0001-4001-8001-000000000001-0";
    Case {
        entry: Some(entry),
        ..case(
            bench,
            ".claude",
            &format!("claude:{ID}"),
            Some(format!("claude:{OTHER}")),
        )
    }
}

#[test]
fn an_operation_on_another_session_of_the_same_index_can_still_be_undone_after_a_purge() {
    let batch = myagents::store(myagents::MyAgentsShape::E3, 5);
    let bench = Bench::new();
    batch.write_to(&bench.home().join(".myagents"));
    let reference = |at: usize| format!("myagents:{}", batch.sessions[at].id);
    bench.run(["rename", &reference(0), "xerustitle"]).ends(0);
    let before = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    bench.run(["rename", &reference(1), "for a while"]).ends(0);
    let op = bench.run(["ops", "--json"]).ends(0).of_type("op")[0]["op"]
        .as_str()
        .unwrap()
        .to_owned();
    bench
        .run(["delete", "--apply", "--purge", &reference(0)])
        .ends(0);
    bench.run(["undo", &op]).ends(0);
    let after = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    let title = |rows: &[Value]| {
        rows.iter().find(|row| row["ref"] == reference(1)).unwrap()["title"].clone()
    };
    assert_eq!(title(&before), title(&after));
    assert_eq!(holding(bench.root(), &["xerustitle"]), []);
}

#[test]
fn what_is_only_in_the_vault_or_only_remembered_can_be_purged_too() {
    for away in ["delete", "archive", "gone"] {
        let case = claude();
        case.run(&["index"]).ends(0);
        match away {
            "archive" => drop(case.run(&["archive", &case.session, "--apply"]).ends(0)),
            "delete" => drop(case.run(&["delete", "--apply", &case.session]).ends(0)),
            _ => {
                std::fs::remove_file(case.root.join(format!("projects/-w/{ID}.jsonl"))).unwrap();
                for folder in ["projects/-w", "file-history", "tasks"] {
                    std::fs::remove_dir_all(case.root.join(folder).join(ID)).unwrap();
                }
                std::fs::remove_dir_all(case.root.join("todos")).unwrap();
            }
        }
        case.run(&["list", "--hidden"]).ends(0);
        assert!(!holding(&case.bench.own(), &WORDS).is_empty(), "{away}");
        case.run(&["delete", "--apply", "--purge", &case.session])
            .ends(0);
        assert_eq!(case.traces(), [] as [String; 0], "{away}");
        assert_eq!(case.deleted_sessions(&[]), [] as [Value; 0], "{away}");
    }
}
