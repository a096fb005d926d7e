//! `stats`: statistics of messages, tool calls, tokens and cost.
//!
//! Durations are printed in short form, tokens whole with separators.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::hosts::HostTotalsRequest;
use boswell_app::shape::{Maybe, Shape as _};
use boswell_app::stats::{By, StatShape, Statistics, StatsRequest};
use boswell_model::json::number_text;
use boswell_model::{Error, ErrorKind, Result};
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use super::host_args::{HostArgs, words_there};
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{fit, one_line};
use crate::words::short_path;
use crate::words::table::{self, Column, Cut};

/// Count messages, tool calls, tokens and cost
#[derive(Debug, Args)]
#[command(
    after_help = "A message counts once, even if forks, copies and subagents repeat it.

Examples:
  boswell stats --by day --since 7d
  boswell stats --by month,model        per month, and in it per model
  boswell stats @last"
)]
pub(crate) struct StatsArgs {
    /// Only this session and its subagents
    session: Option<String>,
    /// Group by this, or by two of them with a comma: project,model
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEY[,KEY]")]
    by: Vec<ByArg>,
    #[command(flatten)]
    narrow: FilterArgs,
    #[command(flatten)]
    host: HostArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByArg {
    Day,
    Week,
    Month,
    Project,
    Agent,
    Model,
    Session,
    /// One row per machine; without --host all hosts of the settings
    Host,
}

impl ByArg {
    fn heading(self) -> &'static str {
        match self {
            ByArg::Day => "DAY",
            ByArg::Week => "WEEK",
            ByArg::Month => "MONTH",
            ByArg::Project => "PROJECT",
            ByArg::Agent => "AGENT",
            ByArg::Model => "MODEL",
            ByArg::Session => "SESSION",
            ByArg::Host => "HOST",
        }
    }
}

impl From<ByArg> for By {
    fn from(arg: ByArg) -> By {
        match arg {
            ByArg::Day => By::Day,
            ByArg::Week => By::Week,
            ByArg::Month => By::Month,
            ByArg::Session => By::Session,
            ByArg::Project => By::Project,
            ByArg::Agent => By::Agent,
            ByArg::Model => By::Model,
            // Machines are asked for their totals.
            ByArg::Host => By::Total,
        }
    }
}

