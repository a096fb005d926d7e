//! `prompts`: what was asked, of every agent.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::sync::Arc;

use boswell_dialect::Depth;
use boswell_find::{Counting, Effort, Field, Order, Origin, Query, WantedRows};
use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::disk::RealDisk;
use boswell_store::prompts::MOST;
use boswell_store::{Prompts, Session};
use clap::Args;

use super::filter_args::{Filter, FilterArgs, Side};
use super::list::short_path;
use crate::app::{App, workers};
use crate::output::Output;
use crate::session_index::{Create, SessionIndex, say_unkept};
use crate::terminal::{Style, cut, one_line};
use crate::{agent_history, error_report, time};
use boswell_app::list::warn_about;

/// Show what was asked, of every agent, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell prompts --limit 50
  boswell prompts deadlock --here")]
pub(crate) struct PromptsArgs {
    /// Only prompts that hold these words
    query: Vec<String>,
    #[command(flatten)]
    narrow: FilterArgs,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

struct Prompt {
    text: String,
    at: Option<Instant>,
    agent: String,
    project: Option<String>,
    session: Option<String>,
    entry: Option<String>,
    source: &'static str,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &PromptsArgs) -> Result<ExitCode> {
    let wanted = boswell_app::sessions::filter::SessionFilter::from(&args.narrow);
    let filter = Filter::new(app, &wanted)?;
    let text = args.query.join(" ");
    let Some(mut session_index) = SessionIndex::open(app, Create::Yes)? else {
        return Err(Error::new(
            ErrorKind::Internal,
            "the catalog was neither opened nor refused",
        ));
    };
    let mut prompts = said(app, &mut session_index, &filter, &text, args.limit)?;
    let known: HashSet<(String, String)> = prompts
        .iter()
        .filter_map(|p| Some((p.session.clone()?, p.text.trim().to_owned())))
        .collect();
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let hidden: HashSet<String> = app
        .stores
        .excluded()
        .iter()
        .filter_map(|held| {
            Some(format!(
                "{}:{}",
                app.stores.get(held.store)?.dialect().name(),
                held.location.id
            ))
        })
        .collect();
    let wanted = |prompt: &Prompt| {
        let lower = prompt.text.to_lowercase();
        app.shows(prompt.project.as_deref())
            && !prompt
                .session
                .as_ref()
                .is_some_and(|session| hidden.contains(session))
            && words.iter().all(|word| lower.contains(word.as_str()))
            && filter.takes_time(prompt.at)
            && filter.takes_prompt(&prompt.agent, prompt.project.as_deref())
            && !prompt
                .session
                .as_ref()
                .is_some_and(|s| known.contains(&(s.clone(), prompt.text.trim().to_owned())))
    };
    prompts.extend(side_files(app)?.into_iter().filter(wanted));
    prompts.sort_by_key(|prompt| std::cmp::Reverse(prompt.at));
    prompts.dedup_by(|later, first| later.text.trim() == first.text.trim());
    prompts.truncate(args.limit);
    let mut out = Output::paged(app);
    for prompt in &prompts {
        print(app, prompt, &mut out)?;
    }
    out.finish()?;
    if prompts.is_empty() && !app.quiet && !app.json {
        error_report::say("nothing like that was asked");
    }
    say_unkept(app, session_index.unkept.as_ref());
    warn_about(app, session_index.rest());
    Ok(if prompts.is_empty() {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Prompts that stand in sessions.
fn said(
    app: &App,
    session_index: &mut SessionIndex,
    filter: &Filter<'_>,
    text: &str,
    limit: usize,
) -> Result<Vec<Prompt>> {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| format!("\"{}\"", word.replace('"', "\\\"")))
        .collect();
    let mut query = Query::parse(&format!("role:user {}", words.join(" ")), Some(app.now))?;
    query.fields = vec![Field::Prompt];
    (query.order, query.counting, query.limit) = (Order::Newest, Counting::Quick, limit);
    (query.filters.since, query.filters.until) = (filter.since, filter.until);
    session_index.fill(app, WantedRows::Hint, &|| true)?;
    let looked = session_index.summaries(app);
    let all = session_index.sources(app, &looked)?;
    let place = |index: usize| match all.origin(index) {
        Some(Origin::Session(place)) => Some(*place),
        _ => None,
    };
    let fits = |index: usize| {
        let summary = place(index)
            .and_then(|place| looked.get(place))
            .map(|(_, _, summary)| summary);
        summary.is_some_and(|summary| {
            summary.hidden() != Some("subagent") && filter.takes_side(&Side::of(summary))
        })
    };
    let (places, sources): (Vec<usize>, Vec<_>) = all
        .sources()
        .iter()
        .enumerate()
        .filter(|(index, _)| fits(*index))
        .unzip();
    let results = session_index.index().search(
        &query,
        &sources,
        &all,
        &Effort {
            workers: workers(),
            go_on: &|| true,
        },
    )?;
    let mut open: HashMap<usize, Option<Session>> = HashMap::new();
    let mut prompts = Vec::new();
    for hit in results.hits {
        let Some(place) = places.get(hit.source).and_then(|index| place(*index)) else {
            continue;
        };
        let Some((_, store, summary)) = looked.get(place) else {
            continue;
        };
        let Some(store) = app.stores.get(*store) else {
            continue;
        };
        let session = open
            .entry(place)
            .or_insert_with(|| store.read(&summary.location, Depth::Heads).ok());
        let entry = hit
            .slot
            .zip(session.as_ref())
            .and_then(|(slot, session)| session.entry(slot).ok());
        let text = entry
            .and_then(|entry| entry.view)
            .map(|view| view.text())
            .filter(|text| !text.trim().is_empty());
        prompts.push(Prompt {
            text: text.unwrap_or(hit.snippet),
            at: hit.at,
            agent: summary
                .meta
                .agent
                .clone()
                .unwrap_or_else(|| store.dialect().facts().agent.to_owned()),
            project: summary.meta.project.clone(),
            session: Some(summary.reference.to_string()),
            entry: hit.entry,
            source: "session",
        });
    }
    Ok(prompts)
}

/// Prompts that agents and boswell keep beside sessions.
fn side_files(app: &App) -> Result<Vec<Prompt>> {
    let mut prompts = Vec::new();
    for (_, store) in app.stores.iter() {
        let dialect = store.dialect().name();
        let asked = agent_history::read(store)?
            .into_iter()
            .chain(agent_history::database(app, store)?);
        prompts.extend(asked.map(|asked| Prompt {
            text: asked.text,
            at: asked.at,
            agent: store.dialect().facts().agent.to_owned(),
            project: asked.project,
            session: asked.session.map(|id| format!("{dialect}:{id}")),
            entry: None,
            source: "history",
        }));
    }
    if let Some(home) = &app.home {
        let found = Prompts::new(Arc::new(RealDisk), home).recent(MOST)?;
        prompts.extend(found.prompts.into_iter().map(|asked| Prompt {
            text: asked.text,
            at: Some(asked.at),
            agent: "boswell".to_owned(),
            project: asked.project,
            session: asked.session,
            entry: None,
            source: "boswell",
        }));
    }
    Ok(prompts)
}

fn print(app: &App, prompt: &Prompt, out: &mut Output) -> Result<()> {
    if out.json {
        return out.object(
            &Json::object()
                .with("v", 1)
                .with("type", "prompt")
                .with("text", &prompt.text)
                .with("at", prompt.at.map(|at| at.to_rfc3339()))
                .with("agent", &prompt.agent)
                .with("project", prompt.project.as_deref())
                .with("session", prompt.session.as_deref())
                .with("entry", prompt.entry.as_deref())
                .with("source", prompt.source),
        );
    }
    let at = prompt.at.map_or_else(|| "-".to_owned(), time::minute);
    let project = prompt
        .project
        .as_deref()
        .map(|project| short_path(app, project))
        .unwrap_or_default();
    let lead = format!(
        "{at}  {}  {}  ",
        one_line(&prompt.agent),
        one_line(&project)
    );
    let room = app
        .width
        .saturating_sub(crate::terminal::columns(&lead))
        .max(30);
    out.line(&format!(
        "{}{}",
        out.paint(Style::Faint, &lead),
        cut(&one_line(&prompt.text), room)
    ))
}
