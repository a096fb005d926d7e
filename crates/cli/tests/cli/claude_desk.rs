//! A test bench on which the real Claude client and boswell use the same sessions.

use std::path::{Path, PathBuf};
use std::process::{Child, Output};

use boswell_dialect::claude::project_key;
use boswell_testkit::claude_client::{ClaudeClient, ClientHome};
use boswell_testkit::disk;
use boswell_testkit::scripted_model::ScriptedModel;
use serde_json::Value;

use crate::bench::{Bench, Ran};

/// The message that the client adds to a session that ends with a user message.
const NO_RESPONSE: &str = "a: No response requested.";

/// A machine with a client, a scripted model, and boswell.
pub(crate) struct Desk {
    pub(crate) bench: Bench,
    pub(crate) model: ScriptedModel,
    pub(crate) client: ClaudeClient,
    work: PathBuf,
}

impl Desk {
    /// Creates a desk, if there is a client.
    pub(crate) fn new() -> Option<Desk> {
        ClaudeClient::require_or_skip().map(Desk::with)
    }

    pub(crate) fn with(client: ClaudeClient) -> Desk {
        let bench = Bench::new();
        let work = bench.cwd().canonicalize().unwrap();
        disk::make_dir(&bench.home().join(".claude"));
        Desk {
            bench,
            model: ScriptedModel::start(),
            client,
            work,
        }
    }

    /// Sets the name of the client's working folder.
    pub(crate) fn working_in(mut self, name: &str) -> Desk {
        self.work = self.bench.root().canonicalize().unwrap().join(name);
        disk::make_dir(&self.work);
        self
    }

    /// Returns the client's working folder.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// Renames the working folder.
    pub(crate) fn rename_work(&mut self, name: &str) {
        let new = self.work.with_file_name(name);
        std::fs::rename(&self.work, &new).unwrap();
        self.work = new;
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.bench.home().join(".claude")
    }

    /// Returns the log of a session of this folder.
    pub(crate) fn log(&self, id: &str) -> PathBuf {
        self.config()
            .join("projects")
            .join(project_key(&self.work.to_string_lossy()))
            .join(format!("{id}.jsonl"))
    }

    /// Sends a prompt with the client.
    pub(crate) fn say(&self, prompt: &str, more: &[&str]) -> Output {
        self.start(prompt, more).wait_with_output().unwrap()
    }

    /// As [`Desk::say`], without waiting for the end.
    pub(crate) fn start(&self, prompt: &str, more: &[&str]) -> Child {
        let (home, config) = (self.bench.home(), self.config());
        let place = ClientHome {
            home: &home,
            config: &config,
            work: &self.work,
            model: &self.model,
        };
        self.client.start_saying(&place, prompt, more)
    }

    /// Runs the client with exactly these arguments.
    pub(crate) fn client(&self, args: &[String]) -> Output {
        let (home, config) = (self.bench.home(), self.config());
        let place = ClientHome {
            home: &home,
            config: &config,
            work: &self.work,
            model: &self.model,
        };
        self.client.start(&place, args).wait_with_output().unwrap()
    }

    /// Runs boswell.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args).ends(0)
    }

    /// Returns the messages that the client sends when it resumes a session with the prompt
    /// `probe`: those before the prompt.
    #[track_caller]
    pub(crate) fn resumed(&self, session: &str, probe: &str) -> Vec<String> {
        self.taken_up(session, probe, &["--resume", id_of(session)])
    }

    /// As [`Desk::resumed`], for the last session of this folder (`--continue`).
    #[track_caller]
    pub(crate) fn continued(&self, probe: &str) -> Vec<String> {
        self.taken_up("the last session", probe, &["--continue"])
    }

    #[track_caller]
    fn taken_up(&self, session: &str, probe: &str, how: &[&str]) -> Vec<String> {
        let output = self.say(probe, how);
        let Some(messages) = self.model.asked(probe) else {
            panic!("{session} was not resumed: {output:?}")
        };
        let mut said = said(&messages);
        assert_eq!(said.pop().as_deref(), Some(format!("u: {probe}").as_str()));
        if said.last().is_some_and(|last| last == NO_RESPONSE) {
            said.pop();
        }
        said
    }

    /// Returns boswell's context of a session.
    #[track_caller]
    pub(crate) fn context(&self, session: &str) -> Vec<String> {
        let lines = self.run(&["context", session, "--json"]).of_type("message");
        let mut said = said(&lines);
        if said.last().is_some_and(|last| last == NO_RESPONSE) {
            said.pop();
        }
        said
    }
}

/// Returns the id in a ref.
pub(crate) fn id_of(session: &str) -> &str {
    session.strip_prefix("claude:").unwrap_or(session)
}

/// Returns texts, calls and results of messages, without the client's own additions.
fn said(messages: &[Value]) -> Vec<String> {
    let mut out = Vec::new();
    for message in messages
        .iter()
        .filter(|message| message["role"] != "system")
    {
        let role = &message["role"].as_str().unwrap()[..1];
        let mut say = |text: &str| {
            if !text.trim_start().starts_with("<system-reminder>")
                && !text.starts_with("Attribution for ")
            {
                out.push(format!("{role}: {}", text.trim()));
            }
        };
        match &message["content"] {
            Value::String(text) => say(text),
            content => {
                for block in content.as_array().unwrap() {
                    match block["type"].as_str().unwrap() {
                        "text" => say(block["text"].as_str().unwrap()),
                        "tool_use" => say(&format!(
                            "calls {} {}",
                            block["name"].as_str().unwrap(),
                            block["input"]
                        )),
                        "tool_result" => say(&format!(
                            "result {}",
                            block["tool_use_id"].as_str().unwrap()
                        )),
                        other => say(other),
                    }
                }
            }
        }
    }
    out
}
