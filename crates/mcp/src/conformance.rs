//! The conformance runner against its own fixtures, on our transport and in our frames.
//!
//! `crates/cli/tests/cli/mcp/conformance.rs` runs it against the real program; what calls tools of
//! the runner's own is run here.

mod fixtures;

use std::net::SocketAddr;
use std::path::Path;

use boswell_testkit::mcp_runner::{McpTools, RunnerLine};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;

use self::fixtures::Fixtures;
use crate::http::transport;

/// The scenarios that need fixtures of the runner.
const OF_FIXTURES: [&str; 14] = [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
];

/// Serves the fixtures until the process ends, and returns their address.
fn serve() -> SocketAddr {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let service = TowerToHyperService::new(transport(Fixtures::new()));
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let http = hyper::server::conn::http1::Builder::new();
                let connection = http.serve_connection(TokioIo::new(stream), service.clone());
                tokio::spawn(connection);
            }
        });
    });
    address
}

#[test]
fn scenarios_of_the_runners_fixtures_pass() {
    let Some(tools) = McpTools::require_or_skip() else {
        return;
    };
    let url = format!("http://{}/mcp", serve());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conformance");
    for (line, revision) in [
        (RunnerLine::Released, "2025-11-25"),
        (RunnerLine::Alpha, "2025-11-25"),
        (RunnerLine::Alpha, "2026-07-28"),
    ] {
        let expected = folder.join(format!("expected-failures-{revision}.yaml"));
        let report = tools.conformance(line, &url, revision, &expected);
        assert!(report.is_expected, "{line:?} {revision}: {}", report.text);
        let is_stateless = (revision == "2026-07-28").then_some("server-stateless");
        for name in OF_FIXTURES.into_iter().chain(is_stateless) {
            let ran = report.scenario(name);
            let passed = ran.is_some_and(|it| it.passed > 0 && it.failed == 0);
            assert!(passed, "{line:?} {revision} {name}: {}", report.text);
        }
    }
}
