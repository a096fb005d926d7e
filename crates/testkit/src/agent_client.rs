//! Real programs of agents that call a scripted model: Gemini CLI, Qwen Code, Copilot CLI and Kimi
//! Code, which run with node, and the native programs of opencode and Goose.
//!
//! They are found by environment variables, which `cargo xtask test` sets. Their environment
//! contains only the variables named here, and what they would fetch goes to a proxy that does not
//! exist.
#![expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so clients are named by the environment"
)]

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::claude_client::{named, off_the_network, to_the_model};
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
    /// opencode.
    OpenCode,
    /// Goose.
    Goose,
}

/// The program of an agent.
#[derive(Debug, Clone)]
pub struct AgentClient {
    agent: Agent,
    /// The program, or node and a script.
    words: Vec<PathBuf>,
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
/// The same with its provider, as opencode names it.
const OPENCODE_MODEL: &str = "scripted/scripted-model";

impl Agent {
    /// All of them.
    pub const ALL: [Agent; 6] = [
        Agent::Gemini,
        Agent::Qwen,
        Agent::Copilot,
        Agent::Kimi,
        Agent::OpenCode,
        Agent::Goose,
    ];

    /// Returns the agent of a dialect.
    pub fn of(dialect: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|it| it.dialect() == dialect)
    }

    /// The folder below the home folder that has its sessions.
    pub fn folder(self) -> &'static str {
        match self {
            Agent::Gemini => ".gemini",
            Agent::Qwen => ".qwen",
            Agent::Copilot => ".copilot",
            Agent::Kimi => ".kimi-code",
            Agent::OpenCode => ".local/share/opencode",
            Agent::Goose => ".local/share/goose",
        }
    }

    /// The name of the dialect.
    pub fn dialect(self) -> &'static str {
        match self {
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
            Agent::Copilot => "copilot",
            Agent::Kimi => "kimi",
            Agent::OpenCode => "opencode",
            Agent::Goose => "goose",
        }
    }

    /// The variables with the words of the program: a node, if it needs one, and its script, or
    /// the program itself.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Agent::Gemini => &["BOSWELL_NODE", "BOSWELL_GEMINI"],
            Agent::Qwen => &["BOSWELL_NODE", "BOSWELL_QWEN"],
            Agent::Copilot => &["BOSWELL_NODE", "BOSWELL_COPILOT"],
            // It uses modules that older versions of node do not have.
            Agent::Kimi => &["BOSWELL_NODE_NEW", "BOSWELL_KIMI"],
            Agent::OpenCode => &["BOSWELL_OPENCODE"],
            Agent::Goose => &["BOSWELL_GOOSE"],
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
            Agent::Copilot | Agent::Goose => None,
            Agent::OpenCode => Some((".config/opencode/opencode.json", opencode_settings(&url))),
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
            Agent::OpenCode => vec![
                own("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                own("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ],
            Agent::Goose => vec![
                own("GOOSE_PROVIDER", "openai"),
                own("GOOSE_MODEL", "gpt-4o"),
                own("OPENAI_API_KEY", "x"),
                own("OPENAI_HOST", &url),
                own("OPENAI_BASE_PATH", "v1/chat/completions"),
                own("GOOSE_MODE", "auto"),
                own("GOOSE_DISABLE_KEYRING", "1"),
                own("GOOSE_TELEMETRY_ENABLED", "false"),
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
            // It would put quotes around an argument; it reads the prompt from its input.
            (Agent::OpenCode, None) => vec!["run", "-m", OPENCODE_MODEL],
            (Agent::OpenCode, Some(id)) => vec!["run", "-m", OPENCODE_MODEL, "-s", id],
            (Agent::Goose, None) => vec!["run", "--with-builtin", "developer", "-t", prompt],
            (Agent::Goose, Some(id)) => vec!["run", "-r", "--session-id", id, "-t", prompt],
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
            Agent::OpenCode => ("bash", ",\"description\":\"say it\""),
            Agent::Goose => ("shell", ""),
        };
        format!("{{\"tool\":\"{tool}\",\"input\":{{\"command\":\"{command}\"{more}}}}}")
    }
}

impl AgentClient {
    /// Returns the client, or prints that tests are skipped; if `CI` is `true`, a missing client is
    /// a failure.
    pub fn require_or_skip(agent: Agent) -> Option<AgentClient> {
        let words = agent.variables().iter().map(|variable| named(variable));
        let words = words.collect::<Option<Vec<PathBuf>>>()?;
        Some(AgentClient { agent, words })
    }

    /// Returns the client that is started with these words.
    pub fn started_by(agent: Agent, words: Vec<PathBuf>) -> AgentClient {
        AgentClient { agent, words }
    }

    /// Returns the folder of a native program.
    pub fn program_folder(&self) -> Option<&Path> {
        self.words.last().and_then(|program| program.parent())
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
        let input = (self.agent == Agent::OpenCode).then_some(prompt);
        self.run(place, &words, input)
    }

    /// Runs the client with these arguments until it ends, with a text as its input.
    pub fn run<S: AsRef<str>>(
        &self,
        place: AgentHome<'_>,
        args: &[S],
        input: Option<&str>,
    ) -> Output {
        let (program, before) = self.words.split_first().expect("a client has a program");
        let mut command = Command::new(program);
        command.args(before);
        command.args(args.iter().map(AsRef::as_ref));
        command.env_clear();
        for (name, value) in self.environment(place) {
            command.env(name, value);
        }
        command
            .current_dir(place.work)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let Some(input) = input else {
            let output = command.stdin(Stdio::null()).output();
            return output.expect("the client starts");
        };
        let mut child = command
            .stdin(Stdio::piped())
            .spawn()
            .expect("the client starts");
        let mut stdin = child.stdin.take().expect("its input is a pipe");
        // A client that ends without reading it is seen by what it prints.
        stdin.write_all(input.as_bytes()).ok();
        drop(stdin);
        child.wait_with_output().expect("the client ends")
    }

    /// Returns every variable that the client has.
    pub fn environment(&self, place: AgentHome<'_>) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut all = vec![("PATH", path), ("HOME", place.home.into())];
        all.extend([
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("TERM", "dumb".into()),
        ]);
        let proxies = match self.agent {
            Agent::Gemini | Agent::Qwen => to_the_model(place.model),
            _ => off_the_network(),
        };
        all.extend(proxies);
        let own = self.agent.environment(place.model).into_iter();
        all.extend(own.map(|(name, value)| (name, value.into())));
        all
    }
}

/// The settings of opencode: its only provider is the model.
fn opencode_settings(url: &str) -> String {
    let model = json!({
        "name": "Scripted", "tool_call": true, "reasoning": true, "attachment": true,
        "limit": {"context": 100_000, "output": 8000},
        "modalities": {"input": ["text", "image"], "output": ["text"]},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
        "options": {"baseURL": format!("{url}/v1"), "apiKey": "x"},
        "models": {MODEL: model},
    });
    let settings = json!({
        "autoupdate": false, "share": "disabled", "permission": "allow",
        "model": OPENCODE_MODEL, "small_model": OPENCODE_MODEL,
        "provider": {"scripted": provider},
    });
    settings.to_string()
}
