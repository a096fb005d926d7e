//! clinvoker and open-agent-sdk through the command line: everything in the capability table works
//! on stores of every version.

mod clinvoker;
mod transcripts;

use boswell_testkit::disk;
use boswell_testkit::home::TestHome;
use boswell_testkit::make::oas;
use serde_json::{Value, json};

use crate::bench::Bench;

fn listed(bench: &Bench, args: &[&str]) -> Vec<Value> {
    bench
        .run(["list", "--json"].iter().chain(args))
        .ends(0)
        .of_type("session")
}

fn row(bench: &Bench, reference: &str) -> Value {
    listed(bench, &["--hidden"])
        .into_iter()
        .find(|row| row["ref"] == reference)
        .unwrap()
}

#[test]
fn every_promised_command_works_on_an_open_agent_sdk_folder_whatever_its_index() {
    for &state in oas::OasIndexState::ALL {
        let bench = Bench::new();
        let batch = oas::store(state, "/home/dev/proj/demo", 3);
        batch.write_to(&bench.home().join(".open-agent"));
        for made in [&batch.sessions[1], &batch.sessions[4]] {
            let session = format!("oas:{}", made.id);
            let fork = bench
                .run(["fork", &session])
                .ends(0)
                .text()
                .trim()
                .to_owned();
            assert_eq!(row(&bench, &fork)["parent"], made.id.as_str());
            bench
                .run(["rename", &session, "a note"])
                .ends(0)
                .says("kept as a note");
            let before = disk::read(&bench.home().join(".open-agent").join(&made.main));
            bench.run(["delete", "--apply", &session]).ends(0);
            bench.run(["restore", &session]).ends(0);
            assert_eq!(
                disk::read(&bench.home().join(".open-agent").join(&made.main)),
                before
            );
        }
        let new = bench
            .run([
                "new",
                "--dialect",
                "oas",
                "--project",
                "/p",
                "--backend",
                "openai/gpt-4o",
            ])
            .ends(0);
        assert_eq!(row(&bench, new.text().trim())["models"], json!(["gpt-4o"]));
        bench
            .run(["new", "--dialect", "oas"])
            .ends(2)
            .says("--backend openai/gpt-4o");
    }
}

#[test]
fn secrets_in_stored_options_are_never_shown_copied_or_exported_unasked() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 4);
    let fresh = home
        .of("oas")
        .find(|planted| String::from_utf8_lossy(&disk::read(&planted.path)).contains(oas::SECRET));
    let planted = fresh.unwrap().clone();
    let session = format!("oas:{}", planted.id);
    for args in [
        vec!["show", &session, "--records", "--raw"],
        vec!["show", &session, "--json"],
        vec!["list", "--json", "--hidden"],
        vec!["context", &session, "--json"],
        vec!["search", "sk-test", "--json"],
        vec!["export", &session],
    ] {
        let ran = bench.run(args.iter().copied());
        assert!(
            !ran.text().contains(oas::SECRET) && !ran.stderr.contains(oas::SECRET),
            "{args:?}"
        );
    }
    let exported = bench.run(["export", &session]).ends(0).says("--no-redact");
    let bytes = disk::read(&planted.path);
    let (header, rows) = bytes.split_at(bytes.iter().position(|b| *b == b'\n').unwrap());
    assert!(
        exported.stdout.ends_with(rows),
        "all but the header is exact"
    );
    assert_ne!(exported.stdout.len(), bytes.len());
    assert!(String::from_utf8_lossy(&exported.stdout).contains("[redacted]"));
    let exact = bench.run(["export", &session, "--no-redact"]).ends(0);
    assert!(exact.stdout == bytes && exact.stdout.starts_with(header));
    let fork = bench
        .run(["fork", &session])
        .ends(0)
        .says("not copied into the fork")
        .text()
        .trim()
        .to_owned();
    let copy = bench.run(["export", &fork, "--no-redact"]).ends(0);
    assert!(!copy.text().contains(oas::SECRET));
}

#[test]
fn a_session_of_ours_is_paused_when_nothing_happened_for_an_hour() {
    let bench = Bench::new();
    let old = bench
        .run(["new", "--title", "old"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let new = bench
        .run(["new", "--title", "new"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let path = row(&bench, &old)["path"].as_str().unwrap().to_owned();
    let text = String::from_utf8(disk::read(std::path::Path::new(&path))).unwrap();
    let year = text.find("\"timestamp\":\"20").unwrap() + 13;
    let now = &text[year..year + 10];
    disk::write(
        std::path::Path::new(&path),
        text.replace(now, "2026-01-01").as_bytes(),
    );
    assert_eq!(
        (&row(&bench, &old)["status"], &row(&bench, &new)["status"]),
        (&json!("paused"), &json!("active"))
    );
    bench.run(["close", &old]).ends(0);
    assert_eq!(
        row(&bench, &old)["status"],
        "completed",
        "what was ended is not paused"
    );
}
