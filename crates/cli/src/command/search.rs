//! `search`: finds text in all sessions.

use std::ops::Range;
use std::process::ExitCode;

use boswell_app::Cancel;
use boswell_app::list::SessionFilter;
use boswell_app::search::{Found, HitShape, Order, QueryForm, SearchRequest, Suggestions};
use boswell_app::shape::Shape as _;
use boswell_model::{Result, shell_option, shell_quote};
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, cut, escape, one_line};
use crate::words::{count, short_path};
use crate::{error_report, time};

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortArg {
    /// Best match first
    Relevance,
    /// Newest first
    Newest,
}

impl From<&SearchArgs> for SearchRequest {
    fn from(args: &SearchArgs) -> SearchRequest {
        SearchRequest {
            query: args.query.join(" "),
            form: match (args.substring, args.regex) {
                (true, _) => QueryForm::Substring,
                (_, true) => QueryForm::Regex,
                _ => QueryForm::Words,
            },
            fields: args.fields.clone(),
            filter: SessionFilter::from(&args.narrow),
            order: match args.sort {
                SortArg::Relevance => Order::Relevance,
                SortArg::Newest => Order::Newest,
            },
            limit: args.limit,
            cursor: args.cursor.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SearchArgs) -> Result<ExitCode> {
    let mut found = app.shown(app.requests.search(&args.into(), &Cancel::new()))?;
    let is_empty = found.hits.is_empty();
    let mut out = Output::paged(app);
    if out.json {
        for hit in std::mem::take(&mut found.hits) {
            out.object(&hit.object())?;
        }
        out.object(&found.page.clone().object())?;
    } else {
        print(app, &found, &mut out)?;
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

fn print(app: &App, found: &Found, out: &mut Output) -> Result<()> {
    let mut last = None;
    for hit in &found.hits {
        if last != Some(&hit.session) {
            if last.is_some() {
                out.line("")?;
            }
            out.line(&heading(app, hit, out))?;
            last = Some(&hit.session);
        }
        out.line(&line(hit, out))?;
    }
    if let Some(first) = found.hits.first() {
        out.line("")?;
        out.line(&out.paint(Style::Faint, &footer(found, first)))?;
    }
    Ok(())
}

fn heading(app: &App, hit: &HitShape, out: &Output) -> String {
    let mut parts = vec![
        out.paint(Style::Strong, &one_line(&hit.session)),
        one_line(&hit.name),
    ];
    let project = hit.project.as_deref();
    parts.extend(project.map(|project| one_line(&short_path(app, project))));
    parts.join(&out.paint(Style::Faint, " · "))
}

fn line(hit: &HitShape, out: &Output) -> String {
    let place = hit
        .entry
        .as_deref()
        .map(|entry| cut(&one_line(entry), 13))
        .unwrap_or_default();
    let when = hit.at.map(time::minute).unwrap_or_default();
    let lead = format!("  {} {} {place}: ", when, hit.field);
    format!(
        "{}{}",
        out.paint(Style::Faint, &lead),
        marked(&hit.snippet, &hit.ranges, out)
    )
}

fn footer(found: &Found, first: &HitShape) -> String {
    let sessions = found.sessions;
    let at_least = if sessions.exact { "" } else { "at least " };
    let number = count(sessions.number, "session", "sessions");
    let mut text = format!("{at_least}{number}");
    if let Some(entry) = first.entry.as_deref().filter(|_| first.name != "memory") {
        let reference = shell_quote(&first.session);
        text = format!(
            "{text}; read the first hit with `boswell show {reference} {}`, resume it with `boswell resume {reference}`",
            shell_option("--around", entry)
        );
    }
    if let Some(cursor) = &found.page.cursor {
        text = format!("{text}; more with `--cursor {}`", one_line(cursor));
    }
    text
}

/// The snippet on one line, its matches painted.
fn marked(snippet: &str, ranges: &[Range<usize>], out: &Output) -> String {
    let flat = |text: &str| {
        let text: String = text
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .collect();
        escape(&text)
    };
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
