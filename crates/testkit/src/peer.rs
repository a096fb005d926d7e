//! Programs that act as another agent and that tests run concurrently with ours.

use std::path::PathBuf;

/// Returns Node, from the environment or the system; without it a test is skipped with a message,
/// and fails under CI.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the environment says where it is, and the reader that it is not"
)]
pub fn node() -> Option<PathBuf> {
    let named = std::env::var_os("BOSWELL_NODE").map(PathBuf::from);
    let node = named.unwrap_or_else(|| PathBuf::from("node"));
    if std::process::Command::new(&node)
        .arg("--version")
        .output()
        .is_ok_and(|ran| ran.status.success())
    {
        return Some(node);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "BOSWELL_NODE must name Node under CI"
    );
    eprintln!("SKIPPED: BOSWELL_NODE names no Node, and there is none on the path");
    None
}

/// Returns the script that takes part in a MyAgents store.
pub fn myagents() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/myagents.mjs")
}
