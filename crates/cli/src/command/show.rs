//! `show`: the transcript.

use std::collections::HashSet;
use std::process::ExitCode;

use boswell_dialect::{Depth, Subagent};
use boswell_model::{
    Block, EntryKind, Error, ErrorKind, Flags, Result, Slot, View, shell_option, shell_quote,
};
use boswell_store::{Session, Store};
use clap::{Args, ValueEnum};

use crate::app::App;
use crate::json_shape::{EntryPlace, entry};
use crate::output::Output;
use crate::terminal::{Style, cut, escape, one_line};
use crate::{error_report, linked_transcript, time};

/// Show the transcript of a session's current branch
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  boswell show @last --tools=full          the last conversation with all that tools were told and answered
  boswell show 0b7e --records --json       every record of the file, in file order")]
pub(crate) struct ShowArgs {
    /// The session: a ref DIALECT:ID, the beginning of an id, a path, @last or @here
    session: String,
    /// Every record of the file in file order, metadata and unknown kinds too
    #[arg(long, alias = "all")]
    records: bool,
    /// Only this entry
    #[arg(long, value_name = "E")]
    entry: Option<String>,
    /// This entry and three before and after it
    #[arg(long, value_name = "E", conflicts_with = "entry")]
    around: Option<String>,
    /// Only this many, the last ones
    #[arg(long, value_name = "N", conflicts_with_all = ["entry", "around"])]
    limit: Option<usize>,
    /// Only what comes before this entry
    #[arg(long, value_name = "E", conflicts_with_all = ["entry", "around"])]
    before: Option<String>,
    /// Also what the model thought
    #[arg(long)]
    thinking: bool,
    /// How much of tool calls and results
    #[arg(long, value_enum, default_value_t = Tools::Summary, value_name = "HOW")]
    tools: Tools,
    /// Records as they stand in the file
    #[arg(long)]
    raw: bool,
    /// Also what subagents did, below the calls that started them
    #[arg(long)]
    subagents: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tools {
    /// Nothing
    Off,
    /// One line each
    Summary,
    /// Everything
    Full,
}

/// Runs the command.
pub(crate) fn run(app: &App, args: &ShowArgs) -> Result<ExitCode> {
    let found = app.resolve(&args.session)?;
    // Records and entries are those of the file that was named; the conversation may be elsewhere.
    let of_file = args.records || args.raw || args.entry.is_some();
    let found = if of_file {
        found
    } else {
        linked_transcript::followed(app, found)?
    };
    let session = found.store.read(&found.location, Depth::Heads)?;
    let mut out = Output::paged(app);
    let subagents = if args.raw || args.records {
        Vec::new()
    } else {
        found.store.subagents(&session)?
    };
    let slots = chosen(&session, &session.branch(session.tip()?)?, args)?;
    let mut telling = Telling {
        app,
        store: &found.store,
        args,
        subagents,
        told: HashSet::new(),
    };
    telling.log(&session, &slots, 0, &mut out)?;
    if args.entry.is_none() && args.around.is_none() {
        telling.rest(&mut out)?;
    }
    out.finish()?;
    warn_about_gaps(app, &session);
    Ok(ExitCode::SUCCESS)
}

/// Tells a session, and its subagents where they were started.
struct Telling<'a> {
    app: &'a App,
    store: &'a Store,
    args: &'a ShowArgs,
    subagents: Vec<Subagent>,
    /// Those that were told already.
    told: HashSet<usize>,
}

