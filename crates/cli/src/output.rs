//! Where answers go: stdout, through a pager where it helps.

use std::io::{self, Write};

use boswell_model::json::Json;
use boswell_model::{Error, ErrorKind, Result};

use crate::machine::Machine;
use crate::pager::Pager;
use crate::terminal::{Style, is_harmful};

/// The answer of a command. A closed pipe ends it quietly: see [`Output::gone`].
pub(crate) struct Output {
    // Dropped before the pager, which waits for its input to end.
    writer: Box<dyn Write>,
    _pager: Pager,
    pub(crate) json: bool,
    color: bool,
    gone: bool,
}

impl Output {
    /// An answer that a person may page through.
    pub(crate) fn paged(machine: &Machine) -> Output {
        let mut pager = Pager::start(!machine.json);
        Output { writer: pager.writer(), _pager: pager, json: machine.json, color: machine.color, gone: false }
    }

    /// Whether the reader went away: there is no point in going on.
    pub(crate) fn gone(&self) -> bool {
        self.gone
    }

    /// One JSON line.
    pub(crate) fn object(&mut self, value: &Json) -> Result<()> {
        let mut bytes = value.to_bytes();
        escape_harmful(&mut bytes);
        bytes.push(b'\n');
        self.bytes(&bytes)
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
            Err(error) => {
                Err(Error::new(ErrorKind::Unavailable, "cannot write the answer to standard output").caused_by(error))
            }
        }
    }
}

/// JSON escapes only what it must; a terminal needs the rest of the control characters escaped too. They can stand only
/// inside strings, where `\u` is theirs.
fn escape_harmful(bytes: &mut Vec<u8>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if !text.chars().any(is_harmful) {
        return;
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut units = [0; 2];
    for c in text.chars() {
        if is_harmful(c) {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    *bytes = out.into_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_hold_no_control_characters_and_mean_the_same() {
        let value = Json::object().with("t", "a\u{9b}\u{202e}\u{7f}会\u{e0041}");
        let mut bytes = value.to_bytes();
        escape_harmful(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text, "{\"t\":\"a\\u009b\\u202e\\u007f会\\udb40\\udc41\"}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["t"], "a\u{9b}\u{202e}\u{7f}会\u{e0041}");
    }
}
