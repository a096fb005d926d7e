//! The lines of a transcript in a width: what is folded, what is open.

use std::collections::BTreeMap;

use boswell_app::text::{columns, cut, one_line};

use super::markdown::markdown;
use super::wrap::wrap;
use super::{Block, BlockKind, Detail, FoldKey, Folds, Styled, TextLine, Tone, Tools, is_failure};
use crate::words::{self, fill};

/// From how many calls in a row they are one line.
const RUN: usize = 3;

/// Returns the lines of blocks in a width.
pub(crate) fn lines(
    blocks: &[Block],
    detail: &Detail,
    folds: &Folds,
    width: usize,
) -> Vec<TextLine> {
    let mut page = Lines {
        blocks,
        detail,
        folds,
        width: width.max(8),
        out: Vec::new(),
    };
    let mut at = 0;
    while at < blocks.len() {
        let end = run_end(blocks, at, detail);
        if detail.runs && calls(blocks, at, end) >= RUN {
            page.run(at, end);
        } else {
            (at..end).for_each(|at| page.block(at));
        }
        at = end;
    }
    page.out
}

/// Returns the end of the calls in a row that begin here; the next block if it is no call.
fn run_end(blocks: &[Block], start: usize, detail: &Detail) -> usize {
    let depth = blocks.get(start).map_or(0, |it| it.depth);
    let in_run = |it: &&Block| {
        let is_tool = match it.kind {
            BlockKind::Call | BlockKind::Output { .. } => true,
            BlockKind::Thinking => !detail.thinking,
            _ => false,
        };
        is_tool && it.depth == depth
    };
    let rest = blocks.get(start..).unwrap_or_default();
    start + rest.iter().take_while(in_run).count().max(1)
}

fn calls(blocks: &[Block], start: usize, end: usize) -> usize {
    let run = blocks.get(start..end).unwrap_or_default();
    run.iter().filter(|it| it.kind == BlockKind::Call).count()
}

/// Returns the folded run that a block is in, if it is in one.
pub(crate) fn run_of(blocks: &[Block], wanted: usize, detail: &Detail) -> Option<FoldKey> {
    let mut at = 0;
    while at <= wanted {
        let end = run_end(blocks, at, detail);
        if wanted < end {
            let is_run = detail.runs && calls(blocks, at, end) >= RUN;
            return blocks.get(at).filter(|_| is_run).map(|it| it.fold(true));
        }
        at = end;
    }
    None
}

struct Lines<'l> {
    blocks: &'l [Block],
    detail: &'l Detail,
    folds: &'l Folds,
    width: usize,
    out: Vec<TextLine>,
}

