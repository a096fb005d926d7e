//! Commands that write to a MyAgents store, of all three generations.

use boswell_testkit::make::myagents::{MyAgentsShape, store};
use boswell_testkit::{disk, jsonl};
use serde_json::{Value, json};

use crate::bench::Bench;

struct Desk {
    bench: Bench,
    session: String,
    id: String,
}

fn desk(shape: MyAgentsShape) -> Desk {
    let bench = Bench::new();
    let batch = store(shape, 5);
    batch.write_to(&bench.home().join(".myagents"));
    let id = batch.sessions[0].id.clone();
    Desk {
        bench,
        session: format!("myagents:{id}"),
        id,
    }
}

impl Desk {
    fn run(&self, args: &[&str]) -> crate::bench::Ran {
        self.bench.run(args)
    }

    fn row(&self) -> Value {
        let index = disk::read(&self.bench.home().join(".myagents/sessions.json"));
        let rows: Vec<Value> = serde_json::from_slice(&index).unwrap();
        rows.into_iter()
            .find(|row| row["id"] == self.id.as_str())
            .unwrap_or(Value::Null)
    }

    fn rows(&self) -> Vec<Value> {
        jsonl::parse(&disk::read(
            &self
                .bench
                .home()
                .join(format!(".myagents/sessions/{}.jsonl", self.id)),
        ))
    }
}

