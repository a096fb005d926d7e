//! The finder: box, list, preview.

use boswell_app::text::{columns, one_line, size};
use boswell_app::time;
use ratatui::layout::Rect;

use crate::ask::Preview;
use crate::keys::Place;
use crate::layout;
use crate::rows::Row;
use crate::rows_ask::Scope;
use crate::state::{Finder, ListLine, Order, State};
use crate::theme::Ink;
use crate::transcript::{self, Block, Detail, Folds};
use crate::view::canvas::Canvas;
use crate::view::{FAINT, GOOD, MATCH, PLAIN, SELECTED, STRONG, USER, WARNING, dollars, reader};
use crate::words::{self, fill};

/// Draws the finder.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let areas = layout::finder(state.size);
    head(state, canvas);
    list(state, canvas, areas.list);
    if let Some(area) = areas.preview {
        if areas.wide {
            canvas.bar(area.x - 2, area);
        } else {
            canvas.rule(area.y - 1, 0, state.size.0);
        }
        preview(state, canvas, area, areas.wide);
        if state.place == Place::Preview {
            let x = if areas.wide { area.x - 1 } else { 0 };
            for y in area.top()..area.bottom() {
                canvas.text_in(x, y, 1, "▎", USER);
            }
        }
    }
}

fn head(state: &State, canvas: &mut Canvas<'_, '_>) {
    let (finder, look) = (&state.finder, &state.look);
    let width = state.size.0;
    let right = facts(state);
    let right_width = u16::try_from(columns(&right))
        .unwrap_or(width)
        .min(width / 2);
    canvas.text_in(
        width.saturating_sub(right_width + 1),
        0,
        right_width,
        &right,
        FAINT,
    );
    let mut x = 1;
    if width >= 60 {
        x = canvas.text(x, 0, "boswell", STRONG) + 2;
    }
    let room = width.saturating_sub(x + right_width + 3);
    if finder.line.is_empty() {
        canvas.text_in(
            x + 1,
            0,
            room.saturating_sub(1),
            look.say(words::TYPE_TO_SEARCH),
            FAINT,
        );
        return canvas.cursor(x, 0);
    }
    // The end of a long text is visible, because that is where the user types.
    let text = one_line_kept(finder.line.text());
    let before = u16::try_from(columns(&one_line_kept(finder.line.before()))).unwrap_or(room);
    let skipped = before.saturating_sub(room.saturating_sub(1));
    let shown = skip_columns(&text, usize::from(skipped));
    let style = if finder.error.is_some() {
        WARNING
    } else {
        PLAIN
    };
    canvas.text_in(x, 0, room, shown, style);
    canvas.cursor(x + before.saturating_sub(skipped).min(room), 0);
}

/// Makes the typed text harmless; blanks stay.
fn one_line_kept(text: &str) -> String {
    boswell_app::text::escape(&text.replace(['\n', '\t'], " "))
}

/// Returns a text without its first columns.
pub(crate) fn skip_columns(text: &str, skipped: usize) -> &str {
    let mut used = 0;
    let mut rest = text;
    while used < skipped {
        let mut chars = rest.chars();
        let Some(c) = chars.next() else {
            break;
        };
        used += columns(c.encode_utf8(&mut [0; 4]));
        rest = chars.as_str();
    }
    rest
}

/// Returns the counts and what narrows the list.
fn facts(state: &State) -> String {
    let (finder, look) = (&state.finder, &state.look);
    let waiting = finder.answered != finder.generation;
    let mut parts = counts(state, waiting);
    parts.extend(narrowing(state).into_iter().map(str::to_owned));
    if let Some(agent) = &finder.wanted.agent {
        parts.push(fill(look.say(words::ONLY_AGENT), &[&one_line(agent)]));
    }
    if !finder.marked.is_empty() {
        let marked = finder.marked.len().to_string();
        parts.push(fill(look.say(words::MARKED), &[&marked]));
    }
    if finder.is_slow {
        parts.push("…".to_owned());
    } else if let Some(progress) = reading(state) {
        // How far it is says more than how many of them are listed.
        return progress;
    }
    parts.join(" · ")
}

/// Returns how far the first reading of the sessions is.
fn reading(state: &State) -> Option<String> {
    let (finder, look) = (&state.finder, &state.look);
    let Some(it) = finder.reading else {
        let is_first = finder.refreshed.is_none() && finder.rows.is_empty();
        return is_first.then(|| look.say(words::READING).to_owned());
    };
    let seconds = format!("{:.1}", it.since.as_secs_f64());
    let values = [&*number(it.read), &*number(it.total), &*seconds];
    Some(fill(look.say(words::READING_OF), &values))
}

