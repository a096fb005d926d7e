//! The real Codex as a program that tests run, with its own folders and a scripted model.
//!
//! It is found by an environment variable, which `cargo xtask test` sets. Its environment contains
//! only the variables named here, and what it would fetch goes to a proxy that does not exist.
#![expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so clients are named by the environment"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::claude_client::{keep_off_the_network, named};
use crate::scripted_model::ScriptedModel;

/// The variable with the path of the program.
pub const CODEX: &str = "BOSWELL_CODEX";

/// A Codex that can be run.
#[derive(Debug, Clone)]
pub struct CodexClient {
    program: PathBuf,
}

/// The environment of a client.
#[derive(Debug, Clone, Copy)]
pub struct CodexHome<'p> {
    /// The user's home folder; Codex keeps its files in `.codex` below it.
    pub home: &'p Path,
    /// The working folder.
    pub work: &'p Path,
}

impl CodexClient {
    /// Returns the client, or prints that tests are skipped; if `CI` is `true`, a missing client is
    /// a failure.
    pub fn require_or_skip() -> Option<CodexClient> {
        named(CODEX).map(|program| CodexClient { program })
    }

    /// Returns the client at a path.
    pub fn at(program: impl Into<PathBuf>) -> CodexClient {
        CodexClient {
            program: program.into(),
        }
    }

    /// Runs the client with these arguments until it ends.
    pub fn run(&self, place: CodexHome<'_>, args: &[&str]) -> Output {
        self.command(place, args)
            .output()
            .expect("the client starts")
    }

    /// Returns the command for these arguments, ready to start.
    pub fn command(&self, place: CodexHome<'_>, args: &[&str]) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(place.work);
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", place.home)
            .env("SCRIPTED_KEY", "scripted");
        keep_off_the_network(&mut command);
        command.env("LANG", "C.UTF-8").env("TZ", "UTC");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Returns a configuration in which `provider` is current. The providers `scripted` and `other`
/// are the same model under two names.
pub fn config(model: &ScriptedModel, provider: &str) -> String {
    let url = model.url();
    let mut text = format!(
        "model = \"scripted-model\"\nmodel_provider = \"{provider}\"\n\
         approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
         check_for_update_on_startup = false\n"
    );
    for name in ["scripted", "other"] {
        text.push_str(&format!(
            "[model_providers.{name}]\nname = \"{name}\"\nbase_url = \"{url}/{name}/v1\"\n\
             env_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
        ));
    }
    text
}