impl Telling<'_> {
    fn log(
        &mut self,
        session: &Session,
        slots: &[Slot],
        depth: usize,
        out: &mut Output,
    ) -> Result<()> {
        let on_branch: HashSet<Slot> = session.branch(session.tip()?)?.into_iter().collect();
        let leaf = session.leaf()?;
        for slot in slots.iter().copied() {
            if out.gone() {
                break;
            }
            let mut it = session.entry(slot)?;
            let place = EntryPlace {
                on_branch: on_branch.contains(&slot),
                leaf: leaf == Some(slot),
            };
            if self.args.raw
                && let std::borrow::Cow::Owned(redacted) =
                    session.dialect().powers().refine.redact(&it.bytes)
            {
                it.bytes = redacted;
            }
            if self.args.tools == Tools::Full
                && let Some(view) = &mut it.view
            {
                self.put_back_output(session, slot, view)?;
            }
            if out.json {
                out.object(&entry(
                    session,
                    slot,
                    &it.bytes,
                    it.view.as_ref(),
                    &place,
                    self.args.raw,
                ))?;
            } else if self.args.raw {
                out.line(&escape(&String::from_utf8_lossy(&it.bytes)))?;
            } else {
                let everything = self.args.records || self.args.entry.is_some();
                let shown = Shown {
                    app: self.app,
                    session,
                    args: self.args,
                    everything,
                    depth,
                };
                shown.entry(slot, it.view.as_ref(), out)?;
            }
            let calls: Vec<String> = it
                .view
                .iter()
                .flat_map(|view| {
                    view.calls()
                        .map(|(id, ..)| id.to_owned())
                        .collect::<Vec<_>>()
                })
                .collect();
            for call in calls {
                self.started(|it| it.call.as_ref() == Some(&call), depth, out)?;
            }
        }
        Ok(())
    }

    /// Puts the whole output of a tool in the place of its beginning.
    fn put_back_output(&self, session: &Session, slot: Slot, view: &mut View) -> Result<()> {
        let Some(whole) = self.store.full_output(session, slot)? else {
            return Ok(());
        };
        for block in &mut view.blocks {
            if let Block::Result { text, .. } = block {
                *text = String::from_utf8_lossy(&whole).into_owned();
            }
        }
        Ok(())
    }

    /// Tells the subagents that fit, below what was told last.
    fn started(
        &mut self,
        fits: impl Fn(&Subagent) -> bool,
        depth: usize,
        out: &mut Output,
    ) -> Result<()> {
        let fitting: Vec<usize> = (0..self.subagents.len())
            .filter(|index| {
                !self.told.contains(index) && self.subagents.get(*index).is_some_and(&fits)
            })
            .collect();
        for index in fitting {
            self.told.insert(index);
            let Some(subagent) = self.subagents.get(index).cloned() else {
                continue;
            };
            self.subagent(&subagent, depth, out)?;
        }
        Ok(())
    }

    fn subagent(&mut self, subagent: &Subagent, depth: usize, out: &mut Output) -> Result<()> {
        let margin = MARGIN.repeat(depth);
        let id = &subagent.location.id;
        if !out.json {
            let task = subagent
                .task
                .as_deref()
                .map(|task| format!(": {}", one_line(task)))
                .unwrap_or_default();
            let hint = if self.args.subagents {
                ""
            } else {
                "  (its conversation: --subagents)"
            };
            out.line(&format!(
                "{margin}{}",
                out.paint(
                    Style::Faint,
                    &format!("⤷ subagent {}{task}{hint}", one_line(id))
                )
            ))?;
            out.line(&margin)?;
        }
        if !self.args.subagents {
            return Ok(());
        }
        let session = self.store.read(&subagent.location, Depth::Heads)?;
        let slots = session.branch(session.tip()?)?;
        self.log(&session, &slots, depth + 1, out)
    }

    /// Tells subagents that no shown call started.
    fn rest(&mut self, out: &mut Output) -> Result<()> {
        if self.args.subagents {
            self.started(|_| true, 0, out)
        } else {
            Ok(())
        }
    }
}

/// What stands before the lines of a subagent, once for each level.
const MARGIN: &str = "  │ ";

fn chosen(session: &Session, branch: &[Slot], args: &ShowArgs) -> Result<Vec<Slot>> {
    if let Some(name) = &args.entry {
        return Ok(vec![session.find(name)?]);
    }
    let all: Vec<Slot> = if args.records {
        let header = session.header();
        session
            .log()
            .slots()
            .filter(|slot| header != Some(*slot))
            .collect()
    } else {
        branch.to_vec()
    };
    let Some(name) = &args.around else {
        return page(session, all, args);
    };
    let middle = session.find(name)?;
    let place = all.iter().position(|slot| *slot == middle).ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            format!(
                "the entry `{}` is not on the current branch",
                name.escape_debug()
            ),
        )
        .hinting(format!(
            "look around it in the file with `boswell show {} {} --records`",
            session.reference().to_argument(),
            shell_option("--around", name)
        ))
    })?;
    Ok(all
        .get(place.saturating_sub(3)..(place + 4).min(all.len()))
        .unwrap_or_default()
        .to_vec())
}

struct Shown<'a> {
    app: &'a App,
    session: &'a Session,
    args: &'a ShowArgs,
    everything: bool,
    /// How many subagents deep.
    depth: usize,
}

