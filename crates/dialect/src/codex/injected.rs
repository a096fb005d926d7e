//! Recognises texts that Codex sends to the model with the role `user`. One such part makes the
//! whole message injected.

/// The beginnings of such texts, in lower case. Codex also compares the ends. A prompt that begins
/// like one of these is rarer than an injected text that was truncated, so only the beginning is
/// compared here.
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

/// Whether Codex injected a text, so that it is not from the user.
pub(super) fn is_fragment(text: &str) -> bool {
    let text = text.trim_start();
    BEGINNINGS.iter().any(|b| {
        text.get(..b.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(b))
    })
}

/// Returns the folder that an environment text names; the old format states it nowhere else.
pub(super) fn folder_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<cwd>")?;
    rest.split_once("</cwd>")
        .map(|(folder, _)| folder.trim())
        .filter(|folder| !folder.is_empty())
}
