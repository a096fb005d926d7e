//! No secret is exported in a page or a summary, wherever in a session it occurs.

use boswell_testkit::credential::{self, Credential};
use boswell_testkit::{Rng, disk};
use serde_json::{Value, json};

use crate::bench::Bench;

const SESSION: &str = ".pi/agent/sessions/--p--/2026-10-05T08-00-00-000Z_0b7e0b7e.jsonl";

/// Returns a session with each text as a user message, an assistant message, thinking, and as a
/// tool's input, name and output.
fn session(texts: &[&str], folder: &str) -> Vec<u8> {
    let at = "2026-10-05T08:00:00.000Z";
    let say = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message});
    let mut rows = vec![
        json!({"type": "session", "version": 3, "id": "0b7e0b7e", "timestamp": at, "cwd": folder}),
    ];
    let mut parent = Value::Null;
    for (number, text) in texts.iter().enumerate() {
        let call = json!({"type": "toolCall", "id": format!("c{number}"), "name": "bash", "arguments": {"command": text, "path": format!("/tmp/x\n{text}")}});
        let content =
            json!([{"type": "thinking", "thinking": text}, {"type": "text", "text": text}, call]);
        let messages = [
            json!({"role": "user", "content": text, "timestamp": 1}),
            json!({"role": "assistant", "provider": "p", "model": "m", "stopReason": "toolUse", "timestamp": 1, "content": content}),
            json!({"role": "toolResult", "toolCallId": format!("c{number}"), "toolName": "bash", "isError": false, "timestamp": 1,
                "content": [{"type": "text", "text": text}]}),
        ];
        for (part, message) in messages.into_iter().enumerate() {
            let id = format!("e{number}-{part}");
            rows.push(say(&id, parent, message));
            parent = json!(id);
        }
    }
    rows.iter()
        .flat_map(|row| format!("{row}\n").into_bytes())
        .collect()
}

/// Returns the log with all letters of its strings written as escape sequences, where JSON allows
/// it.
fn numbered(log: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(log).unwrap();
    let mut out = String::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        // Only the content is rewritten: agents write their own words unescaped.
        let mut value = value;
        let message = value["message"].take();
        let inner: String = message.to_string();
        let mut inside = false;
        let mut escape = false;
        let mut written = String::new();
        for c in inner.chars() {
            let quote = c == '"' && !escape;
            inside ^= quote;
            let plain = !inside || quote || escape || c == '\\';
            escape = c == '\\' && !escape;
            match plain {
                true => written.push(c),
                false => c
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .for_each(|unit| written.push_str(&format!("\\u{unit:04x}"))),
            }
        }
        let outer = value.to_string();
        out.push_str(&outer.replace("\"message\":null", &format!("\"message\":{written}")));
        out.push('\n');
    }
    out.into_bytes()
}

fn credentials() -> Vec<Credential> {
    credential::all(&mut Rng::for_part(7, "redaction"))
}

#[test]
fn no_page_shows_a_secret_of_any_kind() {
    let bench = Bench::new();
    let credentials = credentials();
    let texts: Vec<&str> = credentials.iter().map(|it| it.text.as_str()).collect();
    let log = session(&texts, "/p");
    bench.plant(SESSION, &log);
    for format in ["md", "html"] {
        let ran = bench
            .run(["export", "pi:0b7e0b7e", "--format", format])
            .ends(0);
        let page = ran.text();
        let shown: Vec<&Credential> = credentials
            .iter()
            .filter(|it| page.contains(&it.secret))
            .collect();
        assert!(shown.is_empty(), "{format} shows {shown:#?}");
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("removed ") && last.ends_with("; review before sharing"),
            "{last}"
        );
        let number: usize = last.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(
            number >= credentials.len() - 20,
            "only {number} of {} were removed",
            credentials.len()
        );
    }
    for log in [numbered(&log), log] {
        bench.plant(SESSION, &log);
        let found = bench.run(["secrets", "--json"]).ends(1);
        let entries: std::collections::HashSet<String> = found
            .of_type("secret")
            .iter()
            .map(|it| it["entry"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            entries.len(),
            credentials.len() * 3,
            "an entry with a secret is not named"
        );
    }
}

#[test]
fn titles_paths_and_cut_texts_are_redacted_too() {
    const KEY: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
    let bench = Bench::new();
    // The title is the first prompt, truncated inside the second key.
    let prompt = format!(
        "use {KEY} {} {}",
        "word ".repeat(30),
        KEY.replace("0a1B", "9z8Y").repeat(2)
    );
    let long = format!("{}{KEY}", "x".repeat((1 << 20) - 10));
    let command = format!("{} {KEY}", "echo ".repeat(17));
    bench.plant(
        SESSION,
        &session(&[&prompt, &long, &command], &format!("/home/bob/{KEY}/app")),
    );
    for format in ["md", "html"] {
        let ran = bench
            .run(["export", "pi:0b7e0b7e", "--format", format])
            .ends(0);
        for part in ["ghp_0a1B2", "ghp_9z8Y2", "3D4e5F6g7"] {
            let page = ran.text();
            let at = page.find(part);
            assert_eq!(
                at,
                None,
                "{format}: {}",
                at.map_or("", |at| &page[at.saturating_sub(80)..at + 40])
            );
        }
        assert!(ran.stderr.contains("removed "), "{}", ran.stderr);
    }
    let whole = bench
        .run(["export", "pi:0b7e0b7e", "--format", "md", "--no-redact"])
        .ends(0)
        .says("keys or passwords");
    assert!(whole.text().contains(KEY));
    assert_eq!(
        whole.stderr.lines().last(),
        Some("removed 0 secrets (0 kinds); review before sharing")
    );
}

#[test]
fn an_exact_document_says_which_secrets_it_holds() {
    let bench = Bench::new();
    bench.plant(
        SESSION,
        &session(&["password=\"hunter2\" and api_key='abc123xyz'"], "/p"),
    );
    let ran = bench
        .run(["export", "pi:0b7e0b7e", "--format", "json"])
        .ends(0)
        .says("review before sharing");
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        document["secrets"],
        json!({"removed": 0, "left": 2, "kinds": {"assigned": 2}})
    );
}

#[test]
fn a_program_that_sums_up_is_handed_no_secret() {
    let bench = Bench::new();
    let credentials = credentials();
    let mut seen = String::new();
    for some in credentials.chunks(60) {
        let texts: Vec<&str> = some.iter().map(|it| it.text.as_str()).collect();
        bench.plant(SESSION, &session(&texts, "/p"));
        let copy = bench.cwd().join("handed.txt");
        let program = bench.cwd().join("program.sh");
        disk::write(
            &program,
            format!("cat > '{}'\necho title\necho done.\n", copy.display()).as_bytes(),
        );
        bench.plant(
            ".config/boswell/config.toml",
            format!("[summary]\ncommand = [\"sh\", \"{}\"]\n", program.display()).as_bytes(),
        );
        bench.run(["summarize", "pi:0b7e0b7e"]).ends(0);
        seen = String::from_utf8_lossy(&disk::read(&copy)).into_owned();
        let shown: Vec<&Credential> = some.iter().filter(|it| seen.contains(&it.secret)).collect();
        assert!(shown.is_empty(), "the program is handed {shown:#?}");
    }
    assert!(
        seen.contains(" removed]"),
        "nothing was handed over: {seen}"
    );
}
