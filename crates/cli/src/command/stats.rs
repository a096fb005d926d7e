//! `stats`: what was said, done and paid for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::process::ExitCode;

use boswell_find::{By, CatalogRow, PRICES_AS_OF, Prices, Sum, WantedRows};
use boswell_model::json::{Json, number_text};
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::{Conversation, Resolved};
use clap::{Args, ValueEnum};

use super::filter_args::{Filter, FilterArgs, Side};
use super::list::short_path;
use crate::app::App;
use crate::notes_overlay::NotesOverlay;
use crate::output::Output;
use crate::session_index::{Create, IsMeant, SessionIndex, say_unkept};
use crate::terminal::{Style, cut, fit, one_line};
use crate::{error_report, json_shape};
use boswell_app::list::warn_about;

/// Count messages, turns, tool calls, tokens and cost
#[derive(Debug, Args)]
#[command(
    after_help = "Every API message counts once, in however many forks, copies and subagents it stands.

Examples:
  boswell stats --by day --since 7d
  boswell stats @last"
)]
pub(crate) struct StatsArgs {
    /// Only this session and its subagents
    session: Option<String>,
    /// What sums are made by
    #[arg(long, value_enum)]
    by: Option<ByArg>,
    #[command(flatten)]
    narrow: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByArg {
    Day,
    Project,
    Agent,
    Model,
}

impl ByArg {
    fn by(self) -> (By, &'static str) {
        match self {
            ByArg::Day => (By::Day, "day"),
            ByArg::Project => (By::Project, "project"),
            ByArg::Agent => (By::Agent, "agent"),
            ByArg::Model => (By::Model, "model"),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &StatsArgs) -> Result<ExitCode> {
    let wanted = boswell_app::sessions::filter::SessionFilter::from(&args.narrow);
    let filter = Filter::new(app, &wanted)?;
    let prices = prices(app)?;
    let only = args
        .session
        .as_deref()
        .map(|session| app.resolve(session))
        .transpose()?;
    let Some(mut session_index) = SessionIndex::open(app, Create::Yes)? else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the catalog was neither opened nor refused",
        ));
    };
    session_index.read(app, WantedRows::Whole, &|| true)?;
    let (by, word) = args.by.map_or((By::Total, "total"), ByArg::by);
    let tally = session_index.tally(app, by, &|session_index| match &only {
        Some(session) => Ok(one(app, session_index, session)),
        None if filter.takes_everything() => Ok(Box::new(|_: &[usize]| true)),
        None => narrowed(app, session_index, &filter),
    })?;
    let mut out = Output::paged(app);
    let sums = tally.sums(&prices);
    match args.by {
        Some(_) => table(app, word, &sums, &prices, &mut out)?,
        None => whole(sums.get("").unwrap_or(&Sum::default()), &prices, &mut out)?,
    }
    out.finish()?;
    let unpriced: BTreeSet<&String> = sums.values().flat_map(|sum| &sum.unpriced).collect();
    if !app.quiet && !app.json && !unpriced.is_empty() {
        let models: Vec<_> = unpriced.into_iter().map(|model| one_line(model)).collect();
        error_report::say(&format!(
            "the cost leaves out {}: no price is known",
            models.join(", ")
        ));
    }
    say_unkept(app, session_index.unkept.as_ref());
    warn_about(app, session_index.rest());
    Ok(ExitCode::SUCCESS)
}

/// The conversation of a session, and its subagents.
fn one(app: &App, session_index: &SessionIndex, session: &Resolved) -> IsMeant<'static> {
    let (dialect, own) = (session.store.dialect().name(), &session.location);
    let is_side = |entry: &CatalogRow| {
        let location = &entry.location;
        let is_meant = (location.key == own.key && location.id == own.id)
            || location.owner.as_deref() == Some(&own.id);
        is_meant
            && app
                .stores
                .get(entry.store)
                .is_some_and(|store| store.dialect().name() == dialect)
    };
    let entries = session_index.entries.iter().enumerate();
    let places: HashSet<usize> = entries
        .filter(|(_, entry)| is_side(entry))
        .map(|(place, _)| place)
        .collect();
    Box::new(move |sides| sides.iter().any(|side| places.contains(side)))
}