/// Returns how many sessions there are, or what the search found so far.
fn counts(state: &State, waiting: bool) -> Vec<String> {
    let (finder, look) = (&state.finder, &state.look);
    let all = number(finder.rows.len());
    if finder.line.text().trim().is_empty() {
        return vec![match finder.rows.len() {
            1 => look.say(words::SESSION).to_owned(),
            _ => fill(look.say(words::SESSIONS), &[&all]),
        }];
    }
    let others = finder.shown.iter().filter(|it| it.is_other()).count();
    let shown = finder.shown.len() - others;
    let mut parts = vec![fill(
        look.say(words::FOUND),
        &[&found(finder, shown, waiting), &all],
    )];
    if others > 0 {
        parts.push(fill(look.say(words::OTHER_HITS), &[&number(others)]));
    }
    if !waiting {
        parts.push(format!("{} ms", finder.found.millis));
        parts.push(match finder.found.scanned {
            Some(bytes) => fill(look.say(words::SCANNED), &[&size(bytes)]),
            None => look.say(words::ALL_COVERED).to_owned(),
        });
    }
    parts
}

/// Returns how many sessions match: the best hits are shown, and more sessions may have some.
fn found(finder: &Finder, shown: usize, waiting: bool) -> String {
    if waiting || finder.found.hits.is_empty() {
        return number(shown);
    }
    let sessions = usize::try_from(finder.found.sessions).unwrap_or(shown);
    let more = if finder.found.exact { "" } else { "+" };
    format!("{}{more}", number(shown.max(sessions)))
}

/// Returns what narrows or orders the list.
fn narrowing(state: &State) -> Vec<&'static str> {
    let (finder, look) = (&state.finder, &state.look);
    let mut parts = Vec::new();
    match finder.wanted.scope {
        Scope::Everywhere => {}
        Scope::Here => parts.push(look.say(words::HERE)),
        Scope::Repository => parts.push(look.say(words::REPOSITORY)),
    }
    if finder.wanted.hidden {
        parts.push(look.say(words::HIDDEN_TOO));
    }
    match finder.order {
        Order::Active => {}
        Order::Cost => parts.push(look.say(words::BY_COST)),
        Order::Size => parts.push(look.say(words::BY_SIZE)),
        Order::Messages => parts.push(look.say(words::BY_MESSAGES)),
    }
    if look.read_only {
        parts.push(look.say(words::READ_ONLY));
    } else if finder.unkept {
        parts.push(look.say(words::UNKEPT));
    }
    parts
}

/// Returns a number with separators.
pub(crate) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn list(state: &State, canvas: &mut Canvas<'_, '_>, area: Rect) {
    let finder = &state.finder;
    if finder.shown.is_empty() {
        return nothing(state, canvas, area);
    }
    let lines = finder.lines(state.now);
    for (y, line) in (area.top()..area.bottom()).zip(lines.iter().skip(finder.top)) {
        match line {
            ListLine::Heading(words) => {
                canvas.text_in(area.x + 1, y, area.width, state.look.say(*words), FAINT);
            }
            ListLine::Row(at) => {
                let selected = *at == finder.selected;
                if let Some(row) = finder.row_at(*at) {
                    session(state, canvas, (area, y), row, selected);
                }
            }
            ListLine::Snippet(at) => snippet(state, canvas, (area, y), *at),
        }
    }
}

/// Returns the mark of a session.
fn mark(state: &State, row: &Row) -> (&'static str, Ink) {
    let finder = &state.finder;
    if finder
        .live
        .get(&row.session)
        .is_some_and(|pids| !pids.is_empty())
    {
        ("●", GOOD)
    } else if row.damaged {
        ("!", WARNING)
    } else if row.archived {
        ("-", FAINT)
    } else if finder.lost_soon.contains(&row.session) {
        ("~", WARNING)
    } else if row.pinned {
        ("^", STRONG)
    } else {
        (" ", PLAIN)
    }
}

