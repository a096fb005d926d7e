//! `show`: the transcript of a session.
//!
//! How much is printed of tool calls, results and thinking (`--tools`, `--thinking`) is decided
//! here.

mod turns;

use std::process::ExitCode;

use boswell_app::shape::{EntryParts, Shape as _};
use boswell_app::show::{ShowRequest, ShownItem, TranscriptHeader};
use boswell_app::tool_line::ToolLine;
use boswell_model::{EntryKind, Part, Result, View};
use clap::{Args, ValueEnum};

use super::host_args::HostArgs;
use super::other_hosts::Elsewhere;
use crate::app::App;
use crate::output::{LateOutput, Output};
use crate::terminal::{Style, columns, cut, escape, one_line};
use crate::words::table::cut_left;
use crate::words::{count, short_path, wrap};
use turns::{TurnPart, Turns};

/// Show the transcript of a session
///
/// Shows the current branch; `boswell tree` lists the others.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell show @last --tools=full       with all input and output of tools
  boswell show 0b7e --records --json    every record, in file order")]
pub(crate) struct ShowArgs {
    /// Session: DIALECT:ID, the start of an id, a path, @last or @here
    session: String,
    /// Show every record of the file in file order, with metadata
    #[arg(long, alias = "all")]
    records: bool,
    /// Show only this entry
    #[arg(long, value_name = "E")]
    entry: Option<String>,
    /// Show this entry with three before and three after it
    #[arg(long, value_name = "E", conflicts_with = "entry")]
    around: Option<String>,
    /// Show only the last N entries
    #[arg(long, value_name = "N", conflicts_with_all = ["entry", "around"])]
    limit: Option<usize>,
    /// Show only what comes before this entry
    #[arg(long, value_name = "E", conflicts_with_all = ["entry", "around"])]
    before: Option<String>,
    /// Show the branch that ends with this entry, instead of the current one
    #[arg(long, value_name = "E")]
    leaf: Option<String>,
    /// Also show the model's thinking
    #[arg(long)]
    thinking: bool,
    /// How much to show of tool calls and results
    #[arg(long, value_enum, default_value_t = ToolsArg::Summary, value_name = "HOW")]
    tools: ToolsArg,
    /// Print records as they are in the file
    #[arg(long)]
    raw: bool,
    /// Also show subagents, below the calls that started them
    #[arg(long)]
    subagents: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl ShowArgs {
    /// Where it is to run.
    pub(crate) fn elsewhere(&self) -> Elsewhere<'_> {
        Elsewhere::about(&self.host, Some(&self.session))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ToolsArg {
    /// Nothing
    Off,
    /// One line each
    Summary,
    /// Everything
    Full,
}

impl From<&ShowArgs> for ShowRequest {
    fn from(args: &ShowArgs) -> ShowRequest {
        ShowRequest {
            session: args.session.clone(),
            records: args.records,
            entry: args.entry.clone(),
            around: args.around.clone(),
            limit: args.limit,
            before: args.before.clone(),
            branch: args.leaf.clone(),
            raw: args.raw,
            full_output: args.tools == ToolsArg::Full,
            subagents: args.subagents,
            header: args.before.is_none() && args.around.is_none(),
            ..ShowRequest::default()
        }
    }
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ShowArgs) -> Result<ExitCode> {
    let mut out = LateOutput::paged(app);
    let mut request = ShowRequest::from(args);
    request.header &= !app.json;
    let everything = args.records || args.entry.is_some();
    let from_start = args.limit.is_none() && args.before.is_none() && args.around.is_none();
    let mut turns = Turns::new(app.terminal && !everything, from_start);
    let shown = app.requests.show(&request, &mut |item| {
        let out = out.open()?;
        match item {
            ShownItem::Header(header) => print_header(app, header, out)?,
            ShownItem::Entry { entry, depth, .. } => {
                let shown = Shown {
                    app,
                    args,
                    everything,
                    depth,
                };
                shown.print(&entry, &mut turns, out)?;
            }
            ShownItem::Subagent { id, task, depth } if !out.json => {
                turns.interrupt(out)?;
                subagent(app, args, (id, task), depth, out)?;
            }
            // Gaps and branches are not requested.
            ShownItem::Subagent { .. } | ShownItem::Gap { .. } | ShownItem::Branches(_) => {}
        }
        Ok(!out.gone())
    });
    out.shown(shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Title, and then what is known in one line each.
fn print_header(app: &App, header: &TranscriptHeader, out: &mut Output) -> Result<()> {
    let faint = |parts: Vec<String>| {
        let text = cut(&parts.join(" · "), app.width);
        out.paint(Style::Faint, &text)
    };
    let name = cut(&one_line(&header.name), app.width);
    let lines = [
        out.paint(Style::Strong, &name),
        faint(who(app, header)),
        faint(numbers(header, out)),
        out.paint(Style::Faint, &one_line(&header.session)),
        String::new(),
    ];
    lines.iter().try_for_each(|line| out.line(line))
}

/// The agent, its models, and the project if there is room for it.
fn who(app: &App, header: &TranscriptHeader) -> Vec<String> {
    let mut who = vec![one_line(&header.agent)];
    who.extend(header.models.iter().map(|model| one_line(model)));
    let taken: usize = who.iter().map(|part| columns(part) + 3).sum();
    let project = header.project.as_deref();
    let project = project.map(|project| one_line(&short_path(app, project)));
    let room = app.width.saturating_sub(taken);
    who.extend(project.map(|it| cut_left(&it, room)).filter(|_| room > 7));
    who
}

/// When the session began, and its turns, tokens and cost, as far as they are known.
fn numbers(header: &TranscriptHeader, out: &Output) -> Vec<String> {
    let began = header.created.or(header.last_active);
    let mut numbers: Vec<String> = began.map(|at| out.minute(at)).into_iter().collect();
    numbers.push(count(header.turns, "turn", "turns"));
    let tokens = |count: Option<u64>, what: &str| count.map(|it| format!("{} {what}", short(it)));
    numbers.extend(tokens(header.input, "in"));
    numbers.extend(tokens(header.output, "out"));
    numbers.extend(header.cost.map(|cost| format!("${cost:.2}")));
    numbers
}

/// A number of tokens in a few characters.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// What comes before the lines of a subagent, once for each level.
const MARGIN: &str = "  │ ";

fn subagent(
    app: &App,
    args: &ShowArgs,
    (id, task): (&str, Option<&str>),
    depth: usize,
    out: &mut Output,
) -> Result<()> {
    let margin = MARGIN.repeat(depth);
    let task = task
        .map(|task| format!(": {}", one_line(task)))
        .unwrap_or_default();
    let hint = if args.subagents {
        ""
    } else {
        "  (show it with --subagents)"
    };
    let line = format!("⤷ subagent {}{task}{hint}", one_line(id));
    let line = match app.terminal {
        true => cut(&line, app.width.saturating_sub(columns(&margin))),
        false => line,
    };
    out.line(&format!("{margin}{}", out.paint(Style::Faint, &line)))?;
    out.line(&margin)
}

struct Shown<'a> {
    app: &'a App,
    args: &'a ShowArgs,
    everything: bool,
    /// How many subagents deep.
    depth: usize,
}

impl Shown<'_> {
    fn print(&self, entry: &EntryParts<'_>, turns: &mut Turns, out: &mut Output) -> Result<()> {
        if out.json {
            return out.object(&entry.shape(self.args.raw).object());
        }
        if self.args.raw {
            return out.line(&escape(&String::from_utf8_lossy(entry.bytes)));
        }
        self.entry(entry, turns, out)
    }

    fn entry(&self, entry: &EntryParts<'_>, turns: &mut Turns, out: &mut Output) -> Result<()> {
        let Some(view) = entry.view else {
            return out.line(&out.paint(Style::Warning, "(this record changed while it was read)"));
        };
        let kind = entry.kind;
        if !self.everything
            && (entry.is_hidden()
                || !(kind.is_conversation()
                    || kind == EntryKind::Attachment && self.args.tools == ToolsArg::Full))
        {
            return Ok(());
        }
        let lines = self.lines(view, out);
        if lines.is_empty() && !self.everything {
            return Ok(());
        }
        let margin = MARGIN.repeat(self.depth);
        let part = turns.next(entry.kind, view, self.depth);
        if part != TurnPart::Continued {
            turns.end_block(out)?;
            if part == TurnPart::Prompt {
                out.line(&turns.rule(self.room(), out))?;
            }
            let heading = heading(entry, view, self.heading_room(), out);
            out.line(&format!("{margin}{heading}"))?;
        }
        for line in lines {
            out.line(&format!("{margin}{line}"))?;
        }
        turns.open_block(margin.trim_end());
        match turns.are_grouped {
            true => Ok(()),
            false => turns.end_block(out),
        }
    }

    fn lines(&self, view: &View, out: &Output) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(remark) = &view.remark {
            let room = match self.everything {
                true => 100_000,
                false => self.app.width.saturating_sub(4),
            };
            lines.push(out.paint(Style::Faint, &cut(&one_line(remark), room)));
        }
        for part in &view.parts {
            self.part(part, out, &mut lines);
        }
        lines
    }

    /// Adds the lines of a part of an entry.
    fn part(&self, part: &Part, out: &Output, lines: &mut Vec<String>) {
        match part {
            Part::Text(text) => lines.extend(self.text(text, out)),
            Part::Thinking { text, .. } if self.args.thinking => {
                let text = escape(text);
                let thought = |line| out.paint(Style::Faint, &format!("  ┊ {line}"));
                lines.extend(text.lines().map(thought));
            }
            Part::Call { name, input, .. } if self.args.tools == ToolsArg::Summary => {
                lines.push(self.call(name, &ToolLine::of(input), out));
            }
            Part::Call { name, input, .. } => {
                self.tool(&format!("→ {name} "), input.text(), out, lines);
            }
            Part::Result { text, is_error, .. } => {
                let lead = if *is_error { "← failed: " } else { "← " };
                self.tool(lead, text, out, lines);
            }
            Part::Media { mime, .. } => {
                let mime = one_line(mime.as_deref().unwrap_or("media"));
                lines.push(out.paint(Style::Tool, &format!("  [{mime}]")));
            }
            Part::Other { word, json } => {
                let text = format!("  [{}] {}", one_line(word), one_line(json));
                let text = cut(&text, self.app.width.saturating_sub(4));
                lines.push(out.paint(Style::Faint, &text));
            }
            _ => {}
        }
    }

    /// A pipe gets the text as it is; a person sees it rendered.
    fn text(&self, text: &str, out: &Output) -> Vec<String> {
        let text = escape(text);
        match self.app.terminal {
            true => wrap::render(&text, self.room(), out),
            false => text.lines().map(str::to_owned).collect(),
        }
    }

    /// A pipe gets ids as a whole, which scripts take from there.
    fn heading_room(&self) -> usize {
        match self.app.terminal {
            true => self.room(),
            false => usize::MAX,
        }
    }

    fn room(&self) -> usize {
        let margin = columns(MARGIN) * self.depth;
        self.app.width.saturating_sub(margin).max(20)
    }

    /// A call in one line: `→ Edit src/coupon.rs (+11 −10)`.
    fn call(&self, name: &str, call: &ToolLine, out: &Output) -> String {
        let lead = format!("  → {}", one_line(name));
        let changed = call
            .changed
            .map(|(plus, minus)| format!(" (+{plus} −{minus})"));
        let tail = changed.unwrap_or_else(|| {
            let more = call.subject.lines().count().saturating_sub(1);
            match more {
                0 => String::new(),
                more => format!("  (+{})", count(more, "line", "lines")),
            }
        });
        let first = call.subject.lines().find(|line| !line.trim().is_empty());
        let taken = columns(&lead) + columns(&tail) + 1;
        let room = self.room().saturating_sub(taken).max(10);
        let subject = one_line(first.unwrap_or_default());
        let subject = match call.changed {
            Some(_) => cut_left(&subject, room),
            None => cut(&subject, room),
        };
        out.paint(Style::Tool, &format!("{lead} {subject}{tail}"))
    }

    fn tool(&self, lead: &str, text: &str, out: &Output, lines: &mut Vec<String>) {
        let lead = one_line(lead);
        match self.args.tools {
            ToolsArg::Off => {}
            ToolsArg::Summary => {
                let first = text
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("");
                let more = text.lines().count().saturating_sub(1);
                let tail = if more > 0 {
                    format!("  (+{})", count(more, "line", "lines"))
                } else {
                    String::new()
                };
                let room = self
                    .app
                    .width
                    .saturating_sub(4 + columns(&lead) + tail.len());
                lines.push(out.paint(
                    Style::Tool,
                    &format!("  {lead} {}{tail}", cut(&one_line(first), room.max(10))),
                ));
            }
            ToolsArg::Full => {
                lines.push(out.paint(Style::Tool, &format!("  {lead}")));
                lines.extend(escape(text).lines().map(|line| format!("    {line}")));
            }
        }
    }
}

fn heading(entry: &EntryParts<'_>, view: &View, room: usize, out: &Output) -> String {
    let who = entry
        .kind
        .role()
        .map_or_else(|| one_line(entry.word), str::to_owned);
    let style = match entry.kind {
        EntryKind::User => Style::User,
        EntryKind::Assistant => Style::Assistant,
        EntryKind::ToolResult | EntryKind::Shell => Style::Tool,
        _ => Style::Strong,
    };
    let mut model = view.model.as_deref().map(one_line);
    let time = entry.time.map(|at| out.minute(at));
    let mut label = entry.label.as_deref().map(one_line);
    let wide = |model: &Option<String>, label: &Option<String>| {
        let parts = [model, &time, label].into_iter().flatten();
        columns(&who) + parts.map(|part| columns(part) + 3).sum::<usize>()
    };
    // On a narrow terminal the start of an id must do, and the header names the model.
    if wide(&model, &label) > room {
        label = label.map(|label| label.chars().take(8).collect());
    }
    if wide(&model, &label) > room {
        model = None;
    }
    let mut parts = vec![out.paint(style, &who)];
    parts.extend([model, time, label].into_iter().flatten());
    parts.join(&out.paint(Style::Faint, " · "))
}
