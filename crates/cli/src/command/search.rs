//! `search`: finds text in all sessions.

mod everywhere;

use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;
use std::process::ExitCode;
use std::time::Duration;

use boswell_app::Cancel;
use boswell_app::search::{
    Found, FoundConversation, HitShape, Order, QueryForm, SearchRequest, Suggestions,
};
use boswell_app::shape::Shape as _;
use boswell_app::system::Stopwatch;
use boswell_model::{Instant, Result, shell_option, shell_quote};
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use super::host_args::HostArgs;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, columns, cut, escape, one_line};
use crate::words::table::cut_left;
use crate::words::{as_called, count, short_path};

/// Search the text of all sessions
#[derive(Debug, Args)]
#[command(
    after_help = "All words must occur in one entry. A query may contain \"phrases\", prefix*, !not,
and the filters agent: project: role: tool: file: tag: model: since: until:

Examples:
  boswell search deadlock role:user since:30d    your prompts of the last month
  boswell search --in results --substring 'ebsocket reconn'"
)]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Search only prompts, answers, thinking, calls, results, titles, summaries, memory or context
    /// (several with commas)
    #[arg(long = "in", value_name = "WHERE", value_delimiter = ',')]
    fields: Vec<String>,
    /// Search for the query as one string, also inside words
    #[arg(long, conflicts_with = "regex")]
    substring: bool,
    /// Search for the query as a regular expression
    #[arg(long)]
    regex: bool,
    #[command(flatten)]
    narrow: FilterArgs,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SortArg::Relevance)]
    sort: SortArg,
    /// Show at most this many hits
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Continue after an earlier page: its `cursor`
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    host: HostArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortArg {
    /// Best match first
    Relevance,
    /// Newest first
    Newest,
}

