//! Exports: exact where promised, and harmless on every page.

use std::path::{Path, PathBuf};
use std::process::Command;

use boswell_testkit::{corpus, disk};
use serde_json::{Value, json};

use crate::bench::{Bench, finish};

const KEY: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
const HOSTILE: &str = "x</script><script>document.title='owned'</script>\n\n<img src=http://evil.test/a.png onerror=alert(1)>\n\n![t](http://evil.test/b.png) [j](javascript:alert(1))\u{1b}[2J\u{202e}rtl\n\n</pre></div></section>";

/// Returns a session with hostile text in every place that a page shows, with a second branch and
/// an image.
fn hostile(long: usize) -> Vec<u8> {
    let at = "2026-10-05T08:00:00.000Z";
    let long = "<b>wide</b> ".repeat(long / 12);
    let call = json!({"type": "toolCall", "id": "c1", "name": HOSTILE, "arguments": {"command": HOSTILE, HOSTILE: KEY}});
    let content =
        json!([{"type": "thinking", "thinking": HOSTILE}, {"type": "text", "text": HOSTILE}, call]);
    let assistant = json!({"role": "assistant", "provider": "p", "model": HOSTILE, "stopReason": "toolUse", "timestamp": 1, "content": content});
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="});
    let svg = json!({"type": "image", "mimeType": "image/svg+xml\" onload=\"alert(1)", "data": "PHN2Zz4="});
    let result = json!({"role": "toolResult", "toolCallId": "c1", "toolName": "x", "isError": true, "timestamp": 1,
        "content": [{"type": "text", "text": HOSTILE}, {"type": "text", "text": long}, picture, svg]});
    let say = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message});
    let rows = [
        json!({"type": "session", "version": 3, "id": "0b7e0b7e", "timestamp": at, "cwd": format!("/{HOSTILE}")}),
        say(
            "a",
            Value::Null,
            json!({"role": "user", "content": format!("{HOSTILE} my key is {KEY}"), "timestamp": 1}),
        ),
        say("b", json!("a"), assistant),
        say("c", json!("b"), result),
        say(
            "o",
            json!("a"),
            json!({"role": "user", "content": "the other way", "timestamp": 1}),
        ),
        say(
            "d",
            json!("c"),
            json!({"role": "user", "content": "and `Vec<String>` stays", "timestamp": 1}),
        ),
    ];
    rows.iter()
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect()
}

fn planted(bench: &Bench, long: usize) -> PathBuf {
    bench.plant(
        ".pi/agent/sessions/--p--/2026-10-05T08-00-00-000Z_0b7e0b7e.jsonl",
        &hostile(long),
    )
}

#[test]
fn exact_exports_hold_every_byte_and_say_how_many_secrets() {
    let bench = Bench::new();
    let path = planted(&bench, 100);
    let bytes = disk::read(&path);
    let jsonl = bench
        .run(["export", "pi:0b7e0b7e"])
        .ends(0)
        .says("holds 2 keys or passwords");
    assert_eq!(jsonl.stdout, bytes);
    let ran = bench
        .run(["export", "pi:0b7e0b7e", "--format", "json"])
        .ends(0)
        .says("holds 2 keys");
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let file = &document["files"][0];
    let content: String = file["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece.as_str().unwrap())
        .collect();
    assert_eq!(content.as_bytes(), bytes);
    assert_eq!(file["bytes"], bytes.len());
    assert_eq!(file["sha256"], boswell_testkit::sha256::hex(&bytes));
}

#[test]
fn bytes_that_are_not_text_come_back_from_a_document() {
    let bench = Bench::new();
    let mut bytes = hostile(100);
    bytes.extend_from_slice(b"\xff\xfe not text\n\0\0\0\ntorn");
    let path = bench.plant(
        ".pi/agent/sessions/--p--/2026-10-05T08-00-00-000Z_0b7e0b7e.jsonl",
        &bytes,
    );
    let ran = bench
        .run(["export", path.to_str().unwrap(), "--format", "json"])
        .ends(0);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let mut back = Vec::new();
    for piece in document["files"][0]["content"].as_array().unwrap() {
        match piece.as_str() {
            Some(text) => back.extend_from_slice(text.as_bytes()),
            None => {
                let end = bytes
                    .iter()
                    .skip(back.len())
                    .position(|byte| *byte == b'\n')
                    .unwrap()
                    + 1;
                let line = &bytes[back.len()..back.len() + end];
                assert_eq!(piece["base64"], boswell_testkit::base64::encode(line));
                back.extend_from_slice(line);
            }
        }
    }
    assert_eq!(back, bytes);
}

#[test]
fn pages_are_redacted_unless_asked_and_hold_no_markup_of_the_session() {
    let bench = Bench::new();
    planted(&bench, 3 << 20);
    for format in ["md", "html"] {
        let page = bench
            .run(["export", "pi:0b7e0b7e", "--format", format])
            .ends(0)
            .text();
        assert!(
            !page.contains(KEY) && page.contains("[github-token removed]"),
            "{format} shows the key"
        );
        for bad in ["\u{1b}", "\u{202e}"] {
            assert!(!page.contains(bad), "{bad:?} in {format}");
        }
        assert!(
            page.contains("the other way"),
            "{format} leaves out a branch"
        );
        assert!(
            page.contains("[cut: "),
            "{format} holds a text of 3 MB whole"
        );
        let whole = bench
            .run(["export", "pi:0b7e0b7e", "--format", format, "--no-redact"])
            .ends(0)
            .text();
        assert!(whole.contains(KEY), "{format} redacts all the same");
    }
    let md = bench
        .run(["export", "pi:0b7e0b7e", "--format", "md"])
        .text();
    assert!(md.contains("and `Vec<String>` stays"), "{md}");
    for event in pulldown_cmark::Parser::new(&md) {
        use pulldown_cmark::{Event, Tag};
        let active = matches!(
            &event,
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. })
        ) || matches!(&event, Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with("javascript"));
        assert!(!active, "{event:?}");
    }
    let html = bench
        .run(["export", "pi:0b7e0b7e", "--format", "html"])
        .text();
    assert!(!html.contains("<img src=http") && !html.contains("onload=\"alert"));
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(
        html.matches("<img").count(),
        1,
        "the picture, and not the program that calls itself one"
    );
}

