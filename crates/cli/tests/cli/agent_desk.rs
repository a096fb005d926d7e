//! A test bench on which the real program of an agent and boswell use the same sessions.

use boswell_testkit::agent_client::{Agent, AgentClient, AgentHome};
use boswell_testkit::scripted_model::ScriptedModel;
use serde_json::Value;

use crate::bench::{Bench, Ran};

/// A machine with an agent, a scripted model, and boswell.
pub(crate) struct AgentDesk {
    pub(crate) bench: Bench,
    pub(crate) model: ScriptedModel,
    client: AgentClient,
}

impl AgentDesk {
    /// Creates a desk, if there is a client.
    pub(crate) fn new(agent: Agent) -> Option<AgentDesk> {
        let client = AgentClient::require_or_skip(agent)?;
        let (bench, model) = (Bench::new(), ScriptedModel::start());
        let desk = AgentDesk {
            bench,
            model,
            client,
        };
        desk.at(|client, place| client.set_up(place));
        Some(desk)
    }

    /// Runs the client with these arguments.
    pub(crate) fn client(&self, args: &[String]) -> std::process::Output {
        self.at(|client, place| client.run(place, args, None))
    }

    fn at<T>(&self, act: impl FnOnce(&AgentClient, AgentHome<'_>) -> T) -> T {
        let (home, work) = (self.bench.home(), self.bench.cwd());
        let place = AgentHome {
            home: &home,
            work: &work,
            model: &self.model,
        };
        act(&self.client, place)
    }

    /// Returns the reference of a session.
    pub(crate) fn session(&self, id: &str) -> String {
        format!("{}:{id}", self.client.agent().dialect())
    }

    /// Sends a prompt to a session, or to a new one.
    #[track_caller]
    pub(crate) fn say(&self, session: Option<&str>, prompt: &str) {
        let output = self.at(|client, place| client.say(place, session, prompt));
        let printed = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{session:?} {prompt}: {printed}");
        assert!(
            self.model.sent_before(prompt).is_some(),
            "{session:?} {prompt:?} was not sent: {printed}"
        );
    }

    /// Sends a first prompt that calls a tool, and returns the id of the new session.
    #[track_caller]
    pub(crate) fn begin(&self) -> String {
        let shell = self.client.agent().shell("echo 你好");
        let script = format!("[[{{\"think\":\"先想\"}},{shell}],[{{\"text\":\"done 好\"}}]]");
        self.say(None, &format!("run it SCRIPT={script}"));
        let listed = self.run(&["list", "--json", "-q"]).of_type("session");
        assert_eq!(listed.len(), 1, "{listed:?}");
        listed[0]["id"].as_str().unwrap().to_owned()
    }

    /// Returns what the program sends when it resumes a session, before the new prompt.
    #[track_caller]
    pub(crate) fn resumed(&self, id: &str, probe: &str) -> Vec<String> {
        self.say(Some(id), probe);
        let sent = self.model.sent_before(probe).unwrap();
        said(&sent)
    }

    /// Returns boswell's context of a session, in the same form.
    #[track_caller]
    pub(crate) fn context(&self, id: &str) -> Vec<String> {
        let context = self.run(&["context", &self.session(id), "--json"]);
        said(&context.of_type("message"))
    }

    /// Runs boswell where the program of the agent is found, with the program's variables.
    #[track_caller]
    pub(crate) fn run_with_program(&self, args: &[&str]) -> Ran {
        let mut command = self.bench.command(args);
        command.envs(self.at(|client, place| client.environment(place)));
        let folder = self.client.program_folder().unwrap();
        command.env("PATH", folder);
        crate::bench::finish(command)
    }

    /// Runs boswell.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args).ends(0)
    }
}