impl Shown<'_> {
    fn entry(&self, slot: Slot, view: Option<&View>, out: &mut Output) -> Result<()> {
        let log = self.session.log();
        let Some(head) = log.head(slot) else {
            return Ok(());
        };
        let hidden = head.flags.has(Flags::HIDDEN) || view.is_some_and(|v| v.hidden);
        let Some(view) = view else {
            return out.line(&out.paint(Style::Warning, "(this record changed while it was read)"));
        };
        if !self.everything
            && (hidden
                || !(head.kind.is_conversation()
                    || head.kind == EntryKind::Attachment && self.args.tools == Tools::Full))
        {
            return Ok(());
        }
        let lines = self.lines(view, out);
        if lines.is_empty() && !self.everything {
            return Ok(());
        }
        let margin = MARGIN.repeat(self.depth);
        out.line(&format!("{margin}{}", self.heading(slot, view, out)))?;
        for line in lines {
            out.line(&format!("{margin}{line}"))?;
        }
        out.line(margin.trim_end())
    }

    fn heading(&self, slot: Slot, view: &View, out: &Output) -> String {
        let log = self.session.log();
        let (kind, time) = log
            .head(slot)
            .map_or((EntryKind::Unknown, None), |h| (h.kind, h.instant()));
        let who = kind
            .role()
            .map_or_else(|| one_line(log.word(slot)), str::to_owned);
        let style = match kind {
            EntryKind::User => Style::User,
            EntryKind::Assistant => Style::Assistant,
            EntryKind::ToolResult | EntryKind::Shell => Style::Tool,
            _ => Style::Strong,
        };
        let mut parts = vec![out.paint(style, &who)];
        parts.extend(view.model.as_deref().map(one_line));
        parts.extend(time.map(time::minute));
        parts.push(one_line(&log.label(slot)));
        parts.join(&out.paint(Style::Faint, " · "))
    }

    fn lines(&self, view: &View, out: &Output) -> Vec<String> {
        let width = self.app.width.saturating_sub(4);
        let mut lines = Vec::new();
        if let Some(remark) = &view.remark {
            lines.push(out.paint(
                Style::Faint,
                &cut(
                    &one_line(remark),
                    if self.everything { 100_000 } else { width },
                ),
            ));
        }
        for block in &view.blocks {
            match block {
                Block::Text(text) => lines.extend(escape(text).lines().map(str::to_owned)),
                Block::Thinking(text) if self.args.thinking => {
                    lines.extend(
                        escape(text)
                            .lines()
                            .map(|line| out.paint(Style::Faint, &format!("  ┊ {line}"))),
                    );
                }
                Block::Thinking(_) => {}
                Block::Call { name, input, .. } => {
                    self.tool(&format!("→ {name} "), input, out, &mut lines)
                }
                Block::Result { text, is_error, .. } => {
                    self.tool(
                        if *is_error { "← failed: " } else { "← " },
                        text,
                        out,
                        &mut lines,
                    );
                }
                Block::Media { mime, .. } => lines.push(out.paint(
                    Style::Tool,
                    &format!("  [{}]", one_line(mime.as_deref().unwrap_or("media"))),
                )),
                Block::Other { word, json } => lines.push(out.paint(
                    Style::Faint,
                    &cut(&format!("  [{}] {}", one_line(word), one_line(json)), width),
                )),
                _ => {}
            }
        }
        lines
    }

    fn tool(&self, lead: &str, text: &str, out: &Output, lines: &mut Vec<String>) {
        let lead = one_line(lead);
        match self.args.tools {
            Tools::Off => {}
            Tools::Summary => {
                let first = text
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("");
                let more = text.lines().count().saturating_sub(1);
                let tail = if more > 0 {
                    format!("  (+{more} lines)")
                } else {
                    String::new()
                };
                let room = self
                    .app
                    .width
                    .saturating_sub(4 + crate::terminal::columns(&lead) + tail.len());
                lines.push(out.paint(
                    Style::Tool,
                    &format!("  {lead} {}{tail}", cut(&one_line(first), room.max(10))),
                ));
            }
            Tools::Full => {
                lines.push(out.paint(Style::Tool, &format!("  {lead}")));
                lines.extend(escape(text).lines().map(|line| format!("    {line}")));
            }
        }
    }
}

/// The last entries, or those that end just before one: how a long session is read
/// backwards, page by page.
fn page(session: &Session, mut all: Vec<Slot>, args: &ShowArgs) -> Result<Vec<Slot>> {
    if let Some(name) = &args.before {
        let end = session.find(name)?;
        all.truncate(all.iter().position(|slot| *slot == end).unwrap_or(0));
    }
    let from = args
        .limit
        .map_or(0, |limit| all.len().saturating_sub(limit));
    Ok(all.split_off(from))
}

/// Says how much of a log could not be read as records. The answer itself is whole.
pub(crate) fn warn_about_gaps(app: &App, session: &Session) {
    let gaps = session
        .log()
        .gaps
        .iter()
        .filter(|gap| gap.kind != boswell_model::SpanKind::Gap(boswell_model::Gap::Bom))
        .count();
    if gaps == 0 || app.quiet {
        return;
    }
    let name = session
        .path()
        .map_or_else(|| session.reference().to_string(), str::to_owned);
    let plural = if gaps == 1 {
        "1 stretch is"
    } else {
        &format!("{gaps} stretches are")
    };
    error_report::warn(
        &Error::new(
            ErrorKind::Damaged,
            format!("{plural} no record in `{name}`"),
        )
        .hinting(format!(
            "see what and where with `boswell check {}`",
            shell_quote(session.path().unwrap_or(&session.reference().to_string()))
        )),
    );
}