#[test]
fn an_export_never_writes_over_a_file() {
    let bench = Bench::new();
    planted(&bench, 100);
    let target = bench.cwd().join("page.html");
    let args = [
        "export",
        "pi:0b7e0b7e",
        "--format",
        "html",
        "-o",
        "page.html",
    ];
    bench.run(args).ends(0);
    let first = disk::read(&target);
    assert!(first.starts_with(b"<!doctype html>"));
    bench.run(args).ends(2).says("give another name");
    assert_eq!(disk::read(&target), first);
}

#[test]
fn secrets_are_listed_and_not_shown() {
    let bench = Bench::new();
    planted(&bench, 100);
    let ran = bench.run(["secrets", "--json"]).ends(1);
    assert!(!ran.text().contains(KEY), "{ran:?}");
    let kinds: Vec<_> = ran
        .of_type("secret")
        .iter()
        .map(|it| (it["kind"].clone(), it["entry"].clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            (json!("github-token"), json!("a")),
            (json!("github-token"), json!("b"))
        ]
    );
    let text = bench.run(["secrets", "pi:0b7e0b7e"]).ends(1).text();
    assert!(text.contains("ghp_…") && !text.contains(KEY), "{text}");
}

/// Returns a browser, if `cargo xtask test` set one.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the browser comes from the environment"
)]
fn browser() -> Option<PathBuf> {
    let found = std::env::var_os("BOSWELL_CHROMIUM").map(PathBuf::from);
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        found.is_some() || !ci,
        "BOSWELL_CHROMIUM is not set: run `cargo xtask test`"
    );
    found
}

/// Opens a page; returns the output of the browser's console and the requested addresses.
fn open(browser: &Path, scratch: &Path, page: &Path) -> (Vec<String>, String) {
    let (profile, log) = (scratch.join("profile"), scratch.join("net.json"));
    let mut command = Command::new(browser);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--disable-sync",
        ])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(format!("file://{}", page.display()))
        .env("HOME", scratch);
    let ran = finish(command);
    let html = ran.text();
    assert!(
        html.contains("<main>") && html.contains("</html>"),
        "the page was not opened: {ran:?}"
    );
    let said = ran
        .stderr
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .map(str::to_owned)
        .collect();
    (
        said,
        String::from_utf8_lossy(&disk::read(&log)).into_owned(),
    )
}

#[test]
fn every_page_opens_in_a_browser_without_a_word_or_a_request() {
    let Some(browser) = browser() else {
        eprintln!("SKIPPED: no browser; `cargo xtask test` installs one");
        return;
    };
    let bench = Bench::new();
    let hostile = planted(&bench, 60 << 20);
    let real = corpus::require_or_skip(corpus::CORPUS)
        .map(|folder| corpus::files(&folder))
        .unwrap_or_default();
    let mut opened = 0;
    for (number, session) in std::iter::once(hostile).chain(real).enumerate() {
        let page = bench.cwd().join(format!("{number}.html"));
        let out = page.to_str().unwrap();
        let ran = bench.run([
            "export",
            session.to_str().unwrap(),
            "--format",
            "html",
            "-o",
            out,
            "--quiet",
        ]);
        if ran.code != Some(0) {
            continue;
        }
        let (said, net) = open(&browser, &bench.tmp(), &page);
        assert_eq!(said, [""; 0], "{}", session.display());
        for host in ["evil.test", "javascript:"] {
            assert!(!net.contains(host), "{} asks for {host}", session.display());
        }
        opened += 1;
    }
    assert!(opened > 0);
}