impl Lines<'_> {
    /// Adds a run of calls as one line, and its calls if it is open.
    fn run(&mut self, start: usize, end: usize) {
        let run = self.blocks.get(start..end).unwrap_or_default();
        let Some(first) = run.first().filter(|_| self.detail.tools != Tools::Off) else {
            return;
        };
        let key = first.fold(true);
        let is_open = self.folds.is_open(&key, self.detail);
        let (tone, text) = summary(run, self.detail);
        let arrow = if is_open { "▾" } else { "▸" };
        let margin = margin(first);
        let room = self.width.saturating_sub(columns(&margin));
        let text = cut(&format!("  {arrow} {text}"), room);
        self.out.push(TextLine {
            fold: Some(key),
            ..TextLine::new(tone, format!("{margin}{text}"), start, true)
        });
        if is_open {
            (start..end).for_each(|at| self.block(at));
        }
    }

    /// Adds a block.
    fn block(&mut self, at: usize) {
        let Some(block) = self.blocks.get(at) else {
            return;
        };
        let margin = margin(block);
        let inner = self.width.saturating_sub(columns(&margin));
        let made = self.of_block(block, inner);
        let is_spaced = matches!(
            block.kind,
            BlockKind::Prompt
                | BlockKind::Answer
                | BlockKind::Compaction
                | BlockKind::BranchSummary
                | BlockKind::New
        );
        let starts = is_spaced && !made.is_empty() && !self.out.is_empty();
        if starts {
            self.out
                .push(TextLine::new(Tone::Plain, String::new(), at, false));
        }
        for (line, styled) in made.into_iter().enumerate() {
            let mut made = TextLine::new(
                styled.tone,
                format!("{margin}{}", styled.text),
                at,
                line == 0,
            );
            let moved = styled.marks.into_iter();
            made.marks = moved
                .map(|(it, tone)| (it.start + margin.len()..it.end + margin.len(), tone))
                .collect();
            if line == 0 {
                self.dress(&mut made, block);
            }
            self.out.push(made);
        }
    }

    /// Adds what only the first line of a block has: the fold, the number and time of a prompt.
    fn dress(&self, line: &mut TextLine, block: &Block) {
        match block.kind {
            BlockKind::Call | BlockKind::Output { .. } => line.fold = Some(block.fold(false)),
            BlockKind::Prompt if block.depth == 0 => {
                if let (Some(at), true) = (block.at, self.detail.times) {
                    let minute = self.detail.zone.minute(at);
                    line.tail = minute.get(11..).unwrap_or("").to_owned();
                }
            }
            _ => {}
        }
    }

    fn of_block(&self, block: &Block, width: usize) -> Vec<Styled> {
        let say = |words| self.detail.language.say(words);
        match block.kind {
            BlockKind::Prompt => led(Tone::Prompt, "┃ ", &block.text, width.saturating_sub(6)),
            BlockKind::Answer => markdown(&block.text, width),
            BlockKind::Thinking if !self.detail.thinking => Vec::new(),
            BlockKind::Thinking => led(Tone::Faint, "  ┊ ", &block.text, width),
            BlockKind::Call | BlockKind::Output { .. } => self.tool(block, width),
            BlockKind::Remark => one(Tone::Faint, &one_line(&block.text), width),
            BlockKind::Media => {
                let text = format!("  ▣ {} · {}", block.text, say(words::PICTURE_KEY));
                one(Tone::Tool, &text, width)
            }
            BlockKind::Gap => {
                let text = format!("! {} · {}", block.text, say(words::GAP_KEY));
                led(Tone::Failed, "", &text, width)
            }
            BlockKind::Branch => {
                let text = format!("↳ {} · {}", block.text, say(words::BRANCH_KEYS));
                one(Tone::Tool, &text, width)
            }
            BlockKind::New => vec![between(say(words::NEW_SINCE), '─', width)],
            BlockKind::Subagent => {
                // Its task says more than its id.
                let name = [&block.text, &block.head]
                    .into_iter()
                    .find(|it| !it.is_empty());
                let name = fill(say(words::SUBAGENT), &[name.map_or("", String::as_str)]);
                let text = format!("  ⤷ {name} · {}", say(words::SUBAGENT_KEY));
                one(Tone::Tool, &text, width)
            }
            BlockKind::Compaction | BlockKind::BranchSummary => {
                let word = match block.kind {
                    BlockKind::BranchSummary => words::OTHER_BRANCH_SUMMARY,
                    _ => words::COMPACTED,
                };
                let mut lines = vec![between(say(word), '┄', width)];
                // What the record says of a compaction, such as its tokens.
                if block.kind == BlockKind::Compaction && block.head != block.text {
                    lines.extend(led(Tone::Faint, "  ", &block.head, width));
                }
                let text = led(Tone::Faint, "  ", &block.text, width);
                lines.extend(text.into_iter().take(6));
                lines
            }
        }
    }

    /// Returns the lines of a call or its output, as far as tools are shown.
    fn tool(&self, block: &Block, width: usize) -> Vec<Styled> {
        if self.detail.tools == Tools::Off {
            return Vec::new();
        }
        let is_open = self.folds.is_open(&block.fold(false), self.detail);
        let mut lines = vec![tool_head(block, self.detail, is_open, width)];
        if is_open {
            lines.extend(tool_text(block, width));
        }
        lines
    }
}

