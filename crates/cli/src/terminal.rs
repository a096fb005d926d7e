//! Text for terminals: styles, and what [`boswell_app::text`] makes harmless.

pub(crate) use boswell_app::text::{columns, cut, escape, fit, one_line};

/// Colours by what they mean; ANSI names only, so that the terminal's own theme decides.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Strong,
    Faint,
    User,
    Assistant,
    Tool,
    Warning,
    Match,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::User => "1;36",
            Style::Assistant => "1;32",
            Style::Tool => "33",
            Style::Warning => "1;31",
            Style::Match => "1;33",
        }
    }

    /// Puts the style around a text that is harmless already.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        if color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", self.code())
        } else {
            text.to_owned()
        }
    }
}