impl StatsArgs {
    /// Where it is to run; `None` if the answers of machines are joined.
    pub(crate) fn elsewhere(&self) -> Option<Elsewhere<'_>> {
        let asked = Elsewhere::about(&self.host, self.session.as_deref());
        (!self.by.contains(&ByArg::Host)).then_some(asked)
    }

    /// Returns the totals of machines.
    fn totals(&self, app: &App, line: &[OsString]) -> Result<Statistics> {
        let all = ["all".to_owned()];
        let hosts = match self.host.hosts.as_slice() {
            [] => all.as_slice(),
            named => named,
        };
        let request = HostTotalsRequest {
            stats: self.request(app),
            machines: app.requests.host_selection(hosts)?,
            words: without_by(words_there(line, None)),
        };
        app.shown(app.requests.host_totals(&request))
    }

    fn request(&self, app: &App) -> StatsRequest {
        StatsRequest {
            session: self.session.clone(),
            by: self.by.first().map_or(By::Total, |by| (*by).into()),
            then: self.by.get(1).map(|by| (*by).into()),
            filter: self.narrow.filter(app),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &StatsArgs, line: &[OsString]) -> Result<ExitCode> {
    if args.by.len() > 2 {
        return Err(Error::new(ErrorKind::Invalid, "sums have at most two keys")
            .advising("write two of them, as in `--by month,model`"));
    }
    let by_host = args.by.contains(&ByArg::Host);
    if by_host && (args.by.len() > 1 || args.session.is_some()) {
        return Err(Error::new(
            ErrorKind::Invalid,
            "sums by host have no other key, and are of all sessions",
        )
        .advising("write `--by host` alone"));
    }
    let Statistics { sums, total } = match by_host {
        true => args.totals(app, line)?,
        false => app.shown(app.requests.stats(&args.request(app), &Cancel::new()))?,
    };
    let mut out = Output::paged(app);
    if out.json {
        for sum in sums {
            out.object(&sum.object())?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    match args.by.as_slice() {
        [] => whole(&total, &mut out)?,
        by => table(app, by, (&sums, &total), &mut out)?,
    }
    out.finish()?;
    let unpriced: BTreeSet<&String> = sums.iter().flat_map(|sum| &sum.unpriced_models).collect();
    if !app.quiet && !unpriced.is_empty() {
        let models: Vec<_> = unpriced.into_iter().map(|model| one_line(model)).collect();
        error_report::say(&format!(
            "cost is without {}: no price is known",
            models.join(", ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The words of the command without its grouping: a host is asked for its total.
fn without_by(words: Vec<String>) -> Vec<String> {
    let mut words = words.into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--by" => drop(words.next()),
            other if other.starts_with("--by=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

fn whole(sum: &StatShape, out: &mut Output) -> Result<()> {
    let mut row = |name: &str, value: String| out.line(&format!("{}  {value}", fit(name, 12)));
    let count = |count: Option<u64>| count.map_or_else(unknown, grouped);
    row("sessions", grouped(sum.sessions))?;
    row("messages", count(sum.messages))?;
    row("turns", count(sum.turns))?;
    row("tool calls", count(sum.tool_calls))?;
    row("duration", sum.duration_ms.map_or_else(unknown, span))?;
    let usage = &sum.tokens;
    let tokens = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache read", usage.cache_read),
        ("cache write", usage.cache_write),
        ("1-hour cache", usage.cache_write_1h),
        ("reasoning", usage.reasoning),
    ];
    for (name, count) in tokens {
        // Few agents record for how long they wrote.
        if name == "1-hour cache" && count.is_none() {
            continue;
        }
        let text = count.map_or_else(unknown, |count| format!("{} tokens", grouped(count)));
        row(name, text)?;
    }
    row("cost", cost(sum.cost_usd))?;
    if let Some(requests) = sum.premium_requests {
        let requests = number_text((requests * 100.0).round() / 100.0);
        row("premium", format!("{requests} requests"))?;
    }
    row("records", count(sum.entries))?;
    match &sum.kinds {
        Some(kinds) => records_by_kind(&kinds.0, out),
        None => Ok(()),
    }
}

fn records_by_kind(kinds: &[(String, u64)], out: &mut Output) -> Result<()> {
    for (word, count) in kinds {
        let word = if word.is_empty() { "(no type)" } else { word };
        out.line(&format!("  {:>9}  {}", grouped(*count), one_line(word)))?;
    }
    Ok(())
}

fn table(
    app: &App,
    by: &[ByArg],
    (sums, total): (&[StatShape], &StatShape),
    out: &mut Output,
) -> Result<()> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last = None;
    for sum in sums {
        let then = match &sum.then_key {
            Maybe::Given(key) => key.as_deref(),
            Maybe::Absent => None,
        };
        // A key that several rows share is printed once.
        let name = match last == Some(&sum.key) {
            true => String::new(),
            false => key(app, by.first(), sum.key.as_deref()),
        };
        last = Some(&sum.key).filter(|_| by.len() > 1);
        let mut row = vec![name];
        row.extend(by.get(1).map(|by| key(app, Some(by), then)));
        row.extend(numbers(sum));
        rows.push(row);
    }
    let mut row = vec!["total".to_owned()];
    row.extend(by.get(1).map(|_| String::new()));
    row.extend(numbers(total));
    rows.push(row);
    table::print(&columns(by), &rows, app.width, out)
}

/// A column for each key, and those of the numbers.
fn columns(by: &[ByArg]) -> Vec<Column> {
    let cut = |by: &ByArg| match by {
        ByArg::Project => Cut::Left(12),
        ByArg::Session => Cut::Right(12),
        _ => Cut::Never,
    };
    let keys = by.iter().map(|by| Column::text(by.heading(), cut(by), 10));
    let numbers = [
        Column::number("SESSIONS", 4),
        Column::number("MESSAGES", 2),
        Column::number("INPUT", 6),
        Column::number("OUTPUT", 7),
        Column::number("CACHE", 3),
        Column::number("COST", 9),
    ];
    keys.chain(numbers).collect()
}

fn key(app: &App, by: Option<&ByArg>, key: Option<&str>) -> String {
    one_line(&match (key, by) {
        (None, _) => "(no folder recorded)".to_owned(),
        (Some(key), Some(ByArg::Project)) => short_path(app, key),
        (Some(key), _) => key.to_owned(),
    })
}

/// Input is what was not in the cache, here as in the view of one sum and in JSON.
fn numbers(sum: &StatShape) -> [String; 6] {
    let tokens = &sum.tokens;
    let cache = [tokens.cache_read, tokens.cache_write];
    let known = cache.iter().any(Option::is_some);
    let cache = known.then(|| cache.into_iter().flatten().sum::<u64>());
    let number = |number: Option<u64>| number.map_or_else(unknown, grouped);
    [
        grouped(sum.sessions),
        number(sum.messages),
        number(tokens.input),
        number(tokens.output),
        number(cache),
        cost(sum.cost_usd),
    ]
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
