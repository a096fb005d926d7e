//! Damaged files, and files that another process has open.

use boswell_testkit::disk;

use crate::pi_lab::{FAMILY, Lab, answer, header, text_of, user};

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_holds_its_file_open_is_told_and_nothing_is_lost() {
    use std::io::Write;
    let lab = Lab::new("xcsh");
    let before = text_of(&lab.log());
    let mut agent = std::process::Command::new("sh")
        .args([
            "-c",
            "exec 3>>\"$1\"; echo ready; read line; echo \"$line\" >&3",
            "sh",
            lab.log().to_str().unwrap(),
        ])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut ready).unwrap();
    lab.run(&["rename", "0b7e", "x"]).ends(3).says("at work");
    lab.run(&["append", "0b7e", "--user", "x"]).ends(3);
    lab.run(&["label", "0b7e", "u1", "mine"]).ends(0);
    let line = user("u3", "a2", "from the agent");
    writeln!(agent.stdin.take().unwrap(), "{line}").unwrap();
    agent.wait().unwrap();
    let now = text_of(&lab.log());
    assert!(
        now.starts_with(&before) && now.contains(&line) && now.contains("\"label\":\"mine\""),
        "{now}"
    );
}

#[test]
fn whatever_stands_in_the_place_of_a_session_is_read_and_never_written_over() {
    let good = user("u1", "", "kept");
    let head = header("S", "/proj/demo", "");
    let cases: [(&str, Vec<u8>); 8] = [
        ("empty", Vec::new()),
        ("binary", vec![0x7F, b'E', b'L', b'F', 0, 1, 2, 255, 254]),
        ("headerless", format!("{good}\n").into_bytes()),
        (
            "foreign",
            b"{\"type\":\"message\",\"id\":\"1\"}\n{\"sessionId\":\"x\"}\n".to_vec(),
        ),
        (
            "nul",
            [head.as_bytes(), b"\n", good.as_bytes(), b"\n", &[0; 64]].concat(),
        ),
        (
            "torn",
            format!("{head}\n{good}\n{{\"type\":\"mess").into_bytes(),
        ),
        (
            "glued",
            format!("{head}\n{good}{}\n", answer("a1", "u1", "glued")).into_bytes(),
        ),
        (
            "title-slot",
            format!(
                "{{\"type\":\"title\",\"v\":1,\"title\":\"T\",\"pad\":\"\"}}\n{head}\n{good}\n"
            )
            .into_bytes(),
        ),
    ];
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        for (name, bytes) in &cases {
            let path = lab.plant(&format!("--bad--/{name}.jsonl"), "");
            disk::write(&path, bytes);
            for args in [
                &["show", name][..],
                &["tree", name],
                &["context", name],
                &["migrate", name],
                &["continue", "--print"],
            ] {
                lab.run(args);
                assert_eq!(&disk::read(&path), bytes, "{dialect}: {args:?}");
            }
            for args in [
                &["append", name, "--user", "more"][..],
                &["rename", name, "t"],
                &["migrate", name, "--apply"],
            ] {
                lab.run(args);
                let now = disk::read(&path);
                // Every record still exists; only a header or a title slot may have more content.
                let kept = bytes.is_empty()
                    || String::from_utf8_lossy(bytes).contains("kept")
                        == String::from_utf8_lossy(&now).contains("kept");
                assert!(
                    kept && now.len() >= bytes.len(),
                    "{dialect}: {name}: {args:?}: {}",
                    now.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn a_torn_tail_stays_on_a_line_of_its_own() {
    let lab = Lab::new("xcsh");
    let torn = format!("{}{{\"type\":\"mess", text_of(&lab.log()));
    disk::write(&lab.log(), torn.as_bytes());
    lab.run(&["append", "0b7e", "--user", "behind it"]).ends(0);
    let now = text_of(&lab.log());
    assert!(now.starts_with(&format!("{torn}\n{{")), "{now}");
    assert_eq!(lab.context("0b7e").last().unwrap(), "behind it");
}

#[test]
fn two_processes_on_one_file_lose_no_line() {
    let lab = Lab::new("xcsh");
    let children: Vec<_> = (0..4)
        .map(|number| {
            let mut command = lab.bench.command(lab.args(&[
                "append",
                "0b7e",
                "--wait",
                "60s",
                "--user",
                &format!("p{number}"),
            ]));
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut said = lab.context("0b7e").split_off(4);
    said.sort();
    assert_eq!(said, ["p0", "p1", "p2", "p3"]);
    lab.run(&["check", "0b7e"]).ends(0);
}
