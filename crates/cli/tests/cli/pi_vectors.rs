//! What the programs of the family assert about their files, case by case: each test names those it
//! follows, as `labels:5`. `docs/dialects/pi.md` lists them all and says where boswell differs.

use std::path::{Path, PathBuf};

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::Ran;
use crate::pi_lab::{FAMILY, Lab, V1, answer, entry, header, text_of, user};

/// Parents by id, as the file has them.
fn parents(log: &Path) -> Vec<(String, Value)> {
    let lines = text_of(log);
    let entries = lines
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .map(|entry| {
            (
                entry["id"].as_str().unwrap().to_owned(),
                entry["parentId"].clone(),
            )
        })
        .collect()
}

fn nodes(lab: &Lab, session: &str) -> Vec<Value> {
    lab.run(&["tree", session, "--json"])
        .ends(0)
        .of_type("node")
}

fn labels(lab: &Lab, session: &str) -> Vec<(String, String)> {
    let label = |node: &Value| {
        Some((
            node["id"].as_str()?.to_owned(),
            node["label"].as_str()?.to_owned(),
        ))
    };
    nodes(lab, session).iter().filter_map(label).collect()
}

fn pair(id: &str, label: &str) -> (String, String) {
    (id.to_owned(), label.to_owned())
}

/// A session of its own, with a path to it.
fn planted(lab: &Lab, id: &str, cwd: &str, entries: &[String]) -> PathBuf {
    let lines = [&[header(id, cwd, "")], entries].concat();
    let name = format!("--proj-demo--/2026-03-01T00-00-00-000Z_{id}.jsonl");
    lab.plant(&name, &format!("{}\n", lines.join("\n")))
}

/// tree-traversal:7–:105, context-change:5 and :23, save-entry:5: whatever is appended hangs below
/// the entry before it, and the conversation stands there.
#[test]
fn every_kind_of_entry_goes_into_the_tree() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let model = r#"{"type":"model_change","model":"p/m","provider":"p","modelId":"m"}"#;
        let ids = lab.feed(
            "0b7e",
            &[
                r#"{"role":"user","text":"first"}"#,
                r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
                model,
                r#"{"type":"compaction","summary":"summary","firstKeptEntryId":"u2","tokensBefore":1000}"#,
                r#"{"type":"custom","customType":"mine","data":{"key":"value"}}"#,
                r#"{"type":"context_change","contextName":"prod","tenant":"t","namespace":"n"}"#,
                r#"{"role":"assistant","text":"last"}"#,
            ],
        );
        assert!(ids.iter().all(|id| !id.is_empty()), "context-change:23");
        let mut above = Value::from("a2");
        for (id, parent) in parents(&lab.log()).split_off(4) {
            assert_eq!(parent, above, "{dialect}: {id}");
            above = Value::from(id);
        }
        assert_eq!(
            above,
            Value::from(ids.last().unwrap().as_str()),
            "{dialect}: tree-traversal:105"
        );
        assert_eq!(
            lab.context("0b7e"),
            ["summary", "add it", "done", "first", "last"],
            "{dialect}: tree-traversal:65"
        );
        let log = text_of(&lab.log());
        for part in [
            r#""data":{"key":"value"}"#,
            r#""contextName":"prod","tenant":"t","namespace":"n""#,
        ] {
            assert!(
                log.contains(part),
                "{dialect}: save-entry:5, context-change:5"
            );
        }
    }
}

