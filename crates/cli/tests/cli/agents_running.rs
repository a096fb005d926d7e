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

/// How often a command is run until the program wrote nothing meanwhile by itself.
const TRIES: usize = 20;

/// Runs every command until nothing differs; returns what differed each time, if one never ends so.
///
/// The program writes to its logs whenever it likes, so each command is looked at by itself: the
/// shorter the time, the less the program does in it. A command that writes does so every time.
fn read_in_peace(bench: &Bench, session: &str) -> Result<(), Vec<String>> {
    let at_large = AT_LARGE.iter().map(|args| args.to_vec());
    let of_session = OF_A_SESSION.iter().map(|args| [*args, &[session]].concat());
    let mut before = TreeSnapshot::take(&bench.home());
    for args in at_large.chain(of_session) {
        let mut differences = Vec::new();
        let is_quiet = (0..TRIES).any(|_| {
            let ran = bench.run(args.iter().copied());
            assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
            let after = TreeSnapshot::take(&bench.home());
            let found = before.diff(&after);
            before = after;
            let is_quiet = found.is_empty();
            differences.extend(found);
            is_quiet
        });
        if !is_quiet {
            differences.insert(0, format!("{args:?}"));
            return Err(differences);
        }
    }
    Ok(())
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
