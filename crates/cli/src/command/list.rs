//! `list`: sessions, last active first.

use std::process::ExitCode;

use boswell_app::list::SessionFilter;
use boswell_app::list::Sort;
use boswell_app::list::{ListRequest, SessionPage, SessionRow};
use boswell_app::shape::Shape as _;
use boswell_model::Result;
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use crate::app::App;
use crate::output::Output;
use crate::terminal::{Style, cut, fit, one_line};
use crate::time;
use crate::words::short_path;

/// List sessions, most recently active first
#[derive(Debug, Args, Default)]
#[command(after_help = "Examples:
  boswell list --here --since 7d    this project's sessions of the last week
  boswell list --agent claude --match flaky")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    narrow: FilterArgs,
    /// Only sessions with this text in title, first prompt, project, tags or id
    #[arg(long = "match", value_name = "TEXT")]
    matching: Option<String>,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SortArg::Active)]
    sort: SortArg,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Continue after an earlier page: its `cursor`
    #[arg(long)]
    cursor: Option<String>,
    /// Also list subagents, empty, archived and otherwise hidden sessions
    #[arg(long)]
    hidden: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
enum SortArg {
    /// Most recently active first
    #[default]
    Active,
    /// Newest first
    Created,
    /// Most messages first
    Messages,
    /// Largest first
    Size,
    /// By name
    Name,
}

impl From<SortArg> for Sort {
    fn from(arg: SortArg) -> Sort {
        match arg {
            SortArg::Active => Sort::Active,
            SortArg::Created => Sort::Created,
            SortArg::Messages => Sort::Messages,
            SortArg::Size => Sort::Size,
            SortArg::Name => Sort::Name,
        }
    }
}

impl ListArgs {
    fn request(&self, with_shapes: bool) -> ListRequest {
        ListRequest {
            filter: SessionFilter::from(&self.narrow),
            matching: self.matching.clone(),
            sort: self.sort.into(),
            limit: self.limit,
            offset: self.offset,
            cursor: self.cursor.clone(),
            hidden: self.hidden,
            with_shapes,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ListArgs) -> Result<ExitCode> {
    let page = app.shown(app.requests.list(&args.request(app.json)))?;
    let mut out = Output::paged(app);
    if out.json {
        for shape in page.rows.into_iter().filter_map(|row| row.shape) {
            out.object(&shape.object())?;
        }
        out.object(&page.page.object())?;
    } else if page.rows.is_empty() {
        nothing(app, &page);
    } else {
        table(app, &page, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn table(app: &App, page: &SessionPage, out: &mut Output) -> Result<()> {
    let widths = Widths::of(app, &page.rows);
    let heading = format!(
        "{}  {}  {}  {}  {}  {}",
        fit("ID", widths.id),
        fit("AGENT", widths.agent),
        fit("ACTIVE", 10),
        " MSGS",
        fit("PROJECT", widths.project),
        "NAME"
    );
    out.line(&out.paint(Style::Faint, heading.trim_end()))?;
    for row in &page.rows {
        let conversation = &row.conversation;
        let summary = &conversation.front.1;
        let active = conversation
            .last_active()
            .map_or_else(|| "-".to_owned(), |at| time::ago(at, page.page.as_of));
        let messages = messages(row).map_or_else(|| "-".to_owned(), |n| n.to_string());
        let project = summary.meta.project.as_deref().unwrap_or("-");
        let project = one_line(&short_path(app, project));
        let id = one_line(&summary.reference.id);
        let short: String = id.chars().take(widths.id).collect();
        let line = format!(
            "{}  {}  {}  {messages:>5}  {}  {}",
            out.paint(Style::Strong, &fit(&short, widths.id)),
            fit(&one_line(&row.agents), widths.agent),
            fit(&active, 10),
            fit(&cut_left(&project, widths.project), widths.project),
            cut(&one_line(&summary.name()), widths.name),
        );
        out.line(line.trim_end())?;
    }
    Ok(())
}

/// The messages of the side that has most, or as many as an index states.
fn messages(row: &SessionRow) -> Option<u64> {
    let conversation = &row.conversation;
    let counted = conversation
        .sides()
        .filter(|side| side.complete && side.location.key.is_some())
        .map(|side| side.meta.messages)
        .max();
    let stated = conversation.front.1.meta.stated.messages;
    counted.filter(|count| *count > 0).or(stated)
}

/// Columns whose width depends on the rows and on the terminal.
struct Widths {
    id: usize,
    agent: usize,
    project: usize,
    name: usize,
}

impl Widths {
    fn of(app: &App, rows: &[SessionRow]) -> Widths {
        let id = unique_width(rows);
        let agents = rows.iter().map(|row| one_line(&row.agents).len());
        let agent = agents.max().unwrap_or(6).clamp(5, 18);
        // What is left is shared by folder and name, and each keeps enough to be distinguished.
        let taken = id + 2 + agent + 2 + 10 + 2 + 5 + 2 + 2;
        let rest = app.width.saturating_sub(taken).max(16);
        let project = (rest * 2 / 5).clamp(8, 40);
        Widths {
            id,
            agent,
            project,
            name: rest - project,
        }
    }
}

/// How much of the ids must be shown so that each can be typed again: eight characters, or more
/// where they begin alike.
fn unique_width(page: &[SessionRow]) -> usize {
    let mut ids: Vec<&str> = page
        .iter()
        .map(|row| row.conversation.front.1.reference.id.as_str())
        .collect();
    ids.sort_unstable();
    let alike = |pair: &[&str]| match pair {
        [a, b] if a != b => a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count() + 1,
        _ => 8,
    };
    ids.windows(2).map(alike).max().unwrap_or(8).clamp(8, 20)
}

/// Cuts at the left, because the end of a path identifies it.
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

#[expect(clippy::print_stderr, reason = "an empty list is no data for stdout")]
fn nothing(app: &App, page: &SessionPage) {
    if page.found_any {
        eprintln!("no session matches");
        eprintln!("hint: list all sessions with `boswell list --hidden`");
        return;
    }
    eprintln!("no sessions found");
    for place in &page.looked_at {
        let state = if place.exists {
            "empty"
        } else {
            "does not exist"
        };
        eprintln!(
            "  {:<10} {} ({state})",
            place.dialect,
            crate::terminal::escape(&place.root)
        );
    }
    if app.requests.has_named_stores() {
        eprintln!(
            "hint: PATH in `--store DIALECT=PATH` is the agent's own folder, such as `claude=/home/me/.claude`"
        );
    } else {
        eprintln!(
            "hint: name a store with `--store claude=/path/to/.claude`, read a file with `boswell show FILE.jsonl`, or try `boswell demo`"
        );
    }
}
