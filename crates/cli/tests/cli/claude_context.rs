//! Compares the output of `context` with the request of the real client when it resumes the same
//! file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use boswell_dialect::claude::project_key;
use boswell_testkit::claude_client::{ClaudeClient, ClientHome};
use boswell_testkit::scripted_model::ScriptedModel;
use boswell_testkit::{corpus, disk};
use serde_json::Value;

use crate::bench::Bench;

const PROBE: &str = "PROBE-OF-THE-CONTEXT";

/// The assistant message that the client adds to a session that ends with a user message, before
/// the next prompt.
const NO_RESPONSE: &str = "No response requested.";

/// Returns one part of a message in the form that is compared.
fn part(role: &str, block: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    };
    Some(match block["type"].as_str()? {
        "text" => format!("{role}: {}", text(&block["text"])),
        "thinking" => format!("{role} thinks: {}", text(&block["thinking"])),
        "tool_use" => format!("calls {} {} {}", block["id"], block["name"], block["input"]),
        "tool_result" => format!(
            "result {} {} {}",
            block["tool_use_id"],
            block["is_error"].as_bool().unwrap_or(false),
            text(&block["content"])
        ),
        other => format!("{role} {other}"),
    })
}

fn parts(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or_default();
    match &message["content"] {
        Value::String(text) => vec![format!("{role}: {}", text.trim())],
        content => content
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| part(role, block))
            .collect(),
    }
}

/// Texts that are not compared: those recorded in attachments of a log, the ids of their lines, and
/// notifications of background tasks, which the client wraps.
#[derive(Default)]
struct Additions {
    texts: BTreeSet<String>,
    ids: BTreeSet<String>,
    news: BTreeSet<String>,
}

fn additions(log: &[u8]) -> Additions {
    let mut found = Additions::default();
    for line in String::from_utf8_lossy(log)
        .split('\n')
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        if line["type"] == "attachment" {
            found.ids.extend(line["uuid"].as_str().map(str::to_owned));
            let rendered = line["rendered"].as_array().into_iter().flatten();
            found.texts.extend(
                rendered
                    .filter_map(|it| it["content"].as_str())
                    .map(|text| text.trim().to_owned()),
            );
        }
        if line["origin"]["kind"] == "task-notification" {
            found.news.extend(
                line["message"]["content"]
                    .as_str()
                    .map(|text| text.trim().to_owned()),
            );
        }
    }
    found
}

/// Returns the messages that the client sent, without the probe and its own additions.
fn sent(messages: &[Value], added: &Additions) -> Vec<String> {
    let told = |part: String| {
        // If a turn ended with results, its attachments follow the last of them.
        let side_files = added
            .texts
            .iter()
            .find_map(|text| part.strip_suffix(text.as_str()))
            .map(str::trim_end);
        let part = side_files
            .filter(|_| part.starts_with("result "))
            .map(str::to_owned)
            .unwrap_or(part);
        let said = part.split_once(": ").map_or("", |(_, said)| said);
        if let Some(news) = added.news.iter().find(|news| said.contains(news.as_str())) {
            return Some(format!("user: {news}"));
        }
        let is_added =
            said.starts_with("<system-reminder>") || added.texts.contains(said) || said == PROBE;
        (!is_added).then_some(part)
    };
    let talk = messages
        .iter()
        .filter(|message| message["role"] != "system");
    let mut parts: Vec<String> = talk.flat_map(parts).filter_map(told).collect();
    if parts
        .last()
        .is_some_and(|part| part == &format!("assistant: {NO_RESPONSE}"))
    {
        parts.pop();
    }
    parts
}

/// Returns the messages of boswell's context.
fn ours(context: &[Value], added: &Additions) -> Vec<String> {
    let is_attached = |message: &&Value| {
        message["entry"]
            .as_str()
            .is_some_and(|id| added.ids.contains(id))
    };
    let messages = context
        .iter()
        .filter(|line| line["type"] == "message" && line["role"] != "system");
    let mut parts: Vec<String> = messages
        .filter(|message| !is_attached(message))
        .flat_map(parts)
        .collect();
    if parts
        .last()
        .is_some_and(|part| part == &format!("assistant: {NO_RESPONSE}"))
    {
        parts.pop();
    }
    parts
}

