//! Compares `context` with what the real programs of agents send when they resume a session.

use boswell_testkit::agent_client::Agent;

use crate::agent_desk::AgentDesk;
use crate::codex_desk::assert_same;

/// Returns what is not injected anew at each start. Gemini CLI records thoughts and does not send
/// them again.
fn without_start(agent: Agent, lines: Vec<String>) -> Vec<String> {
    let is_added = |line: &String| line.starts_with("user: <session_context>");
    let is_unsent = |line: &String| agent == Agent::Gemini && line.starts_with("thought: ");
    let lines = lines.into_iter();
    lines
        .filter(|line| !is_added(line) && !is_unsent(line))
        .collect()
}

#[track_caller]
fn sends_the_context(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let id = desk.begin();
    let context = without_start(agent, desk.context(&id));
    let sent = without_start(agent, desk.resumed(&id, "PROBE 继续"));
    assert!(sent.len() >= 4, "{sent:?}");
    assert_same(&context, &sent);
}

#[test]
#[ignore = "the run with the real program is still to be made"]
fn gemini_sends_the_context() {
    sends_the_context(Agent::Gemini);
}

#[test]
#[ignore = "the run with the real program is still to be made"]
fn qwen_sends_the_context() {
    sends_the_context(Agent::Qwen);
}

#[test]
fn copilot_sends_the_context() {
    sends_the_context(Agent::Copilot);
}

#[test]
#[ignore = "the run with the real program is still to be made"]
fn kimi_sends_the_context() {
    sends_the_context(Agent::Kimi);
}
