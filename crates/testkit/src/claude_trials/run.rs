//! Lets a real client resume a damaged transcript and reads its request.
//!
//! An outcome follows from an event: the request arrived, the client ended by itself, or it waits
//! for nothing that could come (an unhandled promise rejection does that to some versions).
//! A client that is only late, on a loaded machine, has no outcome and is run again.

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::{ClientOutcome, Trial, tags_in};
use crate::claude_client::{ClaudeClient, ClientHome};
use crate::disk;
use crate::make::claude::project_key;
use crate::scripted_model::{Request, ScriptedModel};

const PROBE: &str = "PROBE-OF-A-TRIAL";
/// The most runs of a file until one of them has an outcome.
const TRIES: usize = 4;
/// The longest wait for an event. A client needs two seconds of a core, also if it fails.
const LONGEST: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);
/// A client asks within two seconds of a core, and never sleeps for one of them before that.
const LONGEST_SLEEP: Duration = Duration::from_secs(8);
/// Timers of a sleeping client use this many ticks (hundredths of a second) at most.
const TICKS: u64 = 8;

/// The known clients, by version.
pub const VERSIONS: [&str; 3] = ["2.1.150", "2.1.325", "2.1.50"];

/// One run of a client.
#[derive(Debug)]
pub struct ClientRun {
    /// What it did; `None` if neither a request nor its end was seen.
    pub outcome: Option<ClientOutcome>,
    /// What it printed, if it ended by itself.
    pub printed: String,
}

/// Resumes a file until a run has an outcome; `None` if none of some runs had one. What the client
/// printed of runs that failed goes to `told`.
///
/// A failure counts if it occurs twice in a row, or if the client says which error of its own ended
/// it: that follows from the file, and not from the machine.
pub fn outcome(
    client: &ClaudeClient,
    version: &str,
    trial: &Trial,
    scratch: &Path,
    told: &dyn Fn(&str),
) -> Option<ClientOutcome> {
    let mut failed = false;
    for number in 0..TRIES {
        let ran = resume(client, version, trial, &scratch.join(number.to_string()));
        match ran.outcome {
            Some(ClientOutcome::Failed) if failed || names_error(&ran.printed) => {
                return ran.outcome;
            }
            Some(ClientOutcome::Failed) => failed = true,
            Some(outcome) => return Some(outcome),
            None => failed = false,
        }
        told(&ran.printed);
    }
    None
}

/// Whether a client names an exception of its code: the words of the engines that it runs on.
pub(super) fn names_error(printed: &str) -> bool {
    [
        "is not an object (evaluating",
        "Cannot read properties of",
        "is not a function",
        "is not iterable",
        "Spread syntax requires",
    ]
    .iter()
    .any(|words| printed.contains(words))
}

/// Resumes the trial's file in a folder of its own below `scratch` and returns what was sent.
pub fn resume(client: &ClaudeClient, version: &str, trial: &Trial, scratch: &Path) -> ClientRun {
    resume_bytes(client, version, &trial.session, &trial.bytes, scratch)
}

