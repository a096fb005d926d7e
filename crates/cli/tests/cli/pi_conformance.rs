//! Requirements for a store of this family, by the numbers of the list of conformance tests (§14);
//! `docs/dialects/pi.md` names the tests of the other numbers.

use std::path::Path;

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::finish;
use crate::pi_lab::{FAMILY, Lab, answer, entry, header, text_of, user};

fn problems(lab: &Lab, path: &Path) -> Vec<String> {
    let damage = lab
        .run(&["check", path.to_str().unwrap(), "--json"])
        .of_type("damage");
    let mut words: Vec<_> = damage
        .iter()
        .map(|line| line["problem"].as_str().unwrap().to_owned())
        .collect();
    words.dedup();
    words
}

/// §14 no. 3: newer versions are read completely, including unknown types, and not written.
#[test]
fn newer_versions_are_read_with_all_they_hold_and_never_written() {
    for dialect in FAMILY {
        for version in ["4", "99"] {
            let lab = Lab::new(dialect);
            let lines = [
                header("new", "/proj/demo", "")
                    .replace("\"version\":3", &format!("\"version\":{version}")),
                user("1", "", "known"),
                entry("tool_execution_started", "2", "1", r#""deep":{"of":[1,2]}"#),
                answer("3", "2", "behind it"),
            ];
            let text = format!("{}\n", lines.join("\n"));
            let path = lab.plant("--proj-demo--/2026-03-01T00-00-00-000Z_new.jsonl", &text);
            assert_eq!(
                lab.context("new"),
                ["known", "behind it"],
                "{dialect}, version {version}"
            );
            let raw = lab
                .run(&["show", "new", "--records", "--raw"])
                .ends(0)
                .text();
            assert!(raw.contains(r#""deep":{"of":[1,2]}"#), "{dialect}: {raw}");
            assert_eq!(
                problems(&lab, &path),
                ["newer_version"],
                "{dialect}, version {version}"
            );
            for args in [
                &["append", "new", "--user", "x"][..],
                &["migrate", "new", "--apply"],
            ] {
                assert_ne!(lab.run(args).code, Some(0), "{dialect}: {args:?}");
            }
            assert_eq!(text_of(&path), text, "{dialect}, version {version}");
        }
    }
}

/// §14 no. 6: headers of every version are recognised.
#[test]
fn headers_of_every_age_are_read() {
    let lab = Lab::new("xcsh");
    let plain = r#""type":"session","timestamp":"2026-02-16T10:20:30.000Z""#;
    for (name, rest, parent, project) in [
        (
            "no version",
            r#","cwd":"/proj/a""#,
            Value::Null,
            Value::from("/proj/a"),
        ),
        (
            "branchedFrom",
            r#","cwd":"/p","branchedFrom":"/x/old.jsonl""#,
            "/x/old.jsonl".into(),
            "/p".into(),
        ),
        (
            "parentSession is an id",
            r#","version":3,"cwd":"/p","parentSession":"0b7e""#,
            "0b7e".into(),
            "/p".into(),
        ),
        (
            "it is a path",
            r#","version":3,"cwd":"/p","parentSession":"/a/b.jsonl""#,
            "/a/b.jsonl".into(),
            "/p".into(),
        ),
        (
            "it leads nowhere",
            r#","version":3,"cwd":"/p","parentSession":"nobody""#,
            "nobody".into(),
            "/p".into(),
        ),
        ("no folder", r#","version":3"#, Value::Null, Value::Null),
        (
            "an empty folder",
            r#","version":3,"cwd":"""#,
            Value::Null,
            Value::Null,
        ),
    ] {
        let text = format!("{{{plain},\"id\":\"S\"{rest}}}\n{}\n", user("1", "", "a"));
        let path = lab.plant("--proj-demo--/2026-03-01T00-00-00-000Z_S.jsonl", &text);
        let row = lab.session("S");
        assert_eq!(
            (&row["parent"], &row["project"]),
            (&parent, &project),
            "{name}"
        );
        assert_eq!(lab.context("S"), ["a"], "{name}");
        assert_eq!(problems(&lab, &path), [] as [&str; 0], "{name}");
    }
}

/// The name of a damage, the bytes, the texts that are still read, and the reported problems.
type Damage = (
    &'static str,
    Vec<u8>,
    &'static [&'static str],
    &'static [&'static str],
);

/// §14 no. 7: for each damage, what is read, what is reported, and that no byte changes.
#[test]
fn every_damage_is_read_around_and_named() {
    let (head, one, two) = (
        header("S", "/proj/demo", ""),
        user("1", "", "one"),
        answer("2", "1", "two"),
    );
    let whole = format!("{head}\n{one}\n{two}\n");
    let torn = |line: &str| line[..line.len() / 2].to_owned();
    let bytes = |text: String| text.into_bytes();
    let cases: Vec<Damage> = vec![
        ("empty", Vec::new(), &[], &["empty"]),
        (
            "no header",
            bytes(format!("{one}\n{two}\n")),
            &["one", "two"],
            &["bad_header"],
        ),
        (
            "header torn",
            bytes(format!("{}\n{one}\n{two}\n", torn(&head))),
            &["one", "two"],
            &["not_json", "bad_header"],
        ),
        (
            "middle line torn",
            bytes(format!("{head}\n{}\n{two}\n", torn(&one))),
            &["two"],
            &["not_json", "missing_parent"],
        ),
        (
            "last line torn",
            bytes(format!("{head}\n{one}\n{}", torn(&two))),
            &["one"],
            &["torn_tail"],
        ),
        (
            "last line without its end",
            bytes(whole.trim_end().to_owned()),
            &["one", "two"],
            &[],
        ),
        (
            "a tail of NULs",
            [whole.as_bytes(), &[0; 512]].concat(),
            &["one", "two"],
            &["nul_bytes"],
        ),
        (
            "line ends of Windows",
            bytes(whole.replace('\n', "\r\n")),
            &["one", "two"],
            &[],
        ),
        (
            "a byte order mark",
            [b"\xEF\xBB\xBF", whole.as_bytes()].concat(),
            &["one", "two"],
            &[],
        ),
        (
            "a lone surrogate",
            bytes(whole.replace("one", r"on\ud83d")),
            &["on\u{FFFD}", "two"],
            &[],
        ),
        (
            "a key twice",
            bytes(whole.replace(r#""content":"one""#, r#""content":"x","content":"one""#)),
            &["one", "two"],
            &[],
        ),
        (
            "no UTF-8",
            whole
                .as_bytes()
                .to_vec()
                .into_iter()
                .map(|byte| if byte == b'w' { 0xFF } else { byte })
                .collect(),
            &["one", "t\u{FFFD}o"],
            &["invalid_utf8"],
        ),
    ];
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        for (name, bytes, said, named) in &cases {
            let path = lab.plant("--proj-demo--/case.jsonl", "");
            disk::write(&path, bytes);
            assert_eq!(
                lab.context(path.to_str().unwrap()),
                *said,
                "{dialect}: {name}"
            );
            assert_eq!(problems(&lab, &path), *named, "{dialect}: {name}");
            assert_eq!(&disk::read(&path), bytes, "{dialect}: {name}");
        }
    }
}

/// §14 no. 7, the 100 MB line.
#[test]
fn a_line_of_a_hundred_megabytes_is_read() {
    let lab = Lab::new("xcsh");
    let long = "x".repeat(100 << 20);
    let text = format!(
        "{}\n{}\n{}\n",
        header("S", "/proj/demo", ""),
        user("1", "", &long),
        answer("2", "1", "behind")
    );
    let path = lab.plant("--proj-demo--/2026-03-01T00-00-00-000Z_S.jsonl", &text);
    let sent = lab
        .run(&["context", "S", "--json"])
        .ends(0)
        .of_type("message");
    let lengths: Vec<_> = sent
        .iter()
        .map(|line| line["content"][0]["text"].as_str().unwrap().len())
        .collect();
    assert_eq!(lengths, [100 << 20, 6]);
    assert_eq!(problems(&lab, &path), [] as [&str; 0]);
}

/// §14 no. 22: a process that writes to a session does not recreate it after it was deleted.
#[test]
fn a_deleted_session_is_not_brought_back_by_who_was_writing() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let children: Vec<_> = (0..4)
            .map(|number| {
                let said = format!("p{number}");
                let command = lab
                    .bench
                    .command(lab.args(&["append", "0b7e", "--wait", "60s", "--user", &said]));
                std::thread::spawn(move || finish(command))
            })
            .collect();
        let deleted = lab.run(&["delete", "--apply", "0b7e"]);
        let done = children
            .into_iter()
            .map(|child| child.join().unwrap())
            .filter(|ran| ran.code == Some(0))
            .count();
        if deleted.code != Some(0) {
            // Another process was writing: the command reports it and removes nothing.
            assert_eq!(lab.context("0b7e").len(), 4 + done, "{dialect}");
            lab.run(&["delete", "--apply", "0b7e"]).ends(0);
        }
        assert!(!lab.log().exists(), "{dialect}");
        lab.run(&["append", "0b7e", "--user", "late"]).ends(2);
        assert!(!lab.log().exists(), "{dialect}");
        lab.run(&["restore", &format!("{dialect}:0b7e")]).ends(0);
        assert_eq!(
            lab.context("0b7e").len(),
            4 + done,
            "{dialect}: what was acknowledged is in what was deleted"
        );
    }
}

/// §14 no. 25: setting a title during concurrent appends loses and duplicates no line.
#[test]
fn titles_and_appends_at_once_lose_and_double_nothing() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let run = |args: Vec<String>| {
            let command = lab.bench.command(args);
            std::thread::spawn(move || finish(command))
        };
        let appends: Vec<_> = (0..6)
            .map(|number| {
                run(lab.args(&[
                    "append",
                    "0b7e",
                    "--wait",
                    "60s",
                    "--user",
                    &format!("p{number}"),
                ]))
            })
            .collect();
        let titles: Vec<_> = (0..4)
            .map(|number| run(lab.args(&["rename", "0b7e", &format!("title {number}")])))
            .collect();
        for append in appends {
            append.join().unwrap().ends(0);
        }
        let set = titles
            .into_iter()
            .map(|title| title.join().unwrap().code)
            .filter(|it| *it == Some(0))
            .count();
        let log = text_of(&lab.log());
        let mut ids: Vec<String> = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "{dialect}: {log}");
        let mut said: Vec<_> = lab.context("0b7e").split_off(4);
        said.sort();
        assert_eq!(said, ["p0", "p1", "p2", "p3", "p4", "p5"], "{dialect}");
        let title = lab.session("0b7e")["title"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(
            title.starts_with("title "),
            set > 0,
            "{dialect}: {set} set, now {title:?}"
        );
        assert_eq!(problems(&lab, &lab.log()), [] as [&str; 0], "{dialect}");
    }
}
