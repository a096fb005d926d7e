//! The suite for every dialect of the registry, with generated sessions.

use std::sync::Arc;

use boswell_dialect::{Match, all, by_name};
use boswell_store::disk::MemoryDisk;
use boswell_store::{Draft, Home, NewSession};
use boswell_testkit::conformance::{DialectSample, DialectSuite};
use boswell_testkit::ids::SeededIds;
use boswell_testkit::make::{
    chats, chats::ChatAgentKind, claude, clinvoker, codex, copilot, databases, gemini, kimi,
    myagents, oas, other_agents, pi, qwen,
};
use boswell_testkit::toys::samples;
use boswell_testkit::{Batch, FileList, Made};

const CWD: &str = "/proj/app";

fn alone(made: &[Made], folder: &str) -> Vec<DialectSample> {
    let none = FileList::new();
    made.iter()
        .map(|made| DialectSample::made(made, &none, folder))
        .collect()
}

fn batch(batch: &Batch) -> Vec<DialectSample> {
    let sessions = batch.sessions.iter();
    sessions
        .map(|made| DialectSample::made(made, &batch.shared, ""))
        .collect()
}

fn of_pi(flavour: pi::PiFlavour, folder: &str) -> Vec<DialectSample> {
    let shapes = pi::PiShape::ALL.iter();
    let made = shapes.map(|shape| pi::file(*shape, flavour, pi::PiLayout::of(CWD), 7));
    alone(&made.collect::<Vec<_>>(), folder)
}

fn chat(agents: &[ChatAgentKind]) -> Vec<DialectSample> {
    let made = agents.iter().map(|agent| chats::session(*agent, CWD, 7));
    alone(&made.collect::<Vec<_>>(), "")
}

/// Sessions of agents with formats of their own.
fn other(name: &str) -> Vec<DialectSample> {
    let shapes = other_agents::OtherAgentShape::ALL.iter();
    let own = shapes.filter(|shape| shape.dialect() == name);
    let made = own.map(|shape| other_agents::session(*shape, CWD, 7));
    alone(&made.collect::<Vec<_>>(), "")
}

/// Creates a boswell session with its writer.
fn own() -> DialectSample {
    let disk = Arc::new(MemoryDisk::default());
    let ids = Arc::new(SeededIds::new(5));
    let store = Home::on(disk.clone(), ids, "/own").sessions().unwrap();
    let writer = store
        .create(NewSession::in_project(CWD).titled("A red build"))
        .unwrap();
    let asked = writer.append(Draft::user("why is it red?")).unwrap();
    writer.append(Draft::assistant("a test")).unwrap();
    writer.branch(&asked.entry).unwrap();
    writer.append(Draft::assistant("the lock file")).unwrap();
    let (id, path) = (writer.reference().id.clone(), writer.path());
    drop(writer);
    let location = store.find(&id).unwrap();
    let bytes = store
        .backend()
        .open(location.key.as_ref().unwrap())
        .unwrap();
    let bytes = bytes.read(0, u64::MAX).unwrap();
    let key = path.strip_prefix("/own").unwrap().to_str().unwrap();
    DialectSample::file(&id, key, bytes)
}

