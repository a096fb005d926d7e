//! Import: an imported session has the same context as its source, boswell and pi agree on that
//! context, and no text is lost.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boswell_testkit::disk::read;
use boswell_testkit::{TestHome, bench_corpus, corpus};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::bench::Bench;

/// A part of a context in a common form, independent of the agent.
#[derive(Debug, PartialEq)]
enum Told {
    Text {
        by_model: bool,
        text: String,
    },
    Call {
        id: String,
        tool: String,
        arguments: Value,
    },
    Result {
        call: String,
        text: String,
        failed: bool,
    },
    Image,
}

/// Returns the parts of a context. Thinking is omitted: providers accept it only with their own
/// signature.
fn told(bench: &Bench, session: &str) -> Option<Vec<Told>> {
    let ran = bench.run(["context", session, "--json", "-q"]);
    (ran.code == Some(0)).then(|| ran.of_type("message").iter().flat_map(told_by).collect())
}

fn told_by(message: &Value) -> Vec<Told> {
    let parts = message["content"].as_array().cloned().unwrap_or_default();
    let native = &message["native"];
    if message["role"] == "toolResult" {
        let (call, failed) = (text(&native["toolCallId"]), native["isError"] == true);
        let images = parts
            .iter()
            .filter(|part| part["type"] == "image")
            .map(|_| Told::Image);
        return std::iter::once(Told::Result {
            call,
            text: joined(&parts),
            failed,
        })
        .chain(images)
        .collect();
    }
    parts
        .iter()
        .flat_map(|part| told_in(part, message["role"] == "assistant"))
        .collect()
}

