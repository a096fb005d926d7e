//! `list`: sessions, last active first.

use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Framing, Instant, Result};
use boswell_store::{Conversation, Summaries, Summary};
use clap::{Args, ValueEnum};

use super::filter_args::{Filter, FilterArgs};
use crate::app::App;
use crate::expiry::Fates;
use crate::output::Output;
use crate::session_list::{Look, SessionList, cursor_of};
use crate::terminal::{Style, cut, fit, one_line};
use crate::{error_report, json_shape, time};

/// List sessions, last active first
#[derive(Debug, Args, Default)]
#[command(after_help = "Examples:
  boswell list --here --since 7d            this project's sessions of the last week
  boswell list --agent claude --match flaky  Claude Code sessions that speak of `flaky`")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    narrow: FilterArgs,
    /// Only sessions whose name, prompts, project, tags or id hold this text
    #[arg(long = "match", value_name = "TEXT")]
    matching: Option<String>,
    /// Order
    #[arg(long, value_enum, default_value_t = Sort::Active)]
    sort: Sort,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Leave out the first so many
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Go on where an earlier page ended (its `cursor`)
    #[arg(long)]
    cursor: Option<String>,
    /// Also subagents, empty, archived and otherwise hidden ones
    #[arg(long)]
    hidden: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub(crate) enum Sort {
    /// Last active first
    #[default]
    Active,
    /// Last created first
    Created,
    /// Most messages first
    Messages,
    /// Largest first
    Size,
    /// By name
    Name,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ListArgs) -> Result<ExitCode> {
    let filter = Filter::new(app, &args.narrow)?;
    let matching = args.matching.as_ref().map(|text| text.to_lowercase());
    let matches = |side: &Summary| matching.as_deref().is_none_or(|text| matches(side, text));
    let look = match (args.hidden, &matching, args.sort) {
        (true, ..) => Look::DeletedSessions,
        (_, None, sort) if sort != Sort::Name && !filter.asks_status() => Look::Keys,
        _ => Look::Close,
    };
    let mut session_list = SessionList::open(app, look)?;
    let found_any = session_list.len() > 0;
    if !args.hidden {
        session_list.without_hidden();
    }
    session_list.active(|at| filter.takes_time(at));
    session_list.retain(
        |it| filter.takes(it) && sides(it).any(matches),
        |side| filter.takes_side(side),
    );
    session_list.sort(args.sort);
    let total = session_list.len();
    if let Some(cursor) = &args.cursor {
        session_list.skip_to(args.sort, cursor)?;
    }
    let limit = args.limit.unwrap_or(usize::MAX);
    let more = session_list.len().saturating_sub(args.offset) > limit;
    let page = session_list.page(args.offset, limit)?;
    let mut out = Output::paged(app);
    if out.json {
        let fates = Fates::read(app)?;
        for conversation in &page {
            out.object(&json_shape::conversation(app, conversation, &fates))?;
        }
        out.object(&page_line(&page, args.sort, total, more, app.now))?;
    } else if page.is_empty() {
        nothing(app, found_any)?;
    } else {
        table(app, &page, &mut out)?;
    }
    out.finish()?;
    warn_about(app, session_list.rest());
    session_list.leave();
    Ok(ExitCode::SUCCESS)
}

/// When something last happened in any place of the conversation.
pub(crate) fn last_active(conversation: &Conversation) -> Option<Instant> {
    conversation.last_active()
}

pub(crate) fn sides(conversation: &Conversation) -> impl Iterator<Item = &Summary> {
    conversation.sides()
}

/// The messages of a session, where somebody counted them.
pub(crate) fn messages(summary: &Summary) -> Option<u64> {
    // A document speaks of a conversation that is kept elsewhere; that it holds no
    // message says nothing.
    let counted = summary.complete
        && summary.location.key.is_some()
        && summary.location.framing != Framing::Document;
    counted
        .then_some(summary.meta.messages)
        .or(summary.meta.stated.messages)
}

fn page_line(page: &[Conversation], by: Sort, total: usize, more: bool, now: Instant) -> Json {
    let cursor = page.last().filter(|_| more).map(|last| cursor_of(last, by));
    Json::object()
        .with("v", 1)
        .with("type", "page")
        .with("shown", page.len())
        .with("total", total)
        .with("cursor", cursor)
        .with("complete", true)
        .with("as_of", now.to_rfc3339())
}

fn matches(side: &Summary, text: &str) -> bool {
    let meta = &side.meta;
    let texts = [
        &meta.title,
        &meta.summary,
        &meta.first_prompt,
        &meta.last_prompt,
        &meta.project,
    ];
    let reference = side.reference.to_string();
    let mut all = texts
        .into_iter()
        .flatten()
        .chain(&meta.tags)
        .chain([&reference]);
    all.any(|t| t.to_lowercase().contains(text))
}