/// Resumes a file with this content and returns what was sent.
///
/// `scratch` must be a new folder: a process that an earlier client left could still write into an
/// old one. It is removed afterwards.
pub fn resume_bytes(
    client: &ClaudeClient,
    version: &str,
    session: &str,
    bytes: &[u8],
    scratch: &Path,
) -> ClientRun {
    let (home, work) = (scratch.join("home"), scratch.join("work"));
    let config = home.join(".claude");
    disk::make_dir(&work);
    let real = work.canonicalize().unwrap_or_else(|_| work.clone());
    let folder = config
        .join("projects")
        .join(project_key(&real.to_string_lossy()));
    disk::write(&folder.join(format!("{session}.jsonl")), bytes);
    let model = ScriptedModel::start();
    let place = ClientHome {
        home: &home,
        config: &config,
        work: &work,
        model: &model,
    };
    let output = scratch.join("output");
    let child = client.start_saying_into(&place, PROBE, &arguments(version, session), &output);
    let run = wait(child, &model, output);
    std::fs::remove_dir_all(scratch).ok();
    run
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
fn wait(mut child: Child, model: &ScriptedModel, output: PathBuf) -> ClientRun {
    let start = Instant::now();
    let mut sleep = Sleep::of(child.id());
    loop {
        // Asked before the request is looked for: a client that has ended sends no more.
        let status = child.try_wait().ok().flatten();
        if let Some(messages) = asked(model) {
            end(&mut child);
            return ClientRun {
                outcome: Some(ClientOutcome::Sent(tags_in(&messages))),
                printed: String::new(),
            };
        }
        if let Some(status) = status {
            end(&mut child);
            let printed = String::from_utf8_lossy(&disk::read(&output)).into_owned();
            return ClientRun {
                outcome: ended(status, &printed),
                printed,
            };
        }
        let is_late = start.elapsed() > LONGEST;
        if is_late || sleep.is_for_good(start.elapsed()) {
            end(&mut child);
            return ClientRun {
                outcome: (!is_late).then_some(ClientOutcome::Failed),
                printed: "neither a request nor an end".to_owned(),
            };
        }
        std::thread::sleep(POLL);
    }
}

/// Whether a process sleeps, seen from outside: in most looks all its threads wait, and it uses
/// next to no time of a core. One that is only kept from running is ready to run in every look.
pub(super) struct Sleep {
    process: PathBuf,
    /// When the looks that count began, and how many ticks it had used then.
    since: (Duration, u64),
    looks: u32,
    ready: u32,
}

impl Sleep {
    pub(super) fn of(process: u32) -> Sleep {
        Sleep {
            process: PathBuf::from(format!("/proc/{process}")),
            since: (Duration::ZERO, 0),
            looks: 0,
            ready: 0,
        }
    }

    /// Looks at the process at a time since its start. Where it cannot be seen, it is awake.
    pub(super) fn is_for_good(&mut self, now: Duration) -> bool {
        let Some(used) = self.ticks() else {
            return false;
        };
        self.looks += 1;
        self.ready += u32::from(!self.threads_wait());
        if now.saturating_sub(self.since.0) < LONGEST_SLEEP {
            return false;
        }
        let sleeps = used <= self.since.1 + TICKS && self.ready * 4 <= self.looks;
        (self.since, self.looks, self.ready) = ((now, used), 0, 0);
        sleeps
    }

    fn ticks(&self) -> Option<u64> {
        let fields = fields(&self.process.join("stat"))?;
        let used = |at: usize| fields.get(at)?.parse::<u64>().ok();
        // User and system time, counted from the field after the name of the program.
        Some(used(11)? + used(12)?)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the kernel shows the state of a process in files"
    )]
    fn threads_wait(&self) -> bool {
        let Ok(threads) = std::fs::read_dir(self.process.join("task")) else {
            return false;
        };
        let waits = |path: PathBuf| {
            let state = fields(&path.join("stat")).and_then(|it| it.into_iter().next());
            state.is_none_or(|state| state == "S")
        };
        threads.flatten().all(|thread| waits(thread.path()))
    }
}

/// Returns the fields of a `stat` file behind the name of the program, which can contain blanks.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel shows the state of a process in files"
)]
fn fields(path: &Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(path).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

/// Ends the client and the processes that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    crate::claude_client::kill_group(child.id());
    child.kill().ok();
    child.wait().ok();
}

/// Returns the messages of the request with the probe, which can be part of a longer text. A
/// request without tools is not the conversation: clients also ask for titles.
fn asked(model: &ScriptedModel) -> Option<String> {
    let is_turn = |request: &Request| {
        let tools = request.body["tools"].as_array();
        request.path == "/v1/messages" && tools.is_some_and(|tools| !tools.is_empty())
    };
    model.find(|request| {
        let messages = is_turn(request).then(|| request.body["messages"].to_string())?;
        messages.contains(PROBE).then_some(messages)
    })
}

/// Returns the outcome of a client that ended by itself, which one that a signal ended did not.
pub(super) fn ended(status: ExitStatus, printed: &str) -> Option<ClientOutcome> {
    status.code()?;
    Some(match printed.contains("No conversation found") {
        true => ClientOutcome::Refused,
        false => ClientOutcome::Failed,
    })
}
