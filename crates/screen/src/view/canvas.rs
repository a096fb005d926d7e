//! Writes text into a frame, inside its area.

use boswell_app::text::{columns, cut};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::state::Look;
use crate::theme::{Ink, Theme};
use crate::view::FAINT;

/// A frame to write on.
pub(crate) struct Canvas<'c, 'f> {
    frame: &'c mut Frame<'f>,
    ascii: bool,
    theme: &'c Theme,
}

impl<'c, 'f> Canvas<'c, 'f> {
    pub(crate) fn new(frame: &'c mut Frame<'f>, look: &'c Look) -> Canvas<'c, 'f> {
        Canvas {
            frame,
            ascii: look.ascii,
            theme: &look.theme,
        }
    }

    pub(crate) fn size(&self) -> (u16, u16) {
        let area = self.frame.area();
        (area.width, area.height)
    }

    /// Writes text up to the right edge; returns the column after it.
    pub(crate) fn text(&mut self, x: u16, y: u16, text: &str, style: Ink) -> u16 {
        let room = self.size().0.saturating_sub(x);
        self.text_in(x, y, room, text, style)
    }

    /// Writes text into at most `width` columns, with an ellipsis if it is longer; returns the
    /// column after it.
    pub(crate) fn text_in(&mut self, x: u16, y: u16, width: u16, text: &str, style: Ink) -> u16 {
        let (right, bottom) = self.size();
        let width = width.min(right.saturating_sub(x));
        if y >= bottom || width == 0 {
            return x;
        }
        let plain;
        let text = if self.ascii {
            plain = ascii(text);
            &plain
        } else {
            text
        };
        let shown = cut(text, usize::from(width));
        let style = self.theme.style(style);
        let buffer = self.frame.buffer_mut();
        let (end, _) = buffer.set_stringn(x, y, &shown, usize::from(width), style);
        end
    }

    /// Writes text so that it ends at a column.
    pub(crate) fn text_before(&mut self, end: u16, y: u16, text: &str, style: Ink) {
        let width = u16::try_from(columns(text)).unwrap_or(0).min(end);
        self.text_in(end - width, y, width, text, style);
    }

    /// Draws a horizontal line.
    pub(crate) fn rule(&mut self, y: u16, x: u16, width: u16) {
        let line = "─".repeat(usize::from(width));
        self.text_in(x, y, width, &line, FAINT);
    }

    /// Draws a vertical line.
    pub(crate) fn bar(&mut self, x: u16, area: Rect) {
        for y in area.top()..area.bottom() {
            self.text_in(x, y, 1, "│", FAINT);
        }
    }

    /// Changes the style of an area.
    pub(crate) fn paint(&mut self, area: Rect, style: Ink) {
        let style = self.theme.style(style);
        let area = area.intersection(self.frame.area());
        self.frame.buffer_mut().set_style(area, style);
    }

    /// Erases an area.
    pub(crate) fn erase(&mut self, area: Rect) {
        let area = area.intersection(self.frame.area());
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.frame.buffer_mut().cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    pub(crate) fn cursor(&mut self, x: u16, y: u16) {
        if x < self.size().0 && y < self.size().1 {
            self.frame.set_cursor_position((x, y));
        }
    }
}

/// Replaces marks and lines whose width is ambiguous in some terminals.
fn ascii(text: &str) -> String {
    let plain = |c: char| match c {
        '─' | '┄' | '−' => '-',
        '│' | '┃' | '┊' => '|',
        '●' => '*',
        '▸' | '→' | '›' => '>',
        '▾' => 'v',
        '←' | '‹' => '<',
        '↑' => '^',
        '↓' => 'v',
        '▣' | '•' | '×' => '*',
        '↳' => '+',
        '⋯' => '~',
        '¶' => '#',
        '▎' => '|',
        '↵' => '=',
        '⤷' => '+',
        '█' => '#',
        '▏' => ' ',
        '·' => '-',
        '…' => '~',
        other => other,
    };
    text.chars().map(plain).collect()
}