impl SearchArgs {
    fn request(&self, app: &App) -> SearchRequest {
        SearchRequest {
            query: self.query.join(" "),
            form: match (self.substring, self.regex) {
                (true, _) => QueryForm::Substring,
                (_, true) => QueryForm::Regex,
                _ => QueryForm::Words,
            },
            fields: self.fields.clone(),
            filter: self.narrow.filter(app),
            order: match self.sort {
                SortArg::Relevance => Order::Relevance,
                SortArg::Newest => Order::Newest,
            },
            limit: self.limit,
            cursor: self.cursor.clone(),
            ..SearchRequest::default()
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SearchArgs, line: &[OsString]) -> Result<ExitCode> {
    let machines = app.requests.host_selection(&args.host.hosts)?;
    if !machines.is_here_only() {
        return everywhere::run(app, args, (machines, line));
    }
    let watch = Stopwatch::start();
    let mut found = app.shown(app.requests.search(&args.request(app), &Cancel::new()))?;
    let took = watch.elapsed();
    let is_empty = found.hits.is_empty();
    let mut out = Output::paged(app);
    if out.json {
        for hit in std::mem::take(&mut found.hits) {
            out.object(&hit.object())?;
        }
        out.object(&found.page.clone().object())?;
    } else {
        print(app, &found, took, &mut out)?;
    }
    out.finish()?;
    if !app.json && is_empty && !app.quiet {
        nothing(&found.nearest, args);
    }
    found.index_a_little();
    Ok(if is_empty {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// How many hits of a conversation are printed.
const SHOWN: usize = 4;

fn print(app: &App, found: &Found, took: Duration, out: &mut Output) -> Result<()> {
    let numbered = app.requests.remembers_lists();
    for (place, conversation) in found.conversations.iter().enumerate() {
        if place > 0 {
            out.line("")?;
        }
        let number = numbered.then_some(place + 1);
        print_conversation(app, found, (number, conversation), out)?;
    }
    if numbered {
        let sessions = found.conversations.iter();
        app.requests
            .remember_list(sessions.map(|it| it.session.as_str()));
    }
    if let Some(first) = found.hits.first() {
        out.line("")?;
        let took = app.terminal.then_some(took);
        let first = First::of(found, first, numbered);
        out.line(&out.paint(Style::Faint, &footer(found, &first, took)))?;
    }
    Ok(())
}

/// The heading of a conversation, and its first hits.
fn print_conversation(
    app: &App,
    found: &Found,
    (number, conversation): (Option<usize>, &FoundConversation),
    out: &mut Output,
) -> Result<()> {
    let mut seen = HashSet::new();
    let hits = conversation.hits.iter();
    let hits = hits.filter_map(|hit| found.hits.get(*hit));
    // Two stores may hold the same message of a conversation.
    let hits: Vec<&HitShape> = hits.filter(|hit| seen.insert(&hit.snippet)).collect();
    let Some(first) = hits.first() else {
        return Ok(());
    };
    let called = (first.name.as_str(), first.project.as_deref());
    out.line(&heading(app, (number, &conversation.session), called, out))?;
    for hit in hits.iter().take(SHOWN) {
        out.line(&line(app, &HitLine::from(*hit), out))?;
    }
    let more = hits.len().saturating_sub(SHOWN);
    if more > 0 {
        let more = format!("  and {}", count(more, "more hit", "more hits"));
        out.line(&out.paint(Style::Faint, &more))?;
    }
    Ok(())
}

fn heading(
    app: &App,
    (number, session): (Option<usize>, &str),
    (name, project): (&str, Option<&str>),
    out: &Output,
) -> String {
    let number = number.map_or_else(String::new, |number| format!("{number} "));
    let mut heading = Heading {
        session: one_line(session),
        name: one_line(name),
        project: project.map(|project| one_line(&short_path(app, project))),
    };
    heading.narrow(app.width, columns(&number));
    let mut parts = vec![out.paint(Style::Strong, &heading.session), heading.name];
    parts.extend(heading.project);
    let text = parts.join(&out.paint(Style::Faint, " · "));
    format!("{}{text}", out.paint(Style::Faint, &number))
}

/// The parts of a heading.
struct Heading {
    session: String,
    name: String,
    project: Option<String>,
}

impl Heading {
    /// The width of all parts.
    fn width(&self) -> usize {
        let project = self.project.as_ref();
        let project = project.map_or(0, |project| columns(project) + 3);
        columns(&self.session) + 3 + columns(&self.name) + project
    }

    /// On a narrow terminal first the folder goes, then the end of the id, then that of the name.
    fn narrow(&mut self, width: usize, taken: usize) {
        if taken + self.width() > width {
            let project = self.project.take();
            self.project = project.map(|project| cut_left(&project, width / 4));
        }
        if taken + self.width() > width {
            self.project = None;
        }
        if taken + self.width() > width {
            let id = self.session.find(':').map_or(0, |at| at + 1);
            self.session = self.session.chars().take(id + 8).collect();
            let others = taken + self.width() - columns(&self.name);
            self.name = cut(&self.name, width.saturating_sub(others).max(8));
        }
    }
}

/// What a line shows of a hit.
struct HitLine<'h> {
    entry: Option<&'h str>,
    field: &'h str,
    at: Option<Instant>,
    snippet: &'h str,
    ranges: &'h [Range<usize>],
}

impl<'h> From<&'h HitShape> for HitLine<'h> {
    fn from(hit: &'h HitShape) -> HitLine<'h> {
        HitLine {
            entry: hit.entry.as_deref(),
            field: hit.field,
            at: hit.at,
            snippet: &hit.snippet,
            ranges: &hit.ranges,
        }
    }
}

fn line(app: &App, hit: &HitLine<'_>, out: &Output) -> String {
    let place = hit
        .entry
        .map(|entry| cut(&one_line(entry), 13))
        .unwrap_or_default();
    let when = hit.at.map(|at| out.minute(at)).unwrap_or_default();
    let mut lead = format!("  {} {} {place}: ", when, hit.field);
    if columns(&lead) * 2 > app.width {
        lead = format!("  {}: ", hit.field);
    }
    let room = app.width.saturating_sub(columns(&lead)).max(20);
    let (snippet, ranges) = window(hit.snippet, hit.ranges, room);
    format!(
        "{}{}",
        out.paint(Style::Faint, &lead),
        marked(&snippet, &ranges, out)
    )
}

/// The part of a snippet around its first match that fits into so many columns.
fn window(snippet: &str, ranges: &[Range<usize>], room: usize) -> (String, Vec<Range<usize>>) {
    let Some(first) = ranges.first() else {
        return (cut(snippet, room), Vec::new());
    };
    // Whether it fits is decided on what will be printed.
    if columns(&flat(snippet)) <= room {
        return (snippet.to_owned(), ranges.to_vec());
    }
    // A third of the room for what comes before the match.
    let before = snippet.get(..first.start).unwrap_or_default();
    let from = start_of_end(before, room / 3);
    let lead = if from > 0 { "…" } else { "" };
    let rest = snippet.get(from..).unwrap_or_default();
    let to = end_of_start(rest, room);
    let tail = if to < rest.len() { "…" } else { "" };
    let text = format!("{lead}{}{tail}", rest.get(..to).unwrap_or_default());
    let moved = ranges
        .iter()
        .filter(|it| it.start >= from && it.end <= from + to);
    let moved = moved.map(|it| it.start - from + lead.len()..it.end - from + lead.len());
    (text, moved.collect())
}

/// Where the end of a text starts that fits into so many columns.
fn start_of_end(text: &str, room: usize) -> usize {
    let starts = boundaries(text);
    // The further back an end starts, the wider it is.
    let too_wide = |at: &usize| columns(&flat(text.get(*at..).unwrap_or_default())) > room;
    let first = starts.partition_point(too_wide);
    starts.get(first).copied().unwrap_or(text.len())
}

/// Where the start of a text ends that fits into so many columns with a `…` at both ends.
fn end_of_start(text: &str, room: usize) -> usize {
    let ends = boundaries(text);
    let fits = |to: &usize| columns(&flat(text.get(..*to).unwrap_or_default())) + 2 <= room;
    let fitting = ends.partition_point(fits);
    let last = fitting.checked_sub(1).and_then(|last| ends.get(last));
    last.copied().unwrap_or(0)
}

/// The positions between the characters of a text, its start and its end included.
fn boundaries(text: &str) -> Vec<usize> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.chain([text.len()]).collect()
}

/// The session of the first hit, as a hint names it.
struct First<'f> {
    hit: &'f HitShape,
    /// Its number, where that was printed, else its ref.
    name: String,
    resumes: bool,
}

impl First<'_> {
    fn of<'f>(found: &Found, hit: &'f HitShape, numbered: bool) -> First<'f> {
        let has_it = |it: &FoundConversation| {
            let mut hits = it.hits.iter().filter_map(|hit| found.hits.get(*hit));
            hits.any(|other| std::ptr::eq(other, hit))
        };
        let place = found.conversations.iter().position(has_it);
        let conversation = place.and_then(|place| found.conversations.get(place));
        let is_front = conversation.is_some_and(|it| it.session == hit.session);
        let name = match place.filter(|_| numbered && is_front) {
            Some(place) => (place + 1).to_string(),
            None => shell_quote(&hit.session),
        };
        First {
            hit,
            name,
            resumes: conversation.is_some_and(|it| it.resumes),
        }
    }

    /// Commands that read and resume it; nothing for a memory file.
    fn hint(&self) -> Option<String> {
        let (name, entry) = (&self.name, self.hit.entry.as_deref()?);
        // A title and what a client notes besides are no part of the transcript.
        let around = match self.hit.field {
            "memory" => return None,
            "titles" | "context" => String::new(),
            _ => format!(" {}", shell_option("--around", entry)),
        };
        let resume = match self.resumes {
            true => format!(", resume it with `boswell resume {name}`"),
            false => String::new(),
        };
        Some(as_called(&format!(
            "; read the first hit with `boswell show {name}{around}`{resume}"
        )))
    }
}

