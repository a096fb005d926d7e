//! Archiving: a session leaves the agent's folder, can still be found, read and searched, and is
//! restored byte for byte.

mod every_dialect;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use boswell_testkit::disk::{read, write};
use boswell_testkit::{Planted, TestHome};

use serde_json::Value;

use crate::bench::Bench;
use crate::keep::{below, modified};

const ID: &str = "aaaaaaaa-0001-4001-8001-000000000001";

type Tree = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

fn tree(folder: &Path) -> Tree {
    below(folder)
        .into_iter()
        .map(|path| (path.clone(), (read(&path), modified(&path))))
        .collect()
}

/// Creates one Claude session with a subagent.
fn plant(bench: &Bench) -> PathBuf {
    let line = |text: &str| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"u\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{ID}\"}}\n"
        )
    };
    let root = bench.home().join(".claude");
    write(
        &root.join(format!("projects/-w/{ID}/subagents/agent-a1.jsonl")),
        line("task").as_bytes(),
    );
    let log = root.join(format!("projects/-w/{ID}.jsonl"));
    write(&log, line("why is the 构建 red?").as_bytes());
    log
}

/// Adds the side files that an agent stores for sessions; returns the files that must be archived
/// and restored with them.
fn plant_side_files(home: &TestHome, dialect: &str, chosen: &[&Planted]) -> Vec<PathBuf> {
    let mut planted = Vec::new();
    for session in chosen {
        let side_files = session.path.with_extension("");
        let folder = home.folder(dialect).unwrap();
        let names: Vec<PathBuf> = match dialect {
            "claude" => vec![
                side_files.join("subagents/agent-a1.jsonl"),
                side_files.join("subagents/agent-a1.meta.json"),
                side_files.join("tool-results/b1.txt"),
                folder.join(format!("file-history/{}/0a1b@v1", session.id)),
                folder.join(format!("todos/{0}-agent-{0}.json", session.id)),
            ],
            "omp" | "xcsh" => vec![
                side_files.join("0.bash.log"),
                side_files.join("local/笔记.md"),
            ],
            "myagents" => vec![folder.join(format!("attachments/{}/shot.png", session.id))],
            _ => Vec::new(),
        };
        names
            .iter()
            .for_each(|path| write(path, path.to_str().unwrap().as_bytes()));
        planted.extend(names);
    }
    if dialect == "codex" {
        let title = |id: &str| {
            format!("{{\"id\":\"{id}\",\"thread_name\":\"题 {id}\",\"updated_at\":\"x\"}}\n")
        };
        let ids: Vec<&str> = chosen.iter().map(|it| it.id.as_str()).collect();
        let lines: String = ids
            .iter()
            .chain(&["another"])
            .chain(&ids)
            .map(|id| title(id))
            .collect();
        write(
            &home.folder(dialect).unwrap().join("session_index.jsonl"),
            lines.as_bytes(),
        );
    }
    planted
}

#[test]
fn what_is_archived_is_found_by_search_and_refuses_to_be_changed_or_resumed() {
    let bench = Bench::new();
    let log = plant(&bench);
    bench.run(["search", "构建"]).ends(0);
    bench.run(["archive", ID, "--apply"]).ends(0);
    assert!(!log.exists());
    assert!(
        below(&bench.home().join(".claude")).is_empty(),
        "side files went too"
    );
    for again in ["from the index", "and once more"] {
        let hits = bench
            .run(["search", "构建", "--json"])
            .ends(0)
            .of_type("hit");
        assert_eq!(hits.len(), 1, "{again}: {hits:?}");
    }
    assert!(
        bench
            .run(["list", "--json"])
            .ends(0)
            .of_type("session")
            .is_empty()
    );
    for command in [
        &["resume", ID, "--print"][..],
        &["rename", ID, "x"],
        &["delete", "--apply", ID],
        &["archive", ID],
    ] {
        bench.run(command).ends(3).says("boswell restore");
    }
    bench
        .run(["archive", "--older-than", "1d", "--apply"])
        .ends(0);
    bench
        .run([
            "clean",
            "--older-than",
            "1d",
            "--agent",
            "claude",
            "--apply",
        ])
        .ends(0);
    bench.run(["restore", &format!("claude:{ID}")]).ends(0);
    let rows = bench.run(["list", "--json"]).ends(0).of_type("session");
    assert_eq!(
        (rows.len(), &rows[0]["archived"]),
        (1, &Value::Bool(false)),
        "{rows:?}"
    );
    assert_eq!(
        bench
            .run(["search", "构建", "--json"])
            .ends(0)
            .of_type("hit")
            .len(),
        1
    );
}

