//! The functions that must not panic for any bytes. They are in the testkit, so that `fuzz/` runs
//! the same ones.

use crate::Outcome;

/// A name and the function to run. Returning is passing: a target asserts its guarantees.
pub(crate) use boswell_testkit::fuzz::Target;

pub(crate) fn all() -> &'static [Target] {
    boswell_testkit::fuzz::TARGETS
}

pub(crate) fn named(name: &str) -> Outcome<Target> {
    let names = || {
        all()
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let target = boswell_testkit::fuzz::named(name);
    target
        .ok_or_else(|| format!("no fuzz target is called `{name}`; there are: {}", names()).into())
}
