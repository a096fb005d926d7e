//! The screen: opened by `boswell` alone on a terminal, and by `pick`, which prints the session
//! that the user chose.

use std::io::IsTerminal;
use std::process::ExitCode;

use boswell_model::{Error, ErrorKind, Result};
use boswell_screen::{ScreenExit, ScreenOptions};
use clap::Args;

use crate::agent_command;
use crate::app::App;
use crate::output::Output;

/// Variables by which agents mark the commands that they run. An agent cannot use a screen.
///
/// docs/screen.md says where each is seen. It is set for the commands of the shell tool, or for the
/// whole process;
/// `AI_AGENT` is what several agents agreed on.
const AGENTS: [&str; 17] = [
    "AI_AGENT",
    "ANTIGRAVITY_AGENT",
    "AUGMENT_AGENT",
    "CLAUDECODE",
    "CLINE_ACTIVE",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "COPILOT_CLI",
    "CRUSH",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "OPENCODE",
    "PI_CODING_AGENT",
    "QWEN_CODE",
];

/// Choose a session on the screen, then resume or print it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell show \"$(boswell pick --print)\"    read the session that you choose
  boswell pick deadlock                     search first, then choose")]
pub(crate) struct PickArgs {
    /// Words to search for
    query: Vec<String>,
    /// Print the chosen session as DIALECT:ID instead of resuming it
    #[arg(long)]
    print: bool,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &PickArgs) -> Result<ExitCode> {
    // With --print stdout is a pipe as a rule, so the screen needs the terminal on stderr.
    if !std::io::stdin().is_terminal() || !has_screen(args.print) {
        return Err(
            Error::new(ErrorKind::Invalid, "the screen needs a terminal")
                .advising("list sessions with `boswell list`"),
        );
    }
    let options = ScreenOptions {
        pick: args.print,
        query: args.query.join(" "),
    };
    show(app, &options)
}

fn has_screen(print: bool) -> bool {
    std::io::stdout().is_terminal() || print && std::io::stderr().is_terminal()
}

/// Whether `boswell` alone opens the screen: with a terminal on both ends that can show it, and
/// neither in CI nor for an agent.
pub(crate) fn is_wanted(app: &App) -> bool {
    let env = app.requests.environment();
    let is_set = |name: &str| env.var(name).is_some_and(|value| !value.is_empty());
    !app.json
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && !is_set("CI")
        && !matches!(env.var("TERM"), None | Some("" | "dumb"))
        && !AGENTS.iter().any(|name| is_set(name))
}

/// Opens the screen.
pub(crate) fn open(app: &App) -> Result<ExitCode> {
    show(app, &ScreenOptions::default())
}

fn show(app: &App, options: &ScreenOptions) -> Result<ExitCode> {
    match boswell_screen::run(&app.requests, options)? {
        ScreenExit::Quit if options.pick => Ok(ExitCode::from(1)),
        ScreenExit::Quit => Ok(ExitCode::SUCCESS),
        ScreenExit::Resume(plan) => agent_command::hand_over(app, &plan),
        ScreenExit::Picked(text) | ScreenExit::Printed(text) => {
            let mut out = Output::plain(app);
            out.line(&crate::terminal::one_line(&text))?;
            out.finish()?;
            Ok(ExitCode::SUCCESS)
        }
        // The panic was reported when the terminal was restored.
        ScreenExit::Broken => Ok(ExitCode::from(70)),
        // As a shell reports a process that a signal ended.
        ScreenExit::Ended(signal) => {
            let code = signal.and_then(|signal| u8::try_from(128 + signal).ok());
            Ok(ExitCode::from(code.unwrap_or(129)))
        }
    }
}
