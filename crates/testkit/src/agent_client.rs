//! Real programs of agents that run with node and call a scripted model: Gemini CLI, Qwen Code,
//! Copilot CLI and Kimi Code.
//!
//! They are found by environment variables, which `cargo xtask test` sets. Their environment
//! contains only the variables named here, and what they would fetch goes to a proxy that does not
//! exist.
#![expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so clients are named by the environment"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::claude_client::{keep_off_the_network, named};
use crate::scripted_model::ScriptedModel;

/// An agent whose program can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// Kimi Code.
    Kimi,
}

/// The program of an agent.
#[derive(Debug, Clone)]
pub struct AgentClient {
    agent: Agent,
    node: PathBuf,
    script: PathBuf,
}

/// The environment of a client.
#[derive(Debug, Clone, Copy)]
pub struct AgentHome<'p> {
    /// The user's home folder.
    pub home: &'p Path,
    /// The working folder.
    pub work: &'p Path,
    /// The model that it calls.
    pub model: &'p ScriptedModel,
}

/// The name of the model in settings and sessions.
pub const MODEL: &str = "scripted-model";

impl Agent {
    /// The name of the dialect.
    pub fn dialect(self) -> &'static str {
        match self {
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
            Agent::Copilot => "copilot",
            Agent::Kimi => "kimi",
        }
    }

    /// The variables with the script of the program and the node that runs it.
    fn variables(self) -> (&'static str, &'static str) {
        match self {
            Agent::Gemini => ("BOSWELL_GEMINI", "BOSWELL_NODE"),
            Agent::Qwen => ("BOSWELL_QWEN", "BOSWELL_NODE"),
            Agent::Copilot => ("BOSWELL_COPILOT", "BOSWELL_NODE"),
            // It uses modules that older versions of node do not have.
            Agent::Kimi => ("BOSWELL_KIMI", "BOSWELL_NODE_NEW"),
        }
    }

    /// The settings below the home folder: where they are, and their text.
    fn settings(self, model: &ScriptedModel) -> Option<(&'static str, String)> {
        let url = model.url();
        match self {
            Agent::Gemini => Some((
                ".gemini/settings.json",
                r#"{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},
                    "general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}"#
                    .to_owned(),
            )),
            Agent::Qwen => Some((
                ".qwen/settings.json",
                r#"{"security":{"auth":{"selectedType":"openai"},"folderTrust":{"enabled":false}},
                    "general":{"enableAutoUpdate":false,"disableAutoUpdate":true},
                    "privacy":{"usageStatisticsEnabled":false}}"#
                    .to_owned(),
            )),
            Agent::Copilot => None,
            Agent::Kimi => Some((
                ".kimi-code/config.toml",
                format!(
                    "default_model = \"{MODEL}\"\ntelemetry = false\n\
                     [providers.scripted]\ntype = \"openai\"\nbase_url = \"{url}/v1\"\n\
                     api_key = \"x\"\n\
                     [models.{MODEL}]\nprovider = \"scripted\"\nmodel = \"{MODEL}\"\n\
                     max_context_size = 100000\n"
                ),
            )),
        }
    }

    /// The variables that send its requests to the model.
    fn environment(self, model: &ScriptedModel) -> Vec<(&'static str, String)> {
        let url = model.url();
        let own = |name, value: &str| (name, value.to_owned());
        match self {
            Agent::Gemini => vec![
                own("GEMINI_API_KEY", "x"),
                own("GOOGLE_GEMINI_BASE_URL", &url),
                own("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ],
            Agent::Qwen => vec![
                own("OPENAI_API_KEY", "x"),
                ("OPENAI_BASE_URL", format!("{url}/v1")),
                own("OPENAI_MODEL", MODEL),
            ],
            Agent::Copilot => vec![
                own("COPILOT_OFFLINE", "true"),
                own("COPILOT_AUTO_UPDATE", "false"),
                ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
                own("COPILOT_PROVIDER_API_KEY", "x"),
                own("COPILOT_MODEL", "gpt-4.1"),
            ],
            Agent::Kimi => vec![
                own("KIMI_CODE_NO_AUTO_UPDATE", "1"),
                own("KIMI_CODE_DISABLE_TELEMETRY", "1"),
            ],
        }
    }

    /// The arguments that send a prompt, to a session or to a new one.
    fn words(self, session: Option<&str>, prompt: &str) -> Vec<String> {
        let words: Vec<&str> = match (self, session) {
            (Agent::Gemini, None) => vec!["-y", "-p", prompt],
            (Agent::Gemini, Some(id)) => vec!["-y", "-r", id, "-p", prompt],
            (Agent::Qwen, None) => vec!["-y", "-p", prompt],
            (Agent::Qwen, Some(id)) => vec!["-y", "--resume", id, "-p", prompt],
            (Agent::Copilot, None) => vec!["--allow-all-tools", "-p", prompt],
            (Agent::Copilot, Some(id)) => {
                let resume = format!("--resume={id}");
                let words = ["--allow-all-tools", &resume, "-p", prompt];
                return words.map(str::to_owned).to_vec();
            }
            (Agent::Kimi, None) => vec!["-p", prompt],
            (Agent::Kimi, Some(id)) => vec!["-m", MODEL, "-r", id, "-p", prompt],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The tool that runs a command, as a block of a script.
    pub fn shell(self, command: &str) -> String {
        let (tool, more) = match self {
            Agent::Gemini => ("run_shell_command", ""),
            Agent::Qwen => ("run_shell_command", ",\"is_background\":false"),
            Agent::Copilot => ("bash", ",\"description\":\"say it\""),
            Agent::Kimi => ("Bash", ""),
        };
        format!("{{\"tool\":\"{tool}\",\"input\":{{\"command\":\"{command}\"{more}}}}}")
    }
}

impl AgentClient {
    /// Returns the client, or prints that tests are skipped; if `CI` is `true`, a missing client is
    /// a failure.
    pub fn require_or_skip(agent: Agent) -> Option<AgentClient> {
        let (script, node) = agent.variables();
        Some(AgentClient {
            agent,
            script: named(script)?,
            node: named(node)?,
        })
    }

    /// Returns the agent.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// Writes the settings that the client needs.
    pub fn set_up(&self, place: AgentHome<'_>) {
        if let Some((name, text)) = self.agent.settings(place.model) {
            crate::disk::write(&place.home.join(name), text.as_bytes());
        }
    }

    /// Sends a prompt to a session, or to a new one, and waits for the end.
    pub fn say(&self, place: AgentHome<'_>, session: Option<&str>, prompt: &str) -> Output {
        let words = self.agent.words(session, prompt);
        self.run(place, &words)
    }

    /// Runs the client with these arguments until it ends.
    pub fn run<S: AsRef<str>>(&self, place: AgentHome<'_>, args: &[S]) -> Output {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = Command::new(&self.node);
        command.arg(&self.script);
        command.args(args.iter().map(AsRef::as_ref));
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", place.home);
        // The other two send every request to the proxy, also those to this machine.
        if matches!(self.agent, Agent::Copilot | Agent::Kimi) {
            keep_off_the_network(&mut command);
        }
        for (name, value) in self.agent.environment(place.model) {
            command.env(name, value);
        }
        command
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .current_dir(place.work)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.output().expect("the client starts")
    }
}
