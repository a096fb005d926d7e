//! All state of the screen, as plain data. Views read it, `update` changes it.

mod overlay;
mod show;
mod views;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use boswell_app::text::one_line;
use boswell_app::time::TimeZone;
use boswell_model::Instant;

use crate::ask::{FoundText, Preview, Resumable};
use crate::keys::{Keymap, Place};
use crate::line::Line;
use crate::rows::Row;
use crate::rows_ask::{HitCount, RowsAsk};
use crate::theme::Theme;
use crate::words::{self, Language, Words};

pub(crate) use overlay::{Choice, Input, InputPurpose, Menu, MenuItem, MenuRun, Overlay, Question};
pub(crate) use views::{BlameState, CostSpan, Costs, HealthState, Reader, TreeState};

/// The smallest terminal that is drawn.
pub(crate) const SMALLEST: (u16, u16) = (24, 6);

/// How the screen looks and behaves: settings and environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    pub(crate) language: Language,
    pub(crate) ascii: bool,
    pub(crate) mouse: bool,
    pub(crate) read_only: bool,
    /// Enter returns the session instead of resuming it.
    pub(crate) pick: bool,
    /// Enter reads the session instead of resuming it.
    pub(crate) enter_reads: bool,
    /// Whether no agent was ever started from here: Enter asks once.
    pub(crate) first_time: bool,
    /// The user's home folder, which is written `~`.
    pub(crate) home: Option<String>,
    /// The zone of the times that are shown and typed.
    pub(crate) zone: TimeZone,
    pub(crate) keys: Keymap,
    pub(crate) theme: Theme,
    /// Folders that files are written to if the user names no other.
    pub(crate) cwd: String,
    pub(crate) tmp: String,
}

impl Look {
    /// Returns the text in the user's language.
    pub(crate) fn say(&self, words: Words) -> &'static str {
        self.language.say(words)
    }

    /// Returns a folder for display, with the home folder as `~`.
    pub(crate) fn folder(&self, path: &str) -> String {
        let below = self.home.as_deref().filter(|home| home.len() > 1);
        let below = below.and_then(|home| path.strip_prefix(home));
        match below.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => one_line(&format!("~{rest}")),
            None => one_line(path),
        }
    }
}

/// The state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) size: (u16, u16),
    pub(crate) now: Instant,
    pub(crate) look: Look,
    pub(crate) place: Place,
    /// Where Esc leads.
    pub(crate) back: Vec<Place>,
    pub(crate) finder: Finder,
    pub(crate) reader: Option<Reader>,
    pub(crate) tree: Option<TreeState>,
    pub(crate) health: Option<HealthState>,
    pub(crate) costs: Costs,
    pub(crate) blame: Option<BlameState>,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) message: Option<String>,
    /// What could not be read, newest last.
    pub(crate) unread: Vec<String>,
    /// Readers of the sessions above a subagent.
    pub(crate) parents: Vec<Reader>,
    /// The last entry that was seen of each session.
    pub(crate) seen: BTreeMap<String, String>,
    /// Sessions that do not exist any more. An answer that was made before may still name them.
    pub(crate) gone: BTreeSet<String>,
}

impl State {
    pub(crate) fn new(look: Look, size: (u16, u16), now: Instant) -> State {
        State {
            size,
            now,
            finder: Finder {
                zone: look.zone.clone(),
                ..Finder::default()
            },
            look,
            place: Place::Finder,
            back: Vec::new(),
            reader: None,
            tree: None,
            health: None,
            costs: Costs::default(),
            blame: None,
            overlay: None,
            message: None,
            unread: Vec::new(),
            parents: Vec::new(),
            seen: BTreeMap::new(),
            gone: BTreeSet::new(),
        }
    }

    /// Shows a text in place of the footer until the next key.
    pub(crate) fn say(&mut self, words: Words) {
        self.message = Some(self.look.say(words).to_owned());
    }

    /// Whether the terminal is too small to draw anything.
    pub(crate) fn is_too_small(&self) -> bool {
        self.size.0 < SMALLEST.0 || self.size.1 < SMALLEST.1
    }

    /// Goes to a place, from which Esc leads back here.
    pub(crate) fn go(&mut self, place: Place) {
        if self.place != place {
            self.back.push(self.place);
            self.place = place;
        }
    }

    /// Returns the session that keys of this place are about.
    pub(crate) fn session(&self) -> Option<String> {
        match self.place {
            Place::Reader => self.reader.as_ref().map(|it| it.session.clone()),
            Place::Tree => self.tree.as_ref().map(|it| it.session.clone()),
            Place::Health => self.health.as_ref().map(|it| it.session.clone()),
            Place::Blame => self.blame.as_ref().map(|it| it.session.clone()),
            _ => self.finder.row().map(|it| it.session.clone()),
        }
    }
}

/// Order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    #[default]
    Active,
    Cost,
    Size,
    Messages,
}