fn footer(found: &Found, first: &First<'_>, took: Option<Duration>) -> String {
    let sessions = found.sessions;
    let at_least = if sessions.exact { "" } else { "at least " };
    let number = count(sessions.number, "session", "sessions");
    let mut text = format!("{at_least}{number}");
    if let Some(took) = took {
        text = format!("{text} · {} ms", took.as_millis());
    }
    text.extend(first.hint());
    if let Some(cursor) = &found.page.cursor {
        text = format!("{text}; more with `--cursor {}`", one_line(cursor));
    }
    text
}

/// A text on one line, with as many spaces as it has.
fn flat(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    escape(&text)
}

/// The snippet on one line, its matches painted.
fn marked(snippet: &str, ranges: &[Range<usize>], out: &Output) -> String {
    let mut shown = String::new();
    let mut at = 0;
    for range in ranges {
        shown.push_str(&flat(snippet.get(at..range.start).unwrap_or("")));
        let hit = snippet.get(range.clone()).unwrap_or("");
        shown.push_str(&out.paint(Style::Match, &flat(hit)));
        at = range.end;
    }
    shown.push_str(&flat(snippet.get(at..).unwrap_or("")));
    shown
}

fn nothing(nearest: &[Suggestions], args: &SearchArgs) {
    error_report::say("nothing found");
    for near in nearest {
        error_report::say(&format!(
            "  `{}` does not occur; similar words: {}",
            near.word,
            near.near.join(", ")
        ));
    }
    if args.query.len() > 1 && nearest.is_empty() && !args.substring && !args.regex {
        error_report::say("hint: all words must occur in one entry; try fewer of them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_keeps_its_match_in_any_width() {
        let snippet = format!("{} deadlock {}", "before ".repeat(9), "after ".repeat(9));
        let at = snippet.find("deadlock").unwrap_or_default();
        for room in [20, 40, 60, 500] {
            let ranges = at..at + 8;
            let (text, ranges) = window(&snippet, std::slice::from_ref(&ranges), room);
            let matched: Vec<_> = ranges.iter().map(|it| text.get(it.clone())).collect();
            assert_eq!(matched, [Some("deadlock")], "{room}: {text}");
            assert!(columns(&one_line(&text)) <= room, "{room}: {text}");
        }
    }
}
