//! What to add to the configuration of an agent, as text. No file of an agent is changed.

use boswell_model::shell_quote;
use serde_json::{Value, json};

/// Agents whose registration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisteringAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// OpenCode.
    Opencode,
    /// Any client that reads `mcpServers`.
    Json,
}

/// Returns the command or the text that registers a server which is started with these words.
pub fn registration(agent: RegisteringAgent, command: &[String]) -> String {
    let (program, args) = command
        .split_first()
        .map_or(("", command), |(first, rest)| (first.as_str(), rest));
    let line = command.iter().map(|it| shell_quote(it)).collect::<Vec<_>>();
    let line = line.join(" ");
    let servers = json!({"mcpServers": {"boswell": {"command": program, "args": args}}});
    match agent {
        RegisteringAgent::Claude => format!("claude mcp add --scope user boswell -- {line}"),
        RegisteringAgent::Codex => format!("codex mcp add boswell -- {line}"),
        RegisteringAgent::Gemini => format!(
            "gemini mcp add --scope user boswell {}",
            with_options_last(command)
        ),
        RegisteringAgent::Qwen => format!(
            "qwen mcp add --scope user boswell {}",
            with_options_last(command)
        ),
        RegisteringAgent::Copilot => format!("copilot mcp add boswell -- {line}"),
        RegisteringAgent::Cursor => format!("in ~/.cursor/mcp.json:\n{}", pretty(&servers)),
        RegisteringAgent::Opencode => format!("opencode mcp add boswell -- {line}"),
        RegisteringAgent::Json => pretty(&servers),
    }
}

/// Returns a command whose options are behind `--`: there they are not those of the agent, which
/// takes the program before it.
fn with_options_last(command: &[String]) -> String {
    let is_option = |word: &String| word.starts_with('-');
    let first = command.iter().position(is_option).unwrap_or(command.len());
    let (words, options) = command.split_at(first);
    let mark = "--".to_owned();
    let mark = (!options.is_empty()).then_some(&mark);
    let words = words.iter().chain(mark).chain(options);
    words
        .map(|it| shell_quote(it))
        .collect::<Vec<_>>()
        .join(" ")
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_gets_its_own_form() {
        let command = ["boswell", "mcp", "--only-here"].map(str::to_owned);
        let text = |agent| registration(agent, &command);
        assert_eq!(
            text(RegisteringAgent::Claude),
            "claude mcp add --scope user boswell -- boswell mcp --only-here"
        );
        assert_eq!(
            text(RegisteringAgent::Codex),
            "codex mcp add boswell -- boswell mcp --only-here"
        );
        let json: Value = serde_json::from_str(&text(RegisteringAgent::Json)).unwrap();
        let server = &json["mcpServers"]["boswell"];
        assert_eq!(server["command"], "boswell");
        assert_eq!(server["args"], json!(["mcp", "--only-here"]));
        assert_eq!(
            text(RegisteringAgent::Gemini),
            "gemini mcp add --scope user boswell boswell mcp -- --only-here"
        );
        assert_eq!(
            registration(RegisteringAgent::Qwen, &command[..2]),
            "qwen mcp add --scope user boswell boswell mcp"
        );
        assert_eq!(
            text(RegisteringAgent::Opencode),
            "opencode mcp add boswell -- boswell mcp --only-here"
        );
        assert!(text(RegisteringAgent::Cursor).contains("\"mcpServers\""));
    }
}