/// The conversations that are asked for.
fn narrowed<'f>(
    app: &App,
    session_index: &mut SessionIndex,
    filter: &'f Filter<'f>,
) -> Result<IsMeant<'f>> {
    session_index.fill(app, WantedRows::Whole, &|| true)?;
    let noted = NotesOverlay::read(app)?;
    let mut sides: HashMap<usize, (bool, Option<Instant>)> = HashMap::new();
    session_index.each_summary(app, &mut |place, store, summary| {
        let mut alone = Conversation {
            front: (store, summary),
            linked: Vec::new(),
            dangling: Vec::new(),
        };
        app.add_status(&mut alone);
        noted.add_to(std::iter::once(&mut alone.front.1));
        sides.insert(
            place,
            (
                filter.takes_side(&Side::of(&alone.front.1)),
                alone.front.1.last_active(),
            ),
        );
    });
    Ok(Box::new(move |places| {
        let known = || places.iter().filter_map(|place| sides.get(place));
        known().any(|(takes, _)| *takes)
            && filter.takes_time(known().filter_map(|(_, at)| *at).max())
    }))
}

/// The prices of the table, and those that the user set.
fn prices(app: &App) -> Result<Prices> {
    let Some(set) = app.config.get("prices").and_then(toml::Value::as_table) else {
        return Ok(Prices::default());
    };
    let number = |value: &toml::Value| {
        value
            .as_float()
            .or_else(|| value.as_integer().map(|whole| whole as f64))
    };
    let model = |(name, parts): (&String, &toml::Value)| {
        let parts = parts.as_table().into_iter().flatten();
        (
            name.clone(),
            Json::Object(
                parts
                    .map(|(key, value)| (key.clone(), Json::from(number(value))))
                    .collect(),
            ),
        )
    };
    Prices::parse(&Json::Object(set.iter().map(model).collect()).to_bytes()).map_err(|error| {
        let why = error
            .reason()
            .unwrap_or("they are not as they should be")
            .to_owned();
        error.because(format!("among the settings under `prices` {why}"))
    })
}

fn shape_of(by: &str, key: Option<&str>, sum: &Sum, prices: &Prices) -> Json {
    let known = |count: u64| (by != "model").then_some(count);
    let kinds = sum
        .kinds
        .iter()
        .map(|(word, count)| (word.clone(), Json::from(*count)))
        .collect();
    Json::object()
        .with("v", 1)
        .with("type", "stat")
        .with("by", by)
        .with("key", key)
        .with("sessions", sum.sessions)
        .with("messages", known(sum.messages))
        .with("turns", known(sum.turns))
        .with("tool_calls", known(sum.tool_calls))
        .with("entries", known(sum.entries))
        .with("duration_ms", sum.duration_ms)
        .with(
            "kinds",
            if by == "model" {
                Json::Null
            } else {
                Json::Object(kinds)
            },
        )
        .with("tokens", json_shape::tokens(&sum.usage))
        .with("cost_usd", sum.usage.cost)
        .with("premium_requests", sum.usage.premium_requests)
        .with("unpriced_models", sum.unpriced.clone())
        .with("prices_as_of", PRICES_AS_OF)
        .with("prices_overridden", !prices.is_bundled())
        .with("complete", !sum.partial)
}