/// How many sessions were read, of how many, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstRead {
    pub(crate) read: usize,
    pub(crate) total: usize,
    pub(crate) since: Duration,
}

/// The finder: box, list and preview.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    zone: TimeZone,
    pub(crate) line: Line,
    /// Which sessions are listed.
    pub(crate) wanted: RowsAsk,
    /// How many hits are asked for.
    pub(crate) hits: HitCount,
    /// The sessions, in order.
    pub(crate) rows: Vec<Row>,
    /// Where each session, also of another side, is in `rows`.
    pub(crate) index: HashMap<String, usize>,
    /// What matched by name at the last keystroke.
    named: Option<Named>,
    /// Whether `rows` has all sessions.
    pub(crate) complete: bool,
    pub(crate) refreshed: Option<Instant>,
    /// While sessions are read for the first time.
    pub(crate) reading: Option<FirstRead>,
    /// Whether the catalog cannot be written, so that nothing is faster the next time.
    pub(crate) unkept: bool,
    /// Whether the search takes so long that the header says so.
    pub(crate) is_slow: bool,
    pub(crate) order: Order,
    /// Agents of all sessions that were seen.
    pub(crate) agents: BTreeSet<String>,
    /// Number of the newest search, and of the one that was answered.
    pub(crate) generation: u64,
    pub(crate) answered: u64,
    pub(crate) found: FoundText,
    /// A row for each hit, for sessions that are not in `rows`.
    pub(crate) hit_rows: Vec<Row>,
    /// Why the query cannot be answered.
    pub(crate) error: Option<String>,
    pub(crate) shown: Vec<Shown>,
    pub(crate) selected: usize,
    /// First visible line of the list.
    pub(crate) top: usize,
    /// What sessions cost in dollars, as far as that is known.
    pub(crate) costs: HashMap<String, f64>,
    pub(crate) marked: BTreeSet<String>,
    pub(crate) live: BTreeMap<String, Vec<u32>>,
    pub(crate) lost_soon: BTreeSet<String>,
    pub(crate) preview: Option<Preview>,
    /// Lines that the preview is scrolled by, up or down.
    pub(crate) preview_scroll: isize,
    /// The preview that was asked for last.
    pub(crate) asked: Option<(String, Option<String>)>,
    pub(crate) looked_at: Vec<(String, String, bool)>,
    /// Enter was pressed before it was known how the session is resumed.
    pub(crate) waiting: Option<String>,
}

/// The rows that match words in the box by name.
#[derive(Debug)]
struct Named {
    words: String,
    /// Indexes in `rows`.
    rows: Vec<usize>,
}

/// A session in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Index in `rows`; `None` for a session that only a hit names.
    row: Option<usize>,
    /// Index of its best hit.
    pub(crate) hit: Option<usize>,
}

impl Shown {
    /// Whether only a hit names it: a page of memory, or a subagent.
    pub(crate) fn is_other(self) -> bool {
        self.row.is_none()
    }
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListLine {
    Heading(Words),
    /// Index in `shown`.
    Row(usize),
    Snippet(usize),
}

impl Finder {
    /// Changes rows or hits and shows the result. The selection stays on its session, wherever that
    /// moves.
    pub(crate) fn change(&mut self, now: Instant, change: impl FnOnce(&mut Finder)) {
        let selected = self.row().map(|it| it.session.clone());
        change(self);
        self.show(now);
        self.select(selected.as_deref());
    }

    /// Takes new rows; returns the old ones.
    pub(crate) fn set_rows(&mut self, mut rows: Vec<Row>, now: Instant) -> Vec<Row> {
        self.change(now, |finder| {
            std::mem::swap(&mut finder.rows, &mut rows);
            finder.price();
            finder.sort();
        });
        rows
    }

    /// Adds what is known of the costs to the rows.
    pub(crate) fn price(&mut self) {
        for row in &mut self.rows {
            let sides = std::iter::once(&row.session).chain(&row.linked);
            let mut known = sides.filter_map(|it| self.costs.get(it));
            row.cost = known.next().copied().or(row.cost);
        }
    }

    /// Orders the rows; unknown values come last.
    pub(crate) fn sort(&mut self) {
        let rank = |cost: Option<f64>| cost.map_or(i64::MIN, |cost| (cost * 1e6) as i64);
        match self.order {
            Order::Active => self
                .rows
                .sort_by_key(|it| std::cmp::Reverse((it.pinned, it.active))),
            Order::Cost => self.rows.sort_by_key(|it| std::cmp::Reverse(rank(it.cost))),
            Order::Size => self.rows.sort_by_key(|it| std::cmp::Reverse(it.bytes)),
            Order::Messages => self.rows.sort_by_key(|it| std::cmp::Reverse(it.messages)),
        }
        self.named = None;
        self.index.clear();
        for (at, row) in self.rows.iter().enumerate() {
            for session in std::iter::once(&row.session).chain(&row.linked) {
                self.index.entry(session.clone()).or_insert(at);
            }
        }
    }

