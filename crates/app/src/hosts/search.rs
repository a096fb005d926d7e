//! Searches of several machines: each searches its own sessions, and the answers are joined.

use std::ops::Range;

use boswell_model::json::{Json, Raw};
use boswell_model::{Error, Instant, Result};

use super::lines::{LineCutter, succeeded, with_host};
use super::list::{at_once, taken};
use super::row::{HostRow, ranges};
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::list::ListRequest;
use crate::search::{self, Found, Order, QueryForm, SearchRequest};
use crate::{App, AppResult, Cancel, RequestContext};

/// A longer line is no hit.
const LONGEST: usize = 1 << 20;
/// More hits of a host are not read.
const MOST: usize = 10_000;

/// A search of several machines.
#[derive(Debug, Clone, Default)]
pub struct HostsSearchRequest {
    /// What is searched for.
    pub search: SearchRequest,
    /// Whether this machine is searched too.
    pub here: bool,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// The search as arguments of boswell, for the hosts.
    pub words: Vec<String>,
}

/// A match in a session of a host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostHit {
    /// Name of the host.
    pub host: String,
    /// The session there.
    pub session: String,
    /// The entry.
    pub entry: Option<String>,
    /// Part of the entry.
    pub field: String,
    /// When it was written.
    pub at: Option<Instant>,
    /// The text around the match.
    pub snippet: String,
    /// Byte ranges of the snippet that match.
    pub ranges: Vec<Range<usize>>,
    /// Name of the session.
    pub name: String,
    /// Project folder there.
    pub project: Option<String>,
    /// Its line of JSON, with the name of the host.
    pub line: Vec<u8>,
}

/// What was found.
#[derive(Debug)]
pub struct FoundThere {
    /// Hits of this machine, if it was searched.
    pub here: Option<Found>,
    /// Hits of each host, in its order.
    pub there: Vec<Vec<HostHit>>,
    /// Whether every host answered.
    pub complete: bool,
    /// When it was asked for.
    pub as_of: Instant,
}

impl App {
    /// Searches several machines at the same time.
    ///
    /// A host that does not answer is a warning; what is mirrored of it is searched by names.
    ///
    /// # Errors
    ///
    /// As [`App::search`]; the error of a host if no machine answered and nothing was found.
    pub fn search_hosts(
        &self,
        request: &HostsSearchRequest,
        cancel: &Cancel,
    ) -> AppResult<FoundThere> {
        self.answer_with(cancel.clone(), |cx| search_hosts(cx, request))
    }
}

fn search_hosts(cx: &RequestContext, request: &HostsSearchRequest) -> Result<FoundThere> {
    let (here, asked) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| at_once(&request.hosts, |host| hits_of(host, &request.words)));
        let here = request.here.then(|| search::search(cx, &request.search));
        (here, asked.join())
    });
    let here = here.transpose()?;
    let mut found = FoundThere {
        here,
        there: Vec::new(),
        complete: true,
        as_of: cx.now,
    };
    let mut failed = Vec::new();
    for (host, hits) in asked.unwrap_or_default() {
        match hits {
            Ok(hits) => found.there.push(hits),
            Err(error) => {
                failed.push(error);
                found.there.push(mirrored(cx, host, request)?);
            }
        }
    }
    found.complete = failed.is_empty();
    let is_silent = found.here.is_none() && failed.len() == request.hosts.len();
    if is_silent && found.there.iter().all(Vec::is_empty) && !failed.is_empty() {
        return Err(failed.remove(0));
    }
    failed.into_iter().for_each(|error: Error| cx.warn(error));
    Ok(found)
}

