//! Writes the generated inputs of `fuzz/seeds/` again: `cargo run -p boswell-testkit --example
//! fuzz_seeds -- fuzz/seeds`.
//!
//! Files that were put there by hand, or that a fuzzer found, have other names and stay.

use std::path::PathBuf;

use boswell_testkit::make::{claude, clinvoker, codex, myagents, oas, pi};
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
