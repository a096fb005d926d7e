//! A transcript as blocks, and the lines that a width makes of them.
//!
//! Pure: the worker converts entries to blocks, views ask for lines.

use boswell_app::shape::EntryParts;
use boswell_app::text::{columns, cut, escape, one_line};
use boswell_model::json::{Raw, RawKind};
use boswell_model::{EntryKind, Instant, Part, ToolInput};

use crate::words::{self, Language, fill};

/// How much of one part is kept: more cannot be read on a screen, and a line of 60 MB would be held
/// twice.
const LONGEST: usize = 64 * 1024;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Prompt,
    Answer,
    Thinking,
    Call,
    /// The result of a call, and whether it failed.
    Output {
        failed: bool,
    },
    Remark,
    Subagent,
    Compaction,
}

/// A part of an entry, made harmless.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// The entry that it belongs to.
    pub(crate) entry: Option<String>,
    pub(crate) at: Option<Instant>,
    /// One line that describes it; empty for text.
    pub(crate) head: String,
    pub(crate) text: String,
    /// Nesting depth of subagents.
    pub(crate) depth: usize,
}

/// How much is shown of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tools {
    #[default]
    Summary,
    Full,
    Off,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Detail {
    pub(crate) tools: Tools,
    pub(crate) thinking: bool,
    pub(crate) language: Language,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Prompt,
    Heading,
    Code,
    Tool,
    Failed,
    Added,
    Removed,
    Faint,
}

/// A line of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextLine {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// Index of its block.
    pub(crate) block: usize,
    /// Whether it is the first line of its block.
    pub(crate) first: bool,
}

/// Converts an entry; hidden ones and bookkeeping have no blocks.
pub(crate) fn blocks(entry: &EntryParts<'_>, depth: usize) -> Vec<Block> {
    let Some(view) = entry.view else {
        return Vec::new();
    };
    if entry.is_hidden() || !entry.kind.is_conversation() {
        return Vec::new();
    }
    let block = |(kind, head, text): (BlockKind, String, String)| Block {
        kind,
        entry: entry.label.as_deref().map(str::to_owned),
        at: entry.time,
        head,
        text,
        depth,
    };
    let said = said(entry.kind);
    let remark = view.remark.as_ref().map(|remark| {
        let is_summary = said == BlockKind::Compaction;
        let kind = if is_summary { said } else { BlockKind::Remark };
        (kind, String::new(), shortened(remark))
    });
    let parts = view.parts.iter().filter_map(|part| of_part(part, said));
    remark.into_iter().chain(parts).map(block).collect()
}

/// Returns what the text of an entry is.
fn said(kind: EntryKind) -> BlockKind {
    match kind {
        EntryKind::User | EntryKind::Shell => BlockKind::Prompt,
        EntryKind::Compaction | EntryKind::BranchSummary => BlockKind::Compaction,
        EntryKind::ToolResult => BlockKind::Output { failed: false },
        _ => BlockKind::Answer,
    }
}

/// Returns kind, head and text of a part; `None` if there is nothing to show.
fn of_part(part: &Part, said: BlockKind) -> Option<(BlockKind, String, String)> {
    Some(match part {
        Part::Text(text) if text.trim().is_empty() => return None,
        Part::Text(text) => (said, String::new(), shortened(text)),
        Part::Thinking { text, .. } => (BlockKind::Thinking, String::new(), shortened(text)),
        Part::Call { name, input, .. } => {
            let (head, text) = call(name, input);
            (BlockKind::Call, head, text)
        }
        Part::Result { text, is_error, .. } => {
            let kind = BlockKind::Output { failed: *is_error };
            (kind, first_line(text), shortened(text))
        }
        Part::Media { mime, .. } => {
            let mime = one_line(mime.as_deref().unwrap_or("media"));
            (BlockKind::Remark, String::new(), format!("[{mime}]"))
        }
        _ => return None,
    })
}

/// Cuts blocks for a preview, which is wrapped again for each frame.
pub(crate) fn cut_for_preview(blocks: &mut [Block]) {
    const MOST: usize = 4096;
    for block in blocks.iter_mut().filter(|it| it.text.len() > MOST) {
        let end = (0..=MOST).rev().find(|at| block.text.is_char_boundary(*at));
        block.text.truncate(end.unwrap_or(0));
        block.text.push('…');
    }
}

