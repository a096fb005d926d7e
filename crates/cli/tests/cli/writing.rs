//! Commands that write: one sequence, and every reading command shows the same result.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{Bench, Ran, finish};

fn new(bench: &Bench) -> String {
    bench
        .run(["new", "--title", "red build"])
        .ends(0)
        .text()
        .trim()
        .to_owned()
}

fn entry(ran: Ran) -> String {
    ran.ends(0).text().lines().last().unwrap().to_owned()
}

pub(crate) fn fed(bench: &Bench, args: &[&str], input: &str) -> Ran {
    let mut command = bench.command(args);
    let file = bench.tmp().join("input");
    let mut out = boswell_file(&file);
    out.write_all(input.as_bytes()).unwrap();
    drop(out);
    command.stdin(Stdio::from(open(&file)));
    finish(command)
}

#[expect(
    clippy::disallowed_methods,
    reason = "standard input of a test comes from a file"
)]
fn open(path: &std::path::Path) -> std::fs::File {
    std::fs::File::open(path).unwrap()
}

fn boswell_file(path: &std::path::Path) -> std::fs::File {
    std::fs::File::create(path).unwrap()
}

fn context(bench: &Bench, session: &str) -> Vec<String> {
    let lines = bench.run(["context", session, "--json"]).ends(0).lines();
    let texts = lines.iter().filter(|line| line["type"] == "message");
    texts
        .map(|line| line["content"][0]["text"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let args = ["list", "--json"].iter().chain(args);
    bench
        .run(args)
        .ends(0)
        .lines()
        .into_iter()
        .filter(|line| line["type"] == "session")
        .collect()
}

#[test]
fn new_append_branch_append_tell_one_story() {
    let bench = Bench::new();
    let session = new(&bench);
    let asked = entry(bench.run(["append", &session, "--user", "why?"]));
    entry(bench.run(["append", &session, "--assistant", "a test is flaky"]));
    bench.run(["branch", &session, &asked]).ends(0);
    let answer = entry(bench.run(["append", &session, "--assistant", "the lock is stale"]));
    assert_eq!(context(&bench, &session), ["why?", "the lock is stale"]);
    let nodes = bench.run(["tree", &session, "--json"]).ends(0).lines();
    let leaf: Vec<&Value> = nodes.iter().filter(|node| node["leaf"] == true).collect();
    assert_eq!(leaf.len(), 1);
    assert_eq!(leaf[0]["id"], answer.as_str());
    let shown = bench.run(["show", &session, "--json"]).ends(0).lines();
    assert_eq!(shown.last().unwrap()["id"], answer.as_str());
    assert!(
        shown
            .iter()
            .any(|entry| entry["id"] == asked.as_str() && entry["on_branch"] == true)
    );
    assert_eq!(
        bench
            .run(["rewind", &session, &asked])
            .ends(0)
            .text()
            .trim(),
        "why?"
    );
    assert!(context(&bench, &session).is_empty());
    bench.run(["check", &session]).ends(0);
}

#[test]
fn lines_of_the_input_are_acknowledged_until_one_is_no_entry() {
    let bench = Bench::new();
    let session = new(&bench);
    let input = "{\"role\":\"user\",\"text\":\"one\"}\n\n{\"role\":\"assistant\",\"text\":\"two\",\"id\":\"mine\"}\nnot json\n{\"role\":\"user\",\"text\":\"never\"}\n";
    let ran = fed(&bench, &["append", &session, "--json"], input).ends(2);
    assert!(ran.stderr.contains("line 4"), "{ran:?}");
    assert_eq!(
        ran.lines()
            .iter()
            .filter(|line| line["type"] == "receipt" && line["durable"] == "fsync")
            .count(),
        2
    );
    assert_eq!(context(&bench, &session), ["one", "two"]);
    let again = fed(
        &bench,
        &["append", &session, "--json"],
        "{\"role\":\"assistant\",\"text\":\"two\",\"id\":\"mine\"}\n",
    )
    .ends(0);
    assert_eq!(again.lines()[0]["deduplicated"], true);
    let other = fed(
        &bench,
        &["append", &session, "--json"],
        "{\"role\":\"assistant\",\"text\":\"else\",\"id\":\"mine\"}\n",
    )
    .ends(3);
    assert!(other.stderr.contains("conflict"), "{other:?}");
    assert_eq!(context(&bench, &session), ["one", "two"]);
}

#[test]
fn a_stale_revision_or_leaf_writes_nothing() {
    let bench = Bench::new();
    let session = new(&bench);
    let first = entry(bench.run(["append", &session, "--user", "one"]));
    let revision = listed(&bench, &[])[0]["revision"]
        .as_str()
        .unwrap()
        .to_owned();
    bench
        .run([
            "append",
            &session,
            "--expect-revision",
            &revision,
            "--expect-leaf",
            &first,
            "--user",
            "x",
        ])
        .ends(2);
    bench
        .run([
            "append",
            &session,
            "--expect-revision",
            &revision,
            "--user",
            "two",
        ])
        .ends(0);
    bench
        .run([
            "append",
            &session,
            "--expect-revision",
            &revision,
            "--user",
            "three",
        ])
        .ends(3);
    bench
        .run([
            "append",
            &session,
            "--expect-leaf",
            &first,
            "--user",
            "three",
        ])
        .ends(3);
    bench
        .run(["append", &session, "--parent", "nobody", "--user", "three"])
        .ends(2);
    assert_eq!(context(&bench, &session), ["one", "two"]);
}

#[test]
fn titles_tags_labels_and_status_are_shown_by_list_and_tree() {
    let bench = Bench::new();
    let session = new(&bench);
    let first = entry(bench.run(["append", &session, "--user", "one"]));
    bench.run(["rename", &session, "二"]).ends(0);
    bench.run(["tag", &session, "a", "b"]).ends(0);
    bench.run(["untag", &session, "a"]).ends(0);
    bench.run(["label", &session, &first, "start"]).ends(0);
    assert_eq!(listed(&bench, &[])[0]["status"], "active");
    bench
        .run(["status", &session, "error", "--message", "out of tokens"])
        .ends(0);
    let found = &listed(&bench, &["--tag", "b"])[0];
    assert_eq!(
        (&found["title"], &found["status"], &found["error"]),
        (&"二".into(), &"error".into(), &"out of tokens".into())
    );
    assert_eq!(found["tags"], serde_json::json!(["b"]));
    let nodes = bench.run(["tree", &session, "--json"]).ends(0).lines();
    assert!(
        nodes
            .iter()
            .any(|node| node["id"] == first.as_str() && node["label"] == "start")
    );
    bench.run(["close", &session]).ends(0);
    assert_eq!(listed(&bench, &[])[0]["status"], "completed");
}

#[test]
fn what_is_deleted_is_restored_undone_or_purged() {
    let bench = Bench::new();
    let session = new(&bench);
    bench
        .run(["append", &session, "--user", "unmistakable words"])
        .ends(0);
    let before = bench.run(["export", &session]).ends(0).stdout;
    bench.run(["delete", &session]).ends(2);
    bench.run(["delete", "--apply", &session]).ends(0);
    assert!(
        listed(&bench, &["--hidden"])
            .iter()
            .all(|found| found["path"].is_null())
    );
    bench.run(["restore", &session]).ends(0);
    assert_eq!(bench.run(["export", &session]).ends(0).stdout, before);
    bench.run(["delete", "--apply", &session]).ends(0);
    bench.run(["undo"]).ends(0);
    assert_eq!(bench.run(["export", &session]).ends(0).stdout, before);
    assert!(
        bench
            .run(["ops", "--json"])
            .ends(0)
            .lines()
            .iter()
            .any(|op| op["kind"] == "delete")
    );
    bench
        .run(["delete", "--apply", &session, "--purge"])
        .ends(0);
    bench.run(["restore", &session]).ends(2);
    for file in boswell_testkit::corpus::files(&bench.own()) {
        let bytes = boswell_testkit::disk::read(&file);
        assert!(
            !String::from_utf8_lossy(&bytes).contains("unmistakable words"),
            "{}",
            file.display()
        );
    }
}

#[test]
fn a_fork_has_lineage_and_a_life_of_its_own() {
    let bench = Bench::new();
    let session = new(&bench);
    bench.run(["append", &session, "--user", "one"]).ends(0);
    let fork = bench
        .run(["fork", &session, "--title", "second"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    bench.run(["append", &fork, "--user", "two"]).ends(0);
    assert_eq!(context(&bench, &session), ["one"]);
    assert_eq!(context(&bench, &fork), ["one", "two"]);
    let parent = listed(&bench, &["--match", "second"])[0]["parent"].clone();
    assert_eq!(
        Some(parent.as_str().unwrap()),
        session.strip_prefix("boswell:")
    );
}

#[test]
fn nothing_is_written_when_nothing_may_be() {
    let bench = Bench::new();
    let session = new(&bench);
    let before = boswell_testkit::snapshot::TreeSnapshot::take(&bench.own().join("sessions"));
    for args in [
        vec!["new"],
        vec!["append", &session, "--user", "x"],
        vec!["tag", &session, "x"],
        vec!["fork", &session],
        vec!["delete", "--apply", &session],
        vec!["undo"],
        vec!["memory", "add", "page", "text"],
    ] {
        let ran = bench
            .run(args.iter().copied().chain(["--read-only"]))
            .ends(2);
        assert!(ran.stderr.contains("--read-only"), "{ran:?}");
    }
    let after = boswell_testkit::snapshot::TreeSnapshot::take(&bench.own().join("sessions"));
    assert_eq!(before.diff(&after), [] as [String; 0]);
}

#[test]
fn what_an_agent_has_no_place_for_is_kept_as_a_note() {
    let bench = Bench::new();
    let made = boswell_testkit::make::claude::file(
        boswell_testkit::make::claude::ClaudeShape::ALL[0],
        "/proj/demo",
        1,
    );
    made.write_to(&bench.home().join(".claude"));
    let before = boswell_testkit::snapshot::TreeSnapshot::take(&bench.home());
    let session = format!("claude:{}", made.id);
    let ran = bench.run(["status", &session, "paused"]).ends(0);
    assert!(ran.stderr.contains("note"), "{ran:?}");
    assert_eq!(
        listed(&bench, &["--status", "paused"])[0]["ref"],
        session.as_str()
    );
    assert_eq!(
        before.diff(&boswell_testkit::snapshot::TreeSnapshot::take(
            &bench.home()
        )),
        [] as [String; 0]
    );
}

#[test]
fn deleting_everything_derived_changes_no_answer() {
    let bench = Bench::new();
    let home = boswell_testkit::home::TestHome::build(&bench.home(), 3);
    let session = new(&bench);
    bench
        .run(["append", &session, "--user", "会话恢复 needle"])
        .ends(0);
    let claude = home
        .of("claude")
        .next()
        .map(|planted| format!("claude:{}", planted.id))
        .unwrap();
    bench.run(["tag", &claude, "kept"]).ends(0);
    bench.run(["index"]).ends(0);
    let commands: &[&[&str]] = &[
        &["list", "--hidden"],
        &["projects"],
        &["stores"],
        &["stats"],
        &["prompts"],
        &["search", "needle"],
        &["search", "会话恢复"],
        &["tree", &session],
        &["ops"],
        &["continue", "--print"],
    ];
    let answers = || {
        commands
            .iter()
            .map(|args| bench.run(*args).text())
            .collect::<Vec<_>>()
    };
    let before = answers();
    for derived in [
        "catalog.db",
        "catalog.db-wal",
        "catalog.db-shm",
        "index",
        "cache",
    ] {
        let path = bench.own().join(derived);
        let gone = if path.is_dir() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        assert!(gone.is_ok() || !path.exists(), "{derived}");
    }
    for (args, (before, after)) in commands.iter().zip(before.iter().zip(answers())) {
        assert_eq!(*before, after, "{args:?}");
    }
}

#[test]
fn copies_in_the_vault_go_when_the_settings_say_so() {
    let bench = Bench::new();
    let made = bench
        .run(["new", "--project", ".", "--json"])
        .ends(0)
        .of_type("session");
    let reference = made[0]["ref"].as_str().unwrap().to_owned();
    bench.run(["delete", "--apply", &reference]).ends(0);
    assert_eq!(
        bench
            .run(["clean", "--vault", "--json"])
            .ends(0)
            .of_type("step")[0]["records"],
        0,
        "90 days are not over"
    );
    boswell_testkit::disk::write(
        &bench.home().join(".config/boswell/config.toml"),
        b"[retention]\ndeleted = \"0d\"\n",
    );
    assert_eq!(
        bench
            .run(["clean", "--vault", "--json"])
            .ends(2)
            .of_type("step")[0]["done"],
        "would drop"
    );
    let gone = bench
        .run(["clean", "--vault", "--apply", "--json"])
        .ends(0)
        .of_type("step");
    assert_eq!(
        (gone[0]["done"].as_str(), gone[0]["records"].as_u64()),
        (Some("dropped"), Some(1)),
        "{gone:?}"
    );
    assert_ne!(
        bench.run(["restore", &reference]).code,
        Some(0),
        "there is nothing left to restore"
    );
}
