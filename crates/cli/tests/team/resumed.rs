//! The real client resumes a session that another person shared.

use boswell_testkit::claude_client::{ClaudeClient, ClientHome};
use boswell_testkit::scripted_model::ScriptedModel;

use crate::bed::Team;

#[test]
fn the_real_client_resumes_a_fetched_session_with_every_message() {
    let Some(client) = ClaudeClient::require_or_skip() else {
        return;
    };
    let Some(team) = Team::start() else { return };
    let (alice, bob) = (team.person("alice", false), team.person("bob", false));
    let model = ScriptedModel::start();
    let id = "aaaaaaaa-0001-4001-8001-000000000001";
    let (config, work) = (alice.claude(), alice.work());
    let place = ClientHome {
        home: &alice.home,
        config: &config,
        work: &work,
        model: &model,
    };
    let said = client.say(&place, "remember the word heron", &["--session-id", id]);
    assert!(said.status.success(), "{said:?}");
    let _ = alice.run(&["share", id, "--to", "team"]).ends(0);
    let (config, work) = (bob.claude(), bob.work());
    let project = work.display().to_string();
    let _ = bob
        .run(&["fetch", id, "--project", &project, "--apply"])
        .ends(0);
    let place = ClientHome {
        home: &bob.home,
        config: &config,
        work: &work,
        model: &model,
    };
    let resumed = client.say(&place, "which word was it?", &["--resume", id]);
    assert!(resumed.status.success(), "{resumed:?}");
    let messages = model.asked("which word was it?").unwrap();
    let text = serde_json::to_string(&messages).unwrap();
    assert!(text.contains("remember the word heron"), "{text}");
}
