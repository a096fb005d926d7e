//! `secrets --scrub`: no byte of a secret is left where boswell can reach, and everything else
//! stays.

use std::path::PathBuf;
use std::process::Command;

use boswell_testkit::make::{clinvoker, myagents, oas};
use boswell_testkit::{disk, jsonl};
use serde_json::{Value, json};

use crate::bench::{BOSWELL, Bench, Ran};
use crate::pi_lab::{answer, header, opened, user};
use crate::traces::holding;

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";
const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";
/// The part of the keys that must not be found anywhere; another session's key stays.
const CORE: &str = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
const STAYS: &str = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8";

fn key() -> String {
    format!("ghp_{CORE}")
}

struct Case {
    bench: Bench,
    root: PathBuf,
    session: String,
}

impl Case {
    fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args)
    }

    fn traces(&self) -> Vec<String> {
        let found = [self.bench.own(), self.root.clone()]
            .into_iter()
            .flat_map(|folder| holding(&folder, &[CORE]));
        found.map(|(path, _)| path.display().to_string()).collect()
    }

    fn context(&self) -> String {
        self.run(&["context", &self.session]).ends(0).text()
    }

    /// Creates copies of every kind, scrubs, and searches for remains.
    fn scrubs(&self) {
        let session = self.session.as_str();
        let may = |args: &[&str]| {
            let ran = self.run(args);
            assert!(matches!(ran.code, Some(0..=3)), "{ran:?}");
        };
        self.run(&["rename", session, &format!("call {} once", key())])
            .ends(0);
        self.run(&["rename", session, "harmless"]).ends(0);
        self.run(&[
            "status",
            session,
            "error",
            "--message",
            &format!("bad {}", key()),
        ])
        .ends(0);
        may(&["keep", "on", "--apply"]);
        may(&["keep", "run"]);
        self.run(&["delete", "--apply", session]).ends(0);
        self.run(&["restore", session]).ends(0);
        self.run(&["index"]).ends(0);
        self.run(&["list", "--hidden"]).ends(0);
        let (before, files) = (self.context(), self.traces());
        assert!(files.len() > 3, "{files:?}");
        let plan = self
            .run(&["secrets", "--scrub", session])
            .ends(2)
            .says("cannot be undone")
            .says("--apply");
        assert!(
            !plan.text().contains(CORE) && plan.text().contains("github-token"),
            "{plan:?}"
        );
        assert_eq!(self.traces(), files, "shown, not done");
        self.run(&["secrets", "--scrub", session, "--apply"])
            .ends(0)
            .says("not reached");
        assert_eq!(self.traces(), [] as [String; 0], "{session}");
        self.run(&["secrets", session]).ends(0);
        self.run(&["secrets", "--scrub", session]).ends(0);
        assert_eq!(
            self.context(),
            before.replace(&key(), "[removed: github-token]"),
            "{session}"
        );
        for args in [
            &["index"][..],
            &["list", "--hidden"],
            &["check", session],
            &["show", session],
        ] {
            may(args);
        }
        assert_eq!(self.traces(), [] as [String; 0], "{session}: also later");
        let ops = self.run(&["ops", "--json"]).ends(0).of_type("op");
        let scrub = ops.iter().find(|op| op["kind"] == "scrub").unwrap();
        assert_eq!(scrub["undoable"], false);
        self.run(&["undo", scrub["op"].as_str().unwrap()])
            .ends(2)
            .says("leaves no copy");
    }
}

fn claude_line(id: &str, number: usize, parent: Option<usize>, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{id}-{parent}\""));
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,{more},\"uuid\":\"{id}-{number}\",\"timestamp\":\"2026-01-01T00:00:0{number}.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

fn asked(text: &str) -> String {
    format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}")
}