#[test]
fn a_session_that_stands_in_its_place_again_is_listed_once() {
    let bench = Bench::new();
    let log = plant(&bench);
    bench.run(["archive", ID, "--apply"]).ends(0);
    let bytes = bench
        .run(["export", ID, "--format", "jsonl", "-q"])
        .ends(0)
        .stdout;
    write(&log, &bytes);
    let rows = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    let mine: Vec<_> = rows.iter().filter(|row| row["id"] == ID).collect();
    assert_eq!(mine.len(), 1, "{rows:?}");
    assert_eq!(mine[0]["archived"], false);
}

#[test]
fn active_sessions_stay_and_old_ones_go() {
    let bench = Bench::new();
    let own = bench.run(["new", "--json"]).ends(0).lines();
    let own = own[0]["ref"].as_str().unwrap().to_owned();
    bench.run(["append", &own, "--user", "hello"]).ends(0);
    bench
        .run(["archive", &own, "--apply"])
        .ends(2)
        .says("active");
    plant(&bench);
    let plan = bench
        .run(["archive", "--older-than", "1d", "--json"])
        .ends(2)
        .of_type("step");
    assert_eq!(plan.len(), 1, "{plan:?}");
    bench.run(["close", &own]).ends(0);
    bench.run(["archive", &own, "--apply"]).ends(0);
    assert!(bench.run(["show", &own]).ends(0).text().contains("hello"));
    bench.run(["restore", &own]).ends(0);
    bench.run(["append", &own, "--user", "again"]).ends(0);
}

#[test]
fn a_damaged_copy_is_reported_and_harms_no_other_session() {
    let bench = Bench::new();
    plant(&bench);
    bench.run(["archive", ID, "--apply"]).ends(0);
    for object in below(&bench.own().join("vault/objects")) {
        write(&object, b"BOSWELL-OBJECT 1\ngarbage");
    }
    bench.run(["show", ID]).ends(4);
    bench.run(["list", "--hidden"]).ends(0);
}

#[test]
fn a_pinned_session_stays_until_it_is_unpinned() {
    let bench = Bench::new();
    let log = plant(&bench);
    let session = format!("claude:{ID}");
    bench.run(["tag", ID, "pinned"]).ends(0);
    let row = || bench.run(["list", "--json"]).ends(0).of_type("session")[0].clone();
    assert_eq!(row()["pinned"], true);
    bench
        .run(["archive", ID, "--apply"])
        .ends(2)
        .says(&format!("boswell untag {session} pinned"));
    let plan = bench
        .run(["archive", "--older-than", "1d", "--json"])
        .ends(0)
        .of_type("step");
    assert!(plan.is_empty(), "{plan:?}");
    bench
        .run(["archive", "--older-than", "1d", "--apply"])
        .ends(0);
    bench
        .run([
            "clean",
            "--older-than",
            "1d",
            "--agent",
            "claude",
            "--apply",
        ])
        .ends(0);
    assert!(log.exists());
    bench.run(["untag", ID, "pinned"]).ends(0);
    assert_eq!(row()["pinned"], false);
    bench.run(["archive", ID, "--apply"]).ends(0);
    assert!(!log.exists());
}

