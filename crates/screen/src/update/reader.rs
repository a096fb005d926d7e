//! The reader: opening, scrolling, jumping, finding, pages of a long session.

use crate::ask::{Ask, Page, PageAsk, PagePart};
use crate::keys::{Action, Place};
use crate::layout;
use crate::line::Line;
use crate::state::{Input, InputPurpose, Overlay, Reader, State};
use crate::transcript::{self, Block, BlockKind, TextLine, Tools};
use crate::update::moved;
use crate::words;

/// Opens a session at its end, or at an entry.
pub(crate) fn open(state: &mut State, session: String, entry: Option<String>, asks: &mut Vec<Ask>) {
    // Back in a session that was left: its place is kept.
    let same = |it: &Reader| it.session == session && it.error.is_none();
    if entry.is_none() && state.reader.as_ref().is_some_and(same) {
        return state.go(Place::Reader);
    }
    let ask = PageAsk {
        part: match &entry {
            Some(entry) => PagePart::Around(entry.clone()),
            None => PagePart::End,
        },
        session: session.clone(),
    };
    let mut reader = named(state, session);
    reader.loading = Some(ask.clone());
    reader.target = entry;
    reader.detail.language = state.look.language;
    let mut words = state.finder.line.text().split_whitespace();
    let first = words.find(|it| !it.contains(':') && !it.starts_with('!'));
    reader.find = first.map(|it| it.trim_matches(['"', '*']).to_lowercase());
    state.reader = Some(reader);
    state.go(Place::Reader);
    asks.push(Ask::Page(ask));
}

/// Returns an empty reader with what the list knows of a session.
fn named(state: &State, session: String) -> Reader {
    let finder = &state.finder;
    let row = finder.index.get(&session);
    let row = row.and_then(|at| finder.rows.get(*at)).or(finder.row());
    Reader {
        title: row.map(|it| it.name.clone()).unwrap_or_default(),
        agent: row.map(|it| it.agent.clone()).unwrap_or_default(),
        project: row.and_then(|it| it.project.clone()),
        session,
        ..Reader::default()
    }
}

/// Takes a page that arrived.
pub(crate) fn take(state: &mut State, ask: &PageAsk, page: Result<Page, String>) {
    let height = height(state);
    let Some(reader) = state
        .reader
        .as_mut()
        .filter(|it| it.loading.as_ref() == Some(ask))
    else {
        return;
    };
    reader.loading = None;
    let page = match page {
        Ok(mut page) => {
            transcript::shorten_paths(&mut page.blocks, reader.project.as_deref());
            page
        }
        Err(why) => {
            // What is shown stays; only an empty view has nothing else to say.
            if reader.blocks.is_empty() {
                reader.error = Some(why);
            }
            reader.more_above &= !matches!(ask.part, PagePart::Before(_));
            reader.more_below &= !matches!(ask.part, PagePart::After(_));
            return;
        }
    };
    match &ask.part {
        PagePart::Before(_) => reader.put_above(page),
        PagePart::After(_) => reader.put_below(page, height),
        PagePart::End | PagePart::Around(_) => reader.fill(page, height),
    }
}

impl Reader {
    /// Makes the lines again.
    fn wrap(&mut self) {
        self.lines = transcript::lines(&self.blocks, self.detail, self.width);
    }

    /// Shows a page instead of what was shown: its end, or the entry to go to.
    fn fill(&mut self, page: Page, height: usize) {
        self.blocks = page.blocks;
        self.first = page.first;
        self.last = page.last;
        self.more_above = page.more_above;
        self.more_below = page.more_below;
        self.wrap();
        self.top = self.lines.len().saturating_sub(height);
        if let Some(target) = self.target.take() {
            self.go_to(|block| block.entry.as_deref() == Some(target.as_str()));
        }
    }

    /// Adds entries before the first one; the same lines stay visible.
    fn put_above(&mut self, page: Page) {
        let below = self.lines.len().saturating_sub(self.top);
        self.blocks.splice(0..0, page.blocks);
        self.first = page.first.or(self.first.take());
        self.more_above = page.more_above;
        self.wrap();
        self.top = self.lines.len().saturating_sub(below);
    }

