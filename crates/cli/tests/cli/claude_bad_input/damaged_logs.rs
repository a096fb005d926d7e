//! Every kind of damage to a log, for every command that writes.

use boswell_testkit::claude_client::ClaudeClient;
use boswell_testkit::disk;
use serde_json::Value;

use super::{ID, base, joined, kept, line, result};
use crate::bench::{Bench, Ran};
use crate::claude_context::difference;

/// Returns the kinds of damage that were measured on the client, each applied to the same three
/// exchanges.
fn damages() -> Vec<(&'static str, Vec<u8>)> {
    let whole = joined(&base());
    let edited = |edit: &dyn Fn(&mut Vec<String>)| {
        let mut lines = base();
        edit(&mut lines);
        joined(&lines)
    };
    let with = |parts: &[&[u8]]| parts.concat();
    vec![
        ("truncated last line", whole[..whole.len() - 40].to_vec()),
        (
            "last line without its end",
            whole[..whole.len() - 1].to_vec(),
        ),
        (
            "phantom parent",
            edited(&|lines| {
                lines[2] = lines[2].replace("\"parentUuid\":\"a1\"", "\"parentUuid\":\"zz\"")
            }),
        ),
        (
            "line gone from the middle",
            edited(&|lines| drop(lines.remove(1))),
        ),
        (
            "two records on one line",
            edited(&|lines| {
                let second = lines.remove(3);
                lines[2].push_str(&second);
            }),
        ),
        (
            "a cut record and the next one on its line",
            edited(&|lines| {
                let second = lines.remove(3);
                lines[2].truncate(60);
                lines[2].push_str(&second);
            }),
        ),
        (
            "a line of garbage",
            edited(&|lines| lines.insert(3, "%%% not json".to_owned())),
        ),
        (
            "NULs before a record",
            edited(&|lines| lines[3] = format!("\0\0\0\0{}", lines[3])),
        ),
        ("a tail of NULs", with(&[&whole, &[0; 64]])),
        (
            "blank lines",
            edited(&|lines| lines.insert(2, "\n\n".to_owned())),
        ),
        (
            "CRLF",
            String::from_utf8(whole.clone())
                .unwrap()
                .replace('\n', "\r\n")
                .into_bytes(),
        ),
        ("a BOM", with(&[b"\xef\xbb\xbf", &whole])),
        (
            "bytes that are not UTF-8",
            with(&[&whole[..200], b"\xff\xfe", &whole[200..]]),
        ),
        (
            "a circle of parents",
            edited(&|lines| {
                lines[0] = lines[0].replace("\"parentUuid\":null", "\"parentUuid\":\"a5\"")
            }),
        ),
        (
            "no parents at all",
            edited(&|lines| {
                for line in lines {
                    let end = line.find(",\"isSidechain\"").unwrap();
                    line.replace_range(..end, "{\"parentUuid\":null");
                }
            }),
        ),
        (
            "a call without a result",
            edited(&|lines| lines.truncate(5)),
        ),
        (
            "one of two results missing",
            edited(&|lines| drop(lines.remove(5))),
        ),
        (
            "a result without a call",
            edited(&|lines| lines.insert(0, line("user", "r0", None, 0, &result("c0")))),
        ),
        ("every line twice", with(&[&whole, &whole])),
        (
            "a call's id used twice",
            edited(&|lines| lines[4] = lines[4].replace("\"c2\"", "\"c1\"")),
        ),
        (
            "a side chain at the end",
            edited(&|lines| {
                lines.push(
                    line("user", "s1", Some("a5"), 11, "\"side\"")
                        .replace("\"isSidechain\":false", "\"isSidechain\":true"),
                );
            }),
        ),
        (
            "another session's id inside",
            edited(&|lines| {
                lines[4] = lines[4].replace(ID, "bbbbbbbb-0001-4001-8001-000000000001")
            }),
        ),
        ("an empty file", Vec::new()),
        (
            "only metadata",
            b"{\"type\":\"mode\",\"mode\":\"normal\"}\n".to_vec(),
        ),
        (
            "a line of five megabytes",
            edited(&|lines| {
                lines[1] = line(
                    "assistant",
                    "a1",
                    Some("u1"),
                    2,
                    &format!("\"{}\"", "x".repeat(5 << 20)),
                )
            }),
        ),
        (
            "an answer of nothing",
            edited(&|lines| {
                lines[1] = line(
                    "assistant",
                    "a1",
                    Some("u1"),
                    2,
                    "[{\"type\":\"text\",\"text\":\"\"}]",
                )
            }),
        ),
        (
            "a message without content",
            edited(&|lines| lines[1] = line("assistant", "a1", Some("u1"), 2, "7")),
        ),
    ]
}

