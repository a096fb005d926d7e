//! Test vectors of the programs of the family about their files: each test names those that it
//! follows, as `labels:5`. `docs/dialects/pi.md` lists them all and states where boswell differs.

mod finding;
mod tree;

use std::path::{Path, PathBuf};

use boswell_testkit::disk;
use serde_json::Value;

use crate::bench::Ran;
use crate::pi_lab::{FAMILY, Lab, V1, answer, entry, header, text_of, user};

/// Writes a session; returns its path.
fn planted(lab: &Lab, id: &str, cwd: &str, entries: &[String]) -> PathBuf {
    let lines = [&[header(id, cwd, "")], entries].concat();
    let name = format!("--proj-demo--/2026-03-01T00-00-00-000Z_{id}.jsonl");
    lab.plant(&name, &format!("{}\n", lines.join("\n")))
}

/// file-operations:27–:63: how a loader reads damaged files. Where the programs find nothing,
/// boswell shows the readable entries.
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

/// file-operations:298–:446: an old file is migrated only on request, and a new session is not
/// listed before those with messages.
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
    // `new` creates a session explicitly, so its header is on disk immediately, as after xcsh's
    // `ensureOnDisk`; the library defers it.
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

/// title-source-persistence:58 and :76: the author of a title is still known after later writes.
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
        lab.run(&["delete", "--apply", "bare"]).ends(0);
        assert!(!path.exists() && lab.log().exists(), "{dialect}");
    }
}

/// signature-persistence:65 and :136: an image with a URL is moved to a blob and restored; a reload
/// drops the data that OpenAI expects back and changes no byte.
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

/// `context --sent` through the command: roles that a provider knows, and which entries were merged
/// into one message.
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
