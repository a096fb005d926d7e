//! The envelope `<system-reminder>…</system-reminder>` before the text of a user message.
//!
//! The app encloses what it adds to a prompt (a scheduled task, the window in focus, output of a
//! local command) in such envelopes; users see only the text after them.

/// The parts before and after the leading envelopes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reminder<'t> {
    /// Name of the first tag inside, such as `CRON_TASK`.
    pub(crate) kind: Option<&'t str>,
    /// Content of the first envelope.
    pub(crate) body: &'t str,
    /// The text after all envelopes, which the user sees.
    pub(crate) visible: &'t str,
}

/// Output of a command that ran outside the conversation: displayed, but not a prompt.
pub(crate) const LOCAL_COMMAND_OUTPUT: &str = "LOCAL_COMMAND_OUTPUT";
/// An event of another session.
pub(crate) const SESSION_EVENT: &str = "myagents-session-event";

const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";
/// Maximum number of further envelopes.
const MORE_ENVELOPES: usize = 8;

/// Returns the leading envelopes of `text`; `None` if it begins with something else.
pub(crate) fn leading(text: &str) -> Option<Reminder<'_>> {
    let mut first = one(text)?;
    for _ in 0..MORE_ENVELOPES {
        match one(first.visible) {
            Some(next) => first.visible = next.visible,
            None => break,
        }
    }
    Some(first)
}

/// Returns the part of a text that the user sees.
pub(crate) fn visible(text: &str) -> &str {
    leading(text).map_or(text, |reminder| reminder.visible)
}

fn one(text: &str) -> Option<Reminder<'_>> {
    let inside = trim_start(text).strip_prefix(OPEN)?;
    // If the end tag is missing, the whole text is envelope and nothing of it is from the user.
    let (body, visible) = inside.split_once(CLOSE).unwrap_or((inside, ""));
    let body = trim(body);
    Some(Reminder {
        kind: first_tag(body),
        body,
        visible: trim(visible),
    })
}

fn first_tag(body: &str) -> Option<&str> {
    let inside = body
        .strip_prefix('<')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let end = inside
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(inside.len());
    let (name, rest) = inside.split_at(end);
    rest.contains('>').then(|| name.trim_end_matches('-'))
}

/// Whether `c` is white space for `String.prototype.trim`.
pub(crate) fn is_blank(c: char) -> bool {
    c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}')
}

/// Trims as ECMAScript does.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_envelope_is_what_the_user_said() {
        let text = " <system-reminder>\n<CRON_TASK x=\"1\">\nid\n</CRON_TASK>\n</system-reminder>\n\n hello ";
        let found = leading(text).unwrap();
        assert_eq!(found.kind, Some("CRON_TASK"));
        assert_eq!(found.visible, "hello");
        assert_eq!(
            visible("plain <system-reminder>x</system-reminder>"),
            "plain <system-reminder>x</system-reminder>"
        );
    }

    #[test]
    fn envelopes_are_looked_through_eight_deep_and_no_further() {
        let envelope = "<system-reminder>a</system-reminder>\n";
        assert_eq!(visible(&format!("{}hi", envelope.repeat(9))), "hi");
        assert_eq!(
            visible(&format!("{}hi", envelope.repeat(10))),
            "<system-reminder>a</system-reminder>\nhi"
        );
    }

    #[test]
    fn an_envelope_without_end_hides_everything_and_free_text_has_no_kind() {
        assert_eq!(visible("<system-reminder>cut h"), "");
        assert_eq!(leading("<system-reminder>cut h").unwrap().kind, None);
        assert_eq!(leading("<system-reminder><A").unwrap().kind, None);
        assert_eq!(
            leading("<system-reminder></system-reminder>").unwrap().body,
            ""
        );
    }
}
