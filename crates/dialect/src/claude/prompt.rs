//! Decides which `user` lines are prompts: many of them are written by the client itself.

use std::borrow::Cow;

use boswell_model::json::{Object, RawKind};

/// What the text of a `user` line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// A prompt of the user.
    Prompt(Cow<'a, str>),
    /// A slash command: its name.
    Command(String),
    /// Text that the client inserted, not the user.
    Noise,
}

/// Returns the first text of a line that is not blank, with line ends replaced by spaces and
/// trimmed, as the client lists it.
pub(super) fn said<'a>(object: &Object<'a>) -> Said<'a> {
    let mut command = None;
    for text in texts(object) {
        let flat = text.replace('\n', " ");
        let flat = flat.trim();
        if flat.is_empty() {
            continue;
        }
        if let Some(name) = between(flat, "<command-name>", "</command-name>") {
            command.get_or_insert(name.to_owned());
        } else if !is_noise(flat) {
            return Said::Prompt(Cow::Owned(flat.to_owned()));
        }
    }
    command.map_or(Said::Noise, Said::Command)
}

fn texts<'a>(object: &Object<'a>) -> Vec<Cow<'a, str>> {
    let Some(content) = object
        .get("message")
        .and_then(|message| message.get("content"))
    else {
        return Vec::new();
    };
    if content.kind() == RawKind::String {
        return content.text().into_iter().collect();
    }
    let is_text = |block: &boswell_model::json::Raw<'_>| {
        block.get("type").is_some_and(|word| word.is("text"))
    };
    content
        .items()
        .filter(is_text)
        .filter_map(|block| block.get("text")?.text())
        .collect()
}

fn is_noise(text: &str) -> bool {
    const STARTS: [&str; 5] = [
        "<local-command-stdout>",
        "<session-start-hook>",
        "<tick>",
        "<goal>",
        "[Request interrupted by user",
    ];
    const WHOLE: [(&str, &str); 2] = [
        ("<ide_opened_file>", "</ide_opened_file>"),
        ("<ide_selection>", "</ide_selection>"),
    ];
    STARTS.iter().any(|start| text.starts_with(start))
        || WHOLE.iter().any(|(start, end)| text.starts_with(start) && text.ends_with(end))
        // The client's own list omits this one, but a user did not type it either.
        || text.starts_with("<local-command-stderr>")
        || text.starts_with("<task-notification>")
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use boswell_model::json::scan_object;

    use super::*;

    fn of(content: &str) -> String {
        let line = format!(r#"{{"message":{{"content":{content}}}}}"#);
        let mut members = Vec::new();
        scan_object(line.as_bytes(), &mut members).unwrap();
        format!("{:?}", said(&Object::new(line.as_bytes(), &members)))
    }

    #[test]
    fn prompts_are_told_from_commands_and_noise() {
        for (content, expected) in [
            (r#""  fix\nthe bug ""#, r#"Prompt("fix the bug")"#),
            (
                r#""<command-name>/clear</command-name> <command-args></command-args>""#,
                r#"Command("/clear")"#,
            ),
            (
                r#""<local-command-stdout>x</local-command-stdout>""#,
                "Noise",
            ),
            (r#""[Request interrupted by user for tool use]""#, "Noise"),
            (r#""<ide_opened_file>a.rs</ide_opened_file>""#, "Noise"),
            (
                r#""<ide_selection>a</ide_selection> explain""#,
                r#"Prompt("<ide_selection>a</ide_selection> explain")"#,
            ),
            (
                r#"[{"type":"text","text":"<tick>"},{"type":"text","text":"go on"}]"#,
                r#"Prompt("go on")"#,
            ),
            (r#"[{"type":"image"}]"#, "Noise"),
            ("7", "Noise"),
        ] {
            assert_eq!(of(content), expected, "{content}");
        }
    }
}
