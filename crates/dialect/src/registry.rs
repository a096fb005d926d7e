//! The list of all dialects.
//!
//! It also recognises which agent wrote a file (detection of the format): every dialect judges the
//! first records, and the best match wins. Files of an unknown agent go to `unknown.rs`.

use crate::{Dialect, Match, Sample};

static ALL: &[&dyn Dialect] = &[
    &crate::claude::Claude,
    &crate::codex::Codex,
    &crate::gemini::Gemini,
    &crate::qwen::Qwen,
    &crate::copilot::Copilot,
    &crate::opencode::OPENCODE,
    &crate::opencode::KILO,
    &crate::opencode::MIMO,
    &crate::goose::GOOSE,
    &crate::kimi::Kimi,
    &crate::kimi_cli::KimiCli,
    &crate::cline::CLINE,
    &crate::cline::ROO,
    &crate::cline::KILO,
    &crate::crush::CRUSH,
    &crate::cursor::CURSOR,
    &crate::hermes::HERMES,
    &crate::continue_dev::CONTINUE,
    &crate::vibe::VIBE,
    &crate::zed::ZED,
    &crate::droid::DROID,
    &crate::kiro::KIRO,
    &crate::iflow::IFLOW,
    &crate::openclaw::OPENCLAW,
    &crate::vscode::VSCODE,
    &crate::aider::AIDER,
    &crate::openhands::OPENHANDS,
    &crate::auggie::AUGGIE,
    &crate::antigravity::ANTIGRAVITY,
    &crate::grok::GROK,
    &crate::amp::AMP,
    &crate::pi::Pi::PI,
    &crate::pi::Pi::OMP,
    &crate::pi::Pi::XCSH,
    &crate::pi::Pi::BOSWELL,
    &crate::myagents::MyAgents,
    &crate::clinvoker::Clinvoker,
    &crate::oas::OpenAgentSdk,
];

/// Returns the dialects of all known agents, in display order.
pub fn all() -> &'static [&'static dyn Dialect] {
    ALL
}

/// Returns the dialect with this name; `unknown` reads any JSON.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    let unknown: &'static dyn Dialect = &crate::unknown::Unknown;
    all()
        .iter()
        .copied()
        .chain([unknown])
        .find(|d| d.name() == name)
}

/// Whether a dialect belongs to an agent, and is not the fallback that reads any JSON.
pub fn is_known_agent(dialect: &dyn Dialect) -> bool {
    all().iter().any(|known| known.name() == dialect.name())
}

/// Returns the dialect that matches a file best, the first of equals, or `unknown`.
pub fn recognise(sample: &Sample<'_>) -> &'static dyn Dialect {
    let mut best: (&'static dyn Dialect, Match) = (&crate::unknown::Unknown, Match::No);
    for dialect in all() {
        let likeness = dialect.recognises(sample);
        if likeness > best.1 {
            best = (*dialect, likeness);
        }
    }
    best.0
}