fn claude() -> Case {
    let bench = Bench::new();
    let key = key();
    let call = format!(
        "\"type\":\"assistant\",\"message\":{{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{{\"command\":\"curl -H {key}\"}}}}],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}"
    );
    let result = format!(
        "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"said {key}\"}}]}}"
    );
    let log = [
        claude_line(ID, 0, None, &asked(&format!("use {key} now"))),
        claude_line(ID, 1, Some(0), &call),
        claude_line(ID, 2, Some(1), &result),
    ];
    let row = |id: &str, text: &str| json!({"sessionId": id, "fullPath": format!("/x/{id}.jsonl"), "firstPrompt": text});
    let index = json!({"version": 1, "entries": [row(OTHER, &format!("ghp_{STAYS}")), row(ID, &key)], "originalPath": "/w"});
    let history = |id: &str, text: &str| {
        format!(
            "{{\"display\":\"{text}\",\"timestamp\":1767225600000,\"project\":\"/w\",\"sessionId\":\"{id}\"}}\n"
        )
    };
    for (name, text) in [
        (format!("projects/-w/{ID}.jsonl"), log.concat()),
        (
            format!("projects/-w/{OTHER}.jsonl"),
            claude_line(OTHER, 0, None, &asked(&format!("ghp_{STAYS}"))),
        ),
        (
            format!("projects/-w/{ID}/subagents/agent-a1.jsonl"),
            claude_line(ID, 1, None, &asked(&key)),
        ),
        (
            format!("projects/-w/{ID}/tool-results/t.txt"),
            format!("whole output\n{key}\n"),
        ),
        (
            format!("file-history/{ID}/0123456789abcdef@v1"),
            format!("TOKEN={key}\n"),
        ),
        (
            "projects/-w/sessions-index.json".to_owned(),
            serde_json::to_string_pretty(&index).unwrap(),
        ),
        (
            "history.jsonl".to_owned(),
            [history(OTHER, &format!("ghp_{STAYS}")), history(ID, &key)].concat(),
        ),
        ("settings.json".to_owned(), "{}".to_owned()),
    ] {
        bench.plant(&format!(".claude/{name}"), text.as_bytes());
    }
    let root = bench.home().join(".claude");
    Case {
        bench,
        root,
        session: format!("claude:{ID}"),
    }
}

#[test]
fn secrets_of_a_claude_session_are_replaced_in_every_file_copy_and_note() {
    let case = claude();
    case.scrubs();
    let log = jsonl::parse(&disk::read(
        &case.root.join(format!("projects/-w/{ID}.jsonl")),
    ));
    assert_eq!(
        log[0]["message"]["content"],
        "use [removed: github-token] now"
    );
    assert_eq!(log[1]["parentUuid"], format!("{ID}-0").as_str());
    let output = disk::read(
        &case
            .root
            .join(format!("projects/-w/{ID}/tool-results/t.txt")),
    );
    assert_eq!(output, b"whole output\n[removed: github-token]\n");
    assert_eq!(
        holding(&case.root, &[STAYS]).len(),
        3,
        "what is another session's stays"
    );
    case.run(&["secrets", "--scrub", "--all", "--apply"])
        .ends(0);
    assert_eq!(holding(&case.root, &[STAYS]), []);
}

