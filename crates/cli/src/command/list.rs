//! `list`: sessions, last active first.

use std::process::ExitCode;

use boswell_app::hosts::{HostRow, HostsListRequest, ListedPage, ListedRow};
use boswell_app::list::Sort;
use boswell_app::list::{ListRequest, LookedAt, SessionRow};
use boswell_app::shape::Shape as _;
use boswell_model::{Error, ErrorKind, Instant, Result};
use clap::{Args, ValueEnum};

use super::filter_args::FilterArgs;
use super::host_args::HostArgs;
use crate::app::App;
use crate::error_report;
use crate::output::Output;
use crate::terminal::{Style, cut, one_line};
use crate::words::table::{self, Column, Cut, cut_left};
use crate::words::{short_path, size};

/// Columns from which on there is room for the paths of projects.
const WIDE: usize = 100;

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
    /// Show what each session cost
    #[arg(long)]
    cost: bool,
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
    #[command(flatten)]
    host: HostArgs,
    /// Ask hosts first, instead of showing what is known of them
    #[arg(long)]
    refresh: bool,
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
    /// Largest first, with their size
    Size,
    /// Dearest first, with their cost
    Cost,
    /// By name
    Name,
}

impl From<SortArg> for Sort {
    fn from(arg: SortArg) -> Sort {
        match arg {
            // The order among sessions of the same cost.
            SortArg::Active | SortArg::Cost => Sort::Active,
            SortArg::Created => Sort::Created,
            SortArg::Messages => Sort::Messages,
            SortArg::Size => Sort::Size,
            SortArg::Name => Sort::Name,
        }
    }
}

