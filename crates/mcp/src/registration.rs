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
        RegisteringAgent::Gemini => {
            format!("in ~/.gemini/settings.json:\n{}", pretty(&servers))
        }
        RegisteringAgent::Cursor => format!("in ~/.cursor/mcp.json:\n{}", pretty(&servers)),
        RegisteringAgent::Opencode => {
            let server = json!({"type": "local", "command": command, "enabled": true});
            let text = pretty(&json!({"mcp": {"boswell": server}}));
            format!("in ~/.config/opencode/opencode.json:\n{text}")
        }
        RegisteringAgent::Json => pretty(&servers),
    }
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
        for agent in [RegisteringAgent::Gemini, RegisteringAgent::Cursor] {
            assert!(text(agent).contains("\"mcpServers\""));
        }
        assert!(text(RegisteringAgent::Opencode).contains("\"local\""));
    }
}
