//! Compares boswell's context with the one that pi itself computes.
//!
//! Needs node and the folder of pi's installed package in `BOSWELL_PI_PACKAGE`; `BOSWELL_CORPUS`
//! adds real files.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::panic,
    reason = "the tests read the corpus, ask the environment where it is, and fail by panicking"
)]

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boswell_dialect::pi::Pi;
use boswell_dialect::{Depth, Dialect, Reader, Refine, SessionLocation};
use boswell_model::json::{Json, Object, Raw, scan_object};
use boswell_model::{Framing, Message, Payloads, Slot, Tip};

mod trees;

use trees::{Dice, random_tree, trees};

struct Bytes<'a>(&'a [u8]);

impl Payloads for Bytes<'_> {
    fn payload(&self, at: u64, len: u64) -> boswell_model::Result<Cow<'_, [u8]>> {
        self.0.payload(at, len)
    }
}

/// Returns a path from the environment; without it the group is skipped, which CI does not allow.
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var(name).ok().filter(|v| !v.is_empty());
    if value.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{name} is not set, and CI must not skip this"
        );
        eprintln!("SKIPPED: {name} is not set, so pi itself was not asked");
    }
    value.map(PathBuf::from)
}

#[derive(Clone, Copy)]
enum Leaf<'a> {
    Tip,
    Root,
    At(&'a str),
}

/// Returns one question for pi: a session, a leaf, and boswell's result.
fn question(name: &str, text: &str, leaf: Leaf<'_>) -> Json {
    let bytes = Bytes(text.as_bytes());
    let location = SessionLocation::of(name, Framing::Lines, 0);
    let read = Reader::read(&Pi::PI, &location, text.as_bytes(), Depth::Heads);
    let view = read.view(&bytes);
    let tip = match leaf {
        Leaf::Tip => Pi::PI.tip(&view).unwrap(),
        Leaf::Root => Tip::Root,
        Leaf::At(id) => Tip::At(
            read.log
                .find(id)
                .unwrap_or_else(|| panic!("{name} has no entry {id}")),
        ),
    };
    let context = Pi::PI.context(&view, tip).unwrap();
    let messages: Vec<_> = context
        .items
        .iter()
        .map(|item| {
            let payloads: Vec<_> = item
                .slots()
                .map(|slot: Slot| view.payload(slot).unwrap())
                .collect();
            let scanned: Vec<_> = payloads
                .iter()
                .map(|payload| {
                    let mut members = Vec::new();
                    scan_object(payload, &mut members).unwrap();
                    members
                })
                .collect();
            let records: Vec<_> = payloads
                .iter()
                .zip(&scanned)
                .map(|(p, m)| Object::new(p, m))
                .collect();
            Pi::PI.render(item, &records)
        })
        .collect();
    let sent: Vec<_> = Pi::PI
        .provider_messages(messages.clone())
        .iter()
        .map(|sent| told(&sent.message))
        .collect();
    let messages = messages.into_iter().map(|it| {
        it.native
            .expect("every message of the family has its own shape")
    });
    let asked = Json::object()
        .with("name", name)
        .with("text", text)
        .with("model", context.settings.model)
        .with("thinking", context.settings.thinking_level)
        .with("messages", messages.collect::<Vec<_>>())
        .with("sent", sent);
    match leaf {
        Leaf::Tip => asked,
        Leaf::Root => asked.with("leaf", Json::Null),
        Leaf::At(id) => asked.with("leaf", id),
    }
}

/// Returns a message for a provider: role, the call that it answers, texts.
fn told(message: &Message) -> Json {
    let native = message
        .native
        .as_ref()
        .map(Json::to_bytes)
        .unwrap_or_default();
    let call = Raw::parse(&native)
        .ok()
        .and_then(|raw| Some(Json::from(raw.get("toolCallId")?)));
    let text = |part: &Json| {
        let bytes = part.to_bytes();
        let raw = Raw::parse(&bytes).unwrap();
        let image = || {
            raw.get("type")
                .is_some_and(|kind| kind.is("image"))
                .then(|| Json::from("image"))
        };
        raw.get("text").map(Json::from).or_else(image)
    };
    let parts: Vec<_> = message.content.iter().filter_map(text).collect();
    Json::Array(vec![
        message.role.as_str().into(),
        call.unwrap_or(Json::Null),
        parts.into(),
    ])
}

fn ask(package: &Path, questions: &[Json]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialect/pi_oracle.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .env("PI_PACKAGE", package)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is needed to ask pi");
    let mut input = node.stdin.take().unwrap();
    for question in questions {
        let mut line = question.to_bytes();
        line.push(b'\n');
        input.write_all(&line).unwrap();
    }
    drop(input);
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "the oracle failed");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_context_of_every_corpus_file_is_what_pi_sends() {
    let Some((package, corpus)) = variable("BOSWELL_PI_PACKAGE").zip(variable("BOSWELL_CORPUS"))
    else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(corpus.join("pi"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    let questions: Vec<_> = files
        .iter()
        .map(|file| {
            let text = String::from_utf8(std::fs::read(file).unwrap()).unwrap();
            question(
                file.file_name().unwrap().to_str().unwrap(),
                &text,
                Leaf::Tip,
            )
        })
        .collect();
    let mut refused = Vec::new();
    for answer in ask(&package, &questions) {
        match answer.strip_prefix("refused ") {
            Some(name) => refused.push(name.to_owned()),
            None => assert!(answer.starts_with("ok "), "{answer}"),
        }
    }
    // pi would overwrite these three files; boswell reads them.
    let not_pis = [
        "agent-sessions-session-store-small.jsonl",
        "ctx-pi-omp-v17.4.0-title-slot.jsonl",
        "resume-fixtures-pi.jsonl",
    ];
    assert_eq!(refused, not_pis);
    assert!(questions.len() >= 8, "{}", questions.len());
}

#[test]
fn the_context_of_constructed_trees_is_what_pi_sends() {
    let Some(package) = variable("BOSWELL_PI_PACKAGE") else {
        return;
    };
    let trees = trees();
    assert!(trees.len() >= 12);
    let mut questions = Vec::new();
    for (name, text, leaves) in &trees {
        questions.push(question(name, text, Leaf::Tip));
        questions.push(question(&format!("{name} at the root"), text, Leaf::Root));
        for leaf in *leaves {
            questions.push(question(&format!("{name} at {leaf}"), text, Leaf::At(leaf)));
        }
    }
    let answers = ask(&package, &questions);
    let wrong: Vec<_> = answers.iter().filter(|a| !a.starts_with("ok ")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(answers.len(), questions.len());
}

#[test]
fn the_context_of_random_trees_is_what_pi_sends() {
    let Some(package) = variable("BOSWELL_PI_PACKAGE") else {
        return;
    };
    let questions: Vec<_> = (1..=400u64)
        .map(|seed| {
            question(
                &format!("seed {seed}"),
                &random_tree(&mut Dice(seed)),
                Leaf::Tip,
            )
        })
        .collect();
    let answers = ask(&package, &questions);
    let wrong: Vec<_> = answers.iter().filter(|a| !a.starts_with("ok ")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(answers.len(), 400);
}
