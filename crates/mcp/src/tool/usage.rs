//! `usage_stats`: sessions, messages, tokens and cost.

use boswell_app::stats::{By, GROUPINGS, StatShape, StatsRequest};

use super::{ToolContext, ToolResult, asked, fit_lines};
use crate::arguments::Arguments;
use crate::frame::FramedText;

/// Tokens of the table.
const BUDGET: usize = 900;

pub(super) fn usage_stats(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["by", "project", "agent", "since", "until"])?;
    let word = arguments.word("by", &GROUPINGS.map(|(word, _)| word))?;
    let by = GROUPINGS.iter().find(|(it, _)| *it == word);
    let request = StatsRequest {
        session: None,
        by: by.map_or(By::Total, |(_, by)| *by),
        then: None,
        filter: cx.scope.filter(arguments)?,
    };
    let statistics = asked(cx.scope.app.stats(&request, cx.cancel))?;
    let mut answer = cx.answer();
    answer.plain("columns: key, sessions, messages, input, output, cost in USD (? if unknown)");
    let mut lines: Vec<String> = Vec::new();
    if word != "total" {
        let asking = cx.scope.asking();
        let is_asking = |sum: &&StatShape| (sum.key.as_ref()).is_some_and(|it| asking.contains(it));
        let sums = statistics.sums.iter().filter(|sum| !is_asking(sum));
        lines.extend(sums.map(|sum| row(sum, &answer)));
    }
    // Days are in order of time, so that the newest are the last ones; the others by cost.
    let first = if is_time(request.by) { 0 } else { lines.len() };
    let mut fitted = fit_lines(&lines, BUDGET, first);
    fitted.push(row(&statistics.total, &answer));
    answer.quote("usage", fitted.join("\n"));
    if !statistics.total.complete {
        answer.plain("complete: false (some sessions were not read)");
    }
    Ok(answer.finish()?)
}

fn is_time(by: By) -> bool {
    matches!(by, By::Day | By::Week | By::Month)
}

fn row(sum: &StatShape, answer: &FramedText<'_>) -> String {
    let known = |number: Option<u64>| number.map_or("?".to_owned(), |it| it.to_string());
    let key = match (&sum.key, sum.by) {
        (Some(key), _) => answer.line(key),
        (None, "total") => "total".to_owned(),
        (None, _) => "none".to_owned(),
    };
    let cost = sum.cost_usd.map_or("?".to_owned(), |it| format!("{it:.2}"));
    format!(
        "{key} | {} | {} | {} | {} | {cost}",
        sum.sessions,
        known(sum.messages),
        known(sum.tokens.input),
        known(sum.tokens.output),
    )
}
