//! Sessions that boswell makes and changes, resumed by the real programs of their agents.
#![expect(
    clippy::disallowed_methods,
    reason = "tests hand files to the program as its input"
)]

use boswell_testkit::agent_client::Agent;

use crate::agent_desk::{AgentDesk, as_sent};
use crate::bench::finish;
use crate::codex_desk::assert_same;

/// Entries of a conversation with a call and its result.
const ENTRIES: &str = r#"{"role":"user","text":"外来的问题"}
{"role":"assistant","text":"I look.","calls":[{"id":"c1","name":"TOOL","input":{"command":"ls"}}]}
{"role":"tool","call":"c1","tool":"TOOL","text":"a.txt"}
{"role":"assistant","text":"外来的回答"}
"#;

/// Makes a session with entries and a title, and returns its id.
#[track_caller]
fn made(desk: &AgentDesk, agent: Agent) -> String {
    let new = ["new", "--dialect", agent.dialect(), "--json"];
    let new = desk.run(&new).of_type("session").remove(0);
    let id = new["id"].as_str().unwrap().to_owned();
    let entries = ENTRIES.replace("TOOL", shell_name(agent));
    let entries = desk.bench.plant("entries.jsonl", entries.as_bytes());
    let mut append = desk.bench.command(["append", &desk.session(&id), "--json"]);
    append.stdin(std::fs::File::open(entries).unwrap());
    assert_eq!(finish(append).ends(0).lines().len(), 4);
    id
}

fn shell_name(agent: Agent) -> &'static str {
    match agent {
        Agent::Gemini | Agent::Qwen => "run_shell_command",
        Agent::Copilot | Agent::OpenCode => "bash",
        Agent::Kimi => "Bash",
        Agent::Goose => "shell",
    }
}

/// Resumes a session, and compares what is sent with the context.
#[track_caller]
fn resumes(desk: &AgentDesk, id: &str, probe: &str, least: usize) {
    let context = desk.context(id);
    assert!(context.len() >= least, "{context:?}");
    let sent = desk.resumed(id, probe);
    let (context, sent) = (as_sent(context), as_sent(sent));
    assert_same(&context, &sent);
}

#[track_caller]
fn goes_on(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    // Its folder is there before its first session.
    desk.bench.plant(&format!("{}/kept", agent.folder()), b"");
    let id = made(&desk, agent);
    let session = desk.session(&id);
    desk.run(&["check", &session]);
    resumes(&desk, &id, "PROBE of the new one", 5);
    desk.run(&["append", &session, "--user", "one more"]);
    desk.run(&["append", &session, "--assistant", "so be it"]);
    desk.run(&["rename", &session, "一个标题"]);
    let fork = desk.run(&["fork", &session, "--json"]);
    let fork = fork.of_type("session").remove(0)["id"].clone();
    resumes(&desk, fork.as_str().unwrap(), "PROBE of the fork", 9);
}

#[test]
fn gemini_goes_on_with_what_was_written() {
    goes_on(Agent::Gemini);
}

#[test]
fn qwen_goes_on_with_what_was_written() {
    goes_on(Agent::Qwen);
}

#[test]
fn copilot_goes_on_with_what_was_written() {
    goes_on(Agent::Copilot);
}

#[test]
fn kimi_goes_on_with_what_was_written() {
    goes_on(Agent::Kimi);
}
