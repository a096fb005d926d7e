//! Breaks text into lines of a width.

use std::ops::Range;

use boswell_app::text::columns;

/// Wraps text at blanks, between wide characters, and inside words that are longer than the width.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for raw in text.lines() {
        let raw = raw.replace('\t', "    ");
        let ranges = ranges(&raw, width).into_iter();
        lines.extend(ranges.map(|it| raw.get(it).unwrap_or("").to_owned()));
    }
    lines
}

/// Returns the parts of one line of text that fit into the width. Blanks at a break belong to no
/// part.
pub(super) fn ranges(text: &str, width: usize) -> Vec<Range<usize>> {
    let width = width.max(4);
    if columns(text) <= width {
        return std::iter::once(0..text.len()).collect();
    }
    let mut breaks = Breaks {
        text,
        width,
        start: 0,
        used: 0,
        out: Vec::new(),
    };
    let mut at = 0;
    for word in words(text) {
        breaks.word(at, word);
        at += word.len();
    }
    breaks.end(text.len());
    breaks.out
}

struct Breaks<'t> {
    text: &'t str,
    width: usize,
    start: usize,
    used: usize,
    out: Vec<Range<usize>>,
}

impl Breaks<'_> {
    fn word(&mut self, at: usize, word: &str) {
        let bare = columns(word.trim_end());
        if self.used > 0 && self.used + bare > self.width {
            self.end(at);
        }
        if bare <= self.width {
            self.used += columns(word);
            return;
        }
        for (inside, c) in word.char_indices() {
            let wide = columns(c.encode_utf8(&mut [0; 4]));
            if self.used > 0 && self.used + wide > self.width {
                self.end(at + inside);
            }
            self.used += wide;
        }
    }

    fn end(&mut self, at: usize) {
        let part = self.text.get(self.start..at).unwrap_or("");
        self.out
            .push(self.start..self.start + part.trim_end().len());
        self.start = at;
        self.used = 0;
    }
}

/// Splits a text behind blanks and around wide characters, which need no blank between them. A
/// closing mark stays with the character before it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        let (_, first) = chars.next()?;
        let mut last = first;
        while let Some((_, c)) = chars.next_if(|(_, c)| !is_break(last, *c)) {
            last = c;
        }
        let (word, after) = rest.split_at(chars.peek().map_or(rest.len(), |(at, _)| *at));
        rest = after;
        Some(word)
    })
}

fn is_break(before: char, after: char) -> bool {
    if before == ' ' {
        return after != ' ';
    }
    let closes = "，。、；：？！）」』】》”’…,.;:?!)]}".contains(after);
    after != ' ' && !closes && (is_wide(before) || is_wide(after))
}

/// Whether a character is one of a script that is written without blanks.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3fffd}')
}