#[test]
fn secrets_of_the_pi_family_and_of_boswells_own_are_replaced() {
    for dialect in ["pi", "omp", "xcsh"] {
        let bench = Bench::new();
        let lines = [
            header("0b7e", "/w", ""),
            user("u1", "", &key()),
            answer("a1", "u1", &format!("is {}", key())),
        ];
        let place = format!(".{dialect}/agent/sessions/--w--/2026-02-16T10-20-30-000Z_0b7e");
        bench.plant(
            &format!("{place}.jsonl"),
            format!("{}\n", lines.join("\n")).as_bytes(),
        );
        bench.plant(&format!("{place}/1.bash.log"), key().as_bytes());
        let root = bench.home().join(format!(".{dialect}/agent"));
        Case {
            bench,
            root,
            session: format!("{dialect}:0b7e"),
        }
        .scrubs();
    }
    let bench = Bench::new();
    let session = bench
        .run(["new", "--project", "/w"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    // The second one is long enough to become a blob.
    for text in [
        format!("use {}", key()),
        format!("{} {}", "w ".repeat(260_000), key()),
    ] {
        let input = bench.tmp().join("input");
        disk::write(
            &input,
            format!("{}\n", json!({"role": "user", "text": text})).as_bytes(),
        );
        let mut command = bench.command(["append", &session]);
        command.stdin(opened(&input));
        crate::bench::finish(command).ends(0);
    }
    std::fs::remove_file(bench.tmp().join("input")).unwrap();
    assert!(!disk::list(&bench.own().join("blobs")).is_empty());
    let root = bench.home().join("nowhere");
    Case {
        bench,
        root,
        session,
    }
    .scrubs();
}

#[test]
fn secrets_in_stores_with_an_index_are_replaced_in_index_and_copies() {
    for (dialect, batch, root) in [
        (
            "myagents",
            myagents::store(myagents::MyAgentsShape::E3, 5),
            ".myagents",
        ),
        (
            "clinvoker",
            clinvoker::store(clinvoker::ClinvokerIndexState::Right, 5),
            ".clinvk",
        ),
        (
            "oas",
            oas::store(oas::OasIndexState::Right, "/proj/demo", 5),
            ".open-agent",
        ),
    ] {
        let bench = Bench::new();
        let root = bench.home().join(root);
        batch.write_to(&root);
        let session = format!("{dialect}:{}", batch.sessions[0].id);
        let said = bench.run(["append", &session, "--user", &format!("use {}", key())]);
        assert!(matches!(said.code, Some(0 | 2)), "{said:?}");
        if dialect == "clinvoker" {
            bench
                .run(["rename", &session, &format!("use {}", key())])
                .ends(0);
        }
        let case = Case {
            bench,
            root,
            session,
        };
        case.run(&["index", "--native", "--apply"]).ends(0);
        case.run(&["tag", &case.session, "x"]).ends(0);
        let rest = case
            .run(&["list", "--hidden", "--json"])
            .ends(0)
            .of_type("session")
            .len();
        let plan = case.run(&["secrets", "--scrub", &case.session]);
        assert_eq!(plan.code, Some(2), "{plan:?}");
        case.run(&["secrets", "--scrub", &case.session, "--apply"])
            .ends(0);
        assert_eq!(case.traces(), [] as [String; 0], "{dialect}");
        assert_eq!(
            case.run(&["list", "--hidden", "--json"])
                .ends(0)
                .of_type("session")
                .len(),
            rest,
            "{dialect}"
        );
        case.run(&["show", &case.session]).ends(0);
        let store = format!("{dialect}={}", case.root.display());
        let found = case
            .run(&["check", &case.session, "--store", &store, "--json"])
            .of_type("damage");
        assert!(
            found
                .iter()
                .all(|it| it["problem"] != "stale_index" && it["problem"] != "not_json"),
            "{found:?}"
        );
    }
}

/// Returns bytes as one zstd frame of raw blocks.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];
    let blocks: Vec<&[u8]> = bytes.chunks(100_000).collect();
    for (number, block) in blocks.iter().enumerate() {
        let header = (block.len() as u32) << 3 | u32::from(number + 1 == blocks.len());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

#[test]
fn a_compressed_log_is_named_and_not_changed() {
    let bench = Bench::new();
    let made = boswell_testkit::make::codex::rollout(
        boswell_testkit::make::codex::CodexShape::Plain,
        "/w",
        Some(ID),
        1,
    );
    made.write_to(&bench.home().join(".codex"));
    let plain = crate::keep::below(&bench.home().join(".codex/sessions")).remove(0);
    let text = String::from_utf8(disk::read(&plain)).unwrap();
    let line = json!({"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":format!("use {}", key())}]}});
    disk::write(&plain, format!("{text}{line}\n").as_bytes());
    let case = Case {
        root: bench.home().join(".codex"),
        bench,
        session: format!("codex:{ID}"),
    };
    case.run(&["secrets", "--scrub", &case.session, "--apply"])
        .ends(0);
    assert_eq!(case.traces(), [] as [String; 0], "a plain one is");
    case.run(&["show", &case.session]).ends(0);
    let packed = plain.with_extension("jsonl.zst");
    disk::write(&packed, &zstd(&disk::read(&plain)));
    std::fs::remove_file(&plain).unwrap();
    let before = disk::read(&packed);
    case.run(&["secrets", "--scrub", &case.session, "--apply"])
        .says("compressed by its agent");
    assert_eq!(disk::read(&packed), before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_that_an_agent_is_at_work_on_is_refused_and_named() {
    let case = claude();
    let log = case.root.join(format!("projects/-w/{ID}.jsonl"));
    let before = disk::read(&log);
    let agent = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    case.run(&["secrets", "--scrub", &case.session, "--apply"])
        .ends(3)
        .says(&format!("pid {}", std::process::id()))
        .says(&case.session);
    assert_eq!(disk::read(&log), before);
    case.run(&["secrets", "--scrub", "--all", "--apply"])
        .ends(3)
        .says(&case.session);
    assert_eq!(
        disk::read(&log),
        before,
        "others are scrubbed, this one is not"
    );
    let other = disk::read(&case.root.join(format!("projects/-w/{OTHER}.jsonl")));
    assert!(!String::from_utf8(other).unwrap().contains(STAYS));
    drop(agent);
    case.run(&["secrets", "--scrub", &case.session, "--apply"])
        .ends(0);
    assert_eq!(case.traces(), [] as [String; 0]);
}

#[test]
fn an_interrupted_scrub_is_told_and_goes_on() {
    let case = claude();
    case.run(&["delete", "--apply", &case.session]).ends(0);
    case.run(&["restore", &case.session]).ends(0);
    // The state after the process was killed when the files were already changed.
    for path in crate::keep::below(&case.root) {
        let text = String::from_utf8(disk::read(&path)).unwrap();
        disk::write(
            &path,
            text.replace(&key(), "[removed: github-token]").as_bytes(),
        );
    }
    let marker = json!({"kind": "scrub", "ref": case.session}).to_string();
    disk::write(
        &case.bench.own().join("ops/scrub-0000000000000000.json"),
        marker.as_bytes(),
    );
    case.run(&["list"])
        .ends(0)
        .says("was interrupted")
        .says("--scrub");
    assert!(!case.traces().is_empty(), "copies still hold it");
    case.run(&["secrets", "--scrub", &case.session, "--apply"])
        .ends(0);
    assert_eq!(case.traces(), [] as [String; 0]);
}

/// Runs the program on a terminal, with `answer` as the typed input.
fn typed(bench: &Bench, args: &str, answer: &str) -> Option<String> {
    let command = bench.command([] as [&str; 0]);
    let env: Vec<_> = command
        .get_envs()
        .map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned)))
        .collect();
    let mut script = Command::new("script");
    script
        .args(["-qec", &format!("{BOSWELL} {args}"), "/dev/null"])
        .env_clear()
        .current_dir(bench.cwd());
    for (name, value) in env {
        script.env(name, value.unwrap_or_default());
    }
    let path = bench.tmp().join("answer");
    disk::write(&path, answer.as_bytes());
    script
        .env("PATH", "/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .env("PAGER", "cat");
    let ran = script.stdin(opened(&path)).output().ok()?;
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_a_purge_and_a_scrub_ask_first_and_no_is_no() {
    let case = claude();
    let log = case.root.join(format!("projects/-w/{ID}.jsonl"));
    let before = disk::read(&log);
    for args in [
        format!("delete --purge {}", case.session),
        format!("secrets --scrub {}", case.session),
    ] {
        let said = typed(&case.bench, &args, "n\n").unwrap();
        assert!(
            said.contains("[y/N]") && said.contains("nothing was changed"),
            "{said}"
        );
        assert_eq!(disk::read(&log), before, "{args}");
    }
    let said = typed(
        &case.bench,
        &format!("secrets --scrub {}", case.session),
        "y\n",
    )
    .unwrap();
    assert!(said.contains("secrets replaced"), "{said}");
    let said = typed(
        &case.bench,
        &format!("delete --purge {}", case.session),
        "y\n",
    )
    .unwrap();
    assert!(said.contains("purged"), "{said}");
    assert!(!log.exists());
    let ops: Vec<Value> = case.run(&["ops", "--json"]).ends(0).of_type("op");
    assert_eq!(
        ops.iter().filter(|op| op["kind"] == "purge").count(),
        1,
        "{ops:?}"
    );
}