/// Returns sessions as the agent of a dialect writes them.
fn samples_of(name: &str) -> Vec<DialectSample> {
    match name {
        "claude" => {
            let shapes = claude::ClaudeShape::ALL.iter();
            let made = shapes.map(|shape| claude::file(*shape, CWD, 7));
            alone(&made.collect::<Vec<_>>(), "")
        }
        "codex" => {
            let shapes = codex::CodexShape::ALL.iter();
            let made = shapes.map(|shape| codex::rollout(*shape, CWD, None, 7));
            let mut samples = alone(&made.collect::<Vec<_>>(), "");
            let (parent, fork) = codex::paginated(CWD, 7);
            samples.extend(alone(&[parent], ""));
            samples.extend(alone(&[fork], ""));
            samples
        }
        "gemini" => {
            let shapes = gemini::GeminiShape::ALL.iter();
            let made = shapes.map(|shape| gemini::session(*shape, CWD, 7));
            alone(&made.collect::<Vec<_>>(), "")
        }
        "qwen" => {
            let shapes = qwen::QwenShape::ALL.iter();
            let made = shapes.map(|shape| qwen::session(*shape, CWD, 7));
            alone(&made.collect::<Vec<_>>(), "")
        }
        "copilot" => {
            let shapes = copilot::CopilotShape::ALL.iter();
            let made = shapes.map(|shape| copilot::session(*shape, CWD, 7));
            alone(&made.collect::<Vec<_>>(), "")
        }
        "kimi" => {
            let shapes = kimi::KimiShape::ALL.iter();
            let made = shapes.map(|shape| kimi::session(*shape, CWD, 7));
            alone(&made.collect::<Vec<_>>(), "")
        }
        "kimi-cli" => {
            let made = [false, true].map(|rotated| kimi::cli_session(rotated, CWD, 7));
            alone(&made, "")
        }
        "cline" => chat(&[ChatAgentKind::Cline, ChatAgentKind::ClineTask]),
        "roo" => chat(&[ChatAgentKind::Roo]),
        "kilo-code" => chat(&[ChatAgentKind::Kilo]),
        "continue" => chat(&[ChatAgentKind::Continue]),
        "vibe" => [chat(&[ChatAgentKind::Vibe]), other("vibe")].concat(),
        "droid" => chat(&[ChatAgentKind::Droid]),
        "iflow" => {
            let made = claude::file(claude::ClaudeShape::ALL[0], CWD, 7);
            let id = format!("session-{}", made.id);
            let path = format!("projects/-proj-app/{id}.jsonl");
            vec![DialectSample::file(&id, &path, made.bytes())]
        }
        "openclaw" => {
            let layout = pi::PiLayout::of(CWD);
            let made = pi::file(pi::PiShape::ALL[0], pi::PiFlavour::Pi, layout, 7);
            let path = format!("agents/main/sessions/{}.jsonl", made.id);
            vec![DialectSample::file(&made.id, &path, made.bytes())]
        }
        "pi" => of_pi(pi::PiFlavour::Pi, ""),
        "omp" => of_pi(pi::PiFlavour::Omp, ""),
        "xcsh" => of_pi(pi::PiFlavour::Xcsh, ""),
        "boswell" => vec![own()],
        "myagents" => {
            let shapes = myagents::MyAgentsShape::ALL.iter();
            shapes
                .flat_map(|shape| batch(&myagents::store(*shape, 7)))
                .collect()
        }
        "clinvoker" => batch(&clinvoker::store(clinvoker::ClinvokerIndexState::Right, 7)),
        "oas" => batch(&oas::store(oas::OasIndexState::Right, CWD, 7)),
        name => {
            let made = other(name);
            if made.is_empty() {
                return databases::samples(name, CWD);
            }
            made
        }
    }
}

fn conforms(name: &str, certainty: Match) {
    let toys = [
        samples::jot(),
        samples::rook(),
        samples::opal(),
        samples::dory(),
    ];
    let dialect = by_name(name).unwrap();
    DialectSuite::new(dialect, samples_of(name))
        .with_foreign(toys.concat())
        .at_least(certainty)
        .assert_conforms();
}

#[test]
fn every_dialect_of_the_registry_has_samples() {
    for dialect in all() {
        let name = dialect.name();
        assert!(!samples_of(name).is_empty(), "make samples of `{name}`");
    }
}

macro_rules! conform {
    ($($name:ident: $dialect:literal at least $certainty:ident;)*) => {
        $(#[test]
        fn $name() {
            conforms($dialect, Match::$certainty);
        })*
    };
}

// Rows have no file that could be recognised: of a sample only the names of tables are compared,
// and agents share those. Lines of the first Codex versions could belong to other agents. The pi
// family writes the same lines, so that the folder of the root decides; boswell's own root does not
// come from the environment. The main file of OpenHands is the state of a conversation, not its
// events.
conform! {
    claude_conforms: "claude" at least Certain;
    codex_conforms: "codex" at least Likely;
    gemini_conforms: "gemini" at least Certain;
    qwen_conforms: "qwen" at least Certain;
    copilot_conforms: "copilot" at least Certain;
    kimi_conforms: "kimi" at least Certain;
    kimi_cli_conforms: "kimi-cli" at least Certain;
    opencode_conforms: "opencode" at least No;
    kilo_conforms: "kilo" at least No;
    mimo_conforms: "mimo" at least No;
    goose_conforms: "goose" at least Maybe;
    crush_conforms: "crush" at least Maybe;
    hermes_conforms: "hermes" at least Maybe;
    cursor_conforms: "cursor" at least Certain;
    zed_conforms: "zed" at least No;
    kiro_conforms: "kiro" at least No;
    cline_conforms: "cline" at least Likely;
    roo_conforms: "roo" at least Certain;
    kilo_code_conforms: "kilo-code" at least Certain;
    continue_conforms: "continue" at least Certain;
    vibe_conforms: "vibe" at least Certain;
    droid_conforms: "droid" at least Certain;
    iflow_conforms: "iflow" at least Certain;
    openclaw_conforms: "openclaw" at least Certain;
    vscode_conforms: "vscode" at least Certain;
    aider_conforms: "aider" at least Certain;
    openhands_conforms: "openhands" at least No;
    auggie_conforms: "auggie" at least Certain;
    antigravity_conforms: "antigravity" at least Certain;
    grok_conforms: "grok" at least Certain;
    amp_conforms: "amp" at least Certain;
    pi_conforms: "pi" at least Certain;
    oh_my_pi_conforms: "omp" at least Certain;
    xcsh_conforms: "xcsh" at least Certain;
    boswell_conforms: "boswell" at least Maybe;
    myagents_conforms: "myagents" at least Certain;
    clinvoker_conforms: "clinvoker" at least Certain;
    open_agent_sdk_conforms: "oas" at least Certain;
}
