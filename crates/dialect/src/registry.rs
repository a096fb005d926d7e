//! Every dialect there is.

use crate::{Dialect, Match, Sample};

/// All dialects of known agents, in the order in which they are shown.
pub fn all() -> &'static [&'static dyn Dialect] {
    &[
        &crate::claude::Claude,
        &crate::codex::Codex,
        &crate::pi::Pi::PI,
        &crate::pi::Pi::OMP,
        &crate::pi::Pi::XCSH,
        &crate::pi::Pi::BOSWELL,
        &crate::myagents::MyAgents,
        &crate::clinvoker::Clinvoker,
        &crate::oas::OpenAgentSdk,
    ]
}

/// The dialect of that name; `unknown` reads any JSON.
pub fn by_name(name: &str) -> Option<&'static dyn Dialect> {
    let unknown: &'static dyn Dialect = &crate::unknown::Unknown;
    all()
        .iter()
        .copied()
        .chain([unknown])
        .find(|d| d.name() == name)
}

/// Whose session a file is: the dialect it looks most like, the first of equals, or the
/// one for unknown files.
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
