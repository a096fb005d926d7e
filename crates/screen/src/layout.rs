//! Where things are on the screen. Shared by views and by the mouse, so that a click lands on what
//! is drawn.

use boswell_app::text::columns;
use ratatui::layout::Rect;

use crate::keys::{Action, Binding, Place, of_place};
use crate::state::State;
use crate::transcript::Tools;
use crate::words::{self, fill};

/// The width from which the preview is next to the list.
const WIDE: u16 = 120;
/// The size from which the preview is below the list.
const PREVIEW_BELOW: (u16, u16) = (80, 18);
/// Lines of the preview below the list, without its rule.
const BELOW: u16 = 8;

/// Returns the area between header and footer, each with its rule.
pub(crate) fn body(size: (u16, u16)) -> Rect {
    Rect::new(0, 2, size.0, size.1.saturating_sub(4))
}

/// The areas of the finder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FinderAreas {
    pub(crate) list: Rect,
    pub(crate) preview: Option<Rect>,
    /// Whether the preview is next to the list.
    pub(crate) wide: bool,
}

/// Returns the areas of the finder.
pub(crate) fn finder(size: (u16, u16)) -> FinderAreas {
    let body = body(size);
    if size.0 >= WIDE {
        let list = body.width * 58 / 100;
        let preview = Rect::new(list + 3, body.y, body.width - list - 3, body.height);
        return FinderAreas {
            list: Rect::new(0, body.y, list, body.height),
            preview: Some(preview),
            wide: true,
        };
    }
    if size.0 >= PREVIEW_BELOW.0 && size.1 >= PREVIEW_BELOW.1 {
        let height = body.height - BELOW - 1;
        return FinderAreas {
            list: Rect::new(0, body.y, body.width, height),
            preview: Some(Rect::new(0, body.y + height + 1, body.width, BELOW)),
            wide: false,
        };
    }
    FinderAreas {
        list: body,
        preview: None,
        wide: false,
    }
}

/// Columns of the text of a transcript; the last one is the scroll bar.
pub(crate) fn text_width(size: (u16, u16)) -> usize {
    usize::from(size.0).saturating_sub(3)
}

/// A word in the footer that can be clicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FooterItem {
    pub(crate) x: u16,
    pub(crate) key: String,
    pub(crate) word: String,
    pub(crate) action: Action,
}

impl FooterItem {
    /// Returns its width in columns.
    pub(crate) fn width(&self) -> u16 {
        let blank = usize::from(!self.word.is_empty());
        u16::try_from(columns(&self.key) + blank + columns(&self.word)).unwrap_or(u16::MAX)
    }
}

/// Returns the footer of the place: as many keys as fit, the first and the last first.
pub(crate) fn footer(state: &State) -> Vec<FooterItem> {
    let usable = |it: &&Binding| it.short.is_some() && !(it.writes && state.look.read_only);
    let mut items: Vec<FooterItem> = Vec::new();
    for next in of_place(state.place)
        .filter(usable)
        .map(|it| item(state, it))
    {
        match items.last_mut() {
            // Both directions of a move are one word.
            Some(last) if last.word == next.word => last.key = format!("{} {}", last.key, next.key),
            _ => items.push(next),
        }
    }
    // Help and the way out are more important than what is before them.
    let width = u16::from(state.size.0 > 0) * state.size.0;
    if items.iter().map(|it| it.width() + 2).sum::<u16>() > width {
        for item in items.iter_mut().rev().take(3) {
            if matches!(item.action, Action::Help | Action::Commands) {
                item.word.clear();
            }
        }
    }
    while items.len() > 1 && items.iter().map(|it| it.width() + 2).sum::<u16>() > width {
        let dropped = dropped(&items);
        items.remove(dropped);
    }
    let mut x = 1;
    for item in &mut items {
        item.x = x;
        x += item.width() + 2;
    }
    items
}

/// Returns which item is left out first: not the first one, not the way out, help or commands.
fn dropped(items: &[FooterItem]) -> usize {
    let kept =
        |it: &FooterItem| matches!(it.action, Action::Back | Action::Help | Action::Commands);
    let last = items
        .iter()
        .enumerate()
        .rev()
        .find(|(at, it)| *at > 0 && !kept(it));
    last.map_or(items.len() - 1, |(at, _)| at)
}

fn item(state: &State, binding: &Binding) -> FooterItem {
    // The first key, as the user bound it.
    let names = state.look.keys.names(binding);
    let key = names.split(' ').next().unwrap_or_default().to_owned();
    let key = if key == "Enter" {
        "↵".to_owned()
    } else {
        key
    };
    let word = match (state.place, binding.action) {
        (Place::Finder, Action::Resume) => enter_words(state),
        (Place::Reader, Action::Tools) => tools_words(state),
        _ => binding
            .short
            .map(|short| state.look.say(short).to_owned())
            .unwrap_or_default(),
    };
    FooterItem {
        x: 0,
        key,
        word,
        action: binding.action,
    }
}

/// Returns how much of tools is shown.
fn tools_words(state: &State) -> String {
    let tools = state.reader.as_ref().map(|it| it.detail.tools);
    let word = match tools.unwrap_or_default() {
        Tools::Summary => words::TOOLS_ARE_SUMMARY,
        Tools::Full => words::TOOLS_ARE_FULL,
        Tools::Off => words::TOOLS_ARE_OFF,
    };
    state.look.say(word).to_owned()
}

/// Returns what Enter does to the selected session.
fn enter_words(state: &State) -> String {
    let look = &state.look;
    let Some(row) = state.finder.row() else {
        return look.say(words::YES_RESUME).to_owned();
    };
    if look.pick {
        return look.say(words::CHOOSE).to_owned();
    }
    if look.enter_reads {
        return state.look.say(("read", "阅读")).to_owned();
    }
    if let Some(host) = &row.host {
        return fill(look.say(words::RESUME_ON), &[host]);
    }
    let (agent, folder) = match state.finder.resumable() {
        Some(Err(_)) => return look.say(words::CANNOT_RESUME).to_owned(),
        Some(Ok(known)) => (
            known
                .plan
                .argv
                .first()
                .map(String::as_str)
                .unwrap_or(&row.agent),
            known.plan.cwd.as_deref(),
        ),
        None => (row.agent.as_str(), row.project.as_deref()),
    };
    let agent = agent.rsplit('/').next().unwrap_or(agent);
    let agent = boswell_app::text::one_line(agent);
    match folder.filter(|_| state.size.0 >= 60) {
        Some(folder) => fill(
            look.say(words::RESUME_IN),
            &[&agent, &short(&look.folder(folder))],
        ),
        None => fill(look.say(words::RESUME_WITH), &[&agent]),
    }
}

/// Returns the end of a long folder.
fn short(folder: &str) -> String {
    const MOST: usize = 30;
    if columns(folder) <= MOST {
        return folder.to_owned();
    }
    let mut rest = folder;
    while columns(rest) >= MOST {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    format!("…{rest}")
}
