//! A damaged session from start to end: check, repair, check again, undo.

use boswell_testkit::damage::{self, Damage};
use boswell_testkit::make::{claude, pi};
use boswell_testkit::{Made, Rng, disk};

use crate::bench::{Bench, finish};
use crate::claude_together::start_of;

fn plant(bench: &Bench, folder: &str, made: &Made, bytes: &[u8]) -> String {
    let path = made.write_to(&bench.home().join(folder));
    disk::write(&path, bytes);
    path.to_str().unwrap().to_owned()
}

fn broken(made: &Made, kinds: &[Damage]) -> Vec<u8> {
    kinds.iter().fold(made.bytes().to_vec(), |bytes, kind| {
        damage::apply(*kind, &bytes, 6, &mut Rng::new(1))
    })
}

fn pi_session() -> Made {
    pi::file(
        pi::PiShape::Linear,
        pi::PiFlavour::Pi,
        pi::PiLayout::of("/home/dev/p"),
        3,
    )
}

#[test]
fn a_damaged_session_is_checked_repaired_and_put_back() {
    let bench = Bench::new();
    let made = pi_session();
    let bytes = broken(&made, &[Damage::GluedRecords]);
    let path = plant(&bench, ".pi/agent", &made, &bytes);
    let found = bench.run(["check", &path]).ends(1).text();
    assert!(
        found.contains("glued_records") && found.contains("boswell repair pi:"),
        "{found}"
    );
    let plan = bench.run(["repair", &path]).ends(2);
    assert!(plan.text().contains("*  1  certain  rewrite"), "{plan:?}");
    assert!(plan.stderr.contains("--apply"), "{plan:?}");
    assert_eq!(disk::read(path.as_ref()), bytes, "a plan writes nothing");
    bench.run(["repair", &path, "--apply"]).ends(0);
    assert_eq!(disk::read(path.as_ref()), made.bytes());
    bench.run(["check", &path]).ends(0);
    assert!(
        bench
            .run(["repair", &path, "--apply"])
            .ends(0)
            .text()
            .contains("nothing to repair")
    );
    bench.run(["undo"]).ends(0);
    assert_eq!(disk::read(path.as_ref()), bytes);
}

