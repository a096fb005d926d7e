//! Reads a store while the real program of its agent is at work: no byte, time or inode changes,
//! and no side file is left, such as those of SQLite.

use boswell_testkit::TreeSnapshot;
use boswell_testkit::agent_client::Agent;

use crate::agent_desk::AgentDesk;
use crate::bench::Bench;
use crate::codex_desk::CodexDesk;

/// What the tool prints; the prompt does not contain it.
const PRINTED: &str = "left-right";
const COMMAND: &str = "printf 'left-%s' right";

/// Every reading command, and those that update what boswell derives.
const AT_LARGE: &[&[&str]] = &[
    &["list"],
    &["stores"],
    &["projects"],
    &["check"],
    &["stats"],
    &["search", PRINTED],
    &["prompts"],
    &["today"],
    &["index"],
];
const OF_A_SESSION: &[&[&str]] = &[
    &["show"],
    &["show", "--raw", "--records"],
    &["tree"],
    &["context"],
    &["check"],
    &["attachments"],
    &["files"],
    &["outline"],
    &["export"],
    &["resume", "--print"],
];

/// Reads the session with every command until the program wrote nothing meanwhile by itself;
/// returns what differed each time.
fn read_in_peace(bench: &Bench, session: &str) -> Result<(), Vec<String>> {
    let mut differences = Vec::new();
    for _ in 0..5 {
        let before = TreeSnapshot::take(&bench.home());
        for args in AT_LARGE {
            let ran = bench.run(args.iter().copied());
            assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
        }
        for args in OF_A_SESSION {
            let ran = bench.run(args.iter().copied().chain([session]));
            assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
        }
        let found = before.diff(&TreeSnapshot::take(&bench.home()));
        if found.is_empty() {
            return Ok(());
        }
        differences.extend(found);
    }
    Err(differences)
}

/// The prompt of a turn that waits for its last answer until `gate` is released.
fn held(shell: &str) -> String {
    format!("look SCRIPT=[[{shell}],[{{\"hold\":\"gate\"}},{{\"text\":\"finished 好\"}}]]")
}

#[track_caller]
fn is_read_while_it_runs(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let id = desk.begin();
    let prompt = held(&agent.shell(COMMAND));
    let read = std::thread::scope(|threads| {
        let turn = threads.spawn(|| desk.say(Some(&id), &prompt));
        desk.model.wait_for(PRINTED, 1);
        let read = read_in_peace(&desk.bench, &desk.session(&id));
        assert!(!turn.is_finished(), "the program ended while it was read");
        desk.model.release("gate");
        turn.join().unwrap();
        read
    });
    assert_eq!(read, Ok(()));
    // What was read in the middle of a turn is not taken for its end.
    let shown = desk.run(&["show", &desk.session(&id)]);
    assert!(shown.text().contains("finished 好"), "{shown:?}");
}

#[test]
fn gemini_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::Gemini);
}

#[test]
fn qwen_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::Qwen);
}

#[test]
fn copilot_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::Copilot);
}

#[test]
fn kimi_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::Kimi);
}

#[test]
fn opencode_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::OpenCode);
}

#[test]
fn goose_is_read_while_it_runs() {
    is_read_while_it_runs(Agent::Goose);
}

#[test]
fn codex_is_read_while_it_runs() {
    let Some(desk) = CodexDesk::new() else {
        return;
    };
    let id = desk.begin("hello SCRIPT=[[{\"text\":\"hi\"}]]");
    let shell = format!("{{\"tool\":\"exec_command\",\"input\":{{\"cmd\":{COMMAND:?}}}}}");
    let prompt = held(&shell);
    let mut turn = desk.start(&id, &prompt);
    desk.model.wait_for(PRINTED, 1);
    let session = format!("codex:{id}");
    let read = read_in_peace(&desk.bench, &session);
    assert!(turn.try_wait().unwrap().is_none(), "Codex ended meanwhile");
    desk.model.release("gate");
    assert!(turn.wait().unwrap().success());
    assert_eq!(read, Ok(()));
    let shown = desk.bench.run(["show", &session]).ends(0);
    assert!(shown.text().contains("finished 好"), "{shown:?}");
}
