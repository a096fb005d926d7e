//! `stats`: statistics of messages, tool calls, tokens and cost.
//!
//! Durations are printed in short form, tokens whole with separators.

use std::collections::BTreeSet;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::list::SessionFilter;
use boswell_app::shape::Shape as _;
use boswell_app::stats::{By, StatShape, StatsRequest};
use boswell_model::Result;
use boswell_model::json::number_text;
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, cut, fit, one_line};
use crate::words::short_path;

/// Count messages, tool calls, tokens and cost
#[derive(Debug, Args)]
#[command(
    after_help = "A message counts once, even if forks, copies and subagents repeat it.

Examples:
  boswell stats --by day --since 7d
  boswell stats @last"
)]
pub(crate) struct StatsArgs {
    /// Only this session and its subagents
    session: Option<String>,
    /// Group by day, project, agent or model
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

impl From<ByArg> for By {
    fn from(arg: ByArg) -> By {
        match arg {
            ByArg::Day => By::Day,
            ByArg::Project => By::Project,
            ByArg::Agent => By::Agent,
            ByArg::Model => By::Model,
        }
    }
}

impl From<&StatsArgs> for StatsRequest {
    fn from(args: &StatsArgs) -> StatsRequest {
        StatsRequest {
            session: args.session.clone(),
            by: args.by.map_or(By::Total, By::from),
            filter: SessionFilter::from(&args.narrow),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &StatsArgs) -> Result<ExitCode> {
    let sums = app.shown(app.requests.stats(&args.into(), &Cancel::new()))?;
    let mut out = Output::paged(app);
    if out.json {
        for sum in sums {
            out.object(&sum.object())?;
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    match args.by {
        Some(by) => table(app, by, &sums, &mut out)?,
        None => sums.iter().try_for_each(|sum| whole(sum, &mut out))?,
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

fn table(app: &App, by: ByArg, sums: &[StatShape], out: &mut Output) -> Result<()> {
    let width = app.width.saturating_sub(68).clamp(12, 48);
    let by_what = match by {
        ByArg::Day => "DAY",
        ByArg::Project => "PROJECT",
        ByArg::Agent => "AGENT",
        ByArg::Model => "MODEL",
    };
    let heading = format!(
        "{}  {:>8}  {:>8}  {:>12}  {:>12}  {:>10}",
        fit(by_what, width),
        "SESSIONS",
        "MESSAGES",
        "INPUT",
        "OUTPUT",
        "COST"
    );
    out.line(&out.paint(Style::Faint, &heading))?;
    for sum in sums {
        let name = match sum.key.as_deref() {
            None => "(no folder recorded)".to_owned(),
            Some(key) if by == ByArg::Project => short_path(app, key),
            Some(key) => key.to_owned(),
        };
        let tokens = &sum.tokens;
        let input = [tokens.input, tokens.cache_read, tokens.cache_write];
        let input = input
            .iter()
            .any(Option::is_some)
            .then(|| input.into_iter().flatten().sum::<u64>());
        let line = format!(
            "{}  {:>8}  {:>8}  {:>12}  {:>12}  {:>10}",
            fit(&cut(&one_line(&name), width), width),
            grouped(sum.sessions),
            sum.messages.map_or_else(unknown, grouped),
            input.map_or_else(unknown, grouped),
            tokens.output.map_or_else(unknown, grouped),
            cost(sum.cost_usd),
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
