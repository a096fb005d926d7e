//! Scrolling and jumping.

use super::{ask, height, page_ask};
use crate::ask::{Ask, PageAsk, PagePart, Sought};
use crate::keys::Action;
use crate::line::Line;
use crate::state::{Input, InputPurpose, Overlay, Reader, State};
use crate::transcript::{self, Block, BlockKind, Tools};
use crate::words;

impl Reader {
    /// Returns the block at the cursor.
    pub(super) fn block_at_cursor(&self) -> Option<usize> {
        self.lines.get(self.at).map(|it| it.block)
    }

    /// Makes the lines again, with the same block at the cursor.
    pub(super) fn rewrap(&mut self) {
        let block = self.block_at_cursor();
        let above = self.at.saturating_sub(self.top);
        self.wrap();
        let is_it = |it: &transcript::TextLine, block| it.block >= block && !it.text.is_empty();
        let at = block.and_then(|block| self.lines.iter().position(|it| is_it(it, block)));
        self.at = at.unwrap_or(self.lines.len().saturating_sub(1));
        self.top = self.at.saturating_sub(above);
    }

    /// Keeps cursor and view inside of the lines.
    pub(super) fn keep_inside(&mut self, height: usize) {
        let last = self.lines.len().saturating_sub(1);
        self.at = self.at.min(last);
        self.top = self.top.min(self.lines.len().saturating_sub(height.max(1)));
        if self.at < self.top {
            self.top = self.at;
        }
        if height > 0 && self.at >= self.top + height {
            self.top = self.at + 1 - height;
        }
    }

    /// Puts the cursor on a line, with a few lines before it.
    fn stand_at(&mut self, at: usize, height: usize) {
        self.at = at;
        self.top = at.saturating_sub(height / 6);
    }

    pub(super) fn go_to(&mut self, height: usize, wanted: impl Fn(&Block) -> bool) {
        let is_it = |line: &transcript::TextLine| {
            self.blocks.get(line.block).is_some_and(&wanted) && !line.text.is_empty()
        };
        if let Some(at) = self.lines.iter().position(is_it) {
            self.stand_at(at, height);
        }
    }

    /// Moves the cursor by a line; the view goes with it from the middle on.
    fn step(&mut self, down: bool, height: usize) {
        let middle = self.top + height / 2;
        if down {
            self.at += 1;
            self.top += usize::from(self.at > middle);
        } else {
            self.at = self.at.saturating_sub(1);
            self.top -= usize::from(self.at < middle && self.top > 0);
        }
    }

    /// Moves by pages, or to an end.
    fn leap(&mut self, action: Action, height: usize) {
        let page = height.saturating_sub(1).max(1);
        match action {
            Action::PageUp => {
                self.top = self.top.saturating_sub(page);
                self.at = self.at.saturating_sub(page);
            }
            Action::PageDown => {
                self.top += page;
                self.at += page;
            }
            Action::First => (self.top, self.at) = (0, 0),
            Action::Last => (self.top, self.at) = (self.lines.len(), self.lines.len()),
            _ => {}
        }
    }

    /// Opens what hides a block, and goes to it.
    fn reveal(&mut self, block: usize, height: usize) {
        let is_shown = |reader: &Reader| {
            let of_block = |it: &&transcript::TextLine| it.block == block && it.first;
            let mut lines = reader.lines.iter().filter(of_block);
            lines.any(|it| it.fold.as_ref().is_none_or(|fold| !fold.2))
        };
        if !is_shown(self)
            && let Some(run) = transcript::run_of(&self.blocks, block, &self.detail)
        {
            self.folds.toggle(run);
            self.wrap();
        }
        let of_block = |it: &transcript::TextLine| it.block == block && !it.text.is_empty();
        if let Some(at) = self.lines.iter().rposition(of_block) {
            let first = |it: &transcript::TextLine| it.block == block && it.first;
            let at = self.lines.iter().rposition(first).unwrap_or(at);
            self.stand_at(at, height);
        }
    }

    /// Goes to the next or previous block that is wanted; returns whether there is one.
    fn jump(&mut self, forward: bool, height: usize, wanted: impl Fn(&Block) -> bool) -> bool {
        let from = self.block_at_cursor().unwrap_or(0);
        // Inside of a block the way back leads to its start.
        let is_inside = self.lines.get(self.at).is_some_and(|it| !it.first);
        let mut blocks = self.blocks.iter().enumerate();
        let found = if forward {
            blocks.find(|(at, block)| *at > from && wanted(block))
        } else {
            let is_before = |at: usize| at < from || at == from && is_inside;
            blocks.rfind(|(at, block)| is_before(*at) && wanted(block))
        };
        let Some(found) = found.map(|(at, _)| at) else {
            return false;
        };
        self.reveal(found, height);
        true
    }
}

/// Does what moves the view or changes how much is shown.
pub(super) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let height = height(state);
    let Some(reader) = &mut state.reader else {
        return;
    };
    match action {
        Action::Up => reader.step(false, height),
        Action::Down => reader.step(true, height),
        Action::PreviousPrompt
        | Action::NextPrompt
        | Action::PreviousFailure
        | Action::NextFailure => jump(state, action, asks),
        Action::NextHit | Action::PreviousHit => next_hit(state, action == Action::NextHit, asks),
        Action::Tools | Action::Thinking | Action::ToggleAll => change_detail(state, action),
        Action::Find => {
            state.overlay = Some(Overlay::Input(Input {
                title: state.look.say(words::FIND_WORDS).to_owned(),
                line: Line::default(),
                purpose: InputPurpose::Find,
            }));
        }
        // Of a long session the other end may not be loaded.
        Action::First if reader.more_above => ask(reader, PagePart::Start, asks),
        Action::Last if reader.more_below => ask(reader, PagePart::End, asks),
        _ => reader.leap(action, height),
    }
}

