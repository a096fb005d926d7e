//! Real agents: each is registered by the command that `--print-config` prints, and Claude Code
//! calls the tools.

use std::path::Path;
use std::process::Output;

use boswell_testkit::agent_client::Agent;
use boswell_testkit::disk;
use serde_json::{Value, json};

use super::client::apart;
use crate::agent_desk::AgentDesk;
use crate::bench::{BOSWELL, Bench};
use crate::claude_desk::Desk;
use crate::codex_desk::CodexDesk;
use crate::digest::Transcript;

/// The longest answer that Claude Code passes to its model; it writes longer ones to a file.
const LONGEST: usize = 50_000;

/// Returns the arguments of the command that registers the server, with the path of this build.
#[track_caller]
fn registering(bench: &Bench, agent: &str, options: &[&str]) -> Vec<String> {
    let args = [&["mcp", "--print-config", agent], options].concat();
    let printed = bench.run(args).ends(0).text();
    let mut words: Vec<String> = printed.split_whitespace().map(str::to_owned).collect();
    assert_eq!(words.remove(0), agent, "{printed}");
    let program = words.iter().rposition(|it| it == "boswell").unwrap();
    words[program] = BOSWELL.to_owned();
    words
}

/// Registers the server with a client and lists what it knows.
#[track_caller]
fn is_listed(
    (bench, agent): (&Bench, &str),
    options: &[&str],
    sign: &str,
    run: impl Fn(&[String]) -> Output,
) {
    let added = run(&registering(bench, agent, options));
    assert!(added.status.success(), "{agent}: {added:?}");
    let listed = run(&["mcp", "list"].map(str::to_owned));
    let text = [listed.stdout, listed.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let has = text.contains("boswell") && text.contains(sign);
    assert!(has, "{agent} {options:?}: {text}");
}

#[test]
fn codex_lists_the_server_that_its_command_adds() {
    let Some(desk) = CodexDesk::new() else {
        return;
    };
    is_listed(
        (&desk.bench, "codex"),
        &["--only-here"],
        "enabled",
        |args| {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            desk.codex(&args)
        },
    );
}

#[track_caller]
fn agent_lists_it(agent: Agent, options: &[&str], sign: &str) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let place = (&desk.bench, agent.dialect());
    is_listed(place, options, sign, |args| desk.client(args));
}

#[test]
fn gemini_lists_the_server_that_its_command_adds() {
    agent_lists_it(Agent::Gemini, &[], "Connected");
}

// It reads the command as Gemini does.
#[test]
fn qwen_lists_the_server_that_its_command_adds() {
    agent_lists_it(Agent::Qwen, &["--only-here"], "Connected");
}

#[test]
fn copilot_lists_the_server_that_its_command_adds() {
    agent_lists_it(Agent::Copilot, &[], "local");
}

#[test]
fn opencode_lists_the_server_that_its_command_adds() {
    agent_lists_it(Agent::OpenCode, &["--only-here"], "connected");
}

#[test]
fn claude_code_installs_the_plugin_and_reaches_its_server() {
    let Some(desk) = Desk::new() else {
        return;
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    let copy = desk.work().join("plugin");
    for name in [
        ".claude-plugin/marketplace.json",
        ".claude-plugin/plugin.json",
        ".mcp.json",
        "skills/recall/SKILL.md",
    ] {
        let text = disk::read(&source.join(name));
        let text = String::from_utf8(text).unwrap();
        // The program is the one of this build; a user has it on the path.
        let text = text.replace(
            "\"command\": \"boswell\"",
            &format!("\"command\": {BOSWELL:?}"),
        );
        disk::write(&copy.join(name), text.as_bytes());
    }
    let folder = copy.display().to_string();
    for args in [
        vec!["plugin", "validate", &folder],
        vec!["plugin", "marketplace", "add", &folder],
        vec!["plugin", "install", "boswell@boswell"],
    ] {
        let ran = desk.client(&args.iter().map(|&it| it.to_owned()).collect::<Vec<_>>());
        assert!(ran.status.success(), "{args:?}: {ran:?}");
    }
    let listed = desk.client(&["mcp", "list"].map(str::to_owned));
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let has = listed.contains("plugin:boswell:boswell") && listed.contains("Connected");
    assert!(has, "{listed}");
}

/// The texts of the results that a request of Claude Code contains.
fn results(messages: &[Value]) -> Vec<String> {
    let contents = messages.iter().filter_map(|it| it["content"].as_array());
    let results = contents.flatten().filter(|it| it["type"] == "tool_result");
    results
        .map(|it| match it["content"].as_array() {
            Some(blocks) => blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect(),
            None => it["content"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}

#[test]
fn claude_code_finds_and_reads_a_session_through_the_server() {
    let Some(desk) = Desk::new() else {
        return;
    };
    let bench = &desk.bench;
    let added = desk.client(&registering(bench, "claude", &[]));
    assert!(added.status.success(), "{added:?}");
    let listed = desk.client(&["mcp", "list"].map(str::to_owned));
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("Connected"), "{listed}");
    let mut past = Transcript::new(1, desk.work().to_str().unwrap());
    past.prompt("Why is the zyxquorum lease lost?")
        .answer("The lease was unlinked before the lock.");
    // An entry that is longer than any answer may be.
    past.prompt(&format!("zyxquorum {}", "long ".repeat(40_000)));
    past.write(bench);
    let script = json!([
        [{"tool": "mcp__boswell__search_sessions", "input": {"query": "unlinked"}}],
        [{"tool": "mcp__boswell__read_session",
          "input": {"session": past.reference(), "before": past.entry(3)}}],
        [{"tool": "mcp__boswell__read_session",
          "input": {"session": past.reference(), "max_chars": 20_000}}],
        [{"text": "done"}],
    ]);
    let said = desk.say(&format!("recall it SCRIPT={script}"), &[]);
    assert!(said.status.success(), "{said:?}");
    let is_whole = |texts: &Vec<String>| texts.len() == 3;
    let texts = desk.model.find(|request| {
        let messages = request.body["messages"].as_array()?;
        Some(results(messages)).filter(is_whole)
    });
    let texts = texts.unwrap_or_else(|| panic!("{said:?} {:?}", desk.model.requests()));
    let citation = format!("{}#{}", past.reference(), past.entry(2));
    assert!(texts[0].contains(&citation), "{}", texts[0]);
    let (inside, _) = apart(&texts[1]);
    assert!(inside.contains("unlinked before the lock"), "{}", texts[1]);
    let (inside, outside) = apart(&texts[2]);
    assert!(inside.contains("long long"), "{}", texts[2]);
    // What is left out is told by our words; the client cut nothing and wrote no file.
    assert!(outside.contains("read_entry("), "{}", texts[2]);
    assert!(texts.iter().all(|it| it.chars().count() < LONGEST));
}
