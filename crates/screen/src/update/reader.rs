//! The reader: opening, pages of a long session, branches, subagents.
//!
//! `moves` scrolls and jumps, `acts` does something with the entry at the cursor.

mod acts;
mod moves;

use crate::ask::{Ask, Page, PageAsk, PagePart};
use crate::keys::{Action, Place};
use crate::layout;
use crate::state::{Reader, State};
use crate::transcript::{self, Block, BlockKind, Detail};

pub(crate) use acts::entry;
pub(crate) use moves::{find, found_in};

/// How many blocks are loaded at once: several pages, and many times what a screen shows.
const MOST_BLOCKS: usize = 4000;

/// Opens a session at its end, or at an entry.
pub(crate) fn open(state: &mut State, session: String, entry: Option<String>, asks: &mut Vec<Ask>) {
    // Back in a session that was left: its place is kept.
    let same = |it: &Reader| it.session == session && it.error.is_none();
    if entry.is_none() && state.reader.as_ref().is_some_and(same) {
        return state.go(Place::Reader);
    }
    state.parents.clear();
    show(state, session, entry, asks);
}

/// Shows a session in a new reader.
fn show(state: &mut State, session: String, entry: Option<String>, asks: &mut Vec<Ask>) {
    remember(state);
    let mut reader = named(state, session);
    reader.target = entry.clone();
    reader.detail = Detail {
        runs: true,
        times: true,
        language: state.look.language,
        zone: state.look.zone.clone(),
        ..Detail::default()
    };
    let mut words = state.finder.line.text().split_whitespace();
    let first = words.find(|it| !it.contains(':') && !it.starts_with('!'));
    reader.find = first.map(|it| it.trim_matches(['"', '*']).to_lowercase());
    let part = entry.map_or(PagePart::End, PagePart::Around);
    ask(&mut reader, part, asks);
    state.reader = Some(reader);
    state.go(Place::Reader);
}

/// Remembers how far the user has seen the session that is left.
pub(crate) fn remember(state: &mut State) {
    if let Some(reader) = &state.reader
        && let Some(last) = &reader.last
        && !reader.more_below
    {
        state.seen.insert(reader.session.clone(), last.clone());
    }
}

/// Returns an empty reader with what the list knows of a session.
fn named(state: &State, session: String) -> Reader {
    let finder = &state.finder;
    let row = finder.index.get(&session);
    let row = row.and_then(|at| finder.rows.get(*at));
    let row = row.or(finder.row().filter(|it| it.session == session));
    let (dialect, id) = session.split_once(':').unwrap_or(("", &session));
    Reader {
        title: row.map_or_else(|| boswell_app::text::one_line(id), |it| it.name.clone()),
        agent: row.map_or_else(|| dialect.to_owned(), |it| it.agent.clone()),
        project: row.and_then(|it| it.project.clone()),
        session,
        ..Reader::default()
    }
}

/// Takes a page that arrived.
pub(crate) fn take(state: &mut State, ask: &PageAsk, page: Result<Page, String>) {
    let height = height(state);
    let seen = state.seen.get(&ask.session).cloned();
    let Some(reader) = state
        .reader
        .as_mut()
        .filter(|it| it.loading.as_ref() == Some(ask))
    else {
        return;
    };
    let is_first_look = page.as_ref().is_ok_and(|it| it.is_first_look);
    if !is_first_look {
        reader.loading = None;
    }
    let page = match page {
        Ok(mut page) => {
            transcript::shorten_paths(&mut page.blocks, reader.project.as_deref());
            page
        }
        Err(why) => return reader.fail(why, &ask.part),
    };
    match &ask.part {
        PagePart::Before(_) => reader.put_above(page),
        PagePart::After(_) => reader.put_below(page, height),
        PagePart::Start => {
            reader.fill(page, height);
            (reader.top, reader.at) = (0, 0);
        }
        PagePart::End | PagePart::Around(_) => {
            reader.fill(page, height);
            reader.mark_new(seen.as_deref());
        }
    }
}

impl Reader {
    /// Makes the lines again.
    fn wrap(&mut self) {
        self.lines = transcript::lines(&self.blocks, &self.detail, &self.folds, self.width);
    }

    fn fail(&mut self, why: String, part: &PagePart) {
        // What is shown stays; only an empty view has nothing else to say.
        if self.blocks.is_empty() {
            self.error = Some(why);
        }
        self.is_first_look = false;
        self.more_above &= !matches!(part, PagePart::Before(_));
        self.more_below &= !matches!(part, PagePart::After(_));
    }