#[test]
fn changed_records_go_into_a_fork_that_is_made_once() {
    let bench = Bench::new();
    let made = pi_session();
    let bytes = broken(&made, &[Damage::PhantomParent]);
    let path = plant(&bench, ".pi/agent", &made, &bytes);
    let damage = bench
        .run(["check", &path, "--json"])
        .ends(1)
        .of_type("damage");
    assert_eq!(damage[0]["repair"], "fork");
    assert!(
        damage[0]["hurts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "pi"),
        "{damage:?}"
    );
    assert!(
        damage[0]["reachable"].as_u64() < damage[0]["total"].as_u64(),
        "{damage:?}"
    );
    let done = bench.run(["repair", &path, "--apply", "--json"]).ends(0);
    let fork = done.of_type("op")[0]["made"].as_str().unwrap().to_owned();
    assert_eq!(disk::read(path.as_ref()), bytes, "the original stays");
    bench.run(["check", &fork]).ends(0);
    let again = bench.run(["repair", &path, "--apply"]).ends(0);
    assert!(
        again
            .stderr
            .contains(&format!("already repaired as {fork}")),
        "{again:?}"
    );
    bench.run(["undo"]).ends(0);
    bench.run(["show", &fork]).ends(2);
}

#[test]
fn readers_that_still_lose_something_are_named() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let path = plant(
        &bench,
        ".claude",
        &made,
        &broken(&made, &[Damage::PhantomParent]),
    );
    let plan = bench.run(["repair", &path, "--json"]).ends(0);
    let readers: Vec<_> = plan
        .of_type("loss")
        .iter()
        .map(|loss| loss["reader"].to_string())
        .collect();
    assert!(readers.contains(&"\"sdk-py\"".to_owned()), "{readers:?}");
    let served = bench
        .run(["repair", &path, "--likely", "--for", "sdk-py", "--json"])
        .ends(2);
    assert!(
        served
            .of_type("loss")
            .iter()
            .all(|loss| loss["reader"] != "sdk-py"),
        "{served:?}"
    );
    let unknown = bench.run(["repair", &path, "--for", "netscape"]).ends(2);
    assert!(unknown.stderr.contains("known are 2.1.17"), "{unknown:?}");
    bench
        .run(["--read-only", "repair", &path, "--apply"])
        .ends(2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_is_in_use_is_not_repaired() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let bytes = broken(&made, &[Damage::GluedRecords]);
    let path = plant(&bench, ".claude", &made, &bytes);
    let held = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let refused = bench.run(["repair", &path, "--apply"]).ends(3);
    assert!(
        refused
            .stderr
            .contains(&format!("pid {}", std::process::id())),
        "{refused:?}"
    );
    assert!(
        refused.stderr.contains("hint: end the agent first"),
        "{refused:?}"
    );
    bench
        .run(["repair", &path, "--apply", "--step", "1"])
        .ends(3);
    bench.run(["repair", &path]).ends(2);
    drop(held);

    // A client between two prompts has no file open; only its registry entry shows that it is
    // running.
    let register = |start: &str| {
        let entry = format!(
            r#"{{"pid":{},"sessionId":"{}","procStart":"{start}"}}"#,
            std::process::id(),
            made.id
        );
        bench.plant(
            &format!(".claude/sessions/{}.json", std::process::id()),
            entry.as_bytes(),
        );
    };
    register(&start_of(std::process::id()));
    bench.run(["repair", &path, "--apply"]).ends(3);
    assert_eq!(disk::read(path.as_ref()), bytes, "nothing was written");
    register("1");
    let _reader = std::fs::OpenOptions::new().read(true).open(&path).unwrap();
    bench.run(["repair", &path, "--apply"]).ends(0);
    assert_eq!(
        disk::read(path.as_ref()),
        made.bytes(),
        "who only reads is in nobody's way"
    );
}

#[test]
fn the_client_that_is_installed_is_served_without_being_started() {
    let bench = Bench::new();
    let made = claude::file(claude::ClaudeShape::ToolUse, "/home/dev/p", 3);
    let path = plant(
        &bench,
        ".claude",
        &made,
        &broken(&made, &[Damage::PhantomParent]),
    );
    let is_fixed = |program: &str| {
        let mut command = bench.command(["repair", &path, "--json"]);
        command.env("PATH", bench.home().join(program));
        let plan = finish(command);
        let steps = plan.of_type("step");
        let is_fixed = steps.iter().any(|step| step["taken"] == true);
        plan.ends(if is_fixed { 2 } else { 0 });
        is_fixed
    };
    // None of these is a program: starting one of them fails.
    bench.plant(
        "package/package.json",
        br#"{"name":"c","version":"2.1.50"}"#,
    );
    bench.plant("package/bin/claude", b"never started");
    bench.plant("share/versions/2.1.325", b"never started");
    std::fs::create_dir_all(bench.home().join("bin")).unwrap();
    std::os::unix::fs::symlink("../share/versions/2.1.325", bench.home().join("bin/claude"))
        .unwrap();
    assert!(is_fixed("package/bin"), "2.1.50 stops at the gap");
    assert!(!is_fixed("bin"), "2.1.325 does not");
    assert!(!is_fixed("nowhere"));
}

#[test]
fn blocks_that_the_provider_refuses_are_named_by_check_and_gone_in_the_fork() {
    let bench = Bench::new();
    let id = "aaaaaaaa-0001-4001-8001-000000000001";
    let seconds = std::cell::Cell::new(0);
    let line = |uuid: &str, parent: &str, who: &str, content: &str| {
        // Versions that resume the newest line need times that grow.
        let second = seconds.replace(seconds.get() + 1);
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{who}\",\"message\":{{\"role\":\"{who}\",\"model\":\"claude-x\",\"content\":{content}}},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T00:00:0{second}.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\",\"version\":\"2.1.325\"}}\n"
        )
    };
    let image = |data: &str| {
        format!(
            "[{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"{data}\"}}}}]"
        )
    };
    let log = [
        line("u1", "null", "user", "\"看图\""),
        line("u2", "\"u1\"", "user", &image("not base64")),
        line(
            "a1",
            "\"u2\"",
            "assistant",
            "[{\"type\":\"thinking\",\"thinking\":\"嗯\",\"signature\":\"\"},{\"type\":\"text\",\"text\":\"ok\"}]",
        ),
        line(
            "u3",
            "\"a1\"",
            "user",
            "[{\"type\":\"text\",\"text\":\" \"},{\"type\":\"text\",\"text\":\"go on\"}]",
        ),
        line(
            "a2",
            "\"u3\"",
            "assistant",
            "[{\"type\":\"text\",\"text\":\"done\"}]",
        ),
    ];
    let path = bench.home().join(format!(".claude/projects/-w/{id}.jsonl"));
    disk::write(&path, log.concat().as_bytes());
    let told = |session: &str| -> Vec<(u64, String)> {
        let found = bench.run(["check", session, "--json"]).of_type("damage");
        assert!(
            found.iter().all(|it| it["problem"] == "refused_block"),
            "{found:?}"
        );
        found
            .iter()
            .map(|it| {
                (
                    it["line"].as_u64().unwrap(),
                    it["detail"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    // The newest client omits blank texts itself.
    assert_eq!(
        told(id),
        [
            (
                2,
                "the provider refuses an image: its data is broken".to_owned()
            ),
            (
                3,
                "the provider refuses a thought that has lost its signature".to_owned()
            ),
        ]
    );
    let text = bench.run(["check", id]).ends(1).text();
    assert!(
        text.contains(&format!("boswell repair claude:{id}")),
        "{text}"
    );
    let done = bench
        .run(["repair", id, "--likely", "--apply", "--json"])
        .ends(0)
        .of_type("op");
    assert_eq!(told(done[0]["made"].as_str().unwrap()), []);
    assert_eq!(
        disk::read(&path),
        log.concat().as_bytes(),
        "it stays as it is"
    );
    assert_eq!(told(id), [], "what was repaired is not reported again");
}
