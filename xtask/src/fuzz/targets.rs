//! The functions that must not panic, whatever bytes they get.
//!
//! The shape is that of `boswell_testkit::fuzz::TARGETS`, which takes this list's place when it is there: then
//! `all` returns that slice and the local target below goes away.

use crate::Outcome;

/// A name and what to run. Returning is passing: a target asserts what it promises.
pub(crate) type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[("serde_json_lines", serde_json_lines)];

pub(crate) fn all() -> &'static [Target] {
    TARGETS
}

pub(crate) fn named(name: &str) -> Outcome<Target> {
    let names = || all().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    all()
        .iter()
        .find(|(known, _)| *known == name)
        .copied()
        .ok_or_else(|| format!("no fuzz target is called `{name}`; there are: {}", names()).into())
}

/// Keeps the machinery honest until the decoders come: what serde_json reads, it must read again once printed.
fn serde_json_lines(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) {
            let again = serde_json::from_str::<serde_json::Value>(&value.to_string());
            assert!(again.is_ok(), "a printed value does not read back");
        }
    }
}