/// Checks that an error names the next step.
#[track_caller]
fn helps(ran: &Ran, what: &str) {
    assert!(matches!(ran.code, Some(0 | 2 | 3 | 4)), "{what}: {ran:?}");
    assert!(
        ran.code == Some(0) || ran.stderr.contains("hint:"),
        "{what}: no next step: {ran:?}"
    );
}

#[test]
fn every_kind_of_damage_survives_every_command_that_writes() {
    for (damage, bytes) in damages() {
        let bench = Bench::new();
        let log = bench.plant(&format!(".claude/projects/-proj-demo/{ID}.jsonl"), &bytes);
        let session = format!("claude:{ID}");
        let commands: &[&[&str]] = &[
            &["rename", &session, "标题"],
            &["tag", &session, "flaky"],
            &["append", &session, "--user", "FOUR"],
            &["append", &session, "--parent", "u1", "--assistant", "FIVE"],
            &["branch", &session, "a1"],
            &["rewind", &session, "u2"],
            &["branch", &session, "--root"],
            &["append", &session, "--user", "SIX"],
        ];
        let mut before = bytes.clone();
        for args in commands {
            let ran = bench.run(*args);
            helps(&ran, &format!("{damage}: {args:?}"));
            let after = disk::read(&log);
            kept(&before, &after, &format!("{damage}: {args:?}"));
            before = after;
        }
        // Whichever line was damaged, the last message is the tip.
        let context = bench
            .run(["context", &session, "--json"])
            .ends(0)
            .of_type("message");
        let last = context
            .last()
            .map(|message| message["content"][0]["text"].clone());
        assert!(
            matches!(&last, Some(Value::String(text)) if text == "SIX"),
            "{damage}: {context:?}"
        );
        for style in ["client", "sdk"] {
            let ran = bench.run(["fork", &session, "--style", style]);
            helps(&ran, &format!("{damage}: fork"));
            assert_eq!(
                disk::read(&log),
                before,
                "{damage}: a fork leaves its source alone"
            );
        }
        helps(&bench.run(["delete", "--apply", &session]), damage);
        assert!(!log.exists(), "{damage}");
        bench.run(["restore", &session]).ends(0);
        assert_eq!(
            disk::read(&log),
            before,
            "{damage}: it comes back to the byte"
        );
    }
}

#[test]
fn what_is_appended_to_a_damaged_log_reaches_the_model_as_boswell_says() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let mut wrong = Vec::new();
    // The client compacts a context that is longer than the model's window before it sends it.
    for (damage, bytes) in damages()
        .into_iter()
        .filter(|(_, bytes)| bytes.len() < 1 << 20)
    {
        let bench = Bench::new();
        let log = bench.plant(&format!(".claude/projects/-proj-demo/{ID}.jsonl"), &bytes);
        bench
            .run([
                "append",
                &format!("claude:{ID}"),
                "--user",
                "FOUR",
                "--assistant",
                "four done",
            ])
            .ends(0);
        match difference(&client, &log) {
            Some(Ok(parts)) if parts >= 2 => {}
            other => wrong.push(format!("{damage}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
