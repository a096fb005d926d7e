//! Groups a transcript by turns, as a person reads it: a line before each prompt, and one heading
//! for all that the model and its tools said in a row.
//!
//! A pipe gets every entry with a heading of its own, because scripts take ids from there.

use boswell_model::{EntryKind, Result, View};

use crate::output::Output;
use crate::terminal::{Style, columns};

/// Where an entry stands in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnPart {
    /// A prompt, with which a turn begins.
    Prompt,
    /// The first entry of another speaker.
    Speaker,
    /// Goes on below the heading of the entry before it.
    Continued,
}

/// The state of a transcript that is printed turn by turn.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) are_grouped: bool,
    /// The number of the last turn; `None` if the first entries are not shown.
    number: Option<usize>,
    /// Depth and model of the last entry, if the model or a tool wrote it.
    answering: Option<(usize, Option<String>)>,
    /// The line that ends the last block, until the next one begins.
    pending: Option<String>,
}

impl Turns {
    pub(super) fn new(are_grouped: bool, from_start: bool) -> Turns {
        Turns {
            are_grouped,
            number: from_start.then_some(0),
            answering: None,
            pending: None,
        }
    }

    /// Returns where the next entry stands.
    pub(super) fn next(&mut self, kind: EntryKind, view: &View, depth: usize) -> TurnPart {
        if !self.are_grouped {
            return TurnPart::Speaker;
        }
        let model = view.model.clone();
        let before = match kind {
            EntryKind::Assistant | EntryKind::ToolResult => {
                let model = model.or(self.answering.as_ref().and_then(|it| it.1.clone()));
                self.answering.replace((depth, model))
            }
            _ => {
                self.answering = None;
                None
            }
        };
        if before.is_some() && before == self.answering {
            return TurnPart::Continued;
        }
        if kind == EntryKind::User && depth == 0 {
            self.number = self.number.map(|number| number + 1);
            return TurnPart::Prompt;
        }
        TurnPart::Speaker
    }

    /// Returns the line before a prompt.
    pub(super) fn rule(&self, room: usize, out: &Output) -> String {
        let name = match self.number {
            Some(number) => format!("── turn {number} "),
            None => "── turn ".to_owned(),
        };
        let rest = room.saturating_sub(columns(&name));
        out.paint(Style::Faint, &format!("{name}{}", "─".repeat(rest)))
    }

    /// Remembers that a block was printed, and the line that will end it.
    pub(super) fn open_block(&mut self, end: &str) {
        self.pending = Some(end.to_owned());
    }

    /// Ends the last block, before another one begins.
    pub(super) fn end_block(&mut self, out: &mut Output) -> Result<()> {
        match self.pending.take() {
            Some(end) => out.line(&end),
            None => Ok(()),
        }
    }

    /// As [`Turns::end_block`], before something that is no entry: what follows has a heading.
    pub(super) fn interrupt(&mut self, out: &mut Output) -> Result<()> {
        self.answering = None;
        self.end_block(out)
    }
}