/// tree-traversal:121–:242, :339–:363: paths, trees and entries as they are asked for.
#[test]
fn paths_and_trees_are_what_the_parents_say() {
    let lab = Lab::new("xcsh");
    planted(&lab, "empty", "/proj/demo", &[]);
    assert!(
        nodes(&lab, "empty").is_empty() && lab.context("empty").is_empty(),
        "tree-traversal:122, :164, :340"
    );
    planted(&lab, "single", "/proj/demo", &[user("1", "", "hello")]);
    assert_eq!(lab.context("single"), ["hello"], "tree-traversal:127");
    let (leaf, roots) = (
        |node: &Value| node["leaf"] == true,
        |node: &&Value| node["parent"].is_null(),
    );
    assert!(nodes(&lab, "single").iter().any(leaf), "tree-traversal:345");
    let deep = [
        user("1", "", "1"),
        answer("2", "1", "2"),
        user("3", "2", "3"),
        answer("4", "3", "4"),
        user("5", "2", "5"),
        user("6", "5", "6"),
        user("7", "5", "7"),
        user("8", "2", "8"),
    ];
    planted(&lab, "deep", "/proj/demo", &deep);
    assert_eq!(lab.context("deep"), ["1", "2", "8"], "tree-traversal:136");
    let at = |leaf: &str| {
        let said = lab
            .run(&["context", "deep", "--leaf", leaf, "--json"])
            .ends(0)
            .of_type("message");
        said.iter()
            .map(|line| line["content"][0]["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join("")
    };
    for (leaf, path) in [("4", "1234"), ("6", "1256"), ("7", "1257"), ("2", "12")] {
        assert_eq!(at(leaf), path, "tree-traversal:149, :385");
    }
    let shown = nodes(&lab, "deep");
    assert_eq!(shown.iter().filter(roots).count(), 1, "tree-traversal:169");
    let children = |id: &str| {
        let found = shown
            .iter()
            .find(|node| node["id"] == id)
            .unwrap_or_else(|| panic!("{id} is not shown"));
        found["children"].as_u64().unwrap()
    };
    assert_eq!(
        (children("2"), children("5")),
        (3, 2),
        "tree-traversal:188, :215, :242"
    );
    lab.run(&["show", "deep", "--entry", "nobody"]).ends(2);
    lab.run(&["context", "deep", "--leaf", "nobody"])
        .ends(2)
        .says("nobody");
}

/// tree-traversal:274–:331, :384: the leaf moves, what follows hangs below it, and nobody moves
/// to what is not there.
#[test]
fn branching_moves_the_leaf() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        lab.run(&["branch", "0b7e", "u1"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            ["why is the build red?"],
            "{dialect}: tree-traversal:275"
        );
        lab.run(&["append", "0b7e", "--user", "otherwise"]).ends(0);
        assert_eq!(
            lab.context("0b7e"),
            ["why is the build red?", "otherwise"],
            "{dialect}: tree-traversal:295, :385"
        );
        let before = text_of(&lab.log());
        lab.run(&["branch", "0b7e", "nobody"])
            .ends(2)
            .says("nobody");
        lab.run(&["branch", "0b7e", "nobody", "--summary", "s"])
            .ends(2);
        assert_eq!(
            text_of(&lab.log()),
            before,
            "{dialect}: tree-traversal:288, :331"
        );
        lab.run(&["branch", "0b7e", "a1", "--summary", "left something"])
            .ends(0);
        let last: Value =
            serde_json::from_str(text_of(&lab.log()).lines().last().unwrap()).unwrap();
        let found = (&last["type"], &last["parentId"], &last["summary"]);
        let expected = (
            &Value::from("branch_summary"),
            &Value::from("a1"),
            &Value::from("left something"),
        );
        assert_eq!(found, expected, "{dialect}: tree-traversal:311");
        let text = lab.context("0b7e");
        assert_eq!(
            text.last().unwrap(),
            "left something",
            "{dialect}: tree-traversal:311"
        );
    }
}

/// tree-traversal:407–:439: a branched session is the path in order, and nothing of what was left.
#[test]
fn a_branched_session_is_its_path() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let entries = [
            user("1", "", "1"),
            answer("2", "1", "2"),
            user("3", "2", "3"),
            user("4", "2", "4"),
            answer("5", "4", "5"),
        ];
        planted(&lab, "source", "/proj/demo", &entries);
        let before = lab
            .run(&["list", "--json"])
            .ends(0)
            .of_type("session")
            .len();
        lab.run(&["fork", "source", "--at", "nobody"]).ends(2);
        assert_eq!(
            lab.run(&["list", "--json"]).of_type("session").len(),
            before,
            "{dialect}: tree-traversal:408"
        );
        let fork = lab
            .run(&["fork", "source", "--at", "5"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            lab.context(&fork),
            ["1", "2", "4", "5"],
            "{dialect}: tree-traversal:415, :439"
        );
        let path = lab.session(fork.split_once(':').unwrap().1)["path"]
            .as_str()
            .unwrap()
            .to_owned();
        let ids: Vec<_> = parents(Path::new(&path))
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        assert_eq!(ids, ["1", "2", "4", "5"], "{dialect}: tree-traversal:439");
    }
}