impl ListArgs {
    fn request(&self, app: &App) -> ListRequest {
        ListRequest {
            filter: self.narrow.filter(app),
            matching: self.matching.clone(),
            sort: self.sort.into(),
            limit: self.limit,
            offset: self.offset,
            cursor: self.cursor.clone(),
            hidden: self.hidden,
            with_cost: self.cost,
            by_cost: self.sort == SortArg::Cost,
            with_shapes: app.json,
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ListArgs) -> Result<ExitCode> {
    let machines = app.requests.listed_hosts(&args.host.hosts)?;
    // The next page of a list of this machine shows this machine.
    let goes_on = args.host.hosts.is_empty() && args.cursor.is_some();
    if !machines.is_here_only() && !goes_on {
        let request = HostsListRequest {
            list: args.request(app),
            machines,
            refresh: args.refresh,
        };
        return run_everywhere(app, args, &request);
    }
    let page = app.shown(app.requests.list(&args.request(app)))?;
    let mut out = Output::paged(app);
    if out.json {
        for shape in page.rows.into_iter().filter_map(|row| row.shape) {
            out.object(&shape.object())?;
        }
        out.object(&page.page.object())?;
    } else if page.rows.is_empty() {
        nothing(app, page.found_any, &page.looked_at);
    } else {
        let rows = page.rows.into_iter();
        let rows: Vec<ListedRow> = rows.map(|row| ListedRow::Here(Box::new(row))).collect();
        table(app, args, (&rows, page.page.as_of), &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Lists sessions of several machines.
fn run_everywhere(app: &App, args: &ListArgs, request: &HostsListRequest) -> Result<ExitCode> {
    if args.cursor.is_some() {
        let what = "a list of several machines has no cursor";
        return Err(Error::new(ErrorKind::Invalid, what).advising("write `--offset N`"));
    }
    let page = app.shown(app.requests.list_hosts(request))?;
    let ListedPage {
        rows,
        page,
        found_any,
        looked_at,
        stale,
    } = page;
    let mut out = Output::paged(app);
    if out.json {
        for row in rows {
            match row {
                ListedRow::There(row) => out.written(|to| to.extend_from_slice(&row.line))?,
                ListedRow::Here(row) => {
                    let mut shape = row.shape.into_iter();
                    shape.try_for_each(|shape| out.object(&shape.object()))?;
                }
            }
        }
        out.object(&page.object())?;
    } else if rows.is_empty() {
        nothing(app, found_any, &looked_at);
    } else {
        table(app, args, (&rows, page.as_of), &mut out)?;
    }
    out.finish()?;
    // The answer is there: what is known of the hosts is brought up to date for the next one.
    app.show(app.requests.update_hosts(&stale));
    Ok(ExitCode::SUCCESS)
}

fn table(
    app: &App,
    args: &ListArgs,
    (listed, now): (&[ListedRow], Instant),
    out: &mut Output,
) -> Result<()> {
    let numbered = app.requests.remembers_lists();
    let is_there = |row: &ListedRow| matches!(row, ListedRow::There(_));
    let all = columns(args, numbered, listed.iter().any(is_there));
    let rows: Vec<Vec<String>> = listed
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let cells = match row {
                ListedRow::Here(row) => cells(app, (number + 1, row), now, out),
                ListedRow::There(row) => cells_there(app, (number + 1, row), now, out),
            };
            let cells = cells.into_iter().zip(&all);
            cells
                .filter_map(|(cell, (shown, _))| shown.then_some(cell))
                .collect()
        })
        .collect();
    let columns: Vec<Column> = all
        .iter()
        .filter_map(|(shown, column)| shown.then_some(*column))
        .collect();
    table::print(&columns, &rows, app.width, out)?;
    if numbered {
        let refs: Vec<String> = listed.iter().map(ListedRow::full_name).collect();
        app.requests.remember_list(refs.iter().map(String::as_str));
    }
    Ok(())
}

/// All columns in the order of `cells`, and whether each is shown.
fn columns(args: &ListArgs, numbered: bool, hosts: bool) -> [(bool, Column); 10] {
    let with_cost = args.cost || args.sort == SortArg::Cost;
    let with_size = args.sort == SortArg::Size;
    let id = Column::text("ID", Cut::Never, 9).styled(Style::Strong);
    [
        (numbered, Column::number("#", 6).styled(Style::Faint)),
        (hosts, Column::text("HOST", Cut::Right(8), 8)),
        (true, id),
        (true, Column::text("AGENT", Cut::Right(6), 3)),
        (true, Column::text("ACTIVE", Cut::Never, 5)),
        (true, Column::number("MSGS", 2)),
        (with_size, Column::number("SIZE", 7)),
        (with_cost, Column::number("COST", 7)),
        (true, Column::text("PROJECT", Cut::Left(8), 4)),
        (true, Column::text("NAME", Cut::Right(12), 10)),
    ]
}

fn cells(
    app: &App,
    (number, row): (usize, &SessionRow),
    now: Instant,
    out: &Output,
) -> [String; 10] {
    let summary = &row.conversation.front.1;
    let active = row.conversation.last_active();
    let project = summary.meta.project.as_deref().unwrap_or("-");
    [
        number.to_string(),
        "-".to_owned(),
        one_line(&row.short_id),
        cut(&one_line(&row.agents), 18),
        active.map_or_else(|| "-".to_owned(), |at| out.ago(at, now)),
        messages(row).map_or_else(|| "-".to_owned(), |n| n.to_string()),
        size(summary.location.size),
        row.cost
            .map_or_else(|| "-".to_owned(), |cost| format!("${cost:.2}")),
        project_cell(app, project),
        match &row.superseded_by {
            Some(fork) => one_line(&format!("[repaired as {fork}] {}", summary.name())),
            None => one_line(&summary.name()),
        },
    ]
}

/// The same for a session of a host.
fn cells_there(
    app: &App,
    (number, row): (usize, &HostRow),
    now: Instant,
    out: &Output,
) -> [String; 10] {
    let unknown = || "-".to_owned();
    [
        number.to_string(),
        one_line(&row.host),
        one_line(&row.short_id),
        cut(&one_line(&row.agents), 18),
        row.last_active.map_or_else(unknown, |at| out.ago(at, now)),
        row.messages.map_or_else(unknown, |n| n.to_string()),
        size(row.bytes),
        row.cost.map_or_else(unknown, |cost| format!("${cost:.2}")),
        project_cell(app, row.project.as_deref().unwrap_or("-")),
        one_line(&row.name),
    ]
}

/// The folder, or on a narrow terminal its last part alone: the name needs the room.
fn project_cell(app: &App, project: &str) -> String {
    let path = one_line(&short_path(app, project));
    let last = path.rsplit('/').find(|part| !part.is_empty());
    match last {
        Some(last) if app.width < WIDE => cut(last, 16),
        _ => cut_left(&path, 40),
    }
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

#[expect(clippy::print_stderr, reason = "an empty list is no data for stdout")]
fn nothing(app: &App, found_any: bool, looked_at: &[LookedAt]) {
    if found_any {
        eprintln!("no session matches");
        error_report::say("hint: list all sessions with `boswell list --hidden`");
        return;
    }
    eprintln!("no sessions found");
    for place in looked_at {
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
