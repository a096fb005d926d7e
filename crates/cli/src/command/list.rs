//! `list`: sessions, last active first.

use std::path::Path;
use std::process::ExitCode;

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Instant, Result};
use boswell_store::{Conversation, Summaries, Summary};
use clap::{Args, ValueEnum};

use crate::machine::Machine;
use crate::output::Output;
use crate::terminal::{Style, cut, fit, one_line};
use crate::{failure, shape, when};

/// List sessions, last active first
#[derive(Debug, Args, Default)]
#[command(after_help = "Examples:
  boswell list --here --since 7d            this project's sessions of the last week
  boswell list --agent claude --match flaky  Claude Code sessions whose name or first prompt says `flaky`")]
pub(crate) struct ListArgs {
    /// Only this agent or dialect
    #[arg(long)]
    agent: Option<String>,
    /// Only sessions held in this folder or below it
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Only sessions held in the current folder
    #[arg(long)]
    here: bool,
    /// Only sessions with this status
    #[arg(long)]
    status: Option<String>,
    /// Only sessions with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only sessions on this branch of the project's repository
    #[arg(long)]
    branch: Option<String>,
    /// Only sessions that used a model whose name holds this
    #[arg(long)]
    model: Option<String>,
    /// Only sessions active since then (2026-01-31, 12h, 7d)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only sessions active before then
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
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
pub(crate) fn run(machine: &Machine, args: &ListArgs) -> Result<ExitCode> {
    let filter = Filter::new(machine, args)?;
    let (conversations, rest) = machine.conversations()?;
    let found_any = !conversations.is_empty();
    let mut rows: Vec<Conversation> = conversations.into_iter().filter(|c| filter.takes(c)).collect();
    sort(&mut rows, args.sort);
    let total = rows.len();
    if let Some(cursor) = &args.cursor {
        let after = cursor_place(&rows, cursor)?;
        rows.drain(..after);
    }
    let page: Vec<Conversation> = rows.into_iter().skip(args.offset).take(args.limit.unwrap_or(usize::MAX)).collect();
    let mut out = Output::paged(machine);
    if out.json {
        for conversation in &page {
            out.object(&shape::conversation(&machine.stores, conversation))?;
        }
        out.object(&page_line(&page, total, args, machine.now))?;
    } else if page.is_empty() {
        nothing(machine, found_any)?;
    } else {
        table(machine, &page, &mut out)?;
    }
    out.finish()?;
    warn_about(machine, &rest);
    Ok(ExitCode::SUCCESS)
}

/// When something last happened in any place of the conversation.
pub(crate) fn last_active(conversation: &Conversation) -> Option<Instant> {
    sides(conversation).filter_map(Summary::last_active).max()
}

fn sides(conversation: &Conversation) -> impl Iterator<Item = &Summary> {
    std::iter::once(&conversation.front).chain(&conversation.linked).map(|(_, summary)| summary)
}

fn sort(rows: &mut [Conversation], by: Sort) {
    // Ids break ties, so that the order never depends on how a folder happens to be read.
    rows.sort_by(|a, b| {
        let (x, y) = (&a.front.1, &b.front.1);
        match by {
            Sort::Active => last_active(b).cmp(&last_active(a)),
            Sort::Created => y.facts.created.cmp(&x.facts.created),
            Sort::Messages => y.facts.messages.cmp(&x.facts.messages),
            Sort::Size => y.located.size.cmp(&x.located.size),
            Sort::Name => x.name().to_lowercase().cmp(&y.name().to_lowercase()),
        }
        .then_with(|| x.reference.cmp(&y.reference))
    });
}

fn cursor_place(rows: &[Conversation], cursor: &str) -> Result<usize> {
    let place = rows.iter().position(|c| c.front.1.reference.to_string() == cursor);
    place.map(|at| at + 1).ok_or_else(|| {
        Error::new(ErrorKind::Invalid, format!("the cursor `{}` fits no session of this list", cursor.escape_debug()))
            .because("the session that it names is gone, or the filters are others than before")
            .hinting("start again without --cursor")
    })
}

fn page_line(page: &[Conversation], total: usize, args: &ListArgs, now: Instant) -> Json {
    let more = args.limit.is_some_and(|limit| page.len() == limit);
    let cursor = page.last().filter(|_| more).map(|c| c.front.1.reference.to_string());
    Json::object()
        .with("v", 1)
        .with("type", "page")
        .with("shown", page.len())
        .with("total", total)
        .with("cursor", cursor)
        .with("complete", true)
        .with("as_of", now.to_rfc3339())
}

struct Filter<'a> {
    args: &'a ListArgs,
    project: Option<String>,
    since: Option<Instant>,
    until: Option<Instant>,
    matching: Option<String>,
}