    /// Shows a page instead of what was shown: its end, or the entry to go to. Where the user went
    /// in the first look at a long log is kept.
    fn fill(&mut self, page: Page, height: usize) {
        let had_look = std::mem::replace(&mut self.is_first_look, page.is_first_look);
        let (below_top, below) = (
            self.lines.len().saturating_sub(self.top),
            self.lines.len().saturating_sub(self.at),
        );
        self.blocks = page.blocks;
        self.first = page.first;
        self.last = page.last;
        // Further pages are of the branch that the entry to go to is on.
        self.branch = page.branch.or(self.branch.take());
        self.more_above = page.more_above;
        self.more_below = page.more_below;
        self.wrap();
        self.top = self.lines.len().saturating_sub(height);
        self.at = self.lines.len().saturating_sub(1);
        if had_look {
            self.top = self.lines.len().saturating_sub(below_top);
            self.at = self.lines.len().saturating_sub(below);
        }
        if let Some(target) = self.target.take() {
            self.go_to(height, |block| {
                block.entry.as_deref() == Some(target.as_str())
            });
        }
    }

    /// Marks what arrived since the user looked.
    fn mark_new(&mut self, seen: Option<&str>) {
        let Some(seen) = seen else {
            return;
        };
        let is_seen = |it: &Block| it.entry.as_deref() == Some(seen);
        let Some(last) = self.blocks.iter().rposition(is_seen) else {
            return;
        };
        if last + 1 < self.blocks.len() {
            let mark = Block::note(BlockKind::New, String::new(), 0);
            self.blocks.insert(last + 1, mark);
            self.wrap();
        }
    }

    /// Adds entries before the first one; the same lines stay visible.
    fn put_above(&mut self, page: Page) {
        let before = self.lines.len();
        self.blocks.splice(0..0, page.blocks);
        self.first = page.first.or(self.first.take());
        self.more_above = page.more_above;
        self.wrap();
        let added = self.lines.len().saturating_sub(before);
        self.top += added;
        self.at += added;
        self.drop_below();
    }

    /// Drops what is far below, so that a page costs the same wherever it is.
    fn drop_below(&mut self) {
        let is_start = |at: &usize| self.starts_entry(*at);
        let Some(end) = (self.blocks.len() > MOST_BLOCKS)
            .then(|| (1..=MOST_BLOCKS).rev().find(is_start))
            .flatten()
        else {
            return;
        };
        self.blocks.truncate(end);
        let last = self.blocks.iter().rev().find_map(top_level);
        self.last = last.or(self.last.take());
        self.more_below = true;
        self.wrap();
    }

    /// Drops what is far above.
    fn drop_above(&mut self) {
        let from = self.blocks.len().saturating_sub(MOST_BLOCKS);
        let is_start = |at: &usize| self.starts_entry(*at);
        let Some(start) = (from > 0)
            .then(|| (from..self.blocks.len()).find(is_start))
            .flatten()
        else {
            return;
        };
        let before = self.lines.len();
        self.blocks.drain(..start);
        let first = self.blocks.iter().find_map(top_level);
        self.first = first.or(self.first.take());
        self.more_above = true;
        self.wrap();
        let removed = before.saturating_sub(self.lines.len());
        self.top = self.top.saturating_sub(removed);
        self.at = self.at.saturating_sub(removed);
    }

    /// Whether an entry of the session itself begins with a block.
    fn starts_entry(&self, at: usize) -> bool {
        let entry = |at: usize| self.blocks.get(at).and_then(top_level);
        let before = at.checked_sub(1).and_then(entry);
        entry(at).is_some_and(|it| before.as_ref() != Some(&it))
    }

    /// Adds entries after the last one. At the end, and while following, the view goes with them.
    fn put_below(&mut self, page: Page, height: usize) {
        let at_end = self.top + height >= self.lines.len();
        let is_old = page.blocks.is_empty() || self.more_below || at_end && self.following;
        let is_marked = self.blocks.iter().any(|it| it.kind == BlockKind::New);
        if !is_old && !is_marked {
            self.blocks
                .push(Block::note(BlockKind::New, String::new(), 0));
        }
        self.blocks.extend(page.blocks);
        self.last = page.last.or(self.last.take());
        self.more_below = page.more_below;
        self.wrap();
        if at_end && self.following {
            self.top = self.lines.len().saturating_sub(height);
            self.at = self.lines.len().saturating_sub(1);
        }
        self.drop_above();
    }
}

/// Returns the entry of a block, if it is one of the session itself and not of a subagent.
fn top_level(block: &Block) -> Option<String> {
    block.entry.clone().filter(|_| block.depth == 0)
}