    /// Adds entries after the last one. At the end, and while following, the view goes with them.
    fn put_below(&mut self, page: Page, height: usize) {
        let at_end = self.top + height >= self.lines.len();
        let is_new = self.following && !page.blocks.is_empty() && !at_end;
        let seen = |it: &Block| it.kind == BlockKind::Remark && it.head == words::NEW_SINCE.0;
        if is_new && !self.blocks.iter().any(seen) {
            let text = format!("── {} ──", self.detail.language.say(words::NEW_SINCE));
            self.blocks.push(Block {
                kind: BlockKind::Remark,
                entry: None,
                at: None,
                head: words::NEW_SINCE.0.to_owned(),
                text,
                depth: 0,
            });
        }
        self.blocks.extend(page.blocks);
        self.last = page.last.or(self.last.take());
        self.more_below = page.more_below;
        self.wrap();
        if at_end && self.following {
            self.top = self.lines.len().saturating_sub(height);
        }
    }

    fn go_to(&mut self, wanted: impl Fn(&Block) -> bool) {
        let is_it =
            |line: &TextLine| line.first && self.blocks.get(line.block).is_some_and(&wanted);
        if let Some(at) = self.lines.iter().position(is_it) {
            self.top = at;
        }
    }

    /// Goes to the next or previous block that is wanted; returns whether there is one.
    fn jump(&mut self, forward: bool, wanted: impl Fn(&TextLine, &Block) -> bool) -> bool {
        let top = self.top;
        let is_it = |(at, line): &(usize, &TextLine)| {
            let beyond = if forward { *at > top } else { *at < top };
            beyond
                && self
                    .blocks
                    .get(line.block)
                    .is_some_and(|block| wanted(line, block))
        };
        let mut lines = self.lines.iter().enumerate();
        let found = if forward {
            lines.find(is_it)
        } else {
            lines.rfind(is_it)
        };
        let found = found.map(|(at, _)| at);
        self.top = found.unwrap_or(top);
        found.is_some()
    }
}

fn height(state: &State) -> usize {
    usize::from(layout::body(state.size).height)
}

/// Wraps lines for the width, keeps the place inside, and asks for the next page at an edge.
pub(crate) fn settle(state: &mut State, asks: &mut Vec<Ask>) {
    let (height, width) = (height(state), layout::text_width(state.size));
    let Some(reader) = &mut state.reader else {
        return;
    };
    if reader.width != width {
        let block = reader.lines.get(reader.top).map(|it| it.block);
        reader.width = width;
        reader.wrap();
        let top = reader.lines.iter().position(|it| Some(it.block) == block);
        reader.top = top.unwrap_or(reader.top);
    }
    reader.top = reader
        .top
        .min(reader.lines.len().saturating_sub(height.min(1)));
    if state.place != Place::Reader || reader.loading.is_some() {
        return;
    }
    let at_end = reader.top + 2 * height >= reader.lines.len();
    let part = if reader.top < height && reader.more_above {
        reader.first.clone().map(PagePart::Before)
    } else if at_end && reader.more_below {
        reader.last.clone().map(PagePart::After)
    } else {
        None
    };
    if let Some(part) = part {
        ask(reader, part, asks);
    }
}

fn ask(reader: &mut Reader, part: PagePart, asks: &mut Vec<Ask>) {
    let ask = PageAsk {
        session: reader.session.clone(),
        part,
    };
    reader.loading = Some(ask.clone());
    asks.push(Ask::Page(ask));
}

/// Asks for new entries of a session that is followed.
pub(crate) fn changed(state: &mut State, sessions: &[String], asks: &mut Vec<Ask>) {
    let Some(reader) = state.reader.as_mut().filter(|it| it.following) else {
        return;
    };
    let last = reader.last.clone();
    if reader.loading.is_none()
        && sessions.contains(&reader.session)
        && let Some(last) = last
    {
        ask(reader, PagePart::After(last), asks);
    }
}

/// Returns the entry at the top of the view.
pub(crate) fn entry(state: &State) -> Option<String> {
    let reader = state.reader.as_ref()?;
    let line = reader.lines.get(reader.top)?;
    reader.blocks.get(line.block)?.entry.clone()
}