/// Resumes a capture; `None` if the client reports that it contains no conversation.
pub(crate) fn difference(client: &ClaudeClient, capture: &Path) -> Option<Result<usize, String>> {
    let bench = Bench::new();
    let model = ScriptedModel::start();
    let config = bench.home().join(".claude");
    let id = capture.file_stem().unwrap().to_string_lossy().into_owned();
    let work = bench.cwd().canonicalize().unwrap();
    let log = disk::read(capture);
    disk::write(
        &config
            .join("projects")
            .join(project_key(&work.to_string_lossy()))
            .join(format!("{id}.jsonl")),
        &log,
    );
    let context = bench
        .run(["context", &format!("claude:{id}"), "--json"])
        .ends(0)
        .lines();
    let place = ClientHome {
        home: &bench.home(),
        config: &config,
        work: &work,
        model: &model,
    };
    let output = client.say(
        &place,
        PROBE,
        &["--resume", &id, "--disable-slash-commands"],
    );
    let Some(messages) = model.asked(PROBE) else {
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            said.contains("No conversation found"),
            "{}: {said}",
            capture.display()
        );
        assert!(
            context.iter().all(|line| line["type"] != "message"),
            "{} has a context",
            capture.display()
        );
        return None;
    };
    let added = additions(&log);
    let (sent, ours) = (sent(&messages, &added), ours(&context, &added));
    let first = sent
        .iter()
        .zip(&ours)
        .position(|(a, b)| a != b)
        .unwrap_or(sent.len().min(ours.len()));
    Some(if sent == ours {
        Ok(sent.len())
    } else {
        Err(format!(
            "{}: part {first}: sent {:?}, ours {:?}",
            capture.display(),
            sent.get(first),
            ours.get(first)
        ))
    })
}

#[test]
fn the_context_of_every_capture_is_what_the_real_client_sends() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let is_session = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.len() == 42 && name.ends_with(".jsonl") && disk::read(path).len() > 1
    };
    let sessions: Vec<PathBuf> = corpus::files(&captures.join("claude-code"))
        .into_iter()
        .filter(is_session)
        .collect();
    assert!(sessions.len() > 50, "{}", sessions.len());
    let queue = Mutex::new(sessions.into_iter());
    let (resumed, wrong) = (Mutex::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(capture) = queue.lock().unwrap().next() else {
                        return;
                    };
                    match difference(&client, &capture) {
                        Some(Ok(parts)) => *resumed.lock().unwrap() += usize::from(parts > 0),
                        Some(Err(why)) => wrong.lock().unwrap().push(why),
                        None => {}
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(resumed.into_inner().unwrap() > 45);
}

/// Returns the texts of a context, without those that the client wraps.
fn words(bench: &Bench, session: &str) -> Vec<String> {
    let messages = bench
        .run(["context", session, "--json"])
        .ends(0)
        .of_type("message");
    messages.iter().flat_map(parts).collect()
}

#[test]
fn a_fork_of_every_capture_says_what_its_source_says() {
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let bench = Bench::new();
    let mut forked = 0;
    for path in corpus::files(&captures.join("claude-code")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = disk::read(&path);
        if name.len() != 42 || !name.ends_with(".jsonl") || bytes.len() < 2 {
            continue;
        }
        let log = bench.plant(&format!(".claude/projects/-proj-demo/{name}"), &bytes);
        let session = format!("claude:{}", name.trim_end_matches(".jsonl"));
        let source = words(&bench, &session);
        for style in ["client", "sdk"] {
            let ran = bench.run(["fork", &session, "--style", style]);
            if source.is_empty() {
                ran.ends(2).says("nothing to fork");
                continue;
            }
            let fork = ran.ends(0).text().trim().to_owned();
            assert_eq!(
                words(&bench, &fork),
                source,
                "{} as the {style} does it",
                path.display()
            );
            bench.run(["check", &fork]).ends(0);
            forked += 1;
        }
        assert_eq!(disk::read(&log), bytes);
        disk::remove(&bench.home().join(".claude"));
    }
    assert!(forked > 90, "{forked}");
}

#[test]
fn forks_of_compacted_captures_are_taken_up_by_the_client() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some(captures) = corpus::require_or_skip(corpus::CAPTURES) else {
        return;
    };
    let bench = Bench::new();
    let mut seen = 0;
    for scenario in ["compact", "old-2.1.220", "old-2.0.76"] {
        let is_it = |path: &PathBuf| {
            path.to_string_lossy()
                .ends_with("/aaaaaaaa-0001-4001-8001-000000000001.jsonl")
        };
        let path = corpus::files(&captures.join("claude-code").join(scenario))
            .into_iter()
            .find(is_it)
            .unwrap();
        bench.plant(
            ".claude/projects/-proj-demo/aaaaaaaa-0001-4001-8001-000000000001.jsonl",
            &disk::read(&path),
        );
        for style in ["client", "sdk"] {
            let fork = bench
                .run(["fork", "aaaaaaaa", "--style", style])
                .ends(0)
                .text()
                .trim()
                .to_owned();
            let file = bench.home().join(format!(
                ".claude/projects/-proj-demo/{}.jsonl",
                fork.trim_start_matches("claude:")
            ));
            match difference(&client, &file) {
                Some(Ok(parts)) => seen += usize::from(parts > 2),
                other => panic!("{scenario} {style}: {other:?}"),
            }
        }
        disk::remove(&bench.home().join(".claude"));
    }
    assert_eq!(seen, 6);
}
