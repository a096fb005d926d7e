//! `mcp`: the MCP server on standard input and output.

use std::process::ExitCode;

use boswell_mcp::{McpOptions, RegisteringAgent, registration, serve_stdio};
use boswell_model::Result;
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::output::Output;

/// Answer agents that ask about past sessions (MCP)
///
/// An agent starts it and asks on standard input. It reads only, unless `--write` lets it add notes
/// of boswell's own. What it quotes has no keys and passwords.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell mcp --print-config claude    what registers it with Claude Code
  boswell mcp --only-here              only sessions of the current folder")]
pub(crate) struct McpArgs {
    /// Show only sessions of the current folder, below it and in its worktrees
    #[arg(long)]
    only_here: bool,
    /// Let agents add tags and notes, kept by boswell
    #[arg(long)]
    write: bool,
    /// Print what to add to the configuration of an agent, and end
    #[arg(long, value_enum, value_name = "AGENT")]
    print_config: Option<AgentArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentArg {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
    /// Cursor
    Cursor,
    /// OpenCode
    Opencode,
    /// Any client that reads `mcpServers`
    Json,
}

impl From<AgentArg> for RegisteringAgent {
    fn from(agent: AgentArg) -> RegisteringAgent {
        match agent {
            AgentArg::Claude => RegisteringAgent::Claude,
            AgentArg::Codex => RegisteringAgent::Codex,
            AgentArg::Gemini => RegisteringAgent::Gemini,
            AgentArg::Qwen => RegisteringAgent::Qwen,
            AgentArg::Copilot => RegisteringAgent::Copilot,
            AgentArg::Cursor => RegisteringAgent::Cursor,
            AgentArg::Opencode => RegisteringAgent::Opencode,
            AgentArg::Json => RegisteringAgent::Json,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &McpArgs) -> Result<ExitCode> {
    if let Some(agent) = args.print_config {
        let mut out = Output::plain(app);
        let text = registration(agent.into(), &args.command());
        text.lines().try_for_each(|line| out.line(line))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.write {
        app.requests.may_write()?;
    }
    let options = McpOptions {
        only_here: args.only_here,
        write: args.write,
        askers: ancestors(),
    };
    serve_stdio(app.requests.clone(), &options)?;
    Ok(ExitCode::SUCCESS)
}

impl McpArgs {
    /// The command that starts this server.
    fn command(&self) -> Vec<String> {
        let mut words = vec!["boswell".to_owned(), "mcp".to_owned()];
        let options = [(self.only_here, "--only-here"), (self.write, "--write")];
        let given = options.iter().filter(|(is_given, _)| *is_given);
        words.extend(given.map(|(_, option)| (*option).to_owned()));
        words
    }
}

/// How many processes above this one may be the agent: it may start the server through a shell.
#[cfg(unix)]
const MOST_ANCESTORS: usize = 4;

/// The processes above this one, the nearest first.
#[cfg(unix)]
fn ancestors() -> Vec<u32> {
    let mut found = vec![std::os::unix::process::parent_id()];
    while found.len() < MOST_ANCESTORS
        && let Some(above) = found.last().and_then(|pid| parent_of(*pid))
    {
        found.push(above);
    }
    found.retain(|pid| *pid > 1);
    found
}

/// The parent of a process, where the system tells it in a file.
#[cfg(unix)]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = boswell_app::system::read_text(format!("/proc/{pid}/stat").as_ref()).ok()?;
    // The name of a program may contain any character, so fields are counted after it.
    let (_, numbers) = stat.rsplit_once(')')?;
    numbers.split_whitespace().nth(1)?.parse().ok()
}

/// The system does not tell.
#[cfg(not(unix))]
fn ancestors() -> Vec<u32> {
    Vec::new()
}