fn told_in(part: &Value, by_model: bool) -> Vec<Told> {
    let call = |id: &str, given: &Value| {
        let parsed = given
            .as_str()
            .and_then(|it| serde_json::from_str::<Value>(it).ok())
            .filter(Value::is_object);
        let free = given.as_str().map(|it| json!({ "input": it }));
        let arguments = parsed.or(free).unwrap_or_else(|| given.clone());
        vec![Told::Call {
            id: text(&part[id]),
            tool: text(&part["name"]),
            arguments,
        }]
    };
    let result = |id: &str, said: &Value| {
        let said = if said.is_object() {
            &said["content"]
        } else {
            said
        };
        let inside = said.as_array().cloned().unwrap_or_default();
        let text_of = if said.is_array() {
            joined(&inside)
        } else {
            text(said)
        };
        let images = inside
            .iter()
            .filter(|it| it["type"] == "image")
            .map(|_| Told::Image);
        let result = Told::Result {
            call: text(&part[id]),
            text: text_of,
            failed: part["is_error"] == true,
        };
        std::iter::once(result).chain(images).collect()
    };
    match part["type"].as_str().unwrap_or_default() {
        "text" | "input_text" | "output_text" => match text(&part["text"]) {
            text if text.is_empty() => Vec::new(),
            text => vec![Told::Text { by_model, text }],
        },
        "tool_use" => call("id", &part["input"]),
        "toolCall" => call("id", &part["arguments"]),
        "function_call" => call("call_id", &part["arguments"]),
        "custom_tool_call" => call("call_id", &part["input"]),
        "tool_result" if part["content"].is_null() => result("tool_use_id", &part["result"]),
        "tool_result" => result("tool_use_id", &part["content"]),
        "function_call_output" | "custom_tool_call_output" => result("call_id", &part["output"]),
        "image" => vec![Told::Image],
        "input_image" if text(&part["image_url"]).starts_with("data:") => vec![Told::Image],
        // Encrypted by the provider, or stored elsewhere.
        "thinking" | "redacted_thinking" | "reasoning" | "compaction" | "input_image" | "smell" => {
            Vec::new()
        }
        other => panic!("nobody knows how `{other}` is told: {part}"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn joined(parts: &[Value]) -> String {
    parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect()
}

/// Collects every string in a log, including those in records that are stored as text.
fn strings(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
            if let Some(record) = text
                .starts_with('{')
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten()
            {
                strings(&record, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => members.values().for_each(|member| strings(member, into)),
        _ => {}
    }
}

/// Imports a file; returns the difference, and a question for pi.
fn import(bench: &Bench, path: &Path) -> Option<(Result<(), String>, String)> {
    let name = path.to_str().unwrap();
    let mut was = told(bench, name)?;
    let made = bench
        .run(["import", name, "--again", "--json", "-q"])
        .ends(0)
        .of_type("session")
        .remove(0);
    let session = made["ref"].as_str().unwrap();
    let mut is = told(bench, session).unwrap();
    if text(
        &bench
            .run(["context", name, "--json", "-q"])
            .of_type("context")[0]["session"],
    )
    .starts_with("myagents:")
    {
        // Its rows store a call and its result as one block that no other reader knows, so only the
        // texts around it are compared.
        was.retain(|it| matches!(it, Told::Text { .. } | Told::Image));
        is.retain(|it| matches!(it, Told::Text { .. } | Told::Image));
    }
    let log = read(Path::new(made["path"].as_str().unwrap()));
    let asked = question(bench, name, session, &log);
    // A log in which its agent finds nothing, because the header is missing, is imported as we read
    // it.
    if !was.is_empty() && was != is {
        let at = was
            .iter()
            .zip(&is)
            .position(|(a, b)| a != b)
            .unwrap_or(was.len().min(is.len()));
        let cut = |all: &[Told]| {
            format!("{:?}", all.get(at))
                .chars()
                .take(300)
                .collect::<String>()
        };
        let why = format!(
            "{name} at {at} of {} and {}:\n  {}\n  {}",
            was.len(),
            is.len(),
            cut(&was),
            cut(&is)
        );
        return Some((Err(why), asked));
    }
    let mut all = String::new();
    for line in String::from_utf8_lossy(&log).lines() {
        match serde_json::from_str(line) {
            Ok(record) => strings(&record, &mut all),
            // This parser rejects a lone surrogate.
            Err(_) => all.push_str(line),
        }
    }
    let entries = bench
        .run(["show", name, "--records", "--json", "-q"])
        .ends(0)
        .of_type("entry");
    for entry in entries
        .iter()
        .filter(|entry| entry["role"] == "user" || entry["role"] == "assistant")
    {
        for said in entry["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
        {
            // A lone surrogate cannot be compared as text.
            let lost = said
                .lines()
                .find(|line| !all.contains(line) && !line.contains('\u{fffd}'));
            if let Some(lost) = lost {
                return Some((
                    Err(format!("{name}: {} is lost: {lost:?}", entry["id"])),
                    asked,
                ));
            }
        }
    }
    Some((Ok(()), asked))
}

/// Returns a question for pi as a line of JSON: what it would send, and whether that equals
/// boswell's context. Messages are passed exactly as printed, including all digits of numbers.
fn question(bench: &Bench, name: &str, session: &str, log: &[u8]) -> String {
    let ran = bench.run(["context", session, "--json", "-q"]).ends(0);
    let settings = ran.of_type("context").remove(0);
    let text = ran.text();
    let members = |line| serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(line).unwrap();
    let natives: Vec<String> = text
        .lines()
        .filter_map(|line| members(line).remove("native"))
        .map(|native| native.get().to_owned())
        .collect();
    assert_eq!(natives.len(), ran.of_type("message").len(), "{name}");
    // If no assistant message names its model, our record has the placeholder that pi requires, and
    // pi repeats it.
    let answered = ran
        .of_type("message")
        .iter()
        .any(|it| it["role"] == "assistant");
    let model = if settings["model"].is_null() && answered {
        json!("unknown/unknown")
    } else {
        settings["model"].clone()
    };
    format!(
        "{{\"name\":{},\"text\":{},\"model\":{model},\"thinking\":{},\"messages\":[{}]}}",
        json!(name),
        json!(String::from_utf8_lossy(log)),
        settings["thinking_level"],
        natives.join(","),
    )
}

/// Imports files and compares; returns how many.
#[track_caller]
fn compare(bench: &Bench, files: &[PathBuf]) -> usize {
    let (outcomes, mut questions): (Vec<_>, Vec<_>) =
        files.iter().filter_map(|file| import(bench, file)).unzip();
    let differ: Vec<String> = outcomes.iter().filter_map(|it| it.clone().err()).collect();
    assert!(
        differ.is_empty(),
        "{} of {} differ\n{}",
        differ.len(),
        outcomes.len(),
        differ.join("\n")
    );
    if let Some(package) = corpus::require_or_skip("BOSWELL_PI_PACKAGE") {
        // A lone surrogate is printed as a replacement character, so pi cannot be asked about it.
        questions
            .retain(|question| !question.contains('\u{fffd}') && !question.contains("\\ufffd"));
        let answers = ask_pi(&package, &questions);
        assert_eq!(answers.len(), questions.len());
        let other: Vec<&String> = answers.iter().filter(|it| !it.starts_with("ok ")).collect();
        assert!(
            other.is_empty(),
            "{} of {}: {other:#?}",
            other.len(),
            answers.len()
        );
    }
    outcomes.len()
}

fn ask_pi(package: &Path, questions: &[String]) -> Vec<String> {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialect/tests/dialect/pi_oracle.mjs");
    let mut command = Command::new("node");
    command
        .arg(script)
        .env("PI_PACKAGE", package)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut node = command.spawn().unwrap();
    let mut input = node.stdin.take().unwrap();
    let lines = questions.join("\n");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "pi failed");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_import_sends_what_its_source_sends_in_every_dialect() {
    let bench = Bench::new();
    let home = TestHome::build(&bench.home(), 11);
    for dialect in ["claude", "pi", "omp", "xcsh", "myagents", "oas", "codex"] {
        let files: Vec<PathBuf> = home.of(dialect).map(|it| it.path.clone()).collect();
        assert!(compare(&bench, &files) > 3, "{dialect}");
    }
}

#[test]
fn an_import_of_every_real_file_sends_what_the_file_sends() {
    let Some(folder) = corpus::require_or_skip("BOSWELL_CORPUS") else {
        return;
    };
    let bench = Bench::new();
    let known = ["claude-code", "codex", "pi"].map(|name| folder.join(name));
    let is_known = |path: &PathBuf| known.iter().any(|folder| path.starts_with(folder));
    let files: Vec<PathBuf> = corpus::files(&folder)
        .into_iter()
        .filter(is_known)
        .collect();
    assert!(compare(&bench, &files) > 30);
}

#[test]
fn an_import_of_every_captured_run_sends_what_the_run_sends() {
    let Some(folder) = corpus::require_or_skip("BOSWELL_CAPTURES") else {
        return;
    };
    let bench = Bench::new();
    let files = corpus::files(&folder.join("claude-code"));
    let logs: Vec<PathBuf> = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    assert!(compare(&bench, &logs) > 80);
}

#[test]
fn an_import_of_a_large_session_sends_what_the_session_sends() {
    let bench = Bench::new();
    let path = bench.home().join("large.jsonl");
    bench_corpus::big_session(&path, 8 << 20, bench_corpus::BigKind::Claude);
    assert_eq!(compare(&bench, &[path]), 1);
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let bench = Bench::new();
    let path = bench.plant(
        "huge.jsonl",
        b"{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"cwd\":\"/w\"}\n",
    );
    // Everything but the first line is a hole in the file: it uses no disk space.
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len((1 << 30) + 1)
        .unwrap();
    bench
        .run(["import", path.to_str().unwrap()])
        .ends(2)
        .says("1073741825");
    assert!(
        !bench.own().join("sessions").exists(),
        "nothing was written"
    );
}
