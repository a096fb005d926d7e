//! Runs the targets of `boswell_testkit::fuzz` under libFuzzer.

/// Runs the target of that name.
pub fn run(name: &str, bytes: &[u8]) {
    match boswell_testkit::fuzz::named(name) {
        Some((_, target)) => target(bytes),
        None => panic!("no target is called `{name}`"),
    }
}