fn table(app: &App, page: &[Conversation], out: &mut Output) -> Result<()> {
    let id_width = unique_width(page);
    let agent_width = page
        .iter()
        .map(|c| agent_of(app, c).len())
        .max()
        .unwrap_or(6)
        .clamp(5, 18);
    // What is left is shared by folder and name, and each keeps enough to be told from others.
    let rest = app
        .width
        .saturating_sub(id_width + 2 + agent_width + 2 + 10 + 2 + 5 + 2 + 2)
        .max(16);
    let project_width = (rest * 2 / 5).clamp(8, 40);
    let name_width = rest - project_width;
    let heading = format!(
        "{}  {}  {}  {}  {}  {}",
        fit("ID", id_width),
        fit("AGENT", agent_width),
        fit("ACTIVE", 10),
        " MSGS",
        fit("PROJECT", project_width),
        "NAME"
    );
    out.line(&out.paint(Style::Faint, heading.trim_end()))?;
    for conversation in page {
        let summary = &conversation.front.1;
        let active =
            last_active(conversation).map_or_else(|| "-".to_owned(), |at| time::ago(at, app.now));
        let count = sides(conversation)
            .filter(|s| s.complete && s.location.key.is_some())
            .map(|s| s.meta.messages)
            .max();
        let messages = count
            .filter(|n| *n > 0)
            .or(summary.meta.stated.messages)
            .map_or_else(|| "-".to_owned(), |n| n.to_string());
        let project = one_line(&short_path(
            app,
            summary.meta.project.as_deref().unwrap_or("-"),
        ));
        let short: String = one_line(&summary.reference.id)
            .chars()
            .take(id_width)
            .collect();
        let line = format!(
            "{}  {}  {}  {messages:>5}  {}  {}",
            out.paint(Style::Strong, &fit(&short, id_width)),
            fit(&agent_of(app, conversation), agent_width),
            fit(&active, 10),
            fit(&cut_left(&project, project_width), project_width),
            cut(&one_line(&summary.name()), name_width),
        );
        out.line(line.trim_end())?;
    }
    Ok(())
}

/// How much of the ids must be shown so that each can be typed again: eight characters, or more
/// where they begin alike.
fn unique_width(page: &[Conversation]) -> usize {
    let mut ids: Vec<&str> = page
        .iter()
        .map(|c| c.front.1.reference.id.as_str())
        .collect();
    ids.sort_unstable();
    let alike = |pair: &[&str]| match pair {
        [a, b] if a != b => a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count() + 1,
        _ => 8,
    };
    ids.windows(2).map(alike).max().unwrap_or(8).clamp(8, 20)
}

fn agent_of(app: &App, conversation: &Conversation) -> String {
    let (store, summary) = &conversation.front;
    let dialect = &summary.reference.dialect;
    let own = app
        .stores
        .get(*store)
        .map_or("", |s| s.dialect().facts().agent);
    let mut text = match &summary.meta.agent {
        // The engine's own name follows below.
        Some(agent)
            if conversation
                .linked
                .iter()
                .any(|(_, other)| other.reference.dialect == *agent) =>
        {
            dialect.clone()
        }
        Some(agent) if agent != own => format!("{dialect}/{agent}"),
        _ => dialect.clone(),
    };
    for (_, other) in &conversation.linked {
        text = format!("{text}+{}", other.reference.dialect);
    }
    if let Some(label) = app.stores.get(*store).and_then(|store| store.label()) {
        text = format!("{text}@{label}");
    }
    one_line(&text)
}

/// A path with the home folder as `~`.
pub(crate) fn short_path(app: &App, path: &str) -> String {
    let home = app
        .env
        .home
        .as_ref()
        .map(|h| h.display().to_string())
        .filter(|h| h.len() > 1);
    match home.and_then(|home| {
        path.strip_prefix(&home)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .map(str::to_owned)
    }) {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}

/// Cuts at the left: the end of a path tells more than its beginning.
fn cut_left(text: &str, width: usize) -> String {
    let total = crate::terminal::columns(text);
    if total <= width {
        return text.to_owned();
    }
    let mut rest = text;
    while crate::terminal::columns(rest) + 1 > width {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    format!("…{rest}")
}

#[expect(clippy::print_stderr, reason = "what was looked for is no answer")]
fn nothing(app: &App, found_any: bool) -> Result<()> {
    if found_any {
        eprintln!("no session fits");
        eprintln!("hint: see all of them with `boswell list --hidden`");
        return Ok(());
    }
    eprintln!("no sessions found");
    for place in app.stores.locations() {
        let state = if place.exists { "empty" } else { "not there" };
        eprintln!(
            "  {:<10} {} ({state})",
            place.dialect,
            crate::terminal::escape(&place.root.display().to_string())
        );
    }
    if app.named_stores {
        eprintln!(
            "hint: PATH in `--store DIALECT=PATH` is the agent's own folder, such as `claude=/home/me/.claude`"
        );
    } else {
        eprintln!(
            "hint: point boswell at a store with `--store claude=/path/to/.claude`, at a file with `boswell show FILE.jsonl`, or try `boswell demo`"
        );
    }
    Ok(())
}

/// Warns about stores and sessions that could not be looked at.
pub(crate) fn warn_about(app: &App, rest: &Summaries) {
    if app.quiet {
        return;
    }
    for (_, error) in &rest.store_errors {
        error_report::warn(error);
    }
    for (_, _, error) in rest.session_errors.iter().take(10) {
        error_report::warn(error);
    }
    if rest.session_errors.len() > 10 {
        let more = Error::new(
            ErrorKind::Unavailable,
            format!(
                "{} more sessions could not be read",
                rest.session_errors.len() - 10
            ),
        )
        .hinting("see each with `boswell check`");
        error_report::warn(&more);
    }
}
