//! Files and folders whose names look like options, and commands that users copy.

use std::process::Command;

use boswell_testkit::disk;
use serde_json::json;

use crate::bench::Bench;

const UUID: &str = "0197aaaa-0000-7000-8000-000000000001";

fn pi(id: &str, cwd: &str) -> Vec<u8> {
    let at = "2026-10-05T08:00:00.000Z";
    let header = json!({"type": "session", "version": 3, "id": id, "timestamp": at, "cwd": cwd});
    let said = json!({"type": "message", "id": "a", "parentId": null, "timestamp": at, "message": {"role": "user", "content": "hello", "timestamp": 1}});
    format!("{header}\n{said}\n").into_bytes()
}

/// A folder of each agent, with the extension of its sessions.
const PLACES: [(&str, &str); 8] = [
    (".pi/agent/sessions/--w--", "jsonl"),
    (".omp/agent/sessions/-w", "jsonl"),
    (".xcsh/agent/sessions/--w--", "jsonl"),
    (".claude/projects/-w", "jsonl"),
    (".codex/sessions/2026/10/05", "jsonl"),
    (".open-agent/projects/-w", "jsonl"),
    (".clinvk/sessions", "json"),
    (".myagents/sessions", "jsonl"),
];

#[test]
fn a_file_whose_name_is_an_option_is_reported_and_not_listed_in_any_dialect() {
    let bench = Bench::new();
    let mut planted = Vec::new();
    for (folder, ending) in PLACES {
        for name in ["-", "--help", "-rf", "a\u{202e}b", "\u{61c}"] {
            planted.push((
                bench.plant(&format!("{folder}/{name}.{ending}"), &pi(name, "/w")),
                name,
            ));
        }
        for name in ["-", "--help"] {
            let stamped = format!("{folder}/2026-10-05T08-00-00-000Z_{name}.{ending}");
            planted.push((bench.plant(&stamped, &pi(name, "/w")), name));
        }
    }
    let rollout = bench.plant(".codex/sessions/2026/10/05/rollout---help.jsonl", b"{}\n");
    let before: Vec<Vec<u8>> = planted.iter().map(|(path, _)| disk::read(path)).collect();
    let listed = bench.run(["list", "--hidden", "--all", "--json"]);
    for session in listed.of_type("session") {
        let id = session["id"].as_str().unwrap();
        assert!(
            !id.starts_with('-') && !id.chars().any(|c| boswell_model::unseen(c).is_some()),
            "{session}"
        );
    }
    for args in [
        &["projects", "--json"] as &[&str],
        &["search", "hello", "--json"],
        &["stats", "--json"],
    ] {
        let said = bench.run(args.iter().copied()).text();
        assert!(
            !said.contains(":--help\"") && !said.contains(":-\""),
            "{said}"
        );
    }
    let checked = bench.run(["check", "--json"]).ends(1);
    let damage = checked.of_type("damage");
    assert!(
        damage
            .iter()
            .any(|it| it["path"] == rollout.to_str().unwrap()),
        "{checked:?}"
    );
    for (path, name) in planted
        .iter()
        .filter(|(path, _)| path.to_str().unwrap().contains("/.pi/"))
    {
        let reported = damage
            .iter()
            .find(|it| it["path"] == path.to_str().unwrap());
        let reported = reported.unwrap_or_else(|| panic!("{name} is not reported: {checked:?}"));
        let (detail, next) = (&reported["detail"], &reported["next"]);
        assert!(
            detail.as_str().unwrap().contains("is not a session id")
                && next.as_str().unwrap().starts_with("boswell show "),
            "{reported}"
        );
        assert_eq!(
            bench
                .run(["show", path.to_str().unwrap()])
                .ends(0)
                .text()
                // Once as the title, in the first line.
                .matches("\nhello")
                .count(),
            1
        );
    }
    let after: Vec<Vec<u8>> = planted.iter().map(|(path, _)| disk::read(path)).collect();
    assert_eq!(before, after, "bytes were changed");
}

#[test]
fn a_printed_command_goes_into_the_folder_whatever_it_is_called() {
    let bench = Bench::new();
    let scratch = bench.cwd();
    for cwd in [
        "-rf",
        "-",
        "--help",
        "a b",
        "it's",
        "$(touch owned)",
        "x;touch owned",
        "new\nline",
        "\u{61c}dir",
        "-P",
    ] {
        disk::make_dir(&scratch.join(cwd));
        bench.plant(
            &format!(".pi/agent/sessions/--w--/2026-10-05T08-00-00-000Z_{UUID}.jsonl"),
            &pi(UUID, cwd),
        );
        let printed = bench.run(["resume", UUID, "--print"]).ends(0).text();
        let (cd, _) = printed.trim_end().split_once(" && ").unwrap();
        assert!(cd.starts_with("cd -- "), "{printed}");
        let ran = Command::new("bash")
            .args(["-c", &format!("{cd} && pwd -P")])
            .current_dir(&scratch)
            .output()
            .unwrap();
        let went = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(
            went.strip_suffix('\n').unwrap(),
            scratch.canonicalize().unwrap().join(cwd).to_str().unwrap(),
            "{printed}"
        );
    }
    assert!(!scratch.join("owned").exists());
}

#[test]
fn ids_in_commands_to_copy_are_quoted() {
    let bench = Bench::new();
    let odd = "a;touch_owned$(x)'`";
    let mut bytes = pi(odd, "/w");
    bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"gone\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\ngarbage\n");
    bench.plant(
        &format!(".pi/agent/sessions/--w--/2026-10-05T08-00-00-000Z_{odd}.jsonl"),
        &bytes,
    );
    let reference = format!("pi:{odd}");
    let quoted = "'pi:a;touch_owned$(x)'\\''`'";
    for args in [
        &["check", &reference] as &[&str],
        &["show", &reference, "--entry", "none"],
        &["show", &reference, "--around", "none"],
        &["search", "hello"],
        &["delete", "--apply", &reference],
    ] {
        let ran = bench.run(args.iter().copied());
        let said = format!("{}{}", ran.text(), ran.stderr);
        assert!(said.contains(quoted), "{args:?}: {said}");
        assert!(
            !said.contains(&format!("boswell show {reference}")),
            "{said}"
        );
    }
}
