//! A transcript as blocks, and the lines that a width makes of them.
//!
//! Pure: the worker converts entries to blocks, views ask for lines.

mod calls;
mod lines;
mod markdown;
mod wrap;

use std::collections::BTreeSet;

use boswell_app::shape::EntryParts;
use boswell_app::text::{escape, one_line};
use boswell_app::time::TimeZone;
use boswell_model::{EntryKind, Instant, Part};

use crate::words::Language;
use calls::{call, first_line};
pub(crate) use lines::{lines, run_of};
pub(crate) use wrap::wrap;

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
    /// A picture or a file, which can be written to a folder.
    Media,
    Subagent,
    Compaction,
    /// The summary of a branch that was left.
    BranchSummary,
    /// Lines of the log that are no records.
    Gap,
    /// A place from which there are several branches.
    Branch,
    /// What is below arrived since the user looked.
    New,
}

/// A part of an entry, made harmless.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// The entry that it belongs to.
    pub(crate) entry: Option<String>,
    /// Number of the part in its entry.
    pub(crate) part: usize,
    pub(crate) at: Option<Instant>,
    /// One line that describes it; empty for text. The id of a subagent.
    pub(crate) head: String,
    pub(crate) text: String,
    /// Nesting depth of subagents.
    pub(crate) depth: usize,
    /// Of a branch point: the last entry of each branch. The one that is shown is number `part`.
    pub(crate) ends: Vec<String>,
}

impl Block {
    /// Returns a block that belongs to no entry.
    pub(crate) fn note(kind: BlockKind, text: String, depth: usize) -> Block {
        Block {
            kind,
            entry: None,
            part: 0,
            at: None,
            head: String::new(),
            text,
            depth,
            ends: Vec::new(),
        }
    }

    /// Returns the name of its fold, or of the run of calls that begins with it.
    pub(crate) fn fold(&self, run: bool) -> FoldKey {
        (self.entry.clone(), self.part, run)
    }
}

/// The name of a fold: entry, part, and whether it is a run of calls. It stays
/// when pages are added.
pub(crate) type FoldKey = (Option<String>, usize, bool);

/// Which folds the user opened or closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folds {
    toggled: BTreeSet<FoldKey>,
    /// Whether all are open, except for those that were toggled.
    all: bool,
}

impl Folds {
    pub(crate) fn is_open(&self, key: &FoldKey, detail: &Detail) -> bool {
        let by_default = self.all || detail.tools == Tools::Full;
        by_default != self.toggled.contains(key)
    }

    pub(crate) fn toggle(&mut self, key: FoldKey) {
        if !self.toggled.remove(&key) {
            self.toggled.insert(key);
        }
    }

    /// Opens or closes everything.
    pub(crate) fn toggle_all(&mut self) {
        self.toggled.clear();
        self.all = !self.all;
    }

    /// Closes what was opened one by one.
    pub(crate) fn reset(&mut self) {
        *self = Folds::default();
    }
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
#[derive(Debug, Clone, Default)]
pub(crate) struct Detail {
    pub(crate) tools: Tools,
    pub(crate) thinking: bool,
    /// Whether several calls in a row are one line.
    pub(crate) runs: bool,
    /// Whether prompts have their time.
    pub(crate) times: bool,
    pub(crate) language: Language,
    pub(crate) zone: TimeZone,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Prompt,
    Heading,
    Strong,
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
    /// Parts of the text with tones of their own.
    pub(crate) marks: Marks,
    /// What is at the right end of the line.
    pub(crate) tail: String,
    /// Index of its block.
    pub(crate) block: usize,
    /// Whether it is the first line of its block.
    pub(crate) first: bool,
    /// The fold that it opens or closes.
    pub(crate) fold: Option<FoldKey>,
}

impl TextLine {
    fn new(tone: Tone, text: String, block: usize, first: bool) -> TextLine {
        TextLine {
            tone,
            text,
            marks: Vec::new(),
            tail: String::new(),
            block,
            first,
            fold: None,
        }
    }
}

/// Parts of a text with their tones.
pub(crate) type Marks = Vec<(std::ops::Range<usize>, Tone)>;

/// A text with its tone, and parts of it with tones of their own.
#[derive(Debug, Clone, PartialEq)]
struct Styled {
    tone: Tone,
    text: String,
    marks: Marks,
}

impl Styled {
    fn new(tone: Tone, text: String) -> Styled {
        Styled {
            tone,
            text,
            marks: Vec::new(),
        }
    }

    /// Returns a part of a text behind a lead, with the marks that are in the part.
    fn part(
        tone: Tone,
        lead: &str,
        text: &str,
        marks: &Marks,
        range: std::ops::Range<usize>,
    ) -> Styled {
        let within = |(it, tone): &(std::ops::Range<usize>, Tone)| {
            let (start, end) = (it.start.max(range.start), it.end.min(range.end));
            let place = |at: usize| at - range.start + lead.len();
            (start < end).then(|| (place(start)..place(end), *tone))
        };
        Styled {
            tone,
            marks: marks.iter().filter_map(within).collect(),
            text: format!("{lead}{}", text.get(range.clone()).unwrap_or("")),
        }
    }
}

/// Converts an entry; hidden ones and bookkeeping have no blocks.
pub(crate) fn blocks(entry: &EntryParts<'_>, depth: usize) -> Vec<Block> {
    let Some(view) = entry.view else {
        return Vec::new();
    };
    if entry.is_hidden() || !entry.kind.is_conversation() {
        return Vec::new();
    }
    let block = |(part, (kind, head, text)): (usize, (BlockKind, String, String))| Block {
        kind,
        entry: entry.label.as_deref().map(str::to_owned),
        part,
        at: entry.time,
        head,
        text,
        depth,
        ends: Vec::new(),
    };
    let said = said(entry.kind);
    let remark = view.remark.as_ref();
    let mut parts = view.parts.iter().filter_map(|part| of_part(part, said));
    // A summary is one block, with what its record says of it as head.
    if matches!(said, BlockKind::Compaction | BlockKind::BranchSummary) {
        let head = remark.map(|it| one_line(it)).unwrap_or_default();
        let text = parts
            .next()
            .map_or_else(|| head.clone(), |(_, _, text)| text);
        return vec![block((0, (said, head, text)))];
    }
    let remark = remark.map(|it| (BlockKind::Remark, String::new(), shortened(it)));
    let all = remark.into_iter().chain(parts);
    all.enumerate().map(block).collect()
}

/// Returns what the text of an entry is.
fn said(kind: EntryKind) -> BlockKind {
    match kind {
        EntryKind::User | EntryKind::Shell => BlockKind::Prompt,
        EntryKind::Compaction => BlockKind::Compaction,
        EntryKind::BranchSummary => BlockKind::BranchSummary,
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
            (BlockKind::Media, String::new(), mime)
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
        head: one_line(id),
        ..Block::note(BlockKind::Subagent, one_line(task.unwrap_or("")), depth)
    }
}

/// Whether a block is a failed call.
pub(crate) fn is_failure(block: &Block) -> bool {
    block.kind == BlockKind::Output { failed: true }
}

#[cfg(test)]
mod tests;
