//! `show`: the transcript.

use std::collections::HashSet;
use std::process::ExitCode;

use boswell_dialect::Depth;
use boswell_model::{Block, EntryKind, Error, ErrorKind, Flags, Result, Slot, View};
use boswell_store::Session;
use clap::{Args, ValueEnum};

use crate::machine::Machine;
use crate::output::Output;
use crate::shape::{EntryPlace, entry};
use crate::terminal::{Style, cut, escape, one_line};
use crate::{failure, transcript, when};

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
pub(crate) fn run(machine: &Machine, args: &ShowArgs) -> Result<ExitCode> {
    let found = machine.resolve(&args.session)?;
    // Records and entries are those of the file that was named; the conversation may be elsewhere.
    let of_file = args.records || args.raw || args.entry.is_some();
    let found = if of_file { found } else { transcript::followed(machine, found)? };
    let session = found.store.read(&found.located, Depth::Heads)?;
    let branch = session.branch(session.tip()?)?;
    let leaf = session.leaf()?;
    let slots = chosen(&session, &branch, args)?;
    let on_branch: HashSet<Slot> = branch.iter().copied().collect();
    let mut out = Output::paged(machine);
    for slot in slots {
        if out.gone() {
            break;
        }
        let mut it = session.entry(slot)?;
        let place = EntryPlace { on_branch: on_branch.contains(&slot), leaf: leaf == Some(slot) };
        if args.raw
            && let std::borrow::Cow::Owned(redacted) = session.dialect().redact(&it.bytes)
        {
            it.bytes = redacted;
        }
        if out.json {
            out.object(&entry(&session, slot, &it.bytes, it.view.as_ref(), &place, args.raw))?;
        } else if args.raw {
            out.line(&escape(&String::from_utf8_lossy(&it.bytes)))?;
        } else {
            let shown = Shown { machine, session: &session, args, everything: args.records || args.entry.is_some() };
            shown.entry(slot, it.view.as_ref(), &mut out)?;
        }
    }
    out.finish()?;
    warn_about_gaps(machine, &session);
    Ok(ExitCode::SUCCESS)
}

fn chosen(session: &Session, branch: &[Slot], args: &ShowArgs) -> Result<Vec<Slot>> {
    if let Some(name) = &args.entry {
        return Ok(vec![session.find(name)?]);
    }
    let all: Vec<Slot> = if args.records {
        let header = session.header();
        session.log().slots().filter(|slot| header != Some(*slot)).collect()
    } else {
        branch.to_vec()
    };
    let Some(name) = &args.around else { return page(session, all, args) };
    let middle = session.find(name)?;
    let place = all.iter().position(|slot| *slot == middle).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("the entry `{}` is not on the current branch", name.escape_debug()))
            .hinting(format!(
                "look around it in the file with `boswell show {} --around {name} --records`",
                session.reference()
            ))
    })?;
    Ok(all.get(place.saturating_sub(3)..(place + 4).min(all.len())).unwrap_or_default().to_vec())
}

struct Shown<'a> {
    machine: &'a Machine,
    session: &'a Session,
    args: &'a ShowArgs,
    everything: bool,
}

impl Shown<'_> {
    fn entry(&self, slot: Slot, view: Option<&View>, out: &mut Output) -> Result<()> {
        let log = self.session.log();
        let Some(head) = log.head(slot) else { return Ok(()) };
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
        out.line(&self.heading(slot, view, out))?;
        for line in lines {
            out.line(&line)?;
        }
        out.line("")
    }

    fn heading(&self, slot: Slot, view: &View, out: &Output) -> String {
        let log = self.session.log();
        let (kind, time) = log.head(slot).map_or((EntryKind::Unknown, None), |h| (h.kind, h.instant()));
        let who = kind.role().map_or_else(|| one_line(log.word(slot)), str::to_owned);
        let style = match kind {
            EntryKind::User => Style::User,
            EntryKind::Assistant => Style::Assistant,
            EntryKind::ToolResult | EntryKind::Shell => Style::Tool,
            _ => Style::Strong,
        };
        let mut parts = vec![out.paint(style, &who)];
        parts.extend(view.model.as_deref().map(one_line));
        parts.extend(time.map(when::minute));
        parts.push(one_line(&log.label(slot)));
        parts.join(&out.paint(Style::Faint, " · "))
    }

    fn lines(&self, view: &View, out: &Output) -> Vec<String> {
        let width = self.machine.width.saturating_sub(4);
        let mut lines = Vec::new();
        if let Some(remark) = &view.remark {
            lines.push(out.paint(Style::Faint, &cut(&one_line(remark), if self.everything { 100_000 } else { width })));
        }
        for block in &view.blocks {
            match block {
                Block::Text(text) => lines.extend(escape(text).lines().map(str::to_owned)),
                Block::Thinking(text) if self.args.thinking => {
                    lines.extend(escape(text).lines().map(|line| out.paint(Style::Faint, &format!("  ┊ {line}"))));
                }
                Block::Thinking(_) => {}
                Block::Call { name, input, .. } => self.tool(&format!("→ {name} "), input, out, &mut lines),
                Block::Result { text, is_error, .. } => {
                    self.tool(if *is_error { "← failed: " } else { "← " }, text, out, &mut lines);
                }
                Block::Media { mime, .. } => {
                    lines.push(out.paint(Style::Tool, &format!("  [{}]", one_line(mime.as_deref().unwrap_or("media")))))
                }
                Block::Other { word, json } => lines
                    .push(out.paint(Style::Faint, &cut(&format!("  [{}] {}", one_line(word), one_line(json)), width))),
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
                let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
                let more = text.lines().count().saturating_sub(1);
                let tail = if more > 0 { format!("  (+{more} lines)") } else { String::new() };
                let room = self.machine.width.saturating_sub(4 + crate::terminal::columns(&lead) + tail.len());
                lines.push(out.paint(Style::Tool, &format!("  {lead} {}{tail}", cut(&one_line(first), room.max(10)))));
            }
            Tools::Full => {
                lines.push(out.paint(Style::Tool, &format!("  {lead}")));
                lines.extend(escape(text).lines().map(|line| format!("    {line}")));
            }
        }
    }
}

/// The last entries, or those that end just before one: how a long session is read backwards, page by page.
fn page(session: &Session, mut all: Vec<Slot>, args: &ShowArgs) -> Result<Vec<Slot>> {
    if let Some(name) = &args.before {
        let end = session.find(name)?;
        all.truncate(all.iter().position(|slot| *slot == end).unwrap_or(0));
    }
    let from = args.limit.map_or(0, |limit| all.len().saturating_sub(limit));
    Ok(all.split_off(from))
}

/// Says how much of a log could not be read as records. The answer itself is whole.
pub(crate) fn warn_about_gaps(machine: &Machine, session: &Session) {
    let gaps = session
        .log()
        .gaps
        .iter()
        .filter(|gap| gap.kind != boswell_model::SpanKind::Gap(boswell_model::Gap::Bom))
        .count();
    if gaps == 0 || machine.quiet {
        return;
    }
    let name = session.path().map_or_else(|| session.reference().to_string(), str::to_owned);
    let plural = if gaps == 1 { "1 stretch is" } else { &format!("{gaps} stretches are") };
    failure::warn(&Error::new(ErrorKind::Damaged, format!("{plural} no record in `{name}`")).hinting(format!(
        "see what and where with `boswell check {}`",
        session.path().unwrap_or(&session.reference().to_string())
    )));
}