#[test]
fn a_session_that_its_agent_calls_a_favourite_stays_whichever_side_is_old() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 7);
    let index = home.folder("myagents").unwrap().join("sessions.json");
    let (front, link) = home
        .of("myagents")
        .find_map(|it| Some((it.id.clone(), it.link.clone()?.1)))
        .unwrap();
    let mut rows: Vec<Value> = serde_json::from_slice(&read(&index)).unwrap();
    rows.iter_mut()
        .filter(|row| row["id"] == *front)
        .for_each(|row| row["favorite"] = true.into());
    write(&index, serde_json::to_string(&rows).unwrap().as_bytes());
    bench
        .run(["archive", &format!("myagents:{front}"), "--apply"])
        .ends(2)
        .says("in its agent");
    let steps = bench
        .run(["archive", "--older-than", "1d", "--json"])
        .ends(2)
        .of_type("step");
    assert!(steps.len() > 3, "{steps:?}");
    let named = |id: &str| {
        steps
            .iter()
            .any(|step| step["session"].as_str().unwrap().ends_with(id))
    };
    assert!(!named(&front) && !named(&link), "{steps:?}");
}

#[test]
fn a_session_comes_back_into_an_index_that_its_app_wrote_to_meanwhile() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 7);
    let index = home.folder("myagents").unwrap().join("sessions.json");
    let rows = || -> Vec<Value> { serde_json::from_slice(&read(&index)).unwrap() };
    let before = rows();
    let id = before[0]["id"].as_str().unwrap();
    bench
        .run(["archive", &format!("myagents:{id}"), "--apply"])
        .ends(0);
    let mut since = rows();
    assert_eq!(since.len(), before.len() - 1);
    since[0]["title"] = "renamed since".into();
    let renamed = since[0]["id"].clone();
    write(&index, serde_json::to_string(&since).unwrap().as_bytes());
    bench.run(["restore", &format!("myagents:{id}")]).ends(0);
    let row = |id: &Value| rows().into_iter().find(|row| row["id"] == *id);
    assert_eq!(row(&before[0]["id"]).as_ref(), Some(&before[0]));
    assert_eq!(row(&renamed).unwrap()["title"], "renamed since");
}

#[cfg(target_os = "linux")]
#[test]
fn a_codex_session_that_somebody_writes_is_not_archived_and_titles_written_meanwhile_stay() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 7);
    let root = home.folder("codex").unwrap();
    let chosen: Vec<_> = home.of("codex").filter(|it| !it.hidden).take(2).collect();
    plant_side_files(&home, "codex", &chosen);
    let index = root.join("session_index.jsonl");
    let (before, log) = (tree(root), chosen[0].path.clone());
    let session = |at: usize| format!("codex:{}", chosen[at].id);
    let open = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    bench
        .run(["archive", &session(0), "--apply"])
        .ends(3)
        .says("pid");
    assert_eq!(tree(root), before);
    drop(open);
    bench
        .run(["archive", &session(0), &session(1), "--apply"])
        .ends(0);
    let left = String::from_utf8(read(&index)).unwrap();
    assert_eq!(left.lines().count(), 1, "{left}");
    let shown = bench
        .run(["list", "--hidden", "--json"])
        .ends(0)
        .of_type("session");
    let title = |id: &str| shown.iter().find(|row| row["id"] == *id).unwrap()["title"].clone();
    assert_eq!(
        title(&chosen[0].id),
        format!("题 {}", chosen[0].id),
        "its title is archived with it"
    );
    let since = "{\"id\":\"since\",\"thread_name\":\"new\"}\n";
    write(&index, (left + since).as_bytes());
    bench.run(["restore", &session(1), &session(0)]).ends(0);
    let mut expected = before[&index].0.clone();
    expected.extend_from_slice(since.as_bytes());
    assert_eq!(
        String::from_utf8(read(&index)).unwrap(),
        String::from_utf8(expected).unwrap()
    );
    for (path, (bytes, at)) in before.iter().filter(|(path, _)| **path != index) {
        assert!(
            read(path) == *bytes && modified(path) == *at,
            "{}",
            path.display()
        );
    }
}
