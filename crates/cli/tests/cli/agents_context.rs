//! Compares `context` with what the real programs of agents send when they resume a session.

use boswell_testkit::agent_client::Agent;

use crate::agent_desk::{AgentDesk, as_sent};
use crate::codex_desk::assert_same;

/// Gemini CLI records thoughts and does not send them again.
fn compared(agent: Agent, lines: Vec<String>) -> Vec<String> {
    let is_unsent = |line: &String| agent == Agent::Gemini && line.starts_with("thought: ");
    let lines = lines.into_iter().filter(|line| !is_unsent(line));
    as_sent(lines.collect())
}

#[track_caller]
fn sends_the_context(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let id = desk.begin();
    let context = compared(agent, desk.context(&id));
    let sent = compared(agent, desk.resumed(&id, "PROBE 继续"));
    assert!(sent.len() >= 4, "{sent:?}");
    assert_same(&context, &sent);
}

#[test]
fn gemini_sends_the_context() {
    sends_the_context(Agent::Gemini);
}

#[test]
fn qwen_sends_the_context() {
    sends_the_context(Agent::Qwen);
}

#[test]
fn copilot_sends_the_context() {
    sends_the_context(Agent::Copilot);
}

#[test]
fn kimi_sends_the_context() {
    sends_the_context(Agent::Kimi);
}

#[test]
fn opencode_sends_the_context() {
    sends_the_context(Agent::OpenCode);
}

#[test]
fn goose_sends_the_context() {
    sends_the_context(Agent::Goose);
}