/// Searches a host.
fn hits_of(host: &Host, words: &[String]) -> Result<Vec<HostHit>> {
    let words: Vec<String> = std::iter::once("--json".to_owned())
        .chain(words.iter().cloned())
        .collect();
    let call = Call {
        words: &words,
        columns: None,
        limits: Limits::SEARCH,
    };
    let mut cutter = LineCutter::new(host).up_to(LONGEST);
    let mut hits = Vec::new();
    let ended = ssh::run(host, &call, &mut |piece| {
        cutter.add(piece, &mut |line| {
            let line = with_host(line, &host.name);
            hits.extend(line.and_then(|line| HostHit::parse(line, &host.name)));
            Ok(hits.len() < MOST)
        })
    })?;
    // 1: nothing was found.
    succeeded(host, &ended, &[0, 1])?;
    Ok(hits)
}

/// Finds sessions whose names have all words, in what is mirrored of a host that does not answer.
fn mirrored(
    cx: &RequestContext,
    host: &Host,
    request: &HostsSearchRequest,
) -> Result<Vec<HostHit>> {
    let search = &request.search;
    let query = search.query.to_lowercase();
    let is_plain = search.form == QueryForm::Words && search.fields.is_empty();
    let is_word = |word: &str| !word.contains([':', '"', '*', '!']);
    if !is_plain || !query.split_whitespace().all(is_word) {
        return Ok(Vec::new());
    }
    let Some(mirror) = cx.mirror(host) else {
        return Ok(Vec::new());
    };
    let list = ListRequest {
        filter: search.filter.clone(),
        ..ListRequest::default()
    };
    let rows = taken(cx, &list, mirror.rows)?.into_iter();
    let rows = rows.filter(|row| query.split_whitespace().all(|word| row.has_text(word)));
    Ok(rows.take(search.limit).map(HostHit::of_row).collect())
}

impl HostHit {
    fn parse(line: Vec<u8>, host: &str) -> Option<HostHit> {
        let object = Raw::parse(&line).ok()?;
        if !object.get("type")?.is("hit") {
            return None;
        }
        let text = |key: &str| Some(object.get(key)?.text()?.into_owned());
        let snippet = text("snippet")?;
        Some(HostHit {
            host: host.to_owned(),
            session: text("session")?,
            entry: text("entry"),
            field: text("field")?,
            at: text("at").and_then(|at| Instant::parse(&at)),
            ranges: ranges(object.get("ranges"), &snippet),
            snippet,
            name: text("name")?,
            project: text("project"),
            line,
        })
    }

    /// The hit of a session that was found by its name.
    fn of_row(row: HostRow) -> HostHit {
        let session = row.reference.to_string();
        let line = Json::object()
            .with("v", 1)
            .with("type", "hit")
            .with("session", session.as_str())
            .with("entry", Json::Null)
            .with("line", Json::Null)
            .with("kind", "session")
            .with("role", Json::Null)
            .with("field", "titles")
            .with("at", row.last_active.map(Instant::to_rfc3339))
            .with("snippet", row.name.as_str())
            .with("ranges", Json::Array(Vec::new()))
            .with("score", 0.0)
            .with("agent", row.agent.unwrap_or_else(|| row.agents.clone()))
            .with("project", row.project.clone())
            .with("name", row.name.as_str())
            .with("host", row.host.as_str());
        HostHit {
            host: row.host,
            session,
            entry: None,
            field: "titles".to_owned(),
            at: row.last_active,
            snippet: row.name.clone(),
            ranges: Vec::new(),
            name: row.name,
            project: row.project,
            line: line.to_bytes(),
        }
    }

    /// Returns the session as other requests name it.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.host, self.session)
    }
}

impl FoundThere {
    /// Joins answers of several machines: the newest first, or the best of each, then the second of
    /// each, because machines do not know each other's scores.
    pub fn joined<T>(
        lists: Vec<Vec<T>>,
        order: Order,
        at: impl Fn(&T) -> Option<Instant>,
    ) -> Vec<T> {
        let mut placed: Vec<(usize, T)> = Vec::new();
        for list in lists {
            placed.extend(list.into_iter().enumerate());
        }
        match order {
            Order::Newest => placed.sort_by_key(|(_, it)| std::cmp::Reverse(at(it))),
            _ => placed.sort_by_key(|(place, _)| *place),
        }
        placed.into_iter().map(|(_, it)| it).collect()
    }
}
