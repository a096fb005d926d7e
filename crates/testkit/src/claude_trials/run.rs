//! Lets a real client resume a damaged transcript and reads its request.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use super::{ClientOutcome, Trial, tags_in};
use crate::claude_client::{ClaudeClient, ClientHome};
use crate::disk;
use crate::make::claude::project_key;
use crate::scripted_model::ScriptedModel;

const PROBE: &str = "PROBE-OF-A-TRIAL";
/// The longest wait for a request. A client that has not asked by then never will.
const LONGEST: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(20);

/// The known clients, by version.
pub const VERSIONS: [&str; 3] = ["2.1.150", "2.1.325", "2.1.50"];

/// Resumes the trial's file in a folder of its own below `scratch` and returns what was sent.
pub fn resume(
    client: &ClaudeClient,
    version: &str,
    trial: &Trial,
    scratch: &Path,
) -> ClientOutcome {
    resume_bytes(client, version, &trial.session, &trial.bytes, scratch)
}

/// Resumes a file with this content and returns what was sent.
pub fn resume_bytes(
    client: &ClaudeClient,
    version: &str,
    session: &str,
    bytes: &[u8],
    scratch: &Path,
) -> ClientOutcome {
    let (home, work) = (scratch.join("home"), scratch.join("work"));
    let config = home.join(".claude");
    disk::make_dir(&work);
    let key = project_key(
        &work
            .canonicalize()
            .unwrap_or_else(|_| work.clone())
            .to_string_lossy(),
    );
    let log = config
        .join("projects")
        .join(key)
        .join(format!("{session}.jsonl"));
    disk::write(&log, bytes);
    let model = ScriptedModel::start();
    let place = ClientHome {
        home: &home,
        config: &config,
        work: &work,
        model: &model,
    };
    let child = client.start_saying(&place, PROBE, &arguments(version, session));
    let outcome = wait(child, &model);
    // What a killed client still writes is removed with the next run.
    std::fs::remove_dir_all(scratch).ok();
    outcome
}

fn arguments<'a>(version: &str, session: &'a str) -> Vec<&'a str> {
    let mut more = vec!["--resume", session, "--max-turns", "1"];
    if version == "2.1.50" {
        // It does not know newer models.
        more.extend(["--model", "claude-sonnet-4-5-20250929"]);
    }
    more
}

/// Waits for the request, which is all that is needed, or for the end of the client.
#[expect(
    clippy::disallowed_methods,
    reason = "a client that hangs is ended after a while"
)]
fn wait(mut child: Child, model: &ScriptedModel) -> ClientOutcome {
    let start = Instant::now();
    loop {
        if let Some(messages) = asked(model) {
            child.kill().ok();
            child.wait().ok();
            return ClientOutcome::Sent(tags_in(&messages));
        }
        if start.elapsed() > LONGEST {
            child.kill().ok();
            child.wait().ok();
            return ClientOutcome::Failed;
        }
        if matches!(child.try_wait(), Ok(Some(_))) && asked(model).is_none() {
            return ended(child);
        }
        std::thread::sleep(POLL);
    }
}

/// Returns the messages of the request with the probe, which can be part of a longer text.
fn asked(model: &ScriptedModel) -> Option<String> {
    let requests = model.requests().into_iter();
    requests
        .filter(|request| request.path == "/v1/messages")
        .map(|request| request.body["messages"].to_string())
        .find(|messages| messages.contains(PROBE))
}

fn ended(child: Child) -> ClientOutcome {
    let said = child.wait_with_output().map(|output| {
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    let is_refused = |texts: [String; 2]| texts.concat().contains("No conversation found");
    match said.is_ok_and(is_refused) {
        true => ClientOutcome::Refused,
        false => ClientOutcome::Failed,
    }
}
