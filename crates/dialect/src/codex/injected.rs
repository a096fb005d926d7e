//! What Codex says to the model in the user's name. One part of that kind makes
//! the whole message one.

/// How such texts begin, in lower case. Codex also looks at how they end; a prompt that begins
/// like one of these and goes on differently is rarer than a fragment that was cut, so the
/// beginning decides here.
const BEGINNINGS: [&str; 14] = [
    "<environment_context>",
    "<environments_context>",
    "<user_instructions>",
    "# agents.md instructions",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<subagents>",
    "<goal_context>",
    "<hook_prompt",
    "<additional_context",
    "<agent_message_board_notification>",
    "<permissions instructions>",
];

/// Whether a text is Codex's own, not the user's.
pub(super) fn is_fragment(text: &str) -> bool {
    let text = text.trim_start();
    BEGINNINGS.iter().any(|b| {
        text.get(..b.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(b))
    })
}

/// The folder that an environment fragment names; the old format says it nowhere else.
pub(super) fn folder_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<cwd>")?;
    rest.split_once("</cwd>")
        .map(|(folder, _)| folder.trim())
        .filter(|folder| !folder.is_empty())
}
