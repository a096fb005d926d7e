//! A test bench on which the real Codex and boswell use the same sessions.

use std::path::PathBuf;
use std::process::Output;

use boswell_testkit::codex_client::{CodexClient, CodexHome, config};
use boswell_testkit::disk;
use boswell_testkit::scripted_model::ScriptedModel;
use serde_json::Value;

use crate::bench::{Bench, Ran};

/// A machine with Codex, a scripted model, and boswell.
pub(crate) struct CodexDesk {
    pub(crate) bench: Bench,
    pub(crate) model: ScriptedModel,
    client: CodexClient,
}

impl CodexDesk {
    /// Creates a desk, if there is a client.
    pub(crate) fn new() -> Option<CodexDesk> {
        let client = CodexClient::require_or_skip()?;
        let (bench, model) = (Bench::new(), ScriptedModel::start());
        let desk = CodexDesk {
            bench,
            model,
            client,
        };
        desk.use_provider("scripted");
        Some(desk)
    }

    /// Makes a provider the current one.
    pub(crate) fn use_provider(&self, provider: &str) {
        let text = config(&self.model, provider);
        self.bench.plant(".codex/config.toml", text.as_bytes());
    }

    /// Runs Codex with these arguments.
    pub(crate) fn codex(&self, args: &[&str]) -> Output {
        let (home, work) = (self.bench.home(), self.bench.cwd());
        let place = CodexHome {
            home: &home,
            work: &work,
        };
        self.client.run(place, args)
    }

    /// Starts a turn of a session, and does not wait for its end.
    pub(crate) fn start(&self, id: &str, prompt: &str) -> std::process::Child {
        let (home, work) = (self.bench.home(), self.bench.cwd());
        let place = CodexHome {
            home: &home,
            work: &work,
        };
        let args = ["exec", "--skip-git-repo-check", "resume", id, prompt];
        self.client.command(place, &args).spawn().unwrap()
    }

    /// Sends a first prompt, and returns the id of the new session.
    #[track_caller]
    pub(crate) fn begin(&self, prompt: &str) -> String {
        self.said(&["exec", "--skip-git-repo-check", prompt])
    }

    /// Sends a prompt to a session.
    #[track_caller]
    pub(crate) fn go_on(&self, id: &str, prompt: &str, more: &[&str]) -> String {
        let mut args = vec!["exec", "--skip-git-repo-check"];
        args.extend(more);
        args.extend(["resume", id, prompt]);
        self.said(&args)
    }

    /// Sends a prompt to a fork of a session, and returns the id of the fork.
    #[track_caller]
    pub(crate) fn fork(&self, id: &str, prompt: &str) -> String {
        self.said(&["exec", "--skip-git-repo-check", "fork", id, prompt])
    }

    /// Runs a turn, and returns the id that Codex prints.
    #[track_caller]
    fn said(&self, args: &[&str]) -> String {
        let output = self.codex(args);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {printed}");
        let id = printed
            .lines()
            .find_map(|line| line.strip_prefix("session id: "));
        id.unwrap_or_else(|| panic!("{args:?}: {printed}"))
            .trim()
            .to_owned()
    }

    /// Returns the items that Codex sends when it resumes a session, before the new prompt.
    #[track_caller]
    pub(crate) fn resumed(&self, id: &str, probe: &str) -> Vec<String> {
        self.go_on(id, probe, &[]);
        self.sent_before(probe)
    }

    /// Returns the items that were sent before a prompt.
    #[track_caller]
    pub(crate) fn sent_before(&self, prompt: &str) -> Vec<String> {
        let items = self.model.sent_before(prompt);
        let mut items = items.unwrap_or_else(|| panic!("nobody sent {prompt:?}"));
        // The instructions get their id when they are sent.
        if let Some(first) = items.first_mut().and_then(Value::as_object_mut) {
            first.remove("id");
        }
        items.iter().map(comparable).collect()
    }

    /// Returns boswell's context of a session, in the same form.
    #[track_caller]
    pub(crate) fn context(&self, id: &str) -> Vec<String> {
        let session = format!("codex:{id}");
        let messages = self
            .run(&["context", &session, "--json"])
            .of_type("message");
        let item = |message: &Value| match message.get("native") {
            Some(native) => comparable(native),
            None => comparable(message),
        };
        messages.iter().map(item).collect()
    }

    /// Runs boswell.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args).ends(0)
    }

    /// Returns the log of a session.
    #[track_caller]
    pub(crate) fn log(&self, id: &str) -> PathBuf {
        let root = self.bench.home().join(".codex/sessions");
        let mut open = vec![root];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(disk::list(&path));
            } else if path.to_string_lossy().contains(id) {
                return path;
            }
        }
        panic!("{id} has no log")
    }
}

/// Returns an item without what Codex adds to it in a file and does not send; the order of members
/// does not matter.
fn comparable(item: &Value) -> String {
    let mut item = item.clone();
    if let Some(members) = item.as_object_mut() {
        members.remove("internal_chat_message_metadata_passthrough");
        members.retain(|_, value| !value.is_null());
    }
    sorted(&item).to_string()
}

pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut pairs: Vec<_> = members.iter().collect();
            pairs.sort_by_key(|(name, _)| name.as_str());
            pairs
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Asserts that two lists of items are equal; says only where they first differ, because items
/// are long.
#[track_caller]
pub(crate) fn assert_same(expected: &[String], found: &[String]) {
    let most = expected.len().max(found.len());
    let Some(at) = (0..most).find(|at| expected.get(*at) != found.get(*at)) else {
        return;
    };
    let [one, other] = [expected, found].map(|items| items.get(at).map_or("", String::as_str));
    let pairs = one.chars().zip(other.chars());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let short = |item: &str| -> String {
        let from = same.saturating_sub(60);
        item.chars().skip(from).take(400).collect()
    };
    panic!(
        "item {at} of {} and {} differs after {same} characters:\n{}\n{}",
        expected.len(),
        found.len(),
        short(one),
        short(other)
    );
}
