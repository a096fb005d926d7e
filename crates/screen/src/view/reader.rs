//! The reader: a transcript, line by line.

use boswell_app::text::columns;
use ratatui::layout::Rect;

use crate::layout;
use crate::state::{Reader, State};
use crate::theme::Ink;
use crate::transcript::{BlockKind, TextLine, Tone};
use crate::view::canvas::Canvas;
use crate::view::{FAINT, GOOD, MATCH, PLAIN, STRONG, TOOL, USER, WARNING, header};
use crate::words;

/// Draws the reader.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_, '_>) {
    let Some(reader) = &state.reader else {
        return;
    };
    header(
        state,
        canvas,
        &format!("‹ {}", reader.title),
        &place(state, reader),
    );
    let area = layout::body(state.size);
    if let Some(error) = &reader.error {
        canvas.text(1, area.y, error, WARNING);
        return;
    }
    if reader.blocks.is_empty() {
        let word = match reader.loading {
            Some(_) => words::LOADING,
            None => words::NO_ANSWER,
        };
        canvas.text(1, area.y, state.look.say(word), FAINT);
        return;
    }
    let wanted = reader.find.as_deref().filter(|it| !it.is_empty());
    let lines = reader.lines.iter().enumerate().skip(reader.top);
    for (y, (at, shown)) in (area.top()..area.bottom()).zip(lines) {
        line(canvas, (1, y, area.width.saturating_sub(3)), shown, wanted);
        if at == reader.at {
            canvas.text_in(0, y, 1, "▎", STRONG);
        }
    }
    writing(state, canvas, reader, area);
    scroll_bar(canvas, reader, area);
}

/// Draws behind the last line who is writing.
fn writing(state: &State, canvas: &mut Canvas<'_, '_>, reader: &Reader, area: Rect) {
    let shown = reader.lines.len().saturating_sub(reader.top);
    let live = state.finder.live.get(&reader.session);
    let Some(pids) = live.filter(|it| !it.is_empty()) else {
        return;
    };
    if reader.more_below || shown + 1 >= usize::from(area.height) {
        return;
    }
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let values = [&*reader.agent, &pids.join(", ")];
    let text = words::fill(state.look.say(words::WRITING), &values);
    let y = area.y + u16::try_from(shown).unwrap_or(0) + 1;
    canvas.text(1, y, &text, GOOD);
}

/// Returns agent, number of the prompt, and how far the view is.
fn place(state: &State, reader: &Reader) -> String {
    let at = reader.lines.get(reader.at).map_or(0, |it| it.block);
    let is_prompt = |(_, it): &(usize, &crate::transcript::Block)| it.kind == BlockKind::Prompt;
    let prompts = || reader.blocks.iter().enumerate().filter(is_prompt);
    let before = prompts().filter(|(index, _)| *index <= at).count();
    let height = usize::from(layout::body(state.size).height);
    let end = (reader.top + height).min(reader.lines.len());
    let percent = (end * 100).checked_div(reader.lines.len()).unwrap_or(100);
    let mut parts = vec![reader.agent.clone()];
    // Before the whole session is loaded the number of the first prompt is not known.
    if reader.is_first_look {
        parts.push(state.look.say(words::FIRST_LOOK).to_owned());
    } else if reader.more_above {
        parts.push(state.look.say(words::MORE_ABOVE).to_owned());
    } else {
        parts.push(format!("¶{before}/{}", prompts().count()));
        parts.push(format!("{percent} %"));
    }
    let live = state.finder.live.get(&reader.session);
    let is_live = live.is_some_and(|it| !it.is_empty());
    if reader.following || is_live {
        parts.push("●".to_owned());
    }
    parts.join(" · ")
}

fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Plain => PLAIN,
        Tone::Prompt => USER,
        Tone::Heading => Ink::Heading,
        Tone::Strong => STRONG,
        Tone::Code => Ink::Code,
        Tone::Faint => FAINT,
        Tone::Tool => TOOL,
        Tone::Failed => WARNING,
        Tone::Added => GOOD,
        Tone::Removed => WARNING,
    }
}

/// Returns the pieces of a line with their inks: what is searched before everything else, then
/// marks, then the tone of the line.
fn pieces<'l>(line: &'l TextLine, wanted: Option<&str>) -> Vec<(&'l str, Ink)> {
    let mut cuts = vec![0, line.text.len()];
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(wanted) = wanted.filter(|it| !it.is_empty())
        && let Some((start, end)) = find(line.text.get(from..).unwrap_or(""), wanted)
    {
        found.push(from + start..from + end);
        from += end;
    }
    cuts.extend(found.iter().flat_map(|it| [it.start, it.end]));
    cuts.extend(line.marks.iter().flat_map(|(it, _)| [it.start, it.end]));
    cuts.sort_unstable();
    cuts.dedup();
    let piece = |pair: &[usize]| {
        let (start, end) = (*pair.first()?, *pair.last()?);
        let mark = line.marks.iter().find(|(it, _)| it.contains(&start));
        let tone = mark.map_or(line.tone, |(_, tone)| *tone);
        let is_found = found.iter().any(|it| it.contains(&start));
        Some((
            line.text.get(start..end)?,
            if is_found { MATCH } else { ink(tone) },
        ))
    };
    cuts.windows(2).filter_map(piece).collect()
}

/// Draws a line of a transcript, with what is searched marked.
pub(crate) fn line(
    canvas: &mut Canvas<'_, '_>,
    (x, y, width): (u16, u16, u16),
    line: &TextLine,
    wanted: Option<&str>,
) {
    let end = x + width;
    let mut at = x;
    for (text, ink) in pieces(line, wanted) {
        at = canvas.text_in(at, y, end.saturating_sub(at), text, ink);
    }
    let tail = u16::try_from(columns(&line.tail)).unwrap_or(0);
    if tail > 0 && at + tail < end {
        canvas.text_before(end, y, &line.tail, FAINT);
    }
}

/// Finds a text in lower case, and returns its range in the original. Characters whose lower case
/// has another length make no match.
fn find(text: &str, wanted: &str) -> Option<(usize, usize)> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return None;
    }
    let at = lower.find(wanted)?;
    let end = at + wanted.len();
    (text.is_char_boundary(at) && text.is_char_boundary(end)).then_some((at, end))
}

fn scroll_bar(canvas: &mut Canvas<'_, '_>, reader: &Reader, area: Rect) {
    let (height, total) = (usize::from(area.height), reader.lines.len());
    if total <= height {
        return;
    }
    let size = (height * height / total).max(1);
    let start = reader.top * height.saturating_sub(size) / total.saturating_sub(height).max(1);
    for (row, y) in (area.top()..area.bottom()).enumerate() {
        let symbol = if (start..start + size).contains(&row) {
            "█"
        } else {
            "▏"
        };
        canvas.text_in(area.right().saturating_sub(1), y, 1, symbol, FAINT);
    }
}