pub(crate) fn height(state: &State) -> usize {
    usize::from(layout::body(state.size).height)
}

/// Wraps lines for the width, keeps the place inside, and asks for the next page at an edge.
pub(crate) fn settle(state: &mut State, asks: &mut Vec<Ask>) {
    let (height, width) = (height(state), layout::text_width(state.size));
    let Some(reader) = &mut state.reader else {
        return;
    };
    if reader.width != width {
        reader.width = width;
        reader.rewrap();
    }
    reader.keep_inside(height);
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

fn page_ask(reader: &Reader, part: PagePart) -> PageAsk {
    PageAsk {
        session: reader.session.clone(),
        part,
        branch: reader.branch.clone(),
        inline: reader.inline,
    }
}

fn ask(reader: &mut Reader, part: PagePart, asks: &mut Vec<Ask>) {
    let ask = page_ask(reader, part);
    reader.loading = Some(ask.clone());
    asks.push(Ask::Page(ask));
}

/// Asks for new entries of a session that is read to its end.
pub(crate) fn changed(state: &mut State, sessions: &[String], asks: &mut Vec<Ask>) {
    let Some(reader) = state.reader.as_mut().filter(|it| !it.more_below) else {
        return;
    };
    if reader.loading.is_none()
        && sessions.contains(&reader.session)
        && let Some(last) = reader.last.clone()
    {
        ask(reader, PagePart::After(last), asks);
    }
}

/// Reads the session again, around the entry at the cursor.
fn reload(state: &mut State, asks: &mut Vec<Ask>) {
    let entry = entry(state);
    let Some(reader) = &mut state.reader else {
        return;
    };
    reader.target = entry.clone();
    let part = entry.map_or(PagePart::End, PagePart::Around);
    ask(reader, part, asks);
}

/// Enters the subagent at the cursor, or the next one after it.
fn enter_subagent(state: &mut State, asks: &mut Vec<Ask>) {
    let Some(reader) = &state.reader else {
        return;
    };
    let from = reader.block_at_cursor().unwrap_or(0);
    let rest = reader.blocks.get(from..).unwrap_or_default();
    let found = rest.iter().find(|it| it.kind == BlockKind::Subagent);
    let Some(id) = found.map(|it| it.head.clone()) else {
        state.say(crate::words::NO_SUBAGENT);
        return;
    };
    let dialect = reader.session.split(':').next().unwrap_or("");
    let session = format!("{dialect}:{id}");
    if let Some(parent) = state.reader.take() {
        state.parents.push(parent);
    }
    show(state, session, None, asks);
}

/// Returns to the session that started the subagent.
fn leave_subagent(state: &mut State) {
    match state.parents.pop() {
        Some(parent) => state.reader = Some(parent),
        None => state.say(crate::words::NO_PARENT),
    }
}

/// Shows another branch from the branch point at the cursor, or the nearest one before it.
fn other_branch(state: &mut State, forward: bool, asks: &mut Vec<Ask>) {
    let Some(reader) = &mut state.reader else {
        return;
    };
    let from = reader.block_at_cursor().unwrap_or(0);
    let is_point = |it: &&Block| it.kind == BlockKind::Branch;
    let (before, after) = reader.blocks.split_at((from + 1).min(reader.blocks.len()));
    let point = before.iter().rev().find(is_point);
    let Some(point) = point.or_else(|| after.iter().find(is_point)) else {
        state.say(crate::words::NO_BRANCH);
        return;
    };
    let count = point.ends.len().max(1);
    let step = if forward { 1 } else { count - 1 };
    let next = (point.part + step) % count;
    let end = point.ends.get(next).cloned();
    let at = point.entry.clone();
    reader.branch = end;
    reader.target = at.clone();
    let part = at.map_or(PagePart::End, PagePart::Around);
    ask(reader, part, asks);
}

/// Does an action of the reader.
pub(crate) fn perform(state: &mut State, action: Action, asks: &mut Vec<Ask>) {
    match action {
        Action::Subagent => enter_subagent(state, asks),
        Action::Parent => leave_subagent(state),
        Action::PreviousBranch => other_branch(state, false, asks),
        Action::NextBranch => other_branch(state, true, asks),
        Action::Inline => {
            if let Some(reader) = &mut state.reader {
                reader.inline = !reader.inline;
            }
            reload(state, asks);
        }
        Action::Toggle => acts::toggle(state, asks),
        Action::CopyEntry | Action::CopyLink => acts::copy(state, action, asks),
        Action::Picture => acts::picture(state),
        Action::Follow => acts::follow(state, asks),
        _ => moves::perform(state, action, asks),
    }
}
