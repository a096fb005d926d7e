//! The user's own keys, from `[screen.keys]` of the settings.

use crossterm::event::{KeyCode, KeyModifiers};

use super::{BINDINGS, Binding, Key, Keymap, Place};

/// Keys that terminals send for others, so that they cannot be told apart.
const TAKEN: [char; 5] = ['h', 'i', 'j', 'm', '['];

impl Keymap {
    /// Reads settings such as `finder.fork` with the keys `["F7", "ctrl-f"]`.
    ///
    /// # Errors
    ///
    /// Says which name or key is not known, and what is.
    pub(crate) fn of(settings: &[(String, Vec<String>)]) -> Result<Keymap, String> {
        let mut map = Keymap::default();
        for (name, keys) in settings {
            let binding = named(name)?;
            let keys: Result<Vec<Key>, String> = keys.iter().map(|it| parse(it)).collect();
            map.own.insert((binding.place, binding.action), keys?);
        }
        map.check()?;
        Ok(map)
    }

    /// Refuses a key with two meanings in one place, and letters where text is typed.
    fn check(&self) -> Result<(), String> {
        for (at, binding) in BINDINGS.iter().enumerate() {
            for key in self.keys(binding) {
                let is_other =
                    |it: &&Binding| it.place == binding.place && self.keys(it).contains(key);
                if let Some(other) = BINDINGS.iter().skip(at + 1).find(is_other) {
                    let (one, other) = (path(binding), path(other));
                    return Err(format!("{} is bound to `{one}` and `{other}`", key.name()));
                }
                let types = matches!(
                    binding.place,
                    Place::Finder | Place::Line | Place::Everywhere
                );
                if types && key.is_text() {
                    let name = path(binding);
                    return Err(format!("`{name}`: {} is text there", key.name()));
                }
            }
        }
        Ok(())
    }
}

fn path(binding: &Binding) -> String {
    format!(
        "{}.{}",
        binding.place.words().0.to_lowercase(),
        binding.name()
    )
}

fn named(name: &str) -> Result<&'static Binding, String> {
    let found = BINDINGS.iter().find(|it| path(it) == name);
    found.ok_or_else(|| {
        let place = name.split('.').next().unwrap_or("");
        let known: Vec<String> = BINDINGS.iter().map(path).collect();
        let near: Vec<&str> = (known.iter().map(String::as_str))
            .filter(|it| it.split('.').next() == Some(place))
            .collect();
        if near.is_empty() {
            let places = Place::ALL.map(|it| it.words().0.to_lowercase()).join(", ");
            format!("`{name}` is no action; the places are {places}")
        } else {
            format!("`{name}` is no action; there are {}", near.join(", "))
        }
    })
}

/// Parses a key as it is written in help (`^F`, `Alt-m`, `F7`, `PgUp`), or as `ctrl-f`.
pub(super) fn parse(text: &str) -> Result<Key, String> {
    let lower = text.to_lowercase();
    let (modifiers, rest) =
        if let Some(rest) = lower.strip_prefix("ctrl-").or(lower.strip_prefix('^')) {
            (KeyModifiers::CONTROL, rest)
        } else if lower.starts_with("alt-") {
            (KeyModifiers::ALT, text.get(4..).unwrap_or(""))
        } else {
            (KeyModifiers::NONE, text)
        };
    let Some(code) = code(rest).filter(|_| !rest.is_empty()) else {
        return Err(format!(
            "`{text}` is no key; write F7, ctrl-f, alt-m, PgUp or a letter"
        ));
    };
    let is_taken = |c: char| modifiers == KeyModifiers::CONTROL && TAKEN.contains(&c);
    match code {
        KeyCode::Char(c) if is_taken(c) => Err(format!(
            "`{text}` cannot be told from another key in most terminals"
        )),
        code => Ok(Key { code, modifiers }),
    }
}

fn code(text: &str) -> Option<KeyCode> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(KeyCode::Char(c));
    }
    Some(match text.to_lowercase().as_str() {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "del" | "delete" => KeyCode::Delete,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        other => KeyCode::F(
            other
                .strip_prefix('f')?
                .parse()
                .ok()
                .filter(|it| (1..=24).contains(it))?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Action;

    fn own(name: &str, keys: &[&str]) -> Result<Keymap, String> {
        let keys = keys.iter().map(|it| (*it).to_owned()).collect();
        Keymap::of(&[(name.to_owned(), keys)])
    }

    #[test]
    fn own_keys_replace_those_of_the_table() {
        let map = own("finder.fork", &["F7", "alt-f"]).unwrap();
        let press = |map: &Keymap, text: &str| {
            map.action(Place::Finder, &parse(text).unwrap().event())
                .map(|it| it.action)
        };
        assert_eq!(press(&map, "F7"), Some(Action::Fork));
        assert_eq!(press(&map, "^F"), None);
        assert_eq!(press(&Keymap::default(), "^F"), Some(Action::Fork));
        let fork = BINDINGS
            .iter()
            .find(|it| path(it) == "finder.fork")
            .unwrap();
        assert_eq!(map.names(fork), "F7 Alt-f");
    }

    #[test]
    fn what_cannot_be_bound_is_refused_with_its_reason() {
        for (name, keys, why) in [
            ("finder.frok", "F7", "finder.fork"),
            ("kitchen.fork", "F7", "finder, preview, reader"),
            ("finder.fork", "f", "is text"),
            ("finder.fork", "^X", "finder.delete"),
            ("finder.fork", "^H", "cannot be told"),
            ("finder.fork", "Hyper-f", "is no key"),
        ] {
            let error = own(name, &[keys]).unwrap_err();
            assert!(error.contains(why), "{name} {keys}: {error}");
        }
    }

    #[test]
    fn every_key_of_the_table_can_be_written_in_settings() {
        for key in BINDINGS.iter().flat_map(|it| it.keys) {
            let name = key.name();
            let written = match name.as_str() {
                "↑" => "up",
                "↓" => "down",
                "←" => "left",
                "→" => "right",
                other => other,
            };
            assert_eq!(parse(written), Ok(*key), "{name}");
        }
    }
}
