//! The real Claude Code client as a program that tests run, with its own folders and a scripted
//! model.
//!
//! The client is found by environment variables, which `cargo xtask test` sets. Its environment
//! contains only the variables named here; network access is switched off, and what remains goes to
//! a proxy that does not exist.
#![expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so clients are named by the environment"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::scripted_model::ScriptedModel;

/// The variable with the path of the newest client.
pub const CLAUDE: &str = "BOSWELL_CLAUDE";
/// The variable with the path of an old client: a script for node.
pub const CLAUDE_OLD: &str = "BOSWELL_CLAUDE_OLD";

/// The variable with the path of a client between the two: a program.
pub const CLAUDE_MIDDLE: &str = "BOSWELL_CLAUDE_MIDDLE";

/// A client that can be run.
#[derive(Debug, Clone)]
pub struct ClaudeClient {
    words: Vec<OsString>,
}

/// The environment of a client: home, configuration and working folder, and the model that it uses.
#[derive(Debug)]
pub struct ClientHome<'p> {
    /// The user's home folder.
    pub home: &'p Path,
    /// The client's own folder.
    pub config: &'p Path,
    /// The working folder.
    pub work: &'p Path,
    /// The model.
    pub model: &'p ScriptedModel,
}

impl ClaudeClient {
    /// Returns the newest client, or prints that tests are skipped; if `CI` is `true`, a missing
    /// client is a failure.
    pub fn require_or_skip() -> Option<ClaudeClient> {
        let program = named(CLAUDE)?;
        Some(ClaudeClient {
            words: vec![program.into()],
        })
    }

    /// Returns an old client, in the same way.
    pub fn old_or_skip() -> Option<ClaudeClient> {
        let script = named(CLAUDE_OLD)?;
        let node = named("BOSWELL_NODE")?;
        Some(ClaudeClient {
            words: vec![node.into(), script.into()],
        })
    }

    /// Returns a client of version 2.1.150, in the same way.
    pub fn middle_or_skip() -> Option<ClaudeClient> {
        let program = named(CLAUDE_MIDDLE)?;
        Some(ClaudeClient {
            words: vec![program.into()],
        })
    }

    /// Returns a client that is started with these words.
    pub fn started_by(words: Vec<OsString>) -> ClaudeClient {
        ClaudeClient { words }
    }

    /// Returns the command for these arguments, ready to start.
    pub fn command<S: AsRef<str>>(&self, place: &ClientHome<'_>, args: &[S]) -> Command {
        let (program, before) = self.words.split_first().expect("a client has a program");
        let mut command = Command::new(program);
        command.args(before).args(args.iter().map(AsRef::as_ref));
        isolate(&mut command, place);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the client.
    pub fn start<S: AsRef<str>>(&self, place: &ClientHome<'_>, args: &[S]) -> Child {
        self.command(place, args)
            .spawn()
            .expect("the client starts")
    }

    /// Sends a prompt in non-interactive mode, with tools but without permission prompts, and waits
    /// for the end.
    pub fn say(&self, place: &ClientHome<'_>, prompt: &str, more: &[&str]) -> Output {
        self.start(place, &words_to_say(prompt, more))
            .wait_with_output()
            .expect("the client ends")
    }

    /// As above, without waiting.
    pub fn start_saying(&self, place: &ClientHome<'_>, prompt: &str, more: &[&str]) -> Child {
        self.start(place, &words_to_say(prompt, more))
    }

    /// As above, in a process group of its own. What it prints goes to a file, so that it never
    /// waits for a reader.
    ///
    /// It finds no other program: clients start npm, git and ps at every start, which costs half a
    /// second with 2.1.50 and changes nothing in what they send.
    pub fn start_saying_into(
        &self,
        place: &ClientHome<'_>,
        prompt: &str,
        more: &[&str],
        output: &Path,
    ) -> Child {
        let file = || {
            let options = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(output);
            options.expect("a file for the output")
        };
        let mut command = self.command(place, &words_to_say(prompt, more));
        command.stdout(file()).stderr(file());
        command.env("PATH", place.home);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().expect("the client starts")
    }
}

/// Ends every process of a group that [`ClaudeClient::start_saying_into`] started.
#[cfg(unix)]
pub(crate) fn kill_group(group: u32) {
    let group = format!("-{group}");
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &group]).stderr(Stdio::null());
    // A group whose processes have all ended is not an error.
    kill.status().ok();
}

fn words_to_say(prompt: &str, more: &[&str]) -> Vec<String> {
    [
        "-p",
        prompt,
        "--system-prompt",
        "s",
        "--tools",
        "Bash,Read",
        "--dangerously-skip-permissions",
    ]
    .iter()
    .chain(more)
    .map(|word| (*word).to_owned())
    .collect()
}

/// Restricts a command to the environment and folders of `place`.
pub fn isolate(command: &mut Command, place: &ClientHome<'_>) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", place.home)
        .env("CLAUDE_CONFIG_DIR", place.config);
    command
        .env("ANTHROPIC_BASE_URL", place.model.url())
        .env("ANTHROPIC_API_KEY", "sk-ant-scripted");
    keep_off_the_network(command);
    for off in [
        "DISABLE_TELEMETRY",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        // Without it, the client refuses to skip its permission prompts when it runs as root.
        "IS_SANDBOX",
    ] {
        command.env(off, "1");
    }
    command
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("TERM", "dumb")
        .current_dir(place.work);
}

/// The names of the variables with a proxy.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/// Sends every connection that does not go to this machine to a proxy that does not exist.
pub(crate) fn keep_off_the_network(command: &mut Command) {
    command.envs(off_the_network());
}

/// The variables that send every connection elsewhere to a proxy that does not exist.
pub(crate) fn off_the_network() -> Vec<(&'static str, OsString)> {
    let nowhere = PROXIES.map(|name| (name, "http://127.0.0.1:9".into()));
    let here = ["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1".into()));
    nowhere.into_iter().chain(here).collect()
}

/// The variables that send every connection to the model, also those to other hosts, which it
/// refuses: for clients that send requests to this machine to their proxy too.
pub(crate) fn to_the_model(model: &ScriptedModel) -> Vec<(&'static str, OsString)> {
    let proxies = PROXIES.map(|name| (name, model.url().into()));
    proxies.into_iter().collect()
}

#[expect(
    clippy::panic,
    clippy::print_stderr,
    reason = "a skipped group says so loudly and fails under CI"
)]
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    match found {
        Some(path) if path.exists() => Some(path),
        Some(path) => panic!("{variable} names {}, which does not exist", path.display()),
        None if ci => panic!("{variable} is not set: `cargo xtask test` installs the client"),
        None => {
            eprintln!(
                "SKIPPED: {variable} is not set, so no real client ran; `cargo xtask test` installs it"
            );
            None
        }
    }
}
