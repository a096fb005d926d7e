//! The reader: a transcript, line by line.

use ratatui::style::Style;

use crate::layout;
use crate::state::{Reader, State};
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
    for (y, shown) in (area.top()..area.bottom()).zip(reader.lines.iter().skip(reader.top)) {
        line(canvas, (1, y, area.width.saturating_sub(3)), shown, wanted);
    }
    scroll_bar(canvas, reader, area);
}

/// Returns agent, number of the prompt, and how far the view is.
fn place(state: &State, reader: &Reader) -> String {
    let at = reader.lines.get(reader.top).map_or(0, |it| it.block);
    let is_prompt = |(_, it): &(usize, &crate::transcript::Block)| it.kind == BlockKind::Prompt;
    let prompts = || reader.blocks.iter().enumerate().filter(is_prompt);
    let before = prompts().filter(|(index, _)| *index <= at).count();
    let height = usize::from(layout::body(state.size).height);
    let end = (reader.top + height).min(reader.lines.len());
    let percent = (end * 100).checked_div(reader.lines.len()).unwrap_or(100);
    let mut parts = vec![reader.agent.clone()];
    // Before the whole session is loaded the number of the first prompt is not known.
    if reader.more_above {
        parts.push(state.look.say(words::MORE_ABOVE).to_owned());
    } else {
        parts.push(format!("¶{before}/{}", prompts().count()));
        parts.push(format!("{percent} %"));
    }
    if reader.following {
        parts.push("●".to_owned());
    }
    parts.join(" · ")
}

fn tone(tone: Tone) -> Style {
    match tone {
        Tone::Plain => PLAIN,
        Tone::Prompt => USER,
        Tone::Heading => STRONG,
        Tone::Code | Tone::Faint => FAINT,
        Tone::Tool => TOOL,
        Tone::Failed => WARNING,
        Tone::Added => GOOD,
        Tone::Removed => WARNING,
    }
}

/// Draws a line of a transcript, with what is searched marked.
pub(crate) fn line(
    canvas: &mut Canvas<'_, '_>,
    (x, y, width): (u16, u16, u16),
    line: &TextLine,
    wanted: Option<&str>,
) {
    let style = tone(line.tone);
    let end = x + width;
    let mut x = x;
    let mut rest = line.text.as_str();
    while let Some(wanted) = wanted.filter(|it| !it.is_empty())
        && let Some((from, to)) = find(rest, wanted)
    {
        x = canvas.text_in(
            x,
            y,
            end.saturating_sub(x),
            rest.get(..from).unwrap_or(""),
            style,
        );
        x = canvas.text_in(
            x,
            y,
            end.saturating_sub(x),
            rest.get(from..to).unwrap_or(""),
            MATCH,
        );
        rest = rest.get(to..).unwrap_or("");
    }
    canvas.text_in(x, y, end.saturating_sub(x), rest, style);
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

fn scroll_bar(canvas: &mut Canvas<'_, '_>, reader: &Reader, area: ratatui::layout::Rect) {
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
