//! Writes the generated inputs of `fuzz/seeds/` again: `cargo run -p boswell-testkit --example
//! fuzz_seeds -- fuzz/seeds`.
//!
//! Files that were put there by hand, or that a fuzzer found, have other names and stay.

use std::path::PathBuf;

use boswell_testkit::make::{
    chats, claude, clinvoker, codex, copilot, gemini, kimi, myagents, oas, pi, qwen,
};
use boswell_testkit::{Batch, Made, disk};

/// Longer seeds cost rounds and add nothing.
const LONGEST: usize = 16 << 10;

fn main() {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "fuzz/seeds".to_owned()),
    );
    let write = |target: &str, name: String, bytes: &[u8]| {
        if bytes.len() <= LONGEST {
            disk::write(&folder.join(target).join(format!("made-{name}")), bytes);
        }
    };
    for shape in [
        claude::ClaudeShape::Branched,
        claude::ClaudeShape::Compacted,
        claude::ClaudeShape::Traps,
        claude::ClaudeShape::V2_0_76,
    ] {
        write(
            "claude",
            format!("{shape:?}"),
            claude::file(shape, "/proj/app", 1).bytes(),
        );
    }
    for shape in codex::CodexShape::ALL {
        write(
            "codex",
            format!("{shape:?}"),
            codex::rollout(*shape, "/proj/app", None, 1).bytes(),
        );
    }
    for flavour in pi::PiFlavour::ALL {
        for shape in [
            pi::PiShape::V1,
            pi::PiShape::EveryEntry,
            pi::PiShape::TwoCompactions,
            pi::PiShape::Cycle,
        ] {
            let made = pi::file(shape, *flavour, pi::PiLayout::of("/proj/app"), 1);
            write(flavour.name(), format!("{shape:?}"), made.bytes());
            if *flavour == pi::PiFlavour::Pi {
                write("boswell", format!("{shape:?}"), made.bytes());
            }
        }
    }
    let each = |target: &str, batch: &Batch| {
        for (count, made) in batch.sessions.iter().enumerate().take(4) {
            write(target, format!("session-{count}"), Made::bytes(made));
        }
        for file in &batch.shared.list {
            write(target, file.path.replace('/', "-"), &file.bytes);
        }
    };
    for (target, name, made) in file_agents() {
        write(target, name, made.bytes());
    }
    each(
        "myagents",
        &myagents::store(myagents::MyAgentsShape::ALL[0], 1),
    );
    each(
        "clinvoker",
        &clinvoker::store(clinvoker::ClinvokerIndexState::ALL[0], 1),
    );
    each(
        "oas",
        &oas::store(oas::OasIndexState::ALL[0], "/proj/app", 1),
    );
}

/// Sessions of the agents whose sessions are files: target, name and files.
fn file_agents() -> Vec<(&'static str, String, Made)> {
    const CWD: &str = "/proj/app";
    let mut found = Vec::new();
    for shape in gemini::GeminiShape::ALL {
        let made = gemini::session(*shape, CWD, 1);
        found.push(("gemini", format!("{shape:?}"), made));
    }
    for shape in qwen::QwenShape::ALL {
        found.push(("qwen", format!("{shape:?}"), qwen::session(*shape, CWD, 1)));
    }
    for shape in copilot::CopilotShape::ALL {
        let made = copilot::session(*shape, CWD, 1);
        found.push(("copilot", format!("{shape:?}"), made));
    }
    for shape in kimi::KimiShape::ALL {
        found.push(("kimi", format!("{shape:?}"), kimi::session(*shape, CWD, 1)));
    }
    let mut add = |target, made| found.push((target, "session".to_owned(), made));
    add("kimi-cli", kimi::cli_session(true, CWD, 1));
    for (target, agent) in [
        ("cline", chats::ChatAgentKind::Cline),
        ("roo", chats::ChatAgentKind::Roo),
        ("kilo-code", chats::ChatAgentKind::Kilo),
        ("continue", chats::ChatAgentKind::Continue),
        ("vibe", chats::ChatAgentKind::Vibe),
        ("droid", chats::ChatAgentKind::Droid),
    ] {
        add(target, chats::session(agent, CWD, 1));
    }
    add("iflow", claude::file(claude::ClaudeShape::Branched, CWD, 1));
    let layout = pi::PiLayout::of(CWD);
    let made = pi::file(pi::PiShape::EveryEntry, pi::PiFlavour::Pi, layout, 1);
    add("openclaw", made);
    found
}