/// Returns lines without those that a program adds at each start, and with neighbouring texts of
/// the user joined, as programs join them.
pub(crate) fn as_sent(lines: Vec<String>) -> Vec<String> {
    const ADDED: [&str; 4] = [
        "user: <session_context>",
        "user: <system-reminder>",
        "user: This is the Qwen Code.",
        "assistant: Got it. Thanks for the context!",
    ];
    let mut joined: Vec<String> = Vec::new();
    for line in lines {
        if ADDED.iter().any(|added| line.starts_with(added)) {
            continue;
        }
        match (line.strip_prefix("user: "), joined.last_mut()) {
            (Some(text), Some(last)) if last.starts_with("user: ") => {
                last.push('\n');
                last.push_str(text);
            }
            _ => joined.push(line),
        }
    }
    joined
}

/// Returns what messages say, one line for each text, thought, call and result, whichever API they
/// are written for. Elements that a program adds at each start are left out.
fn said(messages: &[Value]) -> Vec<String> {
    let mut lines = Vec::new();
    for message in messages {
        let role = match message["role"].as_str().unwrap_or_default() {
            "model" => "assistant",
            other => other,
        };
        if let Some(thought) = message["reasoning_content"].as_str() {
            lines.push(format!("thought: {thought}"));
        }
        let content = message.get("content").or_else(|| message.get("parts"));
        match content {
            Some(Value::String(text)) if role == "tool" => {
                lines.push(format!(
                    "result {}: {text}",
                    message["tool_call_id"].as_str().unwrap()
                ));
            }
            Some(Value::String(text)) if !text.is_empty() => lines.push(format!("{role}: {text}")),
            Some(Value::Array(parts))
                if role == "tool" && message.get("tool_call_id").is_some() =>
            {
                let texts: Vec<&str> = parts.iter().filter_map(|it| it["text"].as_str()).collect();
                let call = message["tool_call_id"].as_str().unwrap();
                lines.push(format!("result {call}: {}", texts.join("\n")));
            }
            Some(Value::Array(parts)) => {
                lines.extend(parts.iter().filter_map(|part| line(role, part)));
            }
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let args = function["arguments"].as_str().unwrap_or("{}");
            let args: Value = serde_json::from_str(args).unwrap();
            lines.push(of_call(&call["id"], &function["name"], &args));
        }
    }
    lines
}

fn line(role: &str, part: &Value) -> Option<String> {
    let kind = part["type"].as_str().unwrap_or_default();
    if let Some(data) = image(part) {
        return Some(format!("{role} image: {data}"));
    }
    if let Some(call) = part.get("functionCall") {
        return Some(of_call(&call["id"], &call["name"], &call["args"]));
    }
    if let Some(result) = part.get("functionResponse") {
        let response = &result["response"];
        let text = response["output"].as_str().or(response["error"].as_str());
        return Some(of_result(
            &result["id"],
            text.unwrap_or(&response.to_string()),
        ));
    }
    match kind {
        "tool_use" => Some(of_call(&part["id"], &part["name"], &part["input"])),
        "tool_result" => Some(of_result(
            &part["tool_use_id"],
            part["content"].as_str().unwrap_or_default(),
        )),
        "think" | "thinking" => {
            let text = part["think"].as_str().or(part["thinking"].as_str());
            Some(format!("thought: {}", text.unwrap_or_default()))
        }
        _ => {
            let text = part["text"].as_str();
            let Some(text) = text else {
                return Some(format!("{role} other: {part}"));
            };
            let is_thought = part["thought"] == true;
            let role = if is_thought { "thought" } else { role };
            (!text.is_empty()).then(|| format!("{role}: {text}"))
        }
    }
}

/// Returns the data of an image, whichever API it is written for.
fn image(part: &Value) -> Option<&str> {
    let url = part["image_url"]["url"].as_str();
    let url = url.and_then(|url| url.split_once("base64,"));
    let inline = part["inlineData"]["data"].as_str();
    url.map(|(_, data)| data)
        .or(part["source"]["data"].as_str())
        .or(inline)
}

fn of_call(id: &Value, name: &Value, args: &Value) -> String {
    let args = crate::codex_desk::sorted(args);
    let [id, name] = [id, name].map(|it| it.as_str().unwrap_or_default());
    format!("call {id} {name} {args}")
}

fn of_result(id: &Value, text: &str) -> String {
    format!("result {}: {text}", id.as_str().unwrap_or_default())
}