#[test]
fn every_promised_command_works_on_a_store_of_each_era() {
    for shape in [
        MyAgentsShape::E1,
        MyAgentsShape::E2,
        MyAgentsShape::E3,
        MyAgentsShape::LegacyJson,
        MyAgentsShape::IndexWithNull,
    ] {
        let desk = desk(shape);
        let session = desk.session.as_str();
        let asked = desk
            .run(&[
                "append",
                session,
                "--user",
                "为什么?",
                "--assistant",
                "because",
            ])
            .ends(0)
            .text();
        let asked = asked.lines().next().unwrap().to_owned();
        assert_eq!(
            desk.rows().last().unwrap()["content"],
            "because",
            "{shape:?}"
        );
        desk.run(&["rename", session, "mine"]).ends(0);
        assert_eq!(
            (&desk.row()["title"], &desk.row()["titleSource"]),
            (&json!("mine"), &json!("user")),
            "{shape:?}"
        );
        desk.run(&["tag", session, "a"]).ends(0).says("note");
        desk.run(&["status", session, "completed"])
            .ends(0)
            .says("note");
        let forked = desk
            .run(&["fork", session])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        desk.run(&["show", &forked]).ends(0);
        let count = desk.rows().len();
        let shown = desk
            .run(&["rewind", session, &asked])
            .ends(2)
            .says("--apply");
        assert!(shown.text().contains("cut 2 of"), "{shown:?}");
        assert_eq!(desk.rows().len(), count, "shown, not done");
        assert_eq!(
            desk.run(&["rewind", session, &asked, "--apply"])
                .ends(0)
                .text()
                .trim(),
            "为什么?",
            "{shape:?}"
        );
        assert_eq!(desk.rows().len(), count - 2);
        desk.run(&["delete", "--apply", session]).ends(0);
        assert_eq!(desk.row(), Value::Null);
        desk.run(&["restore", session]).ends(0);
        assert_eq!(desk.row()["title"], "mine", "{shape:?}");
        // The engine's transcript is in a store that this test does not have.
        let store = format!("myagents={}", desk.bench.home().join(".myagents").display());
        desk.run(&["check", session, "--store", &store]).ends(0);
        let left = disk::list(&desk.bench.home().join(".myagents/session-locks"));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_new_session_is_a_row_and_its_first_prompt_a_transcript() {
    let desk = desk(MyAgentsShape::E3);
    let made = desk
        .run(&["new", "--dialect", "myagents", "--project", "/p"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let receipts = desk
        .run(&["append", &made, "--user", "hello", "--json"])
        .ends(0)
        .of_type("receipt");
    assert_eq!(
        (&receipts[0]["entry"], &receipts[0]["durable"]),
        (&json!("0"), &json!("fsync"))
    );
    let revision = receipts[0]["revision"].as_str().unwrap().to_owned();
    desk.run(&[
        "append",
        &made,
        "--assistant",
        "hi",
        "--expect-revision",
        &revision,
    ])
    .ends(0);
    desk.run(&[
        "append",
        &made,
        "--assistant",
        "other",
        "--expect-revision",
        &revision,
    ])
    .ends(3)
    .says("not where it was expected");
    let listed = desk.run(&["list", "--json"]).ends(0).of_type("session");
    let mine = listed
        .iter()
        .find(|row| row["ref"] == made.as_str())
        .unwrap();
    assert_eq!(
        (&mine["title"], &mine["messages"]),
        (&json!("hello"), &json!(2))
    );
}

#[test]
fn a_long_session_is_read_backwards_page_by_page() {
    let desk = desk(MyAgentsShape::E3);
    let ids = |args: &[&str]| -> Vec<String> {
        let args = ["show", &desk.session, "--json"]
            .iter()
            .chain(args)
            .copied()
            .collect::<Vec<_>>();
        desk.run(&args)
            .ends(0)
            .of_type("entry")
            .iter()
            .map(|e| e["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = ids(&[]);
    let last = ids(&["--limit", "2"]);
    assert_eq!(last, all[all.len() - 2..]);
    assert_eq!(
        ids(&["--limit", "2", "--before", &last[0]]),
        all[all.len() - 4..all.len() - 2]
    );
    assert_eq!(ids(&["--before", &all[0]]), [] as [String; 0]);
    desk.run(&["show", &desk.session, "--before", "nobody"])
        .ends(2);
}

#[test]
fn resume_follows_what_the_engines_store_holds() {
    let desk = desk(MyAgentsShape::E2);
    let print = || desk.run(&["resume", &desk.session, "--print"]);
    assert!(
        print()
            .ends(0)
            .text()
            .contains(&format!("claude --session-id {}", desk.id)),
        "{:?}",
        print()
    );
    let line = format!(
        r#"{{"type":"user","uuid":"1","parentUuid":null,"sessionId":"{}","cwd":"/p","timestamp":"2026-08-05T00:00:00.000Z","message":{{"role":"user","content":"x"}}}}"#,
        desk.id
    );
    desk.bench.plant(
        &format!(".claude/projects/-p/{}.jsonl", desk.id),
        format!("{line}\n").as_bytes(),
    );
    assert!(
        print()
            .ends(0)
            .text()
            .contains(&format!("claude --resume {}", desk.id)),
        "{:?}",
        print()
    );
    let pending = self::desk(MyAgentsShape::IntentBefore);
    pending
        .run(&["resume", &pending.session, "--print"])
        .ends(3)
        .says("rewind was started");
}

#[test]
fn an_attached_file_is_listed_and_comes_out_as_it_went_in() {
    let desk = desk(MyAgentsShape::E3);
    let made = desk
        .run(&["new", "--dialect", "myagents", "--project", "/p"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let picture = desk.bench.plant("图.png", b"\x89PNG picture");
    desk.run(&[
        "append",
        &made,
        "--user",
        "see",
        "--attach",
        picture.to_str().unwrap(),
    ])
    .ends(0);
    let listed = desk
        .run(&["attachments", &made, "--json"])
        .ends(0)
        .of_type("attachment");
    assert_eq!(
        (
            &listed[0]["mime"],
            &listed[0]["bytes"],
            &listed[0]["missing"]
        ),
        (&json!("image/png"), &json!(12), &json!(false))
    );
    let out = desk.bench.tmp().join("out");
    desk.run(&["attachments", &made, "--extract", out.to_str().unwrap()])
        .ends(0);
    assert_eq!(disk::read(&disk::list(&out)[0]), b"\x89PNG picture");
    desk.run(&["append", &made, "--user", "x", "--attach", "nowhere.png"])
        .ends(2);
}