impl<'a> Filter<'a> {
    fn new(machine: &Machine, args: &'a ListArgs) -> Result<Filter<'a>> {
        let time = |text: &Option<String>| text.as_deref().map(|t| when::parse(t, machine.now)).transpose();
        let project = match (&args.project, args.here) {
            (Some(project), _) => Some(absolute(&machine.env.cwd, project)),
            (None, true) => Some(machine.env.cwd.display().to_string()),
            (None, false) => None,
        };
        let matching = args.matching.as_ref().map(|text| text.to_lowercase());
        Ok(Filter { args, project, since: time(&args.since)?, until: time(&args.until)?, matching })
    }

    fn takes(&self, conversation: &Conversation) -> bool {
        let front = &conversation.front.1;
        let active = last_active(conversation);
        (self.args.hidden || front.hidden().is_none())
            && self.since.is_none_or(|since| active.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| active.is_some_and(|at| at < until))
            && sides(conversation).any(|side| self.takes_side(side))
    }

    fn takes_side(&self, side: &Summary) -> bool {
        let (args, facts) = (self.args, &side.facts);
        let is = |want: &Option<String>, have: Option<&str>| want.as_deref().is_none_or(|want| have == Some(want));
        args.agent
            .as_deref()
            .is_none_or(|agent| side.reference.dialect == agent || facts.agent.as_deref() == Some(agent))
            && self
                .project
                .as_deref()
                .is_none_or(|project| facts.project.as_deref().is_some_and(|p| is_below(p, project)))
            && is(&args.status, facts.status.as_deref())
            && is(&args.branch, facts.git_branch.as_deref())
            && args.tag.as_ref().is_none_or(|tag| facts.tags.contains(tag))
            && args.model.as_deref().is_none_or(|model| facts.models.iter().any(|m| m.contains(model)))
            && self.matching.as_deref().is_none_or(|text| matches(side, text))
    }
}

fn matches(side: &Summary, text: &str) -> bool {
    let facts = &side.facts;
    let texts = [&facts.title, &facts.summary, &facts.first_prompt, &facts.last_prompt, &facts.project];
    let mut all = texts.into_iter().flatten().chain(&facts.tags).chain([&side.reference.id]);
    all.any(|t| t.to_lowercase().contains(text))
}

fn absolute(cwd: &Path, typed: &str) -> String {
    let path = cwd.join(typed);
    path.canonicalize().unwrap_or(path).display().to_string()
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn table(machine: &Machine, page: &[Conversation], out: &mut Output) -> Result<()> {
    let id_width = unique_width(page);
    let agent_width = page.iter().map(|c| agent_of(machine, c).len()).max().unwrap_or(6).clamp(5, 18);
    let project_width = (machine.width / 4).clamp(12, 40);
    let name_width =
        machine.width.saturating_sub(id_width + 2 + agent_width + 2 + 10 + 2 + 5 + 2 + project_width + 2).max(12);
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
        let active = last_active(conversation).map_or_else(|| "-".to_owned(), |at| when::ago(at, machine.now));
        let count =
            sides(conversation).filter(|s| s.complete && s.located.key.is_some()).map(|s| s.facts.messages).max();
        let messages = count
            .filter(|n| *n > 0)
            .or(summary.facts.stated.messages)
            .map_or_else(|| "-".to_owned(), |n| n.to_string());
        let project = one_line(&short_path(machine, summary.facts.project.as_deref().unwrap_or("-")));
        let short: String = one_line(&summary.reference.id).chars().take(id_width).collect();
        let line = format!(
            "{}  {}  {}  {messages:>5}  {}  {}",
            out.paint(Style::Strong, &fit(&short, id_width)),
            fit(&agent_of(machine, conversation), agent_width),
            fit(&active, 10),
            fit(&cut_left(&project, project_width), project_width),
            cut(&one_line(&summary.name()), name_width),
        );
        out.line(line.trim_end())?;
    }
    Ok(())
}

/// How much of the ids must be shown so that each can be typed again: eight characters, or more where they begin alike.
fn unique_width(page: &[Conversation]) -> usize {
    let mut ids: Vec<&str> = page.iter().map(|c| c.front.1.reference.id.as_str()).collect();
    ids.sort_unstable();
    let alike = |pair: &[&str]| match pair {
        [a, b] if a != b => a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count() + 1,
        _ => 8,
    };
    ids.windows(2).map(alike).max().unwrap_or(8).clamp(8, 20)
}

fn agent_of(machine: &Machine, conversation: &Conversation) -> String {
    let (store, summary) = &conversation.front;
    let dialect = &summary.reference.dialect;
    let own = machine.stores.get(*store).map_or("", |s| s.dialect().agent());
    let mut text = match &summary.facts.agent {
        Some(agent) if agent != own => format!("{dialect}/{agent}"),
        _ => dialect.clone(),
    };
    for (_, other) in &conversation.linked {
        text = format!("{text}+{}", other.reference.dialect);
    }
    one_line(&text)
}

/// A path with the home folder as `~`.
pub(crate) fn short_path(machine: &Machine, path: &str) -> String {
    let home = machine.env.home.as_ref().map(|h| h.display().to_string()).filter(|h| h.len() > 1);
    match home.and_then(|home| {
        path.strip_prefix(&home).filter(|rest| rest.is_empty() || rest.starts_with('/')).map(str::to_owned)
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
fn nothing(machine: &Machine, found_any: bool) -> Result<()> {
    if found_any {
        eprintln!("no session fits");
        eprintln!("hint: see all of them with `boswell list --hidden`");
        return Ok(());
    }
    eprintln!("no sessions found");
    for place in machine.stores.places() {
        let state = if place.exists { "empty" } else { "not there" };
        eprintln!("  {:<10} {} ({state})", place.dialect, crate::terminal::escape(&place.root.display().to_string()));
    }
    if machine.named_stores {
        eprintln!("hint: PATH in `--store DIALECT=PATH` is the agent's own folder, such as `claude=/home/me/.claude`");
    } else {
        eprintln!(
            "hint: point boswell at a store with `--store claude=/path/to/.claude`, or at a file with `boswell show FILE.jsonl`"
        );
    }
    Ok(())
}

/// Warns about stores and sessions that could not be looked at.
pub(crate) fn warn_about(machine: &Machine, rest: &Summaries) {
    if machine.quiet {
        return;
    }
    for (_, error) in &rest.store_errors {
        failure::warn(error);
    }
    for (_, _, error) in rest.session_errors.iter().take(10) {
        failure::warn(error);
    }
    if rest.session_errors.len() > 10 {
        let more = Error::new(
            ErrorKind::Unavailable,
            format!("{} more sessions could not be read", rest.session_errors.len() - 10),
        )
        .hinting("see each with `boswell check`");
        failure::warn(&more);
    }
}
