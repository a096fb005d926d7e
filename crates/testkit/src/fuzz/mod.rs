//! Fuzz targets: functions that must return for any bytes.
//!
//! Each takes one input and asserts the guarantees of the code; returning is passing. `cargo xtask
//! fuzz` runs them with a blind mutator, `fuzz/` with a coverage-guided one. A dialect's target has
//! the dialect's name.

mod dialects;
mod json;
mod spans;
mod splice;
mod time;

/// A name, and the function to run.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("scanner", json::scanner),
    ("spans", spans::spans),
    ("splice", splice::splice),
    ("time", time::time),
    ("claude", |bytes| dialects::named("claude", bytes)),
    ("codex", |bytes| dialects::named("codex", bytes)),
    ("gemini", |bytes| dialects::named("gemini", bytes)),
    ("qwen", |bytes| dialects::named("qwen", bytes)),
    ("copilot", |bytes| dialects::named("copilot", bytes)),
    ("kimi", |bytes| dialects::named("kimi", bytes)),
    ("kimi-cli", |bytes| dialects::named("kimi-cli", bytes)),
    ("opencode", |bytes| dialects::named("opencode", bytes)),
    ("kilo", |bytes| dialects::named("kilo", bytes)),
    ("mimo", |bytes| dialects::named("mimo", bytes)),
    ("goose", |bytes| dialects::named("goose", bytes)),
    ("crush", |bytes| dialects::named("crush", bytes)),
    ("hermes", |bytes| dialects::named("hermes", bytes)),
    ("cursor", |bytes| dialects::named("cursor", bytes)),
    ("zed", |bytes| dialects::named("zed", bytes)),
    ("kiro", |bytes| dialects::named("kiro", bytes)),
    ("cline", |bytes| dialects::named("cline", bytes)),
    ("roo", |bytes| dialects::named("roo", bytes)),
    ("kilo-code", |bytes| dialects::named("kilo-code", bytes)),
    ("continue", |bytes| dialects::named("continue", bytes)),
    ("vibe", |bytes| dialects::named("vibe", bytes)),
    ("droid", |bytes| dialects::named("droid", bytes)),
    ("iflow", |bytes| dialects::named("iflow", bytes)),
    ("openclaw", |bytes| dialects::named("openclaw", bytes)),
    ("vscode", |bytes| dialects::named("vscode", bytes)),
    ("aider", |bytes| dialects::named("aider", bytes)),
    ("openhands", |bytes| dialects::named("openhands", bytes)),
    ("auggie", |bytes| dialects::named("auggie", bytes)),
    ("antigravity", |bytes| dialects::named("antigravity", bytes)),
    ("grok", |bytes| dialects::named("grok", bytes)),
    ("amp", |bytes| dialects::named("amp", bytes)),
    ("pi", |bytes| dialects::named("pi", bytes)),
    ("omp", |bytes| dialects::named("omp", bytes)),
    ("xcsh", |bytes| dialects::named("xcsh", bytes)),
    ("boswell", |bytes| dialects::named("boswell", bytes)),
    ("myagents", |bytes| dialects::named("myagents", bytes)),
    ("clinvoker", |bytes| dialects::named("clinvoker", bytes)),
    ("oas", |bytes| dialects::named("oas", bytes)),
    ("unknown", |bytes| dialects::named("unknown", bytes)),
];

/// Returns the target with this name.
pub fn named(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).copied()
}

/// Reads any bytes as a dialect, even one that is not in the registry.
pub fn dialect(dialect: &'static dyn boswell_dialect::Dialect, bytes: &[u8]) {
    dialects::of(dialect, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::make::{claude, codex, pi};

    #[test]
    fn every_dialect_has_a_target() {
        for dialect in boswell_dialect::all() {
            assert!(
                named(dialect.name()).is_some(),
                "add `{}` to the targets",
                dialect.name()
            );
        }
    }

    #[test]
    fn every_target_returns_on_good_and_on_broken_input() {
        let good = [
            pi::file(
                pi::PiShape::ALL[0],
                pi::PiFlavour::Pi,
                pi::PiLayout::of("/p"),
                1,
            )
            .bytes()
            .to_vec(),
            claude::file(claude::ClaudeShape::ALL[0], "/p", 1)
                .bytes()
                .to_vec(),
            codex::rollout(codex::CodexShape::ALL[0], "/p", None, 1)
                .bytes()
                .to_vec(),
        ];
        let mut rng = Rng::new(1);
        for (name, run) in TARGETS {
            for bytes in &good {
                run(bytes);
                let mut broken = bytes.clone();
                for _ in 0..20 {
                    let at = rng.below(broken.len());
                    broken[at] = *rng.pick(b"{}\"\\\n\0\xff0,:");
                }
                run(&broken);
                run(&broken[..rng.below(broken.len())]);
            }
            assert!(named(name).is_some());
        }
    }
}
