//! The conformance runner of the protocol against `/mcp` of the real program.
//!
//! The runner knows no tokens, so that a proxy adds one. Scenarios that call tools of the runner's
//! own are run in `crates/mcp/src/conformance.rs`.

use std::path::Path;

use boswell_testkit::mcp_runner::{McpTools, RunnerLine, TokenProxy};

use crate::demo::Demo;
use crate::serve::Serving;

/// What must pass in every revision.
const ALWAYS: [&str; 5] = [
    "tools-list",
    "completion-complete",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
];
/// With a handshake.
const HANDSHAKE: [&str; 2] = ["server-initialize", "ping"];
/// About sessions of the protocol. The released line of the runner has the first one only.
const OF_SESSIONS: [&str; 3] = [
    "server-sse-multiple-streams",
    "server-session-lifecycle",
    "server-sse-polling",
];
/// Without a handshake.
const STATELESS: [&str; 8] = [
    "sep-2164-resource-not-found",
    "caching",
    "server-sse-multiple-streams",
    "http-header-validation",
    "input-required-result-missing-input-response",
    "input-required-result-unsupported-methods",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
];

#[test]
fn the_program_conforms_over_http() {
    let Some(tools) = McpTools::require_or_skip() else {
        return;
    };
    let demo = Demo::new();
    let serving = Serving::start(&demo, &["--port", "0", "--for", "10m"]);
    let proxy = TokenProxy::start(&serving.address, &serving.mcp);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/mcp");
    for (line, revision, own) in [
        (RunnerLine::Released, "2025-11-25", HANDSHAKE.as_slice()),
        (RunnerLine::Alpha, "2025-11-25", &HANDSHAKE),
        (RunnerLine::Alpha, "2026-07-28", &STATELESS),
    ] {
        let expected = folder.join(format!("expected-failures-{revision}.yaml"));
        let report = tools.conformance(line, &proxy.url("/mcp"), revision, &expected);
        let said = format!("{line:?} {revision}: {}", report.text);
        assert!(report.is_expected, "{said}");
        for name in ALWAYS.iter().chain(own) {
            let passed = report.scenario(name);
            let passed = passed.is_some_and(|it| it.passed > 0 && it.failed == 0);
            assert!(passed, "{name}: {said}");
        }
        // They find no session to look at, which is right without sessions; one warns of it.
        let of_sessions: &[&str] = match (line, revision) {
            (RunnerLine::Alpha, "2025-11-25") => &OF_SESSIONS,
            (_, "2025-11-25") => &OF_SESSIONS[..1],
            _ => &[],
        };
        for name in of_sessions {
            assert_eq!(report.scenario(name).unwrap().failed, 0, "{name}: {said}");
        }
        if revision == "2026-07-28" {
            // The four others want tools of the runner. Three are about requests that listen.
            let stateless = report.scenario("server-stateless").unwrap();
            assert_eq!((stateless.passed, stateless.failed), (24, 4), "{said}");
        }
    }
}
