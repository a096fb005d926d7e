//! What can be in front of a view: menus, questions, a line to type.

use crate::ask::Ask;
use crate::keys::Binding;
use crate::line::Line;
use crate::words::Words;

/// Something in front of the view.
#[derive(Debug)]
pub(crate) enum Overlay {
    Menu(Menu),
    Question(Question),
    Input(Input),
}

/// Things to do, which can be searched and run.
#[derive(Debug)]
pub(crate) struct Menu {
    pub(crate) title: Words,
    pub(crate) line: Line,
    pub(crate) items: Vec<MenuItem>,
    pub(crate) selected: usize,
}

/// A line of a menu.
#[derive(Debug, Clone)]
pub(crate) struct MenuItem {
    /// Its key; empty if it has none.
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) run: MenuRun,
}

/// What a line of a menu does.
#[derive(Debug, Clone)]
pub(crate) enum MenuRun {
    Binding(&'static Binding),
    Asks(Vec<Ask>),
    /// It cannot be done, and its text says why.
    Nothing,
}

/// A question that one key answers.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) choices: Vec<Choice>,
}

/// An answer to a question.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) key: char,
    pub(crate) words: Words,
    pub(crate) asks: Vec<Ask>,
    /// Whether the repair of the session is shown.
    pub(crate) checks: bool,
}

/// A line of text to type.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) title: String,
    pub(crate) line: Line,
    pub(crate) purpose: InputPurpose,
}

/// What the typed text is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputPurpose {
    Rename(String),
    Tag(Vec<String>),
    Find,
    /// Where a folder is now that was here.
    Move(String),
    /// The file for an export of a session.
    Export(String),
    /// The folder for pictures of an entry.
    Picture {
        session: String,
        entry: String,
    },
}