/// Changes how much is shown of tools and thinking.
fn change_detail(state: &mut State, action: Action) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    match action {
        Action::Tools => {
            reader.folds.reset();
            reader.detail.tools = match reader.detail.tools {
                Tools::Summary => Tools::Full,
                Tools::Full => Tools::Off,
                Tools::Off => Tools::Summary,
            };
        }
        Action::Thinking => reader.detail.thinking = !reader.detail.thinking,
        _ => reader.folds.toggle_all(),
    }
    reader.rewrap();
    let word = match (action, reader.detail.tools) {
        (Action::Thinking, _) if reader.detail.thinking => words::THINKING_ON,
        (Action::Thinking, _) => words::THINKING_OFF,
        (_, Tools::Off) => words::TOOLS_OFF,
        (_, Tools::Summary) => words::TOOLS_SUMMARY,
        (_, Tools::Full) => words::TOOLS_FULL,
    };
    if action != Action::ToggleAll {
        state.say(word);
    }
}

/// Jumps to a prompt or a failure; behind what is loaded the rest of the session is searched.
fn jump(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let height = height(state);
    let Some(reader) = &mut state.reader else {
        return;
    };
    let forward = matches!(action, Action::NextPrompt | Action::NextFailure);
    let (found, sought) = match action {
        Action::PreviousPrompt | Action::NextPrompt => {
            let is_prompt = |it: &Block| it.kind == BlockKind::Prompt && it.depth == 0;
            (reader.jump(forward, height, is_prompt), Sought::Prompt)
        }
        _ => {
            let found = reader.jump(forward, height, transcript::is_failure);
            (found, Sought::Failure)
        }
    };
    if !found {
        seek(state, forward, sought, asks);
    }
}

/// Looks for an entry in the part of the session that is not loaded.
fn seek(state: &mut State, forward: bool, sought: Sought, asks: &mut Vec<Ask>) {
    let Some(reader) = &state.reader else {
        return;
    };
    let (edge, has_more) = if forward {
        (&reader.last, reader.more_below)
    } else {
        (&reader.first, reader.more_above)
    };
    let part = edge.clone().filter(|_| has_more).map(|edge| {
        if forward {
            PagePart::After(edge)
        } else {
            PagePart::Before(edge)
        }
    });
    match part {
        Some(part) => search_rest(state, part, sought, asks),
        None => state.say(words::NOT_HERE),
    }
}

/// Whether a block contains a text, also where it is folded.
fn contains(block: &Block, text: &str) -> bool {
    block.text.to_lowercase().contains(text) || block.head.to_lowercase().contains(text)
}

/// Goes to the next or previous hit; behind what is loaded the rest of the session is searched.
fn next_hit(state: &mut State, forward: bool, asks: &mut Vec<Ask>) {
    let height = height(state);
    let Some(reader) = &mut state.reader else {
        return;
    };
    let Some(text) = reader.find.clone().filter(|it| !it.is_empty()) else {
        state.say(words::NOT_HERE);
        return;
    };
    if reader.jump(forward, height, |it| contains(it, &text)) {
        return;
    }
    seek(state, forward, Sought::Text(text), asks);
}

fn search_rest(state: &mut State, part: PagePart, sought: Sought, asks: &mut Vec<Ask>) {
    if let Some(reader) = &state.reader {
        let page = page_ask(reader, part);
        asks.push(Ask::FindIn { page, sought });
        state.say(words::SEARCHING);
    }
}

/// Finds a text from here on, else from the start, else in what is not loaded.
pub(crate) fn find(state: &mut State, text: &str, asks: &mut Vec<Ask>) {
    let height = height(state);
    let Some(reader) = &mut state.reader else {
        return;
    };
    let wanted = text.to_lowercase();
    reader.find = Some(wanted.clone());
    let from = reader.block_at_cursor().unwrap_or(0);
    let is_hit = |it: &(usize, &Block)| contains(it.1, &wanted);
    let blocks = || reader.blocks.iter().enumerate();
    let found = blocks()
        .skip(from)
        .find(is_hit)
        .or_else(|| blocks().find(is_hit));
    match found.map(|(at, _)| at) {
        Some(at) => reader.reveal(at, height),
        None if reader.more_above || reader.more_below => {
            search_rest(state, PagePart::End, Sought::Text(wanted), asks);
        }
        None => state.say(words::NOT_HERE),
    }
}

/// Goes to the entry that the search in the rest of the session found.
pub(crate) fn found_in(
    state: &mut State,
    page: &PageAsk,
    sought: &Sought,
    entry: Option<String>,
    asks: &mut Vec<Ask>,
) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    let is_wanted = match sought {
        Sought::Text(text) => reader.find.as_ref() == Some(text),
        Sought::Prompt | Sought::Failure => true,
    };
    if reader.session != page.session || !is_wanted {
        return;
    }
    state.message = None;
    match entry {
        Some(entry) => {
            reader.target = Some(entry.clone());
            ask(reader, PagePart::Around(entry), asks);
        }
        None => state.say(words::NOT_IN_SESSION),
    }
}
