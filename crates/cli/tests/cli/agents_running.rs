//! Reads a store while the real program of its agent is at work: no byte, time or inode changes,
//! and no side file is left, such as those of SQLite.

use boswell_testkit::TreeSnapshot;
use boswell_testkit::agent_client::Agent;

use crate::agent_desk::AgentDesk;
use crate::bench::Bench;
use crate::codex_desk::CodexDesk;

/// What the tool prints at an attempt; the prompt does not contain it.
fn printed(attempt: usize) -> String {
    format!("left-{attempt}-right")
}

fn command(attempt: usize) -> String {
    format!("printf 'left-%s-right' {attempt}")
}

/// Turns, and passes over every command in one. A program may write something by itself meanwhile,
/// which the next pass does not see any more, and it may give up its request while it is read.
const ATTEMPTS: usize = 3;
const PASSES: usize = 3;

/// Every reading command, and those that update what boswell derives.
const AT_LARGE: &[&[&str]] = &[
    &["list"],
    &["stores"],
    &["projects"],
    &["check"],
    &["stats"],
    &["search", "right"],
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

/// Reads the session in several passes, while the program has not ended, until nothing differs;
/// returns what differed in the last one.
fn read_in_peace(
    bench: &Bench,
    session: &str,
    earlier: &TreeSnapshot,
    has_ended: &mut dyn FnMut() -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..PASSES {
        found = differences(bench, session, earlier);
        if found.is_empty() || has_ended() {
            break;
        }
    }
    found
}

/// Reads the session with every command; returns what differs afterwards.
fn differences(bench: &Bench, session: &str, earlier: &TreeSnapshot) -> Vec<String> {
    let before = TreeSnapshot::take_after(&bench.home(), earlier);
    for args in AT_LARGE {
        let ran = bench.run(args.iter().copied());
        assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
    }
    for args in OF_A_SESSION {
        let ran = bench.run(args.iter().copied().chain([session]));
        assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
    }
    before.diff(&TreeSnapshot::take_after(&bench.home(), &before))
}

/// The prompt of a turn that waits for its last answer until the gate of the attempt is released.
fn held(shell: &str, attempt: usize) -> String {
    format!("look SCRIPT=[[{shell}],[{{\"hold\":\"gate{attempt}\"}},{{\"text\":\"finished 好\"}}]]")
}

#[track_caller]
fn is_read_while_it_runs(agent: Agent) {
    let Some(desk) = AgentDesk::new(agent) else {
        return;
    };
    let id = desk.begin();
    let earlier = TreeSnapshot::take(&desk.bench.home());
    let mut failures = Vec::new();
    for attempt in 0..ATTEMPTS {
        let prompt = held(&agent.shell(&command(attempt)), attempt);
        let (found, ended) = std::thread::scope(|threads| {
            let turn = threads.spawn(|| desk.say(Some(&id), &prompt));
            desk.model.wait_for(&printed(attempt), 1);
            let session = desk.session(&id);
            let found = read_in_peace(&desk.bench, &session, &earlier, &mut || turn.is_finished());
            let ended = turn.is_finished();
            desk.model.release(&format!("gate{attempt}"));
            // One that gave up its request ends with an error.
            (found, turn.join().is_err() || ended)
        });
        if found.is_empty() && !ended {
            // What was read in the middle of a turn is not taken for its end.
            let shown = desk.run(&["show", &desk.session(&id)]);
            assert!(shown.text().contains("finished 好"), "{shown:?}");
            return;
        }
        failures.push((ended, found));
    }
    panic!("whether the program ended meanwhile, and what differed: {failures:?}");
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
    let session = format!("codex:{id}");
    let earlier = TreeSnapshot::take(&desk.bench.home());
    let mut failures = Vec::new();
    for attempt in 0..ATTEMPTS {
        let input = command(attempt);
        let shell = format!("{{\"tool\":\"exec_command\",\"input\":{{\"cmd\":{input:?}}}}}");
        let mut turn = desk.start(&id, &held(&shell, attempt));
        desk.model.wait_for(&printed(attempt), 1);
        let mut has_ended = || turn.try_wait().unwrap().is_some();
        let found = read_in_peace(&desk.bench, &session, &earlier, &mut has_ended);
        let ended = has_ended();
        desk.model.release(&format!("gate{attempt}"));
        let ended = !turn.wait().unwrap().success() || ended;
        if found.is_empty() && !ended {
            let shown = desk.bench.run(["show", &session]).ends(0);
            assert!(shown.text().contains("finished 好"), "{shown:?}");
            return;
        }
        failures.push((ended, found));
    }
    panic!("whether Codex ended meanwhile, and what differed: {failures:?}");
}