/// labels:5–:173.
#[test]
fn labels_are_set_cleared_shown_and_go_along_with_their_entries() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let session = "0b7e";
        lab.run(&["label", session, "u1", "start"]).ends(0);
        assert_eq!(
            labels(&lab, session),
            [pair("u1", "start")],
            "{dialect}: labels:5, :51"
        );
        lab.run(&["label", session, "u1", "again"]).ends(0);
        assert_eq!(
            labels(&lab, session),
            [pair("u1", "again")],
            "{dialect}: labels:39"
        );
        lab.run(&["label", session, "u1", "--clear"]).ends(0);
        assert_eq!(labels(&lab, session), [], "{dialect}: labels:26");
        let before = text_of(&lab.log());
        lab.run(&["label", session, "nobody", "x"])
            .ends(2)
            .says("nobody");
        assert_eq!(text_of(&lab.log()), before, "{dialect}: labels:173");
        for (id, label) in [("u1", "first"), ("a2", "last")] {
            lab.run(&["label", session, id, label]).ends(0);
        }
        let said = [
            "why is the build red?",
            "a rule is missing",
            "add it",
            "done",
        ];
        assert_eq!(lab.context(session), said, "{dialect}: labels:162");
        let short = lab
            .run(&["fork", session, "--at", "a1"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            labels(&lab, &short),
            [pair("u1", "first")],
            "{dialect}: labels:125"
        );
        let long = lab
            .run(&["fork", session, "--at", "a2"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        assert_eq!(
            labels(&lab, &long),
            [pair("u1", "first"), pair("a2", "last")],
            "{dialect}: labels:87"
        );
    }
}

/// file-operations:27–:63: what a loader makes of what it finds. Where the programs see nothing,
/// boswell shows what is there.
#[test]
fn whatever_a_loader_meets_is_read_as_far_as_it_goes() {
    let lab = Lab::new("xcsh");
    let gone = lab.root().join("sessions/--proj-demo--/gone.jsonl");
    lab.run(&["show", gone.to_str().unwrap()]).ends(2);
    assert!(!gone.exists(), "file-operations:27");
    let good = [
        header("S", "/proj/demo", ""),
        user("1", "", "one"),
        answer("2", "1", "two"),
    ];
    let torn = format!("{}\n{}\n{{\"type\":\"mess\n{}\n", good[0], good[1], good[2]);
    for (name, text, said) in [
        ("file-operations:32 an empty file", String::new(), &[][..]),
        (
            "file-operations:38 no header",
            "{\"type\":\"message\",\"id\":\"1\"}\n".to_owned(),
            &[],
        ),
        ("file-operations:44 no JSON", "not json\n".to_owned(), &[]),
        (
            "file-operations:50 a valid file",
            format!("{}\n", good.join("\n")),
            &["one", "two"],
        ),
        (
            "file-operations:63 a damaged line in the middle",
            torn,
            &["one", "two"],
        ),
    ] {
        let path = lab.plant("--proj-demo--/case.jsonl", &text);
        assert_eq!(
            lab.context(path.to_str().unwrap())
                .iter()
                .filter(|it| !it.is_empty())
                .count(),
            said.len(),
            "{name}"
        );
        assert_eq!(text_of(&path), text, "{name}");
    }
}

fn continued(lab: &Lab) -> Ran {
    lab.run(&["continue", "--print"])
}

/// file-operations:88–:125: which session is the most recent. The programs ask the file's time,
/// boswell what was said last.
#[test]
fn the_most_recent_session_is_one_that_is_whole() {
    let lab = Lab::new("xcsh");
    std::fs::remove_dir_all(lab.root()).unwrap();
    assert_ne!(continued(&lab).code, Some(0), "file-operations:92");
    disk::write(&lab.root().join("sessions/.keep"), b"");
    assert_ne!(continued(&lab).code, Some(0), "file-operations:88");
    let cwd = lab.bench.cwd().canonicalize().unwrap();
    let here = cwd.to_str().unwrap();
    let said = |id: &str, second: u32| {
        let at = format!("177123{second:04}000");
        let lines = [
            header(id, here, ""),
            user("1", "", id),
            answer("2", "1", id),
        ];
        format!("{}\n", lines.join("\n"))
            .replace("1771237231000", &at)
            .replace("1771237232000", &at)
    };
    lab.plant("-x/notes.txt", &said("text", 9000));
    lab.plant("-x/notes.json", &said("document", 9000));
    assert_ne!(continued(&lab).code, Some(0), "file-operations:96");
    lab.plant(
        "-x/headless.jsonl",
        &said("headless", 9000)
            .split_once('\n')
            .unwrap()
            .1
            .replace("cwd", "dwc"),
    );
    assert_ne!(continued(&lab).code, Some(0), "file-operations:102");
    lab.plant(
        "-x/2026-01-01T00-00-00-000Z_valid.jsonl",
        &said("valid", 1000),
    );
    assert!(
        continued(&lab).ends(0).text().contains("valid"),
        "file-operations:107, :125"
    );
    let elsewhere = said("elsewhere", 1000).replace(here, "/proj/else");
    lab.plant("-x/2026-01-01T00-00-00-000Z_valid.jsonl", &elsewhere);
    let ran = continued(&lab).ends(0).says("passed over xcsh:headless");
    assert!(
        ran.text().contains("elsewhere"),
        "file-operations:125: {ran:?}"
    );
    lab.plant(
        "-x/2026-01-01T00-00-00-000Z_valid.jsonl",
        &said("valid", 1000),
    );
    lab.plant(
        "-x/2026-01-02T00-00-00-000Z_newer.jsonl",
        &said("newer", 2000),
    );
    assert!(
        continued(&lab).ends(0).text().contains("newer"),
        "file-operations:113"
    );
}

/// file-operations:137–:196: what a typed name leads to.
#[test]
fn legacy_names_and_sessions_of_other_folders_are_found() {
    let lab = Lab::new("xcsh");
    let old = format!(
        "{}\n{}\n",
        header("legacyabcd", "/somewhere/else", ""),
        user("1", "", "from long ago")
    );
    lab.plant(
        "--proj-demo--/2025-02-03T04-05-06-789Z_legacyabcd.jsonl",
        &old,
    );
    for (name, case) in [
        ("legacyabcd", "file-operations:177"),
        ("legacy", "file-operations:177, :186"),
        ("2025-02-03T04-05", "file-operations:186"),
        (
            "LEGACYAB",
            "file-operations:196: another folder in the header",
        ),
    ] {
        assert!(
            lab.run(&["show", name])
                .ends(0)
                .text()
                .contains("from long ago"),
            "{case}"
        );
    }
    lab.run(&["show", "nomatch"]).ends(2);
}

/// file-operations:206–:278: folders named from home and from the temporary folder, also through a
/// link; those of old are read where they are.
#[cfg(unix)]
#[test]
fn projects_are_filed_under_their_real_paths() {
    let lab = Lab::new("xcsh");
    let filed = |project: &Path| {
        let new = lab
            .run(&[
                "new",
                "--dialect",
                "xcsh",
                "--project",
                project.to_str().unwrap(),
                "--json",
            ])
            .ends(0);
        let path = PathBuf::from(new.of_type("session")[0]["path"].as_str().unwrap());
        path.parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    std::fs::create_dir_all(lab.bench.home().join("made/pi")).unwrap();
    std::os::unix::fs::symlink(lab.bench.home(), lab.bench.root().join("link")).unwrap();
    assert_eq!(
        filed(&lab.bench.root().join("link/made/pi")),
        "-made-pi",
        "file-operations:237"
    );
    let below = lab.bench.tmp().join("run/one");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(filed(&below), "-tmp-run-one", "file-operations:267");
    let name = format!("-{}--", below.display().to_string().replace('/', "-"));
    let legacy = format!(
        "{}\n{}\n",
        header("legacy", below.to_str().unwrap(), ""),
        user("1", "", "kept")
    );
    let path = lab.plant(
        &format!("{name}/2026-01-01T00-00-00-000Z_legacy.jsonl"),
        &legacy,
    );
    assert_eq!(
        lab.session("legacy")["project"],
        below.to_str().unwrap(),
        "file-operations:278"
    );
    assert_eq!(lab.context("legacy"), ["kept"]);
    assert_eq!(
        text_of(&path),
        legacy,
        "file-operations:278: it stays where its agent looks for it and moves it itself"
    );
}

/// file-operations:298–:446: a file of old is written only when that is asked for, and a new
/// session does not stand before those with something in them.
#[test]
fn old_files_wait_for_a_word_and_new_sessions_for_theirs() {
    let lab = Lab::new("xcsh");
    let cwd = lab.bench.cwd().canonicalize().unwrap();
    let before = std::fs::metadata(lab.old()).unwrap().modified().unwrap();
    lab.run(&["show", "old"]).ends(0);
    lab.run(&["append", "old", "--user", "x"])
        .ends(2)
        .says("migrate");
    assert_eq!(text_of(&lab.old()), V1, "file-operations:333");
    assert_eq!(
        std::fs::metadata(lab.old()).unwrap().modified().unwrap(),
        before,
        "file-operations:333"
    );
    lab.run(&["migrate", "old", "--apply"]).ends(0);
    let records = |path: &Path| {
        text_of(path)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    };
    let now: Vec<Value> = records(&lab.old());
    assert_eq!(now[0]["version"], 3, "file-operations:383, :415");
    assert!(
        now[1..]
            .windows(2)
            .all(|two| two[1]["parentId"] == two[0]["id"]),
        "file-operations:333"
    );
    lab.run(&["append", "old", "--user", "more"]).ends(0);
    assert_eq!(
        records(&lab.old()).len(),
        now.len() + 1,
        "file-operations:333"
    );
    let here = cwd.to_str().unwrap();
    planted(
        &lab,
        "before",
        here,
        &[user("1", "", "a"), answer("2", "1", "b")],
    );
    let new = lab
        .run(&["new", "--dialect", "xcsh", "--project", here])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let row = lab.session(new.split_once(':').unwrap().1);
    // `new` says that there is to be a session, so its header is on disk at once, as after xcsh's
    // `ensureOnDisk`; the library waits.
    assert_eq!(row["hidden"], "empty", "file-operations:446");
    assert_eq!(
        text_of(Path::new(row["path"].as_str().unwrap()))
            .lines()
            .count(),
        1,
        "file-operations:415, :446"
    );
    assert!(
        continued(&lab).ends(0).text().contains("before"),
        "file-operations:446"
    );
}

/// move-to:104–:221: whatever there is of a session follows its project.
#[test]
fn sessions_follow_their_project() {
    for dialect in ["omp", "xcsh"] {
        let lab = Lab::new(dialect);
        planted(&lab, "bare", "/proj/demo", &[]);
        planted(&lab, "asked", "/proj/demo", &[user("1", "", "pending")]);
        lab.plant(
            "--proj-demo--/2026-04-01T00-00-00-000Z_lonely/1.bash.log",
            "of nobody",
        );
        let new = lab
            .run(&["new", "--dialect", dialect, "--project", "/proj/demo"])
            .ends(0)
            .text()
            .trim()
            .to_owned();
        let id = new.split_once(':').unwrap().1;
        lab.run(&["move", "/proj/demo", "/proj/new", "--apply"])
            .ends(0);
        let folder = lab.root().join("sessions/--proj-new--");
        let lands = |id: &str| folder.join(format!("2026-03-01T00-00-00-000Z_{id}.jsonl"));
        let log = folder.join(lab.log().file_name().unwrap());
        for (name, path) in [
            ("move-to:104", log.clone()),
            ("move-to:177 only a header", lands("bare")),
            ("move-to:197 only a question", lands("asked")),
        ] {
            let cwd = serde_json::from_str::<Value>(text_of(&path).lines().next().unwrap())
                .unwrap()["cwd"]
                .clone();
            assert_eq!(cwd, "/proj/new", "{dialect}: {name}");
        }
        assert!(!lab.log().exists(), "{dialect}: move-to:104");
        assert_eq!(
            text_of(&log.with_extension("").join("1.bash.log")),
            "whole output",
            "{dialect}"
        );
        assert_eq!(
            lab.session(id)["project"],
            "/proj/new",
            "{dialect}: move-to:128"
        );
        lab.run(&["append", &new, "--user", "q", "--assistant", "a"])
            .ends(0);
        let path = lab.session(id)["path"].as_str().unwrap().to_owned();
        assert!(
            Path::new(&path).starts_with(&folder),
            "{dialect}: move-to:128: {path}"
        );
        let lonely = lab
            .root()
            .join("sessions/--proj-demo--/2026-04-01T00-00-00-000Z_lonely/1.bash.log");
        assert!(
            lonely.exists(),
            "{dialect}: move-to:221: nothing says whose they are, so they stay"
        );
    }
}

/// title-source-persistence:58 and :76: who gave a title is known after everything
/// that is written later.
#[test]
fn titles_keep_who_gave_them() {
    let lab = Lab::new("xcsh");
    let new = lab
        .run(&["new", "--dialect", "xcsh", "--title", "mine"])
        .ends(0)
        .text()
        .trim()
        .to_owned();
    let named = format!(
        "{}\n",
        header(
            "named",
            "/proj/demo",
            r#","title":"made up","titleSource":"auto""#
        )
    );
    lab.plant("--proj-demo--/2026-03-01T00-00-00-000Z_named.jsonl", &named);
    for (name, session, title, source) in [
        (
            "title-source-persistence:58",
            "xcsh:named",
            "made up",
            "auto",
        ),
        ("title-source-persistence:76", &new, "mine", "user"),
    ] {
        lab.run(&["append", session, "--user", "q", "--assistant", "a"])
            .ends(0);
        let row = lab.session(session.split_once(':').unwrap().1);
        assert_eq!(
            (&row["title"], &row["title_source"]),
            (&Value::from(title), &Value::from(source)),
            "{name}"
        );
        let first = text_of(Path::new(row["path"].as_str().unwrap()))
            .lines()
            .next()
            .unwrap()
            .to_owned();
        let expected = format!(r#""title":"{title}","titleSource":"{source}""#);
        assert!(first.contains(&expected), "{name}: {first}");
    }
}

/// session-storage:31: a session without artifacts is deleted like any other.
#[test]
fn a_session_without_artifacts_is_deleted() {
    for dialect in FAMILY {
        let lab = Lab::new(dialect);
        let path = planted(&lab, "bare", "/proj/demo", &[user("1", "", "a")]);
        lab.run(&["delete", "bare"]).ends(0);
        assert!(!path.exists() && lab.log().exists(), "{dialect}");
    }
}

/// signature-persistence:65 and :136: a picture behind an address goes to the blobs and comes back;
/// a reload forgets what OpenAI wanted back and changes no byte.
#[test]
fn pictures_behind_addresses_are_put_away_and_come_back() {
    let lab = Lab::new("xcsh");
    let url = format!("data:image/png;base64,{}", "A".repeat(600_000));
    let items = format!(
        r#"[{{"type":"message","content":[{{"type":"input_image","image_url":"{url}"}}]}}]"#
    );
    let kept = format!(
        r#"{{"type":"compaction","summary":"s","firstKeptEntryId":"u1","tokensBefore":1,"preserveData":{{"openaiRemoteCompaction":{{"provider":"openai","replacementHistory":{items},"compactionItem":{{}}}}}}}}"#
    );
    lab.feed("0b7e", &[&kept]);
    let blobs = disk::list(&lab.root().join("blobs"));
    assert_eq!(blobs.len(), 1, "signature-persistence:65");
    assert_eq!(
        disk::read(&blobs[0]),
        url.as_bytes(),
        "signature-persistence:65: the whole address"
    );
    let name = blobs[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(
        text_of(&lab.log()).contains(&format!(r#""image_url":"blob:sha256:{name}""#)),
        "signature-persistence:65"
    );
    let sent = lab
        .run(&["context", "0b7e", "--json"])
        .ends(0)
        .of_type("message");
    let back = &sent[0]["native"]["providerPayload"]["items"][0]["content"][0]["image_url"];
    assert_eq!(
        back.as_str().map(str::len),
        Some(url.len()),
        "signature-persistence:65"
    );
    assert_eq!(back, &Value::from(url), "signature-persistence:65");

    let said = r#""message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"sig"}],"api":"openai-responses","provider":"openai","model":"m","providerPayload":{"type":"openaiResponsesHistory","items":[1]},"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"total":0}},"stopReason":"stop","timestamp":1}"#;
    let path = planted(
        &lab,
        "replay",
        "/proj/demo",
        &[user("1", "", "a"), entry("message", "2", "1", said)],
    );
    let (before, time) = (
        text_of(&path),
        std::fs::metadata(&path).unwrap().modified().unwrap(),
    );
    let sent = lab
        .run(&["context", "replay", "--json"])
        .ends(0)
        .of_type("message");
    let native = sent[1]["native"].to_string();
    assert!(
        !native.contains("providerPayload") && !native.contains("sig"),
        "signature-persistence:136: {native}"
    );
    assert_eq!(text_of(&path), before, "signature-persistence:136");
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        time,
        "signature-persistence:136"
    );
}

/// `context --sent` through the command: roles that a provider knows, and which
/// entries became one message.
#[test]
fn what_is_sent_names_the_entries_that_it_joins() {
    let lab = Lab::new("xcsh");
    lab.feed(
        "0b7e",
        &[
            r#"{"type":"message","id":"c1","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0,"timestamp":1}}"#,
            r#"{"type":"custom_message","id":"c2","customType":"t","content":"more","display":true}"#,
        ],
    );
    let sent = lab
        .run(&["context", "0b7e", "--sent", "--json"])
        .ends(0)
        .of_type("message");
    let last = sent.last().unwrap();
    assert_eq!(
        (&last["role"], &last["entry"]),
        (&Value::from("user"), &Value::from("c1"))
    );
    assert_eq!(last["joined"], serde_json::json!(["c2"]));
    assert_eq!(last["content"][0]["text"], "Ran `ls`\n```\na\n```");
    assert!(sent[0].get("joined").is_none());
}