/// Returns the margin of a subagent's blocks.
fn margin(block: &Block) -> String {
    "│ ".repeat(block.depth)
}

fn one(tone: Tone, text: &str, width: usize) -> Vec<Styled> {
    vec![Styled::new(tone, cut(text, width))]
}

/// Returns a line across the width with a text in its middle.
fn between(text: &str, line: char, width: usize) -> Styled {
    let text = cut(text, width.saturating_sub(2));
    let room = width.saturating_sub(columns(&text) + 2);
    let side = |count: usize| line.to_string().repeat(count);
    let text = format!("{} {text} {}", side(room / 2), side(room - room / 2));
    Styled::new(Tone::Faint, text)
}

/// Wraps text with the same lead before each line.
fn led(tone: Tone, lead: &str, text: &str, width: usize) -> Vec<Styled> {
    let wrapped = wrap(text, width.saturating_sub(columns(lead))).into_iter();
    wrapped
        .map(|it| Styled::new(tone, format!("{lead}{it}")))
        .collect()
}

/// Returns the line that stands for several calls: their tools, and how many failed.
fn summary(run: &[Block], detail: &Detail) -> (Tone, String) {
    let mut tools: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let calls = run.iter().filter(|it| it.kind == BlockKind::Call);
    let count = calls.clone().count();
    for (at, call) in calls.enumerate() {
        let tool = call.head.split(' ').next().unwrap_or("");
        tools.entry(tool).or_insert((at, 0)).1 += 1;
    }
    let mut tools: Vec<(usize, &str, usize)> = tools
        .into_iter()
        .map(|(tool, (at, times))| (at, tool, times))
        .collect();
    tools.sort_unstable();
    let tools: Vec<String> = tools
        .into_iter()
        .map(|(_, tool, times)| match times {
            1 => tool.to_owned(),
            _ => format!("{tool} ×{times}"),
        })
        .collect();
    let say = |words| detail.language.say(words);
    let text = fill(say(words::CALLS), &[&count.to_string()]);
    let text = format!("{text}  {}", tools.join(" · "));
    match run.iter().filter(|it| is_failure(it)).count() {
        0 => (Tone::Tool, text),
        failed => {
            let failed = fill(say(words::FAILED_CALLS), &[&failed.to_string()]);
            (Tone::Failed, format!("{text}  {failed}"))
        }
    }
}

/// Returns the line that stands for a call or its output.
fn tool_head(block: &Block, detail: &Detail, is_open: bool, width: usize) -> Styled {
    let arrow = if block.kind == BlockKind::Call {
        "→"
    } else {
        "←"
    };
    let (tone, state) = if is_failure(block) {
        let failed = detail.language.say(words::CALL_FAILED);
        (Tone::Failed, format!("{failed}: "))
    } else if block.kind == BlockKind::Call {
        (Tone::Tool, String::new())
    } else {
        (Tone::Faint, String::new())
    };
    let more = block.text.lines().count().saturating_sub(1);
    let tail = match block.kind {
        BlockKind::Output { .. } if more > 0 && !is_open => {
            let words = if more == 1 {
                words::LINE_MORE
            } else {
                words::LINES_MORE
            };
            format!(
                " {}",
                fill(detail.language.say(words), &[&more.to_string()])
            )
        }
        _ => String::new(),
    };
    let lead = format!("  {arrow} {state}");
    let room = width.saturating_sub(columns(&lead) + columns(&tail));
    Styled::new(tone, format!("{lead}{}{tail}", cut(&block.head, room)))
}

/// Returns the whole text of a call or its output; an edit as a diff.
fn tool_text(block: &Block, width: usize) -> Vec<Styled> {
    let mut lines = Vec::new();
    for text in block.text.lines() {
        let tone = match text.get(..2) {
            Some("+ ") if block.kind == BlockKind::Call => Tone::Added,
            Some("- ") if block.kind == BlockKind::Call => Tone::Removed,
            _ => Tone::Code,
        };
        lines.extend(led(tone, "      ", text, width));
    }
    lines
}
