//! Colours: 16 names of the terminal's own theme, by what they mark.
//!
//! A colour is never the only mark of anything, so that every theme can be used without colours.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of text is, for its looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Faint,
    Strong,
    Selected,
    Match,
    User,
    Tool,
    Warning,
    Good,
    Code,
    Heading,
    Agent(u8),
}

/// The colours of a theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Theme {
    user: Color,
    tool: Color,
    found: Color,
    warning: Color,
    good: Color,
    code: Color,
    heading: Color,
}

impl Default for Theme {
    fn default() -> Theme {
        Theme {
            user: Color::Cyan,
            tool: Color::Yellow,
            found: Color::Yellow,
            warning: Color::Red,
            good: Color::Green,
            code: Color::Green,
            heading: Color::Blue,
        }
    }
}

/// The names of colours in settings; `default` is the terminal's own.
const COLORS: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("light-red", Color::LightRed),
    ("light-green", Color::LightGreen),
    ("light-yellow", Color::LightYellow),
    ("light-blue", Color::LightBlue),
    ("light-magenta", Color::LightMagenta),
    ("light-cyan", Color::LightCyan),
    ("white", Color::White),
];

/// The colours of agents, chosen by their names.
const AGENTS: [Color; 5] = [
    Color::Magenta,
    Color::Blue,
    Color::Green,
    Color::Yellow,
    Color::Cyan,
];

impl Ink {
    /// Returns the ink of an agent: the same for the same name.
    pub(crate) fn of_agent(name: &str) -> Ink {
        let sum = name
            .bytes()
            .fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        Ink::Agent(sum % AGENTS.len() as u8)
    }
}

impl Theme {
    /// Reads settings such as `user` with `["blue"]`.
    ///
    /// # Errors
    ///
    /// Says which name is not known, and what is.
    pub(crate) fn of(settings: &[(String, Vec<String>)]) -> Result<Theme, String> {
        let mut theme = Theme::default();
        for (name, values) in settings {
            let value = values.first().map_or("", String::as_str);
            let Some((_, color)) = COLORS.iter().find(|(it, _)| *it == value) else {
                let known: Vec<&str> = COLORS.iter().map(|it| it.0).collect();
                return Err(format!(
                    "`{name}`: `{value}` is no color; there are {}",
                    known.join(", ")
                ));
            };
            match theme.slot(name) {
                Some(slot) => *slot = *color,
                None => {
                    let known = "user, tool, match, warning, good, code, heading";
                    return Err(format!("`{name}` has no color; there are {known}"));
                }
            }
        }
        Ok(theme)
    }

    fn slot(&mut self, name: &str) -> Option<&mut Color> {
        Some(match name {
            "user" => &mut self.user,
            "tool" => &mut self.tool,
            "match" => &mut self.found,
            "warning" => &mut self.warning,
            "good" => &mut self.good,
            "code" => &mut self.code,
            "heading" => &mut self.heading,
            _ => return None,
        })
    }

    /// Returns the style of a piece of text.
    pub(crate) fn style(&self, ink: Ink) -> Style {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        match ink {
            Ink::Plain => plain,
            Ink::Faint => plain.add_modifier(Modifier::DIM),
            Ink::Strong => bold,
            // One block: colours of single words would be boxes in it.
            Ink::Selected => plain
                .fg(Color::Reset)
                .remove_modifier(Modifier::DIM)
                .add_modifier(Modifier::REVERSED),
            Ink::Match => bold.fg(self.found),
            Ink::User => plain.fg(self.user),
            Ink::Tool => plain.fg(self.tool),
            Ink::Warning => bold.fg(self.warning),
            Ink::Good => plain.fg(self.good),
            Ink::Code => plain.fg(self.code),
            Ink::Heading => bold.fg(self.heading),
            Ink::Agent(at) => {
                let color = AGENTS.get(usize::from(at)).copied();
                plain.fg(color.unwrap_or(Color::Reset))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Result<Theme, String> {
        Theme::of(&[(name.to_owned(), vec![value.to_owned()])])
    }

    #[test]
    fn colors_are_set_by_name_and_unknown_ones_are_refused() {
        let theme = set("user", "light-blue").unwrap();
        assert_eq!(theme.style(Ink::User).fg, Some(Color::LightBlue));
        assert!(set("user", "#ff0000").unwrap_err().contains("light-blue"));
        assert!(set("usre", "red").unwrap_err().contains("user"));
    }

    #[test]
    fn only_the_sixteen_colors_of_the_terminal_are_used() {
        let is_named = |color: Color| COLORS.iter().any(|(_, it)| *it == color);
        let theme = Theme::default();
        let inks = [
            Ink::User,
            Ink::Tool,
            Ink::Match,
            Ink::Warning,
            Ink::Good,
            Ink::Code,
            Ink::Heading,
        ];
        assert!(
            inks.iter()
                .all(|it| theme.style(*it).fg.is_some_and(is_named))
        );
        assert!(AGENTS.iter().all(|it| is_named(*it)));
    }
}