/// Does an action of the reader.
pub(crate) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    let page = height(state).saturating_sub(1).max(1);
    let Some(reader) = &mut state.reader else {
        return;
    };
    let last = reader.lines.len().saturating_sub(page);
    match action {
        Action::PreviousPrompt
        | Action::NextPrompt
        | Action::PreviousFailure
        | Action::NextFailure
        | Action::NextHit
        | Action::PreviousHit => jump(state, action),
        Action::Tools => {
            reader.detail.tools = match reader.detail.tools {
                Tools::Summary => Tools::Full,
                Tools::Full => Tools::Off,
                Tools::Off => Tools::Summary,
            };
            rewrap(state);
        }
        Action::Thinking => {
            reader.detail.thinking = !reader.detail.thinking;
            rewrap(state);
        }
        Action::Find => {
            state.overlay = Some(Overlay::Input(Input {
                title: words::FIND_WORDS,
                line: Line::default(),
                purpose: InputPurpose::Find,
            }));
        }
        Action::CopyEntry | Action::CopyLink => copy(state, action, asks),
        Action::Follow => follow(reader, asks),
        _ => reader.top = moved(reader.top, action, page).min(last),
    }
}

/// Copies the text of the entry at the top, or a link to it.
fn copy(state: &State, action: Action, asks: &mut Vec<Ask>) {
    let entry = entry(state);
    let Some(reader) = &state.reader else {
        return;
    };
    if action == Action::CopyLink {
        let link = entry.map(|entry| format!("{}#{entry}", reader.session));
        asks.extend(link.map(Ask::Copy));
        return;
    }
    let of_entry = reader.blocks.iter().filter(|it| it.entry == entry);
    let texts: Vec<&str> = of_entry.map(|it| it.text.as_str()).collect();
    asks.push(Ask::Copy(texts.join("\n")));
}

/// Jumps to a prompt, a failure or a hit.
fn jump(state: &mut State, action: Action) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    let found = match action {
        Action::PreviousPrompt | Action::NextPrompt => {
            let forward = action == Action::NextPrompt;
            let is_prompt =
                |line: &TextLine, block: &Block| line.first && block.kind == BlockKind::Prompt;
            reader.jump(forward, is_prompt)
        }
        Action::PreviousFailure | Action::NextFailure => {
            let forward = action == Action::NextFailure;
            let is_it =
                |line: &TextLine, block: &Block| line.first && transcript::is_failure(block);
            reader.jump(forward, is_it)
        }
        _ => {
            let wanted = reader.find.clone().unwrap_or_default();
            let is_hit = |line: &TextLine, _: &Block| {
                !wanted.is_empty() && line.text.to_lowercase().contains(&wanted)
            };
            reader.jump(action == Action::NextHit, is_hit)
        }
    };
    if !found {
        state.message = Some(state.look.say(words::NOT_HERE).to_owned());
    }
}

fn follow(reader: &mut Reader, asks: &mut Vec<Ask>) {
    reader.following = !reader.following;
    if reader.following && reader.loading.is_none() {
        reader.top = reader.lines.len();
        if let Some(last) = reader.last.clone() {
            ask(reader, PagePart::After(last), asks);
        }
    }
}

/// Makes the lines again, with the same block at the top.
fn rewrap(state: &mut State) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    let block = reader.lines.get(reader.top).map_or(0, |it| it.block);
    reader.wrap();
    let top = reader.lines.iter().position(|it| it.block >= block);
    reader.top = top.unwrap_or(reader.lines.len().saturating_sub(1));
    let detail = reader.detail.tools;
    let word = match detail {
        Tools::Off => words::TOOLS_OFF,
        Tools::Summary => words::TOOLS_SUMMARY,
        Tools::Full => words::TOOLS_FULL,
    };
    state.message = Some(state.look.say(word).to_owned());
}

/// Finds a text from here on, else from the start.
pub(crate) fn find(state: &mut State, text: &str) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    let wanted = text.to_lowercase();
    reader.find = Some(wanted.clone());
    let is_hit = |line: &TextLine| line.text.to_lowercase().contains(&wanted);
    let lines = reader.lines.iter().enumerate();
    let after = lines
        .clone()
        .skip(reader.top)
        .find(|(_, line)| is_hit(line));
    let found = after.or_else(|| lines.clone().find(|(_, line)| is_hit(line)));
    match found.map(|(at, _)| at) {
        Some(at) => reader.top = at,
        None => state.message = Some(state.look.say(words::NOT_HERE).to_owned()),
    }
}