fn session(
    state: &State,
    canvas: &mut Canvas<'_, '_>,
    (area, y): (Rect, u16),
    row: &Row,
    selected: bool,
) {
    let marked = state.finder.marked.contains(&row.session);
    let pointer = match (selected, marked) {
        (true, _) => "▸",
        (false, true) => "+",
        (false, false) => " ",
    };
    canvas.text_in(area.x, y, 1, pointer, STRONG);
    let (symbol, style) = mark(state, row);
    canvas.text_in(area.x + 1, y, 1, symbol, style);
    let mut x = area.x + 3;
    if area.width >= 60 {
        let agent = row.agent.split(['+', '/', '@']).next().unwrap_or("");
        let width = agent_width(state);
        canvas.text_in(x, y, width, &row.agent, Ink::of_agent(agent));
        x += width + 1;
    }
    let tail = tail(state, row, area.width);
    let end = area.x + area.width;
    let tail_width = u16::try_from(columns(&tail)).unwrap_or(0);
    let room = end.saturating_sub(x + tail_width + 1);
    canvas.text_in(x, y, room, &row.name, if selected { STRONG } else { PLAIN });
    canvas.text_before(end, y, &tail, FAINT);
    if selected {
        canvas.paint(Rect::new(area.x, y, area.width, 1), SELECTED);
    }
}

/// Returns the width of the names of agents: that of the longest one, within limits.
fn agent_width(state: &State) -> u16 {
    let names = state.finder.agents.iter().map(|it| columns(it));
    u16::try_from(names.max().unwrap_or(0).clamp(8, 10)).unwrap_or(10)
}

/// Returns messages, cost and age, as far as there is room.
fn tail(state: &State, row: &Row, width: u16) -> String {
    let age = row.active.map_or(String::new(), |at| age(state, at));
    if width < 50 {
        return format!("{age:>4}");
    }
    let messages = row
        .messages
        .map_or(String::new(), |count| number(count as usize));
    let cost = row.cost.map_or(String::new(), dollars);
    format!("{messages:>6} {cost:>7} {age:>5}")
}

/// Returns a short age: `now`, `5m`, `3h`, `2d`, else the date without the year of now.
fn age(state: &State, at: boswell_model::Instant) -> String {
    let text = time::ago(at, state.now, &state.look.zone);
    let text = text.strip_suffix(" ago").unwrap_or(&text).to_owned();
    let this_year = state.look.zone.day(state.now).get(..5).map(str::to_owned);
    match this_year.and_then(|year| text.strip_prefix(&year).map(str::to_owned)) {
        Some(short) => short,
        None => text.get(..7).unwrap_or(&text).to_owned(),
    }
}

fn snippet(state: &State, canvas: &mut Canvas<'_, '_>, (area, y): (Rect, u16), at: usize) {
    let finder = &state.finder;
    let hit = finder.shown.get(at).and_then(|it| it.hit);
    let Some(hit) = hit.and_then(|hit| finder.found.hits.get(hit)) else {
        return;
    };
    let mut x = area.x + 5;
    if area.width >= 60 {
        canvas.text_in(x, y, 9, hit.field, FAINT);
        x += 10;
    }
    let end = area.x + area.width;
    for (text, is_match) in &hit.snippet {
        let style = if *is_match { MATCH } else { FAINT };
        x = canvas.text_in(x, y, end.saturating_sub(x), text, style);
    }
}

/// Draws why the list is empty.
fn nothing(state: &State, canvas: &mut Canvas<'_, '_>, area: Rect) {
    let (finder, look) = (&state.finder, &state.look);
    let lines = if let Some(error) = &finder.error {
        vec![error.clone()]
    } else if finder.rows.is_empty() && !finder.looked_at.is_empty() {
        no_sessions(state)
    } else if finder.refreshed.is_none() && finder.rows.is_empty() {
        vec![look.say(words::READING).to_owned()]
    } else if finder.answered == finder.generation {
        no_hits(state)
    } else {
        Vec::new()
    };
    let width = usize::from(area.width).saturating_sub(4);
    let wrapped = lines.iter().flat_map(|it| transcript::wrap(it, width));
    for (y, line) in (area.top()..area.bottom()).zip(wrapped) {
        canvas.text_in(area.x + 2, y, area.width.saturating_sub(2), &line, PLAIN);
    }
}

/// Returns the folders that were examined without finding a session.
fn no_sessions(state: &State) -> Vec<String> {
    let look = &state.look;
    let mut lines = vec![look.say(words::NOTHING_FOUND).to_owned()];
    for (dialect, root, exists) in &state.finder.looked_at {
        let why = if *exists {
            words::FOLDER_EMPTY
        } else {
            words::FOLDER_MISSING
        };
        let (folder, why) = (look.folder(root), look.say(why));
        lines.push(format!("  {dialect:<10} {folder} ({why})"));
    }
    lines.push(look.say(words::TRY_DEMO).to_owned());
    lines
}

