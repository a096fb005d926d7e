//! Totals of several machines, side by side.

use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result};

use super::asked::HostSelection;
use super::lines::{LineCutter, succeeded};
use super::list::at_once;
use super::row::texts_of;
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::shape::{Maybe, TokensShape};
use crate::stats::{StatShape, Statistics, StatsRequest};
use crate::{Answer, App, AppResult, Cancel, Notice, Refusal};

/// A longer line is no sum.
const LONGEST: usize = 1 << 20;
/// The name of this machine in sums.
const HERE: &str = "(here)";

/// A request for the totals of several machines.
#[derive(Debug, Clone, Default)]
pub struct HostTotalsRequest {
    /// What is counted; its grouping is ignored.
    pub stats: StatsRequest,
    /// The machines.
    pub machines: HostSelection,
    /// The request as arguments of boswell, for the hosts.
    pub words: Vec<String>,
}

impl App {
    /// Returns the total of each machine, this one first, and their sum. A host that does not
    /// answer is a warning.
    ///
    /// # Errors
    ///
    /// As [`App::stats`]; the error of a host if no machine answered.
    pub fn host_totals(&self, request: &HostTotalsRequest) -> AppResult<Statistics> {
        let own = StatsRequest {
            by: crate::stats::By::Total,
            then: None,
            ..request.stats.clone()
        };
        let mut sums = Vec::new();
        let mut notices = Vec::new();
        if request.machines.here {
            let answer = self.stats(&own, &Cancel::new())?;
            notices = answer.notices;
            sums.push(StatShape {
                by: "host",
                key: Some(HERE.to_owned()),
                ..answer.value.total
            });
        }
        let hosts = &request.machines.hosts;
        for (_, sum) in at_once(hosts, |host| total_of(host, &request.words)) {
            match sum {
                Ok(sum) => sums.push(sum),
                Err(error) => notices.push(Notice::Warning(error)),
            }
        }
        match sums.split_first() {
            Some((first, rest)) => Ok(Answer {
                value: Statistics {
                    total: rest.iter().fold(first.clone(), added),
                    sums,
                },
                notices,
            }),
            None => Err(silent(notices)),
        }
    }
}

/// The refusal if no machine answered: the last error.
fn silent(mut notices: Vec<Notice>) -> Refusal {
    match notices.pop() {
        Some(Notice::Warning(error)) => Refusal { error, notices },
        _ => Error::new(ErrorKind::Invalid, "no machine was asked").into(),
    }
}

/// The sum of two machines; what one does not know, the sum does not know.
fn added(total: StatShape, it: &StatShape) -> StatShape {
    let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    let known = |a: Option<u64>, b: Option<u64>| sum(a, b).or(a).or(b);
    let cost = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    let (a, b) = (&total.tokens, &it.tokens);
    StatShape {
        key: None,
        sessions: total.sessions.saturating_add(it.sessions),
        messages: sum(total.messages, it.messages),
        turns: sum(total.turns, it.turns),
        tool_calls: sum(total.tool_calls, it.tool_calls),
        entries: sum(total.entries, it.entries),
        duration_ms: known(total.duration_ms, it.duration_ms),
        kinds: None,
        tokens: TokensShape {
            input: known(a.input, b.input),
            output: known(a.output, b.output),
            cache_read: known(a.cache_read, b.cache_read),
            cache_write: known(a.cache_write, b.cache_write),
            cache_write_1h: known(a.cache_write_1h, b.cache_write_1h),
            reasoning: known(a.reasoning, b.reasoning),
        },
        cost_usd: cost(total.cost_usd, it.cost_usd),
        premium_requests: cost(total.premium_requests, it.premium_requests),
        complete: total.complete && it.complete,
        ..total
    }
}

fn total_of(host: &Host, words: &[String]) -> Result<StatShape> {
    let words: Vec<String> = std::iter::once("--json".to_owned())
        .chain(words.iter().cloned())
        .collect();
    let call = Call {
        words: &words,
        columns: None,
        limits: Limits::SHORT,
    };
    let mut cutter = LineCutter::new(host).up_to(LONGEST);
    let mut sum = None;
    let ended = ssh::run(host, &call, &mut |piece| {
        cutter.add(piece, &mut |line| {
            sum = sum.take().or_else(|| parse(line, &host.name));
            Ok(true)
        })
    })?;
    succeeded(host, &ended, &[0])?;
    sum.ok_or_else(|| {
        let what = format!("{} sent no sum", host.name);
        Error::new(ErrorKind::Unavailable, what)
            .advising(format!("update boswell on {}", host.name))
    })
}

/// Parses a line of type `stat`.
fn parse(line: &[u8], host: &str) -> Option<StatShape> {
    let object = Raw::parse(line.trim_ascii()).ok()?;
    if !object.get("type")?.is("stat") {
        return None;
    }
    let count = |key: &str| object.get(key)?.u64();
    let tokens = |key: &str| object.at(&["tokens", key])?.u64();
    let is = |key: &str| object.get(key).and_then(|it| it.bool()) == Some(true);
    Some(StatShape {
        by: "host",
        key: Some(host.to_owned()),
        then_by: Maybe::Absent,
        then_key: Maybe::Absent,
        sessions: count("sessions")?,
        messages: count("messages"),
        turns: count("turns"),
        tool_calls: count("tool_calls"),
        entries: count("entries"),
        duration_ms: count("duration_ms"),
        kinds: None,
        tokens: TokensShape {
            input: tokens("input"),
            output: tokens("output"),
            cache_read: tokens("cache_read"),
            cache_write: tokens("cache_write"),
            cache_write_1h: tokens("cache_write_1h"),
            reasoning: tokens("reasoning"),
        },
        cost_usd: object.get("cost_usd").and_then(|it| it.f64()),
        premium_requests: object.get("premium_requests").and_then(|it| it.f64()),
        unpriced_models: texts_of(object.get("unpriced_models")),
        prices_as_of: object.get("prices_as_of")?.text()?.into_owned(),
        prices_overridden: is("prices_overridden"),
        complete: is("complete"),
    })
}
