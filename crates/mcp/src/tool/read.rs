//! `read_session`, `read_entry`: entries of a session.

use boswell_app::show::{ShowRequest, ShownItem, ShownRange};
use boswell_model::Instant;

use super::entry_text::{ToolDetail, entry_text};
use super::{LONGEST, ToolContext, ToolError, ToolResult, asked, entry_name, session_name};
use crate::arguments::{Arguments, wrong};
use crate::budget::shares;
use crate::frame::{FramedText, safe_head};

/// Characters of an answer, unless another number is asked for.
const DEFAULT_CHARACTERS: usize = 4_000;
/// Entries of an answer, unless another number is asked for.
const DEFAULT_COUNT: usize = 6;

/// An entry that was read.
struct ReadEntry {
    label: String,
    kind: &'static str,
    at: Option<Instant>,
    /// Cleaned, not cut.
    text: String,
}

pub(super) fn read_session(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&[
        "session",
        "around",
        "before",
        "after",
        "count",
        "tools",
        "max_chars",
    ])?;
    let named = arguments.needed("session")?;
    let session = cx.scope.session(session_name(&named))?;
    let reference = session.reference.to_string();
    let count = arguments.number("count", DEFAULT_COUNT, (1, 50))?;
    let characters = arguments.number("max_chars", DEFAULT_CHARACTERS, (200, LONGEST))?;
    let detail = ToolDetail::of(arguments.word("tools", &ToolDetail::WORDS)?);
    let request = request(arguments, &reference, count)?;
    let mut answer = cx.answer();
    let (entries, range) = entries(cx, &request, detail, &answer)?;
    if entries.is_empty() {
        answer.plain("no entry with text is there");
    }
    let lengths: Vec<usize> = entries.iter().map(|it| it.text.chars().count()).collect();
    let shares = shares(&lengths, characters.min(room(entries.len())));
    for (entry, share) in entries.iter().zip(shares) {
        quote(cx, &mut answer, (&reference, entry), (0, share));
    }
    for line in neighbours(&reference, &entries, &range) {
        answer.plain(line);
    }
    Ok(answer.finish()?)
}

fn request(arguments: &Arguments, reference: &str, count: usize) -> Result<ShowRequest, ToolError> {
    let entry = |name: &str| -> Result<Option<String>, ToolError> {
        Ok(arguments.text(name)?.map(|it| entry_name(&it)))
    };
    let (around, before, after) = (entry("around")?, entry("before")?, entry("after")?);
    let given = [&around, &before, &after].into_iter().flatten().count();
    if given > 1 {
        return Err(wrong("give only one of `around`, `before` and `after`").into());
    }
    let nearby = around.as_ref().map(|_| count / 2);
    Ok(ShowRequest {
        session: reference.to_owned(),
        limit: around.is_none().then_some(count),
        nearby,
        around,
        before,
        after,
        ..ShowRequest::default()
    })
}

/// Reads the entries that have something to show.
fn entries(
    cx: &ToolContext<'_>,
    request: &ShowRequest,
    detail: ToolDetail,
    answer: &FramedText<'_>,
) -> Result<(Vec<ReadEntry>, ShownRange), ToolError> {
    let mut entries = Vec::new();
    let range = cx.scope.app.show(request, &mut |item| {
        let ShownItem::Entry { entry, .. } = item else {
            return Ok(true);
        };
        let text = match entry.view {
            Some(view) if !entry.is_hidden() => entry_text(view, detail, answer),
            _ => String::new(),
        };
        if !text.is_empty() {
            entries.push(ReadEntry {
                label: entry.label.as_deref().unwrap_or("?").to_owned(),
                kind: entry.kind.word(),
                at: entry.time,
                text,
            });
        }
        Ok(!cx.cancel.is_cancelled())
    });
    Ok((entries, asked(range)?))
}

/// Quotes a part of an entry, and says how to read the rest.
fn quote(
    cx: &ToolContext<'_>,
    answer: &mut FramedText<'_>,
    (reference, entry): (&str, &ReadEntry),
    (offset, share): (usize, usize),
) {
    let length = entry.text.chars().count();
    let text: String = entry.text.chars().skip(offset).take(share).collect();
    let end = (offset + share).min(length);
    let citation = format!("{reference}#{}", entry.label);
    let head = format!("{citation} {} {}", entry.kind, cx.ago(entry.at));
    answer.quote(&head, text);
    if end < length {
        let (reference, label) = (safe_head(reference), safe_head(&entry.label));
        answer.plain(format!(
            "{} characters left: read_entry(session=\"{reference}\", entry=\"{label}\", \
             offset={end})",
            length - end
        ));
    }
}

/// How to read what is before and after these entries.
fn neighbours(reference: &str, entries: &[ReadEntry], range: &ShownRange) -> Vec<String> {
    let reference = safe_head(reference);
    let mut lines = Vec::new();
    let Some((first, last)) = range.range else {
        return lines;
    };
    let step = |word: &str, entry: &ReadEntry| {
        let label = safe_head(&entry.label);
        format!("read_session(session=\"{reference}\", {word}=\"{label}\")")
    };
    if let Some(entry) = entries.first().filter(|_| first > 0) {
        lines.push(format!("{first} entries before: {}", step("before", entry)));
    }
    let rest = range.total.saturating_sub(last + 1);
    if let Some(entry) = entries.last().filter(|_| rest > 0) {
        lines.push(format!("{rest} entries after: {}", step("after", entry)));
    }
    lines
}

pub(super) fn read_entry(cx: &ToolContext<'_>, arguments: &Arguments) -> ToolResult {
    arguments.only(&["session", "entry", "offset", "max_chars"])?;
    let named = arguments.needed("session")?;
    let session = cx.scope.session(session_name(&named))?;
    let entry = entry_name(&arguments.needed("entry")?);
    let offset = arguments.number("offset", 0, (0, usize::MAX))?;
    let characters = arguments.number("max_chars", DEFAULT_CHARACTERS, (200, LONGEST))?;
    one_entry(
        cx,
        &session.reference.to_string(),
        entry,
        (offset, characters),
    )
}

/// The text of one entry, from an offset on.
pub(crate) fn one_entry(
    cx: &ToolContext<'_>,
    reference: &str,
    entry: String,
    (offset, characters): (usize, usize),
) -> ToolResult {
    let request = ShowRequest {
        session: reference.to_owned(),
        entry: Some(entry),
        full_output: true,
        ..ShowRequest::default()
    };
    let mut answer = cx.answer();
    let (entries, _) = entries(cx, &request, ToolDetail::Full, &answer)?;
    let Some(entry) = entries.first() else {
        return Err(wrong("this entry has no text").into());
    };
    if offset > 0 && offset >= entry.text.chars().count() {
        return Err(wrong("`offset` is behind the end of the entry").into());
    }
    let characters = characters.min(room(1));
    quote(cx, &mut answer, (reference, entry), (offset, characters));
    Ok(answer.finish()?)
}

/// The characters that are left for text, besides frames and what follows them.
fn room(entries: usize) -> usize {
    LONGEST.saturating_sub(500 + 300 * entries)
}
