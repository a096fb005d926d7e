//! Resumes a converted session with the real program, and looks at what the model is sent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use boswell_dialect::{ChatMessage, Role, by_name};
use boswell_model::Part;
use serde_json::{Value, json};

use super::MatrixCell;
use crate::agent_client::{Agent, AgentClient, AgentHome};
use crate::claude_client::{ClaudeClient, ClientHome, isolate, named};
use crate::codex_client::{self, CodexClient, CodexHome};
use crate::disk;
use crate::scripted_model::{Request, ScriptedModel};

/// The prompt that a program resumes a session with.
const PROBE: &str = "PROBE go on 继续";

/// A program that resumes sessions.
#[derive(Debug)]
pub enum RealProgram {
    /// Claude Code.
    Claude(ClaudeClient),
    /// Codex.
    Codex(CodexClient),
    /// pi, by the words that start it.
    Pi(Vec<OsString>),
    /// oh-my-pi, by the words that start it.
    Omp(Vec<OsString>),
    /// An agent that runs with node.
    Agent(AgentClient),
}

/// The folders of a run.
struct Place {
    home: PathBuf,
    work: PathBuf,
}

impl RealProgram {
    /// Returns the program for sessions of a target, if there is one.
    pub fn of(target: &str) -> Option<RealProgram> {
        match target {
            "claude" => ClaudeClient::require_or_skip().map(RealProgram::Claude),
            "codex" => CodexClient::require_or_skip().map(RealProgram::Codex),
            "pi" => {
                let (node, package) = (named("BOSWELL_NODE")?, named("BOSWELL_PI_PACKAGE")?);
                let script = package.join("dist/cli.js");
                Some(RealProgram::Pi(vec![node.into(), script.into()]))
            }
            "omp" => {
                let (bun, package) = (named("BOSWELL_BUN")?, named("BOSWELL_OMP_PACKAGE")?);
                let script = package.join("src/cli.ts");
                Some(RealProgram::Omp(vec![bun.into(), script.into()]))
            }
            other => AgentClient::require_or_skip(Agent::of(other)?).map(RealProgram::Agent),
        }
    }

    /// Resumes the session of a cell below a scratch folder, and returns what is wrong with what
    /// the model was sent; empty if everything arrived.
    pub fn resume(&self, cell: (&'static str, &'static str), scratch: &Path) -> Vec<String> {
        let model = ScriptedModel::strict();
        let (home, work) = (scratch.join("home"), scratch.join("work"));
        disk::make_dir(&home);
        disk::make_dir(&work);
        let work = work.canonicalize().expect("a folder that was just made");
        let cell = match MatrixCell::new(cell.0, cell.1, &work.display().to_string()) {
            Ok(cell) => cell,
            Err(error) => return vec![format!("it was not made: {error}")],
        };
        let place = Place { home, work };
        let output = match self {
            RealProgram::Claude(client) => claude(client, &cell, &place, &model),
            RealProgram::Codex(client) => codex(client, &cell, &place, &model),
            RealProgram::Pi(words) => pi((words, &PI), &cell, &place, &model),
            RealProgram::Omp(words) => pi((words, &OMP), &cell, &place, &model),
            RealProgram::Agent(client) => agent(client, &cell, &place, &model),
        };
        let is_probe = |request: &&Request| request.body.to_string().contains("PROBE go on");
        // Some programs also ask which model fits, with the end of the history.
        let requests = model.requests();
        let requests = requests.iter().filter(is_probe);
        let whole = requests.max_by_key(|request| request.body.to_string().len());
        let mut wrong: Vec<String> = model.refusals();
        match whole {
            Some(request) => wrong.extend(arrived(&cell.conversion.sent, &request.body)),
            None => wrong.push(format!("nothing was sent: {output:?}")),
        }
        wrong
    }
}

fn claude(
    client: &ClaudeClient,
    cell: &MatrixCell,
    place: &Place,
    model: &ScriptedModel,
) -> Output {
    let config = place.home.join(".claude");
    cell.write_to(&config);
    let client_home = ClientHome {
        home: &place.home,
        config: &config,
        work: &place.work,
        model,
    };
    let id = cell.conversion.target.id.as_str();
    client.say(&client_home, PROBE, &["--resume", id])
}

fn codex(client: &CodexClient, cell: &MatrixCell, place: &Place, model: &ScriptedModel) -> Output {
    let root = place.home.join(".codex");
    let config = codex_client::config(model, "scripted");
    disk::write(&root.join("config.toml"), config.as_bytes());
    cell.write_to(&root);
    let client_home = CodexHome {
        home: &place.home,
        work: &place.work,
    };
    let id = cell.conversion.target.id.as_str();
    let args = ["exec", "--skip-git-repo-check", "resume", id, PROBE];
    client.run(client_home, &args)
}