fn shortened(text: &str) -> String {
    let end = (0..=LONGEST.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let kept = escape(text.get(..end).unwrap_or(""));
    if end < text.len() {
        format!("{kept}…")
    } else {
        kept
    }
}

fn first_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    one_line(&cut(first.unwrap_or(""), 400))
}

/// Returns one line about a call, and its details: an edit as a diff, else its arguments.
fn call(name: &str, input: &ToolInput) -> (String, String) {
    let name = one_line(name);
    let Some(json) = input.json() else {
        return (
            format!("{name} {}", first_line(input.text())),
            shortened(input.text()),
        );
    };
    let member = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| Some(json.get(key)?.text()?.into_owned()))
    };
    let path = member(&["file_path", "path", "notebook_path", "filePath"]);
    let old = member(&["old_string", "oldText", "old_str"]);
    let new = member(&["new_string", "newText", "new_str", "content"]);
    if let (Some(path), Some(new)) = (&path, &new) {
        let old = old.unwrap_or_default();
        let (removed, added) = (old.lines().count(), new.lines().count());
        let head = format!("{name} {}  +{added} −{removed}", one_line(path));
        let lines = old.lines().map(|it| format!("- {it}"));
        let lines: Vec<String> = lines
            .chain(new.lines().map(|it| format!("+ {it}")))
            .collect();
        return (head, shortened(&lines.join("\n")));
    }
    let what = member(&[
        "command",
        "cmd",
        "pattern",
        "query",
        "url",
        "description",
        "prompt",
    ]);
    let what = path.or(what).unwrap_or_else(|| input.text().to_owned());
    (
        format!("{name} {}", first_line(&what)),
        shortened(&arguments(&json)),
    )
}

