//! Sessions that are carried over through the importer of the agent's own program.

use boswell_testkit::agent_client::Agent;
use boswell_testkit::disk;
use boswell_testkit::make::claude;

use crate::agent_desk::{AgentDesk, as_sent};
use crate::codex_desk::assert_same;

/// Plants a session of Claude Code, and returns it.
fn planted(desk: &AgentDesk, seed: u64) -> String {
    let cwd = desk.bench.cwd().canonicalize().unwrap();
    let made = claude::file(claude::ClaudeShape::ToolUse, cwd.to_str().unwrap(), seed);
    made.write_to(&desk.bench.home().join(".claude"));
    format!("claude:{}", made.id)
}

#[track_caller]
fn carried(desk: &AgentDesk, session: &str, to: &str) -> String {
    let ran = desk.run_with_program(&["convert", session, "--to", to, "--branch", "--apply", "-q"]);
    let text = ran.ends(0).text();
    text.lines().last().unwrap().to_owned()
}

fn listed(desk: &AgentDesk) -> Vec<String> {
    let sessions = desk.run(&["list", "--json", "-q"]).of_type("session");
    let refs = sessions.iter().filter_map(|it| it["ref"].as_str());
    refs.map(str::to_owned).collect()
}

#[track_caller]
fn goes_through_the_importer(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let to = agent.dialect();
    // The program makes its database, and its settings name the model.
    desk.begin();
    let session = planted(&desk, 3);
    let shown = desk.run_with_program(&["convert", &session, "--to", to, "--branch"]);
    let shown = shown.ends(2).text();
    assert!(shown.contains("import DOCUMENT"), "{shown}");
    let made = carried(&desk, &session, to);
    assert!(made.starts_with(&format!("{to}:")), "{made}");
    assert_eq!(carried(&desk, &session, to), made);
    let made = match agent {
        // It removes a session only after a question on a terminal.
        Agent::Goose => {
            desk.run_with_program(&["undo"])
                .ends(2)
                .says("goose session remove");
            made
        }
        _ => undone_and_made_again(&desk, (&session, &made), to),
    };
    let id = made.split_once(':').unwrap().1;
    let context = as_sent(desk.context(id));
    assert!(context.len() >= 4, "{context:?}");
    let sent = as_sent(desk.resumed(id, "PROBE of the import"));
    assert_same(&context, &sent);
    // What the agent went on with is not removed.
    desk.run_with_program(&["undo"]).ends(3).says("went on");
    assert!(listed(&desk).contains(&made));
}

#[track_caller]
fn undone_and_made_again(desk: &AgentDesk, (session, made): (&str, &str), to: &str) -> String {
    desk.run_with_program(&["undo"]).ends(0);
    let listed = listed(desk);
    assert!(!listed.iter().any(|it| it == made), "{listed:?}");
    let left = disk::list(&desk.bench.own().join("imports"));
    assert!(left.is_empty(), "{left:?}");
    carried(desk, session, to)
}

#[test]
fn opencode_imports_a_session_and_goes_on_with_it() {
    goes_through_the_importer(Agent::OpenCode);
}

#[test]
fn goose_imports_a_session_and_goes_on_with_it() {
    goes_through_the_importer(Agent::Goose);
}

#[test]
fn a_program_that_is_not_installed_is_named() {
    let bench = crate::bench::Bench::new();
    let cwd = bench.cwd().canonicalize().unwrap();
    let made = claude::file(claude::ClaudeShape::ToolUse, cwd.to_str().unwrap(), 3);
    made.write_to(&bench.home().join(".claude"));
    disk::make_dir(&bench.home().join(".local/share/opencode"));
    let session = format!("claude:{}", made.id);
    let ran = bench.run(["convert", &session, "--to", "opencode", "--apply"]);
    let code = ran.code;
    assert_ne!(code, Some(0), "{ran:?}");
    ran.says("`opencode` cannot be started");
}
