//! The one table of keys: place, key, action and its words in both languages.
//!
//! Dispatch, help, footer, the list of commands and `docs/screen.md` are made from it, so that none
//! of them can promise a key that does something else.

mod own;
mod table;

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::words::Words;
pub(crate) use table::BINDINGS;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In every view, unless the view has the key itself.
    Everywhere,
    Finder,
    /// The preview of the finder, after Tab.
    Preview,
    Reader,
    Tree,
    Health,
    Costs,
    Blame,
    /// In a line of text: the search box, a new name, the filter of a menu.
    Line,
}

impl Place {
    /// All places in the order of the help page.
    pub(crate) const ALL: [Place; 9] = [
        Place::Finder,
        Place::Preview,
        Place::Reader,
        Place::Tree,
        Place::Health,
        Place::Costs,
        Place::Blame,
        Place::Line,
        Place::Everywhere,
    ];

    /// Returns the name of the place.
    pub(crate) fn words(self) -> Words {
        match self {
            Place::Everywhere => ("Everywhere", "任何位置"),
            Place::Finder => ("Finder", "查找"),
            Place::Preview => ("Preview", "预览"),
            Place::Reader => ("Reader", "阅读"),
            Place::Tree => ("Tree", "树"),
            Place::Health => ("Health", "健康"),
            Place::Costs => ("Costs", "费用"),
            Place::Blame => ("Blame", "追溯"),
            Place::Line => ("Text", "文本"),
        }
    }
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Help,
    Commands,
    Quit,
    Suspend,
    Mouse,
    Repaint,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Resume,
    ResumeSame,
    ResumeMenu,
    ResumeFork,
    Read,
    Complete,
    Fork,
    Rename,
    Tag,
    Delete,
    Archive,
    Keep,
    Export,
    Undo,
    CopyCommand,
    NextAgent,
    NextScope,
    Hidden,
    Sort,
    Mark,
    Costs,
    Back,
    PreviousPrompt,
    NextPrompt,
    PreviousFailure,
    NextFailure,
    NextHit,
    PreviousHit,
    Toggle,
    ToggleAll,
    Tools,
    Thinking,
    Find,
    CopyEntry,
    CopyLink,
    Picture,
    PreviousBranch,
    NextBranch,
    Subagent,
    Parent,
    Inline,
    Tree,
    Check,
    Blame,
    Follow,
    Apply,
    Choose,
    Diff,
    Unread,
    ByDay,
    ByProject,
    ByModel,
    ByAgent,
    Span,
    LineStart,
    LineEnd,
    Left,
    Right,
    EraseBefore,
    EraseAfter,
    EraseWord,
    EraseLine,
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

const fn key(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::NONE,
    }
}

const fn char(c: char) -> Key {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::CONTROL,
    }
}

const fn alt(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::ALT,
    }
}

const fn function(number: u8) -> Key {
    key(KeyCode::F(number))
}

impl Key {
    /// Whether this key was pressed. Shift is part of the character already.
    pub(crate) fn is(self, event: &KeyEvent) -> bool {
        let pressed = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        self.code == event.code && self.modifiers == pressed
    }

    /// Returns the key as it is written in help and footer.
    pub(crate) fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::F(number) => format!("F{number}"),
            KeyCode::Enter => "Enter".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::Tab => "Tab".to_owned(),
            KeyCode::Backspace => "Backspace".to_owned(),
            KeyCode::Delete => "Del".to_owned(),
            KeyCode::Home => "Home".to_owned(),
            KeyCode::End => "End".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Up => "↑".to_owned(),
            KeyCode::Down => "↓".to_owned(),
            KeyCode::Left => "←".to_owned(),
            KeyCode::Right => "→".to_owned(),
            other => other.to_string(),
        };
        if self.modifiers == KeyModifiers::CONTROL {
            format!("^{}", name.to_uppercase())
        } else if self.modifiers == KeyModifiers::ALT {
            format!("Alt-{name}")
        } else {
            name
        }
    }

    /// Whether it is a character that can be typed.
    fn is_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers == KeyModifiers::NONE
    }

    #[cfg(test)]
    pub(crate) fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) keys: &'static [Key],
    pub(crate) action: Action,
    /// What it does, for help.
    pub(crate) does: Words,
    /// The word in the footer, for the few keys that are shown there.
    pub(crate) short: Option<Words>,
    /// Whether it changes sessions: absent when nothing may be written.
    pub(crate) writes: bool,
}

impl Binding {
    /// Returns the name of the action in settings, such as `next-scope`.
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        for c in format!("{:?}", self.action).chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(c.to_lowercase());
        }
        name
    }
}