fn agent(client: &AgentClient, cell: &MatrixCell, place: &Place, model: &ScriptedModel) -> Output {
    let client_home = AgentHome {
        home: &place.home,
        work: &place.work,
        model,
    };
    client.set_up(client_home);
    let target = cell.conversion.target.id.clone();
    let id = match cell.conversion.import {
        Some(_) => imported(client, client_home, cell),
        None => {
            cell.write_to(&place.home.join(client.agent().folder()));
            Some(target)
        }
    };
    client.say(client_home, id.as_deref(), PROBE)
}

/// Has the program import the document of a cell, and returns the id of the session.
fn imported(client: &AgentClient, place: AgentHome<'_>, cell: &MatrixCell) -> Option<String> {
    let importer = by_name(cell.target)?.powers().import?;
    let document = place.home.join("document.json");
    disk::write(&document, &cell.conversion.log);
    let words = importer.import_words(&document.display().to_string());
    client.run(place, words.get(1..)?, None);
    if importer.keeps_id() {
        return Some(cell.conversion.target.id.clone());
    }
    let listed = client.run(place, &["session", "list", "--format", "json"], None);
    let listed: Value = serde_json::from_slice(&listed.stdout).ok()?;
    let only = listed.as_array()?.first()?;
    only["id"].as_str().map(str::to_owned)
}

/// What differs between the programs of the pi family.
struct PiProgram {
    root: &'static str,
    models: &'static str,
    options: &'static [&'static str],
    /// The option before the path of a log.
    resume: &'static str,
}

static PI: PiProgram = PiProgram {
    root: ".pi/agent",
    models: "models.json",
    options: &[
        "--offline",
        "-p",
        "--provider",
        "scripted",
        "--model",
        "scripted-model",
    ],
    resume: "--session",
};

static OMP: PiProgram = PiProgram {
    root: ".omp/agent",
    // JSON is YAML too.
    models: "models.yml",
    options: &[
        "-p",
        "--no-title",
        "--no-lsp",
        "--model",
        "scripted/scripted-model",
    ],
    resume: "--resume",
};

fn pi(
    (words, own): (&[OsString], &PiProgram),
    cell: &MatrixCell,
    place: &Place,
    model: &ScriptedModel,
) -> Output {
    let root = place.home.join(own.root);
    let costs = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
    let provider = json!({
        "baseUrl": model.url(),
        "apiKey": "scripted",
        "api": "anthropic-messages",
        "models": [{
            "id": "scripted-model", "name": "scripted-model", "reasoning": false,
            "input": ["text", "image"], "cost": costs, "contextWindow": 100_000,
            "maxTokens": 8000,
        }],
    });
    let models = json!({"providers": {"scripted": provider}});
    disk::write(&root.join(own.models), models.to_string().as_bytes());
    cell.write_to(&root);
    let log = cell
        .conversion
        .plan
        .keys()
        .first()
        .map(|key| root.join(key));
    let (program, before) = words.split_first().expect("a client has a program");
    let mut command = Command::new(program);
    command.args(before).args(own.options);
    command.arg(own.resume).args(log).arg(PROBE);
    let client_home = ClientHome {
        home: &place.home,
        config: &root,
        work: &place.work,
        model,
    };
    isolate(&mut command, &client_home);
    command.stdin(Stdio::null()).output().expect("pi starts")
}

/// Returns which texts, calls and results do not arrive in order in a request.
pub fn arrived(messages: &[ChatMessage], body: &Value) -> Vec<String> {
    let mut sent = Vec::new();
    for key in ["messages", "input", "contents"] {
        strings(&body[key], &mut sent);
    }
    let mut missing = Vec::new();
    let mut at = 0;
    for needle in messages.iter().flat_map(needles) {
        let found = sent.iter().skip(at).position(|said| said.contains(&needle));
        match found {
            Some(steps) => at += steps,
            None => missing.push(format!("not sent, or not in order: {needle:?}")),
        }
    }
    missing
}

fn needles(message: &ChatMessage) -> Vec<String> {
    let is_result = matches!(message.role, Role::Tool { .. });
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => {
            // Programs trim texts and wrap results in texts of their own.
            let text = text.trim();
            let text = if is_result {
                text.lines().next().unwrap_or_default()
            } else {
                text
            };
            Some(text.to_owned()).filter(|text| !text.is_empty())
        }
        Part::Call { name, .. } => Some(name.clone()),
        _ => None,
    });
    parts.collect()
}

/// Collects the strings of a value in order.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => {
            // Members have no order; an answer is said before it calls.
            let (calls, others): (Vec<_>, Vec<_>) =
                members.iter().partition(|(key, _)| *key == "tool_calls");
            let members = others.into_iter().chain(calls);
            members.for_each(|(_, member)| strings(member, found));
        }
        _ => {}
    }
}
