//! Writes the generated inputs of `fuzz/seeds/` anew:
//! `cargo run -p boswell-testkit --example fuzz_seeds -- fuzz/seeds`.
//!
//! Files that were put there by hand, or that a fuzzer found, have other names and stay.

use std::path::PathBuf;

use boswell_testkit::make::{claude, clinvoker, codex, myagents, oas, pi};
use boswell_testkit::{Batch, Made, disk};

/// Longer seeds cost rounds and show no further shape.
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
        claude::Shape::Branched,
        claude::Shape::Compacted,
        claude::Shape::Traps,
        claude::Shape::V2_0_76,
    ] {
        write(
            "claude",
            format!("{shape:?}"),
            claude::file(shape, "/proj/app", 1).bytes(),
        );
    }
    for shape in codex::Shape::ALL {
        write(
            "codex",
            format!("{shape:?}"),
            codex::rollout(*shape, "/proj/app", None, 1).bytes(),
        );
    }
    for flavour in pi::Flavour::ALL {
        for shape in [
            pi::Shape::V1,
            pi::Shape::EveryEntry,
            pi::Shape::TwoCompactions,
            pi::Shape::Cycle,
        ] {
            let made = pi::file(shape, *flavour, pi::Place::of("/proj/app"), 1);
            write(flavour.name(), format!("{shape:?}"), made.bytes());
            if *flavour == pi::Flavour::Pi {
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
    each("myagents", &myagents::store(myagents::Shape::ALL[0], 1));
    each(
        "clinvoker",
        &clinvoker::store(clinvoker::IndexState::ALL[0], 1),
    );
    each("oas", &oas::store(oas::IndexState::ALL[0], "/proj/app", 1));
}
