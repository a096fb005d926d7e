//! The text of an entry: what was said, and what tools did, in as much detail as was asked for.

use boswell_app::tool_line::ToolLine;
use boswell_model::{Part, View};

use crate::frame::FramedText;

/// How much of tool calls is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolDetail {
    /// Nothing.
    Off,
    /// A line for each call and each result.
    Summary,
    /// Arguments and output.
    Full,
}

impl ToolDetail {
    /// The words of the argument, the default first.
    pub(super) const WORDS: [&'static str; 3] = ["summary", "off", "full"];

    pub(super) fn of(word: &str) -> ToolDetail {
        match word {
            "off" => ToolDetail::Off,
            "full" => ToolDetail::Full,
            _ => ToolDetail::Summary,
        }
    }
}

/// The longest subject of a call, and the longest first line of a result, in a summary.
const SUMMARY: usize = 160;
/// The longest text of a part that is examined.
const LARGEST: usize = 8 << 20;

/// Returns the text of an entry, cleaned. Every part is cleaned as a whole before it is cut.
pub(super) fn entry_text(view: &View, detail: ToolDetail, answer: &FramedText<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in &view.parts {
        lines.extend(part_text(part, detail, answer));
    }
    if lines.is_empty() && detail != ToolDetail::Off {
        lines.extend(view.remark.as_ref().map(|it| answer.clean(it)));
    }
    lines.join("\n").trim().to_owned()
}

fn part_text(part: &Part, detail: ToolDetail, answer: &FramedText<'_>) -> Option<String> {
    let summary = |text: &str| cut(&answer.line(beginning(text)), SUMMARY);
    match (part, detail) {
        (Part::Text(text), _) => Some(answer.clean(beginning(text))),
        (Part::Thinking { text, .. }, ToolDetail::Full) if !text.is_empty() => {
            Some(format!("[thinking] {}", answer.clean(beginning(text))))
        }
        (Part::Call { name, input, .. }, ToolDetail::Full) => Some(format!(
            "→ {} {}",
            answer.line(name),
            answer.clean(beginning(input.text()))
        )),
        (Part::Call { name, .. }, ToolDetail::Summary) => {
            let line = ToolLine::of_part(part)?;
            let changed = line
                .changed
                .map(|(plus, minus)| format!(" +{plus} −{minus}"));
            let (name, subject) = (answer.line(name), summary(&line.subject));
            Some(format!("→ {name} {subject}{}", changed.unwrap_or_default()))
        }
        (Part::Result { text, .. }, ToolDetail::Full) => {
            Some(format!("← {}", answer.clean(beginning(text))))
        }
        (Part::Result { text, is_error, .. }, ToolDetail::Summary) => {
            let clean = answer.clean(beginning(text));
            let mut lines = clean.lines().filter(|line| !line.trim().is_empty());
            let first = cut(lines.next().unwrap_or_default().trim(), SUMMARY);
            let more = match lines.count() {
                0 => String::new(),
                more => format!(" (+{more} lines)"),
            };
            let failed = if *is_error { "failed: " } else { "" };
            Some(format!("← {failed}{first}{more}"))
        }
        (Part::Media { mime, .. }, ToolDetail::Summary | ToolDetail::Full) => {
            let kind = mime.as_deref().unwrap_or("media");
            Some(format!("[{}]", answer.line(kind)))
        }
        _ => None,
    }
}

/// At most so many characters.
fn cut(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(most).collect();
    match characters.next() {
        Some(_) => format!("{beginning}…"),
        None => beginning,
    }
}

/// The part of a very long text that is examined.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LARGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