/// Returns the arguments of a call, a member on each line; text without quotes.
fn arguments(json: &Raw<'_>) -> String {
    if json.kind() != RawKind::Object {
        return String::from_utf8_lossy(json.bytes()).into_owned();
    }
    let lines = json.members().map(|(key, value)| {
        let text = value.text();
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(value.bytes()));
        format!("{}: {text}", key.to_text())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes paths of calls below the project folder without it.
pub(crate) fn shorten_paths(blocks: &mut [Block], project: Option<&str>) {
    let Some(project) = project.filter(|it| it.len() > 1) else {
        return;
    };
    let folder = format!("{}/", one_line(project));
    for block in blocks.iter_mut().filter(|it| it.kind == BlockKind::Call) {
        block.head = block.head.replace(&folder, "");
        block.text = block.text.replace(&folder, "");
    }
}

/// Returns the block of a subagent that was started here.
pub(crate) fn subagent(id: &str, task: Option<&str>, depth: usize) -> Block {
    Block {
        kind: BlockKind::Subagent,
        entry: None,
        at: None,
        head: one_line(id),
        text: one_line(task.unwrap_or("")),
        depth,
    }
}

/// Whether a block is a failed call.
pub(crate) fn is_failure(block: &Block) -> bool {
    block.kind == BlockKind::Output { failed: true }
}

/// Returns the lines of blocks in a width.
pub(crate) fn lines(blocks: &[Block], detail: Detail, width: usize) -> Vec<TextLine> {
    let mut lines: Vec<TextLine> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let made = of_block(block, detail, width.max(8));
        let gap = matches!(
            block.kind,
            BlockKind::Prompt | BlockKind::Answer | BlockKind::Compaction
        );
        if gap && !made.is_empty() && !lines.is_empty() {
            lines.push(line(Tone::Plain, String::new(), index, false));
        }
        for (at, (tone, text)) in made.into_iter().enumerate() {
            lines.push(line(tone, text, index, at == 0));
        }
    }
    lines
}

fn line(tone: Tone, text: String, block: usize, first: bool) -> TextLine {
    TextLine {
        tone,
        text,
        block,
        first,
    }
}

/// Returns the lines of a block, with the margin of its depth.
fn of_block(block: &Block, detail: Detail, width: usize) -> Vec<(Tone, String)> {
    let margin = "│ ".repeat(block.depth);
    let inner = width.saturating_sub(columns(&margin));
    let lines: Vec<(Tone, String)> = match block.kind {
        BlockKind::Prompt => led(Tone::Prompt, "┃ ", &block.text, inner),
        BlockKind::Answer => markdown(&block.text, inner),
        BlockKind::Thinking if !detail.thinking => Vec::new(),
        BlockKind::Thinking => led(Tone::Faint, "  ┊ ", &block.text, inner),
        BlockKind::Call | BlockKind::Output { .. } => tool(block, detail, inner),
        BlockKind::Remark => vec![(Tone::Faint, cut(&one_line(&block.text), inner))],
        BlockKind::Subagent => {
            let name = fill(detail.language.say(words::SUBAGENT), &[&block.head]);
            let text = format!("  ⤷ {name} {}", block.text);
            vec![(Tone::Tool, cut(&text, inner))]
        }
        BlockKind::Compaction => {
            let title = detail.language.say(words::COMPACTED);
            let mut lines = vec![(Tone::Faint, cut(&format!("┄┄┄ {title} ┄┄┄"), inner))];
            let text = led(Tone::Faint, "  ", &block.text, inner);
            lines.extend(text.into_iter().take(6));
            lines
        }
    };
    lines
        .into_iter()
        .map(|(tone, text)| (tone, format!("{margin}{text}")))
        .collect()
}

/// Wraps text with the same lead before each line.
fn led(tone: Tone, lead: &str, text: &str, width: usize) -> Vec<(Tone, String)> {
    let wrapped = wrap(text, width.saturating_sub(columns(lead))).into_iter();
    wrapped.map(|it| (tone, format!("{lead}{it}"))).collect()
}

/// Returns the lines of a call or its output, as far as tools are shown.
fn tool(block: &Block, detail: Detail, width: usize) -> Vec<(Tone, String)> {
    match detail.tools {
        Tools::Off => Vec::new(),
        Tools::Summary => vec![tool_head(block, detail, width)],
        Tools::Full => {
            let mut lines = vec![tool_head(block, detail, width)];
            lines.extend(tool_text(block, width));
            lines
        }
    }
}

/// Returns the line that stands for a call or its output.
fn tool_head(block: &Block, detail: Detail, width: usize) -> (Tone, String) {
    let arrow = if block.kind == BlockKind::Call {
        "→"
    } else {
        "←"
    };
    let (tone, state) = if is_failure(block) {
        let failed = detail.language.say(words::CALL_FAILED);
        (Tone::Failed, format!("{failed}: "))
    } else {
        (Tone::Tool, String::new())
    };
    let more = block.text.lines().count().saturating_sub(1);
    let tail = match block.kind {
        BlockKind::Output { .. } if more > 0 && detail.tools == Tools::Summary => {
            let more = more.to_string();
            let more = fill(detail.language.say(words::LINES_MORE), &[&more]);
            format!(" {more}")
        }
        _ => String::new(),
    };
    let lead = format!("  {arrow} {state}");
    let room = width.saturating_sub(columns(&lead) + columns(&tail));
    (tone, format!("{lead}{}{tail}", cut(&block.head, room)))
}

/// Returns the whole text of a call or its output; an edit as a diff.
fn tool_text(block: &Block, width: usize) -> Vec<(Tone, String)> {
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

/// Shows Markdown as it was written, with headings and code in their own tone.
fn markdown(text: &str, width: usize) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let mut in_code = false;
    for raw in text.lines() {
        let start = raw.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        let tone = match in_code || is_fence {
            true => Tone::Code,
            false if start.starts_with('#') => Tone::Heading,
            false => Tone::Plain,
        };
        in_code ^= is_fence;
        lines.extend(wrap(raw, width).into_iter().map(|it| (tone, it)));
    }
    lines
}

/// Wraps text at blanks, and inside words that are longer than the width.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(4);
    let mut lines = Vec::new();
    for raw in text.lines() {
        let raw = raw.replace('\t', "    ");
        if columns(&raw) <= width {
            lines.push(raw);
            continue;
        }
        let mut current = String::new();
        let mut used = 0;
        for word in raw.split_inclusive(' ') {
            let wide = columns(word);
            let bare = columns(word.trim_end());
            if used > 0 && used + bare > width {
                lines.push(current.trim_end().to_owned());
                current.clear();
                used = 0;
            }
            if bare <= width {
                current.push_str(word);
                used += wide;
                continue;
            }
            for c in word.chars() {
                let wide = columns(c.encode_utf8(&mut [0; 4]));
                if used + wide > width {
                    lines.push(std::mem::take(&mut current));
                    used = 0;
                }
                current.push(c);
                used += wide;
            }
        }
        lines.push(current.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests;
