//! Costs: a bar for each day, project, model or agent.

use boswell_app::text::{columns, fit};

use crate::ask::{Grouping, Stat};
use crate::layout;
use crate::state::{CostSpan, State};
use crate::view::canvas::Canvas;
use crate::view::finder::number;
use crate::view::{FAINT, GOOD, PLAIN, STRONG, WARNING, dollars, header};
use crate::words::{self, fill};

/// Draws the costs.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let look = &state.look;
    let title = title(state);
    let area = layout::body(state.size);
    let stats = match &state.costs.stats {
        Some(Ok(stats)) => stats,
        Some(Err(error)) => {
            header(state, canvas, &title, "");
            canvas.text(1, area.y, error, WARNING);
            return;
        }
        None => {
            header(state, canvas, &title, "");
            canvas.text(1, area.y, look.say(words::LOADING), FAINT);
            return;
        }
    };
    let as_of = stats
        .first()
        .map(|it| fill(look.say(words::PRICES_AS_OF), &[&it.prices_as_of]));
    header(state, canvas, &title, &as_of.unwrap_or_default());
    if stats.is_empty() {
        let word = match state.costs.span {
            CostSpan::All => words::NO_ANSWER,
            CostSpan::Week | CostSpan::Month => words::NOTHING_IN_SPAN,
        };
        canvas.text(1, area.y, look.say(word), FAINT);
        return;
    }
    let total = Total::of(stats);
    let text = format!(
        "{}  {}",
        look.say(words::TOTAL),
        amount(state, total.cost, total.unpriced)
    );
    canvas.text(1, area.y, &text, STRONG);
    let last = (stats.len() + 1).saturating_sub(usize::from(area.height));
    let shown = stats.iter().skip(state.costs.top.min(last));
    for (y, stat) in (area.y + 1..area.bottom()).zip(shown) {
        row(state, canvas, y, stat, total.highest);
    }
}

/// Returns what is counted, and over what time.
fn title(state: &State) -> String {
    let look = &state.look;
    let by = match state.costs.by {
        Grouping::Day => words::BY_DAY,
        Grouping::Project => words::BY_PROJECT,
        Grouping::Model => words::BY_MODEL,
        Grouping::Agent => words::BY_AGENT,
    };
    let span = match state.costs.span {
        CostSpan::Week => words::LAST_WEEK,
        CostSpan::Month => words::LAST_MONTH,
        CostSpan::All => words::ALL_TIME,
    };
    format!(
        "‹ {} · {} · {}",
        look.say(words::COSTS),
        look.say(by),
        look.say(span)
    )
}

struct Total {
    cost: Option<f64>,
    highest: f64,
    unpriced: bool,
}

impl Total {
    fn of(stats: &[Stat]) -> Total {
        let costs = || stats.iter().filter_map(|it| it.cost);
        Total {
            cost: (costs().count() > 0).then(|| costs().sum()),
            highest: costs().fold(0.0, f64::max),
            unpriced: stats.iter().any(|it| it.unpriced),
        }
    }
}

/// Returns a cost. One that is not known is said to be so, and one that lacks a model is marked.
fn amount(state: &State, cost: Option<f64>, unpriced: bool) -> String {
    let missing = state.look.say(words::NO_PRICE);
    match (cost, unpriced) {
        (Some(cost), false) => dollars(cost),
        (Some(cost), true) => format!("{} + {missing}", dollars(cost)),
        (None, _) => missing.to_owned(),
    }
}

fn row(state: &State, canvas: &mut Canvas<'_, '_>, y: u16, stat: &Stat, highest: f64) {
    let width = usize::from(state.size.0);
    let key_width = (width / 3).clamp(10, 40);
    let key = match state.costs.by {
        Grouping::Project => state.look.folder(&stat.key),
        _ => stat.key.clone(),
    };
    canvas.text(1, y, &fit(&end_of(&key, key_width), key_width), PLAIN);
    let text = amount(state, stat.cost, stat.unpriced);
    let messages = stat
        .messages
        .map_or(String::new(), |it| number(it as usize));
    let start = key_width as u16 + 3;
    canvas.text(start, y, &format!("{text:>10} {messages:>8}"), PLAIN);
    let room = width.saturating_sub(key_width + 24);
    if let Some(cost) = stat.cost.filter(|_| highest > 0.0) {
        let bar = ((cost / highest) * room as f64).round() as usize;
        canvas.text(start + 20, y, &"█".repeat(bar.min(room)), GOOD);
    }
}

/// Returns the end of a long key: that of a path identifies it.
fn end_of(key: &str, width: usize) -> String {
    if columns(key) <= width {
        return key.to_owned();
    }
    let mut rest = key;
    while columns(rest) + 1 > width {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    format!("…{rest}")
}
