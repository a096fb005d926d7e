//! `keep` that is interrupted or meets a limit: what was copied stays, and the reason is reported.

use boswell_testkit::disk::read;

use crate::bench::Bench;

const OTHER: &str = "aaaaaaaa-0002-4001-8001-000000000002";

fn line(id: &str, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"uuid\":\"{id}\",\
         \"timestamp\":\"2026-01-01T00:00:01.000Z\",\"cwd\":\"/w\",\"sessionId\":\"{id}\"}}\n"
    )
}

fn planted(bench: &Bench, sessions: usize) {
    for number in 0..sessions {
        let id = format!("{number:08x}-0001-4001-8001-000000000001");
        let log = line(&id, &format!("session {number}"));
        bench.plant(&format!(".claude/projects/-w/{id}.jsonl"), log.as_bytes());
    }
}

#[test]
fn ctrl_c_stops_between_two_sessions_and_the_next_run_copies_the_rest() {
    let bench = Bench::new();
    planted(&bench, 1_200);
    let kept = bench.own().join("vault/kept.jsonl");
    let child = bench
        .command(["keep", "run"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !kept.exists() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let ran = child.wait_with_output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(130), "{said}");
    assert!(
        said.contains("stopped; `boswell keep run` copies the rest"),
        "{said}"
    );
    let first = read(&kept).split(|byte| *byte == b'\n').count() - 1;
    assert!((1..1_200).contains(&first), "{first}");
    let rest = 1_200 - first;
    let text = bench.run(["keep", "run"]).ends(0).text();
    let copied = format!("copied {rest} files of {rest} sessions");
    assert!(text.contains(&copied), "{text}");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_with_its_reason() {
    let bench = Bench::new();
    planted(&bench, 1);
    let long = line(OTHER, &"long ".repeat(40_000));
    bench.plant(
        &format!(".claude/projects/-w/{OTHER}.jsonl"),
        long.as_bytes(),
    );
    let program = crate::bench::BOSWELL;
    // 8 blocks of 512 bytes: enough for the small session, and not for the long one.
    let script = format!("ulimit -f 8; exec \"{program}\" import \"$0\"");
    let path = bench
        .home()
        .join(format!(".claude/projects/-w/{OTHER}.jsonl"));
    let ran = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(path)
        .env_clear()
        .env("HOME", bench.home())
        .env("BOSWELL_HOME", bench.own())
        .current_dir(bench.cwd())
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(said.contains("`ulimit -f`"), "{said}");
}
