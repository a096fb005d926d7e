//! `search`: any sentence in any session.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

use boswell_find::{
    Count, Effort, Field, Hit, Order, Origin, Query, Results, StoreSources, Suggestions, WantedRows,
};
use boswell_model::json::Json;
use boswell_model::{EntryKind, Error, ErrorKind, Result, shell_option, shell_quote};
use boswell_store::{StoreId, Summary};
use clap::{Args, ValueEnum};

use super::filter_args::{Filter, FilterArgs, Side};
use super::list::short_path;
use crate::app::{App, workers};
use crate::output::Output;
use crate::session_index::{Create, SessionIndex, say_unkept};
use crate::terminal::{Style, cut, escape, one_line};
use crate::{error_report, time};
use boswell_app::list::warn_about;

/// Find any text in any session
#[derive(Debug, Args)]
#[command(
    after_help = "Words must all occur; \"phrases\" in quotes, prefix*, !not; filters agent: project: role: tool: file: tag: model: since: until:

Examples:
  boswell search deadlock 'role:user' since:30d   what you asked about deadlocks this month
  boswell search --in results --substring 'ebsocket reconn'"
)]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only text that stands there: prompts, answers, thinking, calls, results, titles,
    /// summaries, memory, context
    #[arg(long = "in", value_name = "WHERE", value_delimiter = ',')]
    fields: Vec<String>,
    /// Take the query as it is: any stretch of text
    #[arg(long, conflicts_with = "regex")]
    substring: bool,
    /// Take the query as a regular expression
    #[arg(long)]
    regex: bool,
    #[command(flatten)]
    narrow: FilterArgs,
    /// Order
    #[arg(long, value_enum, default_value_t = Sort::Relevance)]
    sort: Sort,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Go on where an earlier page ended (its `cursor`)
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Best first
    Relevance,
    /// Newest first
    Newest,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &SearchArgs) -> Result<ExitCode> {
    let query = query(app, args)?;
    let wanted = boswell_app::sessions::filter::SessionFilter::from(&args.narrow);
    let filter = Filter::new(app, &wanted)?;
    let Some(mut session_index) = SessionIndex::open(app, Create::Yes)? else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the catalog was neither opened nor refused",
        ));
    };
    // What is known of an earlier state will do for showing a hit, not for choosing sessions.
    let chosen = query.filters.ask_about_sessions() || !filter.takes_all();
    session_index.read(
        app,
        if chosen {
            WantedRows::Ends
        } else {
            WantedRows::Hint
        },
        &|| true,
    )?;
    let mut left_out = HashSet::new();
    let mut look = |place: usize, side: &Side<'_>| {
        if !filter.takes_side(side) {
            left_out.insert(place);
        }
    };
    let all =
        session_index.sources_by_filter_keys(app, if chosen { Some(&mut look) } else { None })?;
    let wanted = |index: usize| match all.origin(index) {
        Some(Origin::Session(place)) => !left_out.contains(place),
        Some(Origin::Memory(memory)) => filter.takes_memory(memory.dialect, &memory.project),
        None => false,
    };
    let (places, sources): (Vec<usize>, Vec<_>) = all
        .sources()
        .iter()
        .enumerate()
        .filter(|(index, _)| wanted(*index))
        .unzip();
    let index = session_index.index();
    let effort = Effort {
        workers: workers(),
        go_on: &|| true,
    };
    let results = index.search(&query, &sources, &all, &effort)?;
    let looked = found(app, &mut session_index, &all, &places, &results)?;
    let shown = Shown {
        app,
        looked: &looked,
        all: &all,
        places: &places,
    };
    let mut out = Output::paged(app);
    shown.print(&results, &mut out)?;
    out.finish()?;
    if !app.json && results.hits.is_empty() && !app.quiet {
        nothing(&results.nearest, args);
    }
    say_unkept(app, session_index.unkept.as_ref());
    warn_about(app, session_index.rest());
    session_index.index_a_little(app, &index, &all);
    session_index.leave(app);
    // The process ends: giving back the room of each source on its own would take
    // longer than many a search.
    std::mem::forget(all);
    Ok(if results.hits.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Sessions by the places that their sources were added with.
type Looked = HashMap<usize, (StoreId, Summary)>;

/// The sessions that hold hits.
fn found(
    app: &App,
    session_index: &mut SessionIndex,
    all: &StoreSources,
    places: &[usize],
    results: &Results,
) -> Result<Looked> {
    let mut found = Looked::new();
    for hit in &results.hits {
        let Some(Origin::Session(place)) = places
            .get(hit.source)
            .and_then(|source| all.origin(*source))
        else {
            continue;
        };
        if !found.contains_key(place)
            && let Some(session) = session_index.summary(app, *place)?
        {
            found.insert(*place, session);
        }
    }
    app.add_notes(found.values_mut().map(|(_, summary)| summary))?;
    Ok(found)
}

fn query(app: &App, args: &SearchArgs) -> Result<Query> {
    let text = args.query.join(" ");
    let mut query = match (args.substring, args.regex) {
        (true, _) => Query::substring(&text)?,
        (_, true) => Query::regex(&text)?,
        _ => Query::parse(&text, Some(app.now))?,
    };
    for word in &args.fields {
        let word = word.trim();
        query.fields.push(Field::named(word).ok_or_else(|| {
            let known: Vec<_> = Field::ALL.iter().map(|field| field.word()).collect();
            Error::new(
                ErrorKind::Invalid,
                format!("text does not stand in `{}`", word.escape_debug()),
            )
            .hinting(format!("write --in with any of {}", known.join(", ")))
        })?);
    }
    let time = |text: &Option<String>| text.as_deref().map(|t| time::parse(t, app.now)).transpose();
    query.filters.since = time(&args.narrow.since)?.or(query.filters.since);
    query.filters.until = time(&args.narrow.until)?.or(query.filters.until);
    query.order = if args.sort == Sort::Newest {
        Order::Newest
    } else {
        Order::Relevance
    };
    query.limit = args.limit;
    query.cursor.clone_from(&args.cursor);
    Ok(query)
}

struct Shown<'a> {
    app: &'a App,
    looked: &'a Looked,
    all: &'a StoreSources,
    places: &'a [usize],
}