/// Returns that nothing matches, and what could be tried instead.
fn no_hits(state: &State) -> Vec<String> {
    let (finder, look) = (&state.finder, &state.look);
    let mut lines = vec![look.say(words::NO_HIT).to_owned()];
    for (word, near) in &finder.found.nearest {
        let values = [&*one_line(word), &*one_line(near)];
        lines.push(fill(look.say(words::SIMILAR), &values));
    }
    if finder.line.text().split_whitespace().count() > 1 && finder.found.nearest.is_empty() {
        lines.push(look.say(words::ONE_ENTRY).to_owned());
    }
    if finder.wanted.scope != Scope::Everywhere {
        lines.push(look.say(words::WIDEN).to_owned());
    }
    lines
}

/// Returns project, branch and state of a session in one line.
fn about(state: &State, row: &Row) -> String {
    let look = &state.look;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(row.project.as_deref().map(|it| look.folder(it)));
    parts.extend(row.branch.clone());
    if let Some(pids) = state
        .finder
        .live
        .get(&row.session)
        .filter(|it| !it.is_empty())
    {
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        parts.push(fill(look.say(words::LIVE), &[&pids.join(", ")]));
    }
    let marks = [
        (row.damaged, words::DAMAGED),
        (row.archived, words::ARCHIVED),
        (
            state.finder.lost_soon.contains(&row.session),
            words::LOST_SOON,
        ),
    ];
    parts.extend(
        marks
            .iter()
            .filter(|it| it.0)
            .map(|it| look.say(it.1).to_owned()),
    );
    parts.join(" · ")
}

fn preview(state: &State, canvas: &mut Canvas<'_, '_>, area: Rect, wide: bool) {
    let finder = &state.finder;
    let Some(row) = finder.row() else {
        return;
    };
    let mut y = area.y;
    if wide {
        let id = one_line(&row.session);
        canvas.text_in(area.x, y, area.width, &id, FAINT);
        canvas.text_in(area.x, y + 1, area.width, &about(state, row), USER);
        y += 3;
    } else {
        let text = format!(" {} ", about(state, row));
        canvas.text_in(1, area.y - 1, area.width.saturating_sub(2), &text, USER);
    }
    let inside = Rect::new(area.x, y, area.width, area.bottom().saturating_sub(y));
    let shown = finder.preview.as_ref();
    let shown = shown.filter(|it| it.session == row.session);
    let (text, style) = match shown.map(|it| (it, &it.blocks)) {
        Some((preview, Ok(blocks))) if !blocks.is_empty() => {
            return transcript_part(state, canvas, inside, (preview, blocks));
        }
        Some((_, Ok(_))) => (state.look.say(words::NO_ANSWER), FAINT),
        Some((_, Err(error))) => (error.as_str(), WARNING),
        None => (state.look.say(words::LOADING), FAINT),
    };
    canvas.text_in(area.x, y, area.width, text, style);
}

/// Draws the surroundings of a hit with its entry at the top, else the end of the session.
fn transcript_part(
    state: &State,
    canvas: &mut Canvas<'_, '_>,
    area: Rect,
    (preview, blocks): (&Preview, &[Block]),
) {
    let detail = Detail {
        language: state.look.language,
        ..Detail::default()
    };
    let width = usize::from(area.width).saturating_sub(1);
    let lines = transcript::lines(blocks, &detail, &Folds::default(), width);
    let height = usize::from(area.height);
    let entry = preview.entry.as_deref();
    let is_hit = |at: usize| blocks.get(at).and_then(|it| it.entry.as_deref()) == entry;
    let at_hit = entry.and_then(|_| lines.iter().position(|it| is_hit(it.block)));
    let last_page = lines.len().saturating_sub(height);
    let top = at_hit.map_or(last_page, |at| at.min(last_page));
    let top = top
        .saturating_add_signed(state.finder.preview_scroll)
        .min(last_page);
    let wanted = state.finder.line.text().split_whitespace().next();
    let wanted = wanted.filter(|it| !it.contains(':')).map(str::to_lowercase);
    for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(top)) {
        reader::line(canvas, (area.x, y, area.width), line, wanted.as_deref());
    }
}