    /// Takes the hits of a search.
    pub(crate) fn set_found(&mut self, found: FoundText, now: Instant) {
        self.change(now, |finder| {
            finder.hit_rows = found.hits.iter().map(|hit| hit.row()).collect();
            finder.found = found;
        });
    }

    /// Selects a session if it is shown, else the first one.
    pub(crate) fn select(&mut self, session: Option<&str>) {
        let at = session.and_then(|session| {
            (0..self.shown.len())
                .find(|at| self.row_at(*at).is_some_and(|it| it.session == session))
        });
        self.selected = at.unwrap_or(0);
    }

    /// Returns the row at a place of the list.
    pub(crate) fn row_at(&self, at: usize) -> Option<&Row> {
        let shown = self.shown.get(at)?;
        match (shown.row, shown.hit) {
            (Some(row), _) => self.rows.get(row),
            (None, hit) => self.hit_rows.get(hit?),
        }
    }

    /// Returns the selected row.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.row_at(self.selected)
    }

    /// Returns the entry of the best hit in the selected session.
    pub(crate) fn entry(&self) -> Option<String> {
        let hit = self.shown.get(self.selected)?.hit?;
        self.found.hits.get(hit)?.entry.clone()
    }

    /// Returns how the selected session is resumed, if that is known.
    pub(crate) fn resumable(&self) -> Option<&Result<Resumable, String>> {
        let session = &self.row()?.session;
        let preview = self.preview.as_ref().filter(|it| it.session == *session)?;
        preview.resume.as_ref()
    }

    /// Returns the lines of the list.
    pub(crate) fn lines(&self, now: Instant) -> Vec<ListLine> {
        let is_empty = self.line.text().trim().is_empty();
        let by_day = is_empty && self.order == Order::Active;
        let mut lines = Vec::with_capacity(self.shown.len() + 8);
        let mut last = None;
        let days = Days::of(now, &self.zone);
        for (at, shown) in self.shown.iter().enumerate() {
            if by_day && let Some(row) = self.row_at(at) {
                let day = if row.pinned {
                    words::PINNED
                } else {
                    days.group(row.active)
                };
                if last != Some(day) {
                    lines.push(ListLine::Heading(day));
                    last = Some(day);
                }
            }
            lines.push(ListLine::Row(at));
            if !is_empty && shown.hit.is_some() {
                lines.push(ListLine::Snippet(at));
            }
        }
        lines
    }

    /// Scrolls so that the selected session is visible.
    pub(crate) fn follow(&mut self, height: usize, now: Instant) {
        let lines = self.lines(now);
        let is_it = |line: &ListLine| *line == ListLine::Row(self.selected);
        let at = lines.iter().position(is_it).unwrap_or(0);
        let with_snippet = lines.get(at + 1) == Some(&ListLine::Snippet(self.selected));
        let last = at + usize::from(with_snippet && height > 1);
        // The heading of the first session is shown with it.
        let first = if at == 1 { 0 } else { at };
        if first < self.top {
            self.top = first;
        } else if last >= self.top + height {
            self.top = (last + 1).saturating_sub(height);
        }
        self.top = self.top.min(lines.len().saturating_sub(height.max(1)));
    }
}

/// The bounds of the groups of a list without a query, by the days of the user's zone.
struct Days([(Instant, Words); 4]);

impl Days {
    fn of(now: Instant, zone: &TimeZone) -> Days {
        let since = |days: i64, words: Words| (zone.midnight(now, days), words);
        Days([
            since(0, words::TODAY),
            since(-1, words::YESTERDAY),
            since(-6, words::THIS_WEEK),
            since(-29, words::THIS_MONTH),
        ])
    }

    /// Returns the group of a time.
    fn group(&self, at: Option<Instant>) -> Words {
        let Some(at) = at else {
            return words::NO_TIME;
        };
        let group = self.0.iter().find(|(since, _)| at >= *since);
        group.map_or(words::OLDER, |(_, words)| *words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_zone_of_the_user() {
        let at = |text: &str| Some(Instant::parse(text).unwrap());
        let now = at("2026-03-10T17:30:00Z").unwrap();
        // Eight hours east of UTC, where it is half past one in the morning of the eleventh.
        let days = Days::of(now, &TimeZone::of_variable("CST-8"));
        for (text, group) in [
            ("2026-03-10T16:00:00Z", words::TODAY),
            ("2026-03-10T15:59:59Z", words::YESTERDAY),
            ("2026-03-09T15:59:59Z", words::THIS_WEEK),
            ("2026-03-04T15:59:59Z", words::THIS_MONTH),
            ("2026-02-01T00:00:00Z", words::OLDER),
            ("2027-01-01T00:00:00Z", words::TODAY),
        ] {
            assert_eq!(days.group(at(text)), group, "{text}");
        }
        assert_eq!(days.group(None), words::NO_TIME);
    }
}