/// A session or a memory file that holds a hit.
struct Holder<'a> {
    reference: String,
    agent: String,
    project: Option<&'a str>,
    name: String,
}

impl Shown<'_> {
    fn print(&self, results: &Results, out: &mut Output) -> Result<()> {
        if out.json {
            for hit in &results.hits {
                out.object(&self.shape(hit))?;
            }
            return out.object(&self.page(results));
        }
        let mut last = None;
        for hit in &results.hits {
            let holder = self.holder(hit);
            if last.as_ref() != Some(&holder.reference) {
                if last.is_some() {
                    out.line("")?;
                }
                out.line(&self.heading(&holder, out))?;
                last = Some(holder.reference.clone());
            }
            out.line(&self.line(hit, out))?;
        }
        if !results.hits.is_empty() {
            out.line("")?;
            out.line(&out.paint(Style::Faint, &self.footer(results)))?;
        }
        Ok(())
    }

    fn holder(&self, hit: &Hit) -> Holder<'_> {
        match self
            .places
            .get(hit.source)
            .and_then(|place| self.all.origin(*place))
        {
            Some(Origin::Memory(memory)) => Holder {
                reference: memory.path.clone(),
                agent: memory.dialect.to_owned(),
                project: Some(&memory.project),
                name: "memory".to_owned(),
            },
            Some(Origin::Session(place)) => {
                let Some((store, summary)) = self.looked.get(place) else {
                    return nobody(hit);
                };
                let own = self
                    .app
                    .stores
                    .get(*store)
                    .map_or("", |store| store.dialect().facts().agent);
                Holder {
                    reference: summary.reference.to_string(),
                    agent: summary.meta.agent.clone().unwrap_or_else(|| own.to_owned()),
                    project: summary
                        .meta
                        .project
                        .as_deref()
                        .filter(|project| !project.is_empty()),
                    name: cut(&summary.name(), 50),
                }
            }
            None => nobody(hit),
        }
    }

    fn shape(&self, hit: &Hit) -> Json {
        let holder = self.holder(hit);
        let range =
            |(from, to): &(usize, usize)| Json::Array(vec![Json::from(*from), Json::from(*to)]);
        Json::object()
            .with("v", 1)
            .with("type", "hit")
            .with("session", holder.reference)
            .with("entry", hit.entry.as_deref())
            .with("line", Some(hit.line).filter(|line| *line > 0))
            .with("kind", kind(hit.kind))
            .with("role", hit.kind.role())
            .with("field", hit.field.word())
            .with("at", hit.at.map(|at| at.to_rfc3339()))
            .with("snippet", &hit.snippet)
            .with(
                "ranges",
                Json::Array(hit.ranges.iter().map(range).collect()),
            )
            .with("score", hit.score)
            .with("agent", holder.agent)
            .with("project", holder.project)
            .with("name", holder.name)
    }

    fn page(&self, results: &Results) -> Json {
        let exact = |count: Count| count.exact.then_some(count.number);
        Json::object()
            .with("v", 1)
            .with("type", "page")
            .with("shown", results.hits.len())
            .with("total", exact(results.entries))
            .with("sessions", exact(results.sessions))
            .with("cursor", results.cursor.as_deref())
            .with("complete", results.complete)
            .with("scanned_bytes", results.scanned)
            .with("as_of", self.app.now.to_rfc3339())
    }

    fn heading(&self, holder: &Holder<'_>, out: &Output) -> String {
        let mut parts = vec![
            out.paint(Style::Strong, &one_line(&holder.reference)),
            one_line(&holder.name),
        ];
        parts.extend(
            holder
                .project
                .map(|project| one_line(&short_path(self.app, project))),
        );
        parts.join(&out.paint(Style::Faint, " · "))
    }

    fn line(&self, hit: &Hit, out: &Output) -> String {
        let place = hit
            .entry
            .as_deref()
            .map(|entry| cut(&one_line(entry), 13))
            .unwrap_or_default();
        let when = hit.at.map(time::minute).unwrap_or_default();
        let lead = format!("  {} {} {place}: ", when, hit.field.word());
        format!(
            "{}{}",
            out.paint(Style::Faint, &lead),
            marked(&hit.snippet, &hit.ranges, out)
        )
    }

    fn footer(&self, results: &Results) -> String {
        let at_least = if results.sessions.exact {
            ""
        } else {
            "at least "
        };
        let plural = if results.sessions.number == 1 {
            ""
        } else {
            "s"
        };
        let mut text = format!("{at_least}{} session{plural}", results.sessions.number);
        if let Some(first) = results.hits.first() {
            let holder = self.holder(first);
            let entry = first.entry.as_deref().filter(|_| holder.name != "memory");
            if let Some(entry) = entry {
                let reference = shell_quote(&holder.reference);
                text = format!(
                    "{text}; read on with `boswell show {reference} {}`, take it up with `boswell resume {reference}`",
                    shell_option("--around", entry)
                );
            }
        }
        if let Some(cursor) = &results.cursor {
            text = format!("{text}; more with `--cursor {}`", one_line(cursor));
        }
        text
    }
}

