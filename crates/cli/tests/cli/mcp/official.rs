//! The official client of the protocol asks the program, over standard streams and over HTTP.

use std::path::Path;

use boswell_testkit::mcp_runner::McpTools;
use serde_json::{Value, json};

use super::client::apart;
use super::machine;
use crate::bench::Bench;
use crate::serve::Serving;

/// How a client starts a command of a machine.
fn started(bench: &Bench, args: &[&str]) -> Value {
    let command = bench.command(args);
    let text = |it: &std::ffi::OsStr| it.to_string_lossy().into_owned();
    let env = command.get_envs();
    let env = env.filter_map(|(name, value)| Some((text(name), Value::from(text(value?)))));
    json!({
        "command": text(command.get_program()),
        "args": command.get_args().map(text).collect::<Vec<_>>(),
        "env": env.collect::<serde_json::Map<_, _>>(),
        "cwd": command.get_current_dir().unwrap().to_str().unwrap(),
    })
}

#[track_caller]
fn ask(tools: &McpTools, how: &Value, session: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/mcp/official.mjs");
    let mut command = tools.script(&script);
    let output = command.arg(how.to_string()).arg(session).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_official_client_is_answered_over_both_transports() {
    let Some(tools) = McpTools::require_or_skip() else {
        return;
    };
    let (bench, own, _) = machine();
    let serving = Serving::run(bench.command(["serve", "--json", "--port", "0", "--for", "5m"]));
    let over_http = json!({
        "url": format!("http://{}/mcp", serving.address), "token": serving.mcp.trim(),
    });
    for how in [started(&bench, &["mcp"]), over_http] {
        let said = ask(&tools, &how, &own.reference());
        assert_eq!(said["errors"], json!([]), "{said}");
        assert_eq!(said["server"]["name"], "boswell", "{said}");
        assert_eq!(said["tools"].as_array().unwrap().len(), 8, "{said}");
        let citation = format!("{}#{}", own.reference(), own.entry(4));
        assert!(
            said["search"].as_str().unwrap().contains(&citation),
            "{said}"
        );
        for answer in ["outline", "read", "resource"] {
            let (inside, _) = apart(said[answer].as_str().unwrap());
            assert!(
                inside.contains("The lease was unlinked"),
                "{answer}: {said}"
            );
        }
        assert_eq!(said["prompts"], json!(["recall", "catch_up", "hand_over"]));
        assert!(said["prompt"].to_string().contains("the lease"), "{said}");
        assert_eq!(said["templates"], 3, "{said}");
        assert_eq!(said["completed"].as_array().unwrap()[0], own.reference());
    }
}
