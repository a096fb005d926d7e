//! Where answers go: stdout, through a pager where it helps.

use std::io::{self, Write};

use boswell_model::json::{Json, is_printable};
use boswell_model::{Error, ErrorKind, Result, is_hostile};

use crate::app::App;
use crate::pager::Pager;
use crate::terminal::Style;

/// The answer of a command. A closed pipe ends it quietly: see [`Output::gone`].
pub(crate) struct Output {
    // Dropped before the pager, which waits for its input to end.
    writer: Box<dyn Write>,
    _pager: Pager,
    pub(crate) json: bool,
    color: bool,
    gone: bool,
    line: Vec<u8>,
}

impl Output {
    /// An answer that a person may page through.
    pub(crate) fn paged(app: &App) -> Output {
        let mut pager = Pager::start(!app.json);
        Output {
            writer: pager.writer(),
            _pager: pager,
            json: app.json,
            color: app.color,
            gone: false,
            line: Vec::new(),
        }
    }

    /// An answer that goes to a new file of the owner's alone.
    pub(crate) fn to_file(app: &App, path: &std::path::Path) -> Result<Output> {
        let file = crate::app::new_file(path)?;
        Ok(Output {
            writer: Box::new(io::BufWriter::new(file)),
            _pager: Pager::start(false),
            json: app.json,
            color: false,
            gone: false,
            line: Vec::new(),
        })
    }

    /// Whether the reader went away: there is no point in going on.
    pub(crate) fn gone(&self) -> bool {
        self.gone
    }

    /// One JSON line.
    pub(crate) fn object(&mut self, value: &Json) -> Result<()> {
        self.written(|line| value.write(line))
    }

    /// One JSON line, by who writes it.
    pub(crate) fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        // A buffer that is kept, and nothing copied that is fine as it is: a record may be
        // many megabytes long.
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        write(&mut line);
        if !is_printable(&line) {
            line = harmless(line).into_bytes();
        }
        line.push(b'\n');
        let written = self.bytes(&line);
        self.line = line;
        written
    }

    /// One line of text that is harmless already.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Text in a style, where colour is wanted.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.color)
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gone {
            return Ok(());
        }
        let result = self.writer.write_all(bytes);
        self.settle(result)
    }

    /// Hands over what is buffered, and goes on.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.gone {
            return Ok(());
        }
        let result = self.writer.flush();
        self.settle(result)
    }

    /// Hands over what is buffered.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn settle(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            Err(error) => Err(Error::new(
                ErrorKind::Unavailable,
                "cannot write the answer to standard output",
            )
            .caused_by(error)),
        }
    }
}

/// A value on one line that a terminal can show: valid UTF-8, and what is not to be seen written by
/// its number, so that the value is the same once it is parsed.
///
/// JSON escapes only what it must, and pieces that are handed through from a session may hold bytes
/// that are not UTF-8, and white space other than blanks between their tokens.
pub(crate) fn json_line(value: &Json) -> String {
    harmless(value.to_bytes())
}

fn harmless(line: Vec<u8>) -> String {
    let text = String::from_utf8(line)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let text = whole_characters(text);
    if !text.char_indices().any(|(at, c)| is_hostile(&text, at, c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut units = [0; 2];
    let (mut in_string, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if !is_hostile(&text, at, c) {
            out.push(c);
        } else if in_string {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(' ');
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    out
}

/// Whether two bytes begin an escape of a character by its number, unless the
/// first is itself escaped.
fn is_number(first: u8, second: u8) -> bool {
    (first == b'\\') & (second == b'u')
}

/// Whether something holds of any two bytes that follow each other. Looked at in blocks, so that a
/// machine can take many at once.
fn any_pair(bytes: &[u8], holds: impl Fn(u8, u8) -> bool) -> bool {
    let seconds = bytes.get(1..).unwrap_or(b"").chunks(256);
    bytes.chunks(256).zip(seconds).any(|(firsts, seconds)| {
        firsts
            .iter()
            .zip(seconds)
            .fold(false, |seen, (first, second)| seen | holds(*first, *second))
    })
}

/// Replaces halves of surrogate pairs, which agents that count in UTF-16 leave behind and
/// strict parsers refuse.
fn whole_characters(text: String) -> String {
    if !any_pair(text.as_bytes(), is_number) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (shown, len) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (escape.get(..12), 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), 6),
            _ => (escape.get(..2), 2),
        };
        out.push_str(shown.unwrap_or(escape));
        rest = escape.get(len..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\u` escape at the beginning of the text.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_hold_no_control_characters_and_mean_the_same() {
        let said = "a\u{9b}\u{202e}\u{7f}会\u{e0041}\u{61c}👩\u{200d}💻";
        let text = json_line(&Json::object().with("t", said));
        assert_eq!(
            text,
            "{\"t\":\"a\\u009b\\u202e\\u007f会\\udb40\\udc41\\u061c👩\u{200d}💻\"}"
        );
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["t"], said);
    }

    #[test]
    fn white_space_between_tokens_becomes_blank_and_bytes_that_are_not_utf8_are_replaced() {
        let value = Json::object().with(
            "a",
            Json::Raw(b"{\t\"q\\\\\":\r\n\"\xff\x7f\\\"\t\"}".to_vec()),
        );
        let text = json_line(&value);
        assert_eq!(
            text,
            "{\"a\":{ \"q\\\\\":  \"\u{fffd}\\u007f\\\"\\u0009\"}}"
        );
    }

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_kept() {
        let whole = |text: &str| whole_characters(text.to_owned());
        assert_eq!(
            whole(r#""\ud83d\ude80 \uD83D x \ude80\n\ud83d\u0041""#),
            r#""\ud83d\ude80 \ufffd x \ufffd\n\ufffd\u0041""#
        );
        assert_eq!(whole(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(whole("会话"), "会话");
    }
}