fn nobody(hit: &Hit) -> Holder<'static> {
    Holder {
        reference: hit.reference.to_string(),
        agent: String::new(),
        project: None,
        name: String::new(),
    }
}

/// The snippet on one line, its matches painted.
fn marked(snippet: &str, ranges: &[(usize, usize)], out: &Output) -> String {
    let flat = |text: &str| {
        let text: String = text
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .collect();
        escape(&text)
    };
    let mut shown = String::new();
    let mut at = 0;
    for (from, to) in ranges {
        shown.push_str(&flat(snippet.get(at..*from).unwrap_or("")));
        shown.push_str(&out.paint(Style::Match, &flat(snippet.get(*from..*to).unwrap_or(""))));
        at = *to;
    }
    shown.push_str(&flat(snippet.get(at..).unwrap_or("")));
    shown
}

fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Header => "header",
        EntryKind::User => "user",
        EntryKind::Assistant => "assistant",
        EntryKind::ToolResult => "tool_result",
        EntryKind::Shell => "shell",
        EntryKind::System => "system",
        EntryKind::CustomMessage => "custom_message",
        EntryKind::Attachment => "attachment",
        EntryKind::Compaction => "compaction",
        EntryKind::BranchSummary => "branch_summary",
        EntryKind::Setting => "setting",
        EntryKind::Label => "label",
        EntryKind::Title => "title",
        EntryKind::Tag => "tag",
        EntryKind::Leaf => "leaf",
        EntryKind::FileSnapshot => "file_snapshot",
        EntryKind::Progress => "progress",
        EntryKind::Custom => "custom",
        EntryKind::Meta => "meta",
        _ => "unknown",
    }
}

fn nothing(nearest: &[Suggestions], args: &SearchArgs) {
    error_report::say("nothing found");
    for near in nearest {
        error_report::say(&format!(
            "  `{}` occurs nowhere; near it: {}",
            near.word,
            near.near.join(", ")
        ));
    }
    if args.query.len() > 1 && nearest.is_empty() && !args.substring && !args.regex {
        error_report::say("hint: all words must stand in one entry; try fewer of them");
    }
}