fn whole(sum: &Sum, prices: &Prices, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(&shape_of("total", None, sum, prices));
    }
    let mut row = |name: &str, value: String| out.line(&format!("{}  {value}", fit(name, 12)));
    row("sessions", grouped(sum.sessions))?;
    row("messages", grouped(sum.messages))?;
    row("turns", grouped(sum.turns))?;
    row("tool calls", grouped(sum.tool_calls))?;
    row("duration", sum.duration_ms.map_or_else(unknown, span))?;
    let usage = &sum.usage;
    let tokens = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache read", usage.cache_read),
        ("cache write", usage.cache_write),
        ("for an hour", usage.cache_write_1h),
        ("reasoning", usage.reasoning),
    ];
    // Few agents say for how long they wrote.
    for (name, count) in tokens
        .into_iter()
        .filter(|(name, count)| *name != "for an hour" || count.is_some())
    {
        row(
            name,
            count.map_or_else(unknown, |count| format!("{} tokens", grouped(count))),
        )?;
    }
    row("cost", cost(usage.cost))?;
    if let Some(requests) = usage.premium_requests {
        row(
            "premium",
            format!(
                "{} requests",
                number_text((requests * 100.0).round() / 100.0)
            ),
        )?;
    }
    row("records", grouped(sum.entries))?;
    for (word, count) in &sum.kinds {
        let word = if word.is_empty() { "(no type)" } else { word };
        out.line(&format!("  {:>9}  {}", grouped(*count), one_line(word)))?;
    }
    Ok(())
}

fn table(
    app: &App,
    by: &str,
    sums: &BTreeMap<String, Sum>,
    prices: &Prices,
    out: &mut Output,
) -> Result<()> {
    let mut rows: Vec<(&String, &Sum)> = sums.iter().collect();
    if by != "day" {
        let weight = |sum: &Sum| (sum.usage.output.unwrap_or(0), sum.sessions);
        rows.sort_by(|a, b| weight(b.1).cmp(&weight(a.1)).then_with(|| a.0.cmp(b.0)));
    }
    if out.json {
        for (key, sum) in rows {
            out.object(&shape_of(
                by,
                Some(key.as_str()).filter(|key| !key.is_empty()),
                sum,
                prices,
            ))?;
        }
        return Ok(());
    }
    let width = app.width.saturating_sub(68).clamp(12, 48);
    let heading = format!(
        "{}  {:>8}  {:>8}  {:>12}  {:>12}  {:>10}",
        fit(&by.to_uppercase(), width),
        "SESSIONS",
        "MESSAGES",
        "INPUT",
        "OUTPUT",
        "COST"
    );
    out.line(&out.paint(Style::Faint, &heading))?;
    for (key, sum) in rows {
        let name = match key.as_str() {
            "" => "(no folder recorded)".to_owned(),
            key if by == "project" => short_path(app, key),
            key => key.to_owned(),
        };
        let messages = if by == "model" {
            unknown()
        } else {
            grouped(sum.messages)
        };
        let input = [sum.usage.input, sum.usage.cache_read, sum.usage.cache_write];
        let input = input
            .iter()
            .any(Option::is_some)
            .then(|| input.into_iter().flatten().sum::<u64>());
        let line = format!(
            "{}  {:>8}  {messages:>8}  {:>12}  {:>12}  {:>10}",
            fit(&cut(&one_line(&name), width), width),
            grouped(sum.sessions),
            input.map_or_else(unknown, grouped),
            sum.usage.output.map_or_else(unknown, grouped),
            cost(sum.usage.cost),
        );
        out.line(line.trim_end())?;
    }
    Ok(())
}

fn unknown() -> String {
    "-".to_owned()
}

fn cost(dollars: Option<f64>) -> String {
    dollars.map_or_else(unknown, |dollars| format!("${dollars:.2}"))
}

fn span(millis: u64) -> String {
    let minutes = millis / 60_000;
    if minutes < 60 {
        format!("{minutes}m {}s", millis / 1000 % 60)
    } else {
        format!("{}h {}m", minutes / 60, minutes % 60)
    }
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_without_parsing_the_rest() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(cost(None), "-");
        assert_eq!(span(3_725_000), "1h 2m");
    }
}