const fn bind(
    place: Place,
    keys: &'static [Key],
    action: Action,
    does: Words,
    short: Option<Words>,
) -> Binding {
    Binding {
        place,
        keys,
        action,
        does,
        short,
        writes: false,
    }
}

const fn writing(binding: Binding) -> Binding {
    Binding {
        writes: true,
        ..binding
    }
}

/// The keys as they are bound: those of the table, and the user's own instead of some.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keymap {
    own: BTreeMap<(Place, Action), Vec<Key>>,
}

impl Keymap {
    /// Returns the keys of a binding.
    pub(crate) fn keys<'k>(&'k self, binding: &'k Binding) -> &'k [Key] {
        let own = self.own.get(&(binding.place, binding.action));
        own.map_or(binding.keys, Vec::as_slice)
    }

    /// Returns the keys of a binding as they are written.
    pub(crate) fn names(&self, binding: &Binding) -> String {
        let names: Vec<String> = self.keys(binding).iter().map(|key| key.name()).collect();
        names.join(" ")
    }

    /// Returns the action of a key in a place: its own bindings first, then those of every place.
    pub(crate) fn action(&self, place: Place, event: &KeyEvent) -> Option<&'static Binding> {
        let of = |place: Place| {
            BINDINGS
                .iter()
                .find(|it| it.place == place && self.keys(it).iter().any(|key| key.is(event)))
        };
        of(place).or_else(|| of(Place::Everywhere))
    }
}

/// Returns the bindings that help lists in a place.
pub(crate) fn of_place(place: Place) -> impl Iterator<Item = &'static Binding> {
    let own = BINDINGS.iter().filter(move |it| it.place == place);
    let text = BINDINGS
        .iter()
        .filter(move |it| it.place == Place::Line && place == Place::Finder);
    let all = BINDINGS.iter().filter(|it| it.place == Place::Everywhere);
    own.chain(text).chain(all)
}

/// Returns the table as a page of Markdown, for `docs/screen.md`.
pub fn key_table() -> String {
    let mut out = String::new();
    for place in Place::ALL {
        let (english, chinese) = place.words();
        out.push_str(&format!(
            "### {english} · {chinese}\n\n| key | name | does | 作用 |\n|---|---|---|---|\n"
        ));
        for binding in BINDINGS.iter().filter(|it| it.place == place) {
            let keys: Vec<String> = (binding.keys.iter())
                .map(|key| format!("`{}`", key.name()))
                .collect();
            let (english, chinese) = binding.does;
            let (keys, name) = (keys.join(" "), binding.name());
            out.push_str(&format!("| {keys} | `{name}` | {english} | {chinese} |\n"));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_has_two_meanings_in_one_place() {
        for place in Place::ALL {
            let mut seen = BTreeSet::new();
            for key in BINDINGS
                .iter()
                .filter(|it| it.place == place)
                .flat_map(|it| it.keys)
            {
                assert!(seen.insert(key.name()), "{} in {place:?}", key.name());
            }
        }
    }

    #[test]
    fn keys_that_terminals_send_for_others_are_not_bound() {
        for key in BINDINGS.iter().flat_map(|it| it.keys) {
            for taken in ['h', 'i', 'm', '[', 'j'] {
                assert_ne!(*key, ctrl(taken), "{}", key.name());
            }
        }
    }

    #[test]
    fn letters_in_the_finder_are_text() {
        let plain = |key: &&Key| {
            matches!(key.code, KeyCode::Char(_)) && key.modifiers == KeyModifiers::NONE
        };
        let letters = BINDINGS
            .iter()
            .filter(|it| matches!(it.place, Place::Finder | Place::Line | Place::Everywhere));
        assert_eq!(letters.flat_map(|it| it.keys).filter(plain).count(), 0);
    }

    #[test]
    fn every_binding_has_words_in_both_languages() {
        for binding in BINDINGS {
            let short = binding.short.unwrap_or(("-", "-"));
            for text in [binding.does.0, binding.does.1, short.0, short.1] {
                assert!(!text.is_empty(), "{:?}", binding.action);
            }
        }
    }

    #[test]
    fn shift_is_part_of_the_character() {
        let event = KeyEvent::new(KeyCode::Char('T'), KeyModifiers::SHIFT);
        let found = Keymap::default()
            .action(Place::Reader, &event)
            .map(|it| it.action);
        assert_eq!(found, Some(Action::Thinking));
        let event = KeyEvent::new(KeyCode::Char('t'), KeyModifiers::NONE);
        let found = Keymap::default()
            .action(Place::Reader, &event)
            .map(|it| it.action);
        assert_eq!(found, Some(Action::Tools));
    }
}
