//! Answers of a host that are passed on as they come: commands about one session, and commands
//! whose answers are not joined.

use boswell_model::Result;

use super::lines::{LineCutter, stated, with_host};
use super::setting::Host;
use super::ssh::{self, Call, Limits};
use crate::App;
use crate::text::{cut, escape, one_line};

/// How many lines of standard error are passed on.
const ERROR_LINES: usize = 20;

/// A command for a host.
#[derive(Debug, Clone, Default)]
pub struct HostCall {
    /// Command and arguments, without those that say how the answer is printed.
    pub words: Vec<String>,
    /// How the answer is wanted.
    pub form: HostAnswerForm,
    /// Columns of the terminal.
    pub columns: usize,
}

/// How the answer of a host is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostAnswerForm {
    /// Lines of JSON.
    #[default]
    Json,
    /// Text.
    Text,
    /// Text with colours.
    Colored,
    /// Bytes as they are, such as those of an export.
    Exact,
}

/// A piece of an answer.
#[derive(Debug)]
pub enum HostPiece<'p> {
    /// A line of JSON, with the name of the host.
    Line(&'p [u8]),
    /// A line of text that is harmless.
    Text(&'p str),
    /// Bytes as they are.
    Exact(&'p [u8]),
}

/// How a command ended there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relayed {
    /// Its exit code.
    pub code: u8,
    /// What it printed on standard error, harmless.
    pub errors: Vec<String>,
}

/// Receives an answer piece by piece; returns false to stop.
pub type HostSink<'s> = &'s mut dyn FnMut(HostPiece<'_>) -> Result<bool>;

impl App {
    /// Runs a command on a host and passes its answer on.
    ///
    /// # Errors
    ///
    /// Unavailable if the host or boswell on it cannot be reached; for an answer in JSON, the error
    /// that boswell there states; and every error of the sink.
    pub fn relay(&self, host: &Host, call: &HostCall, sink: HostSink<'_>) -> Result<Relayed> {
        relay(host, call, sink)
    }
}

fn relay(host: &Host, call: &HostCall, sink: HostSink<'_>) -> Result<Relayed> {
    let words = words(call);
    let ssh = Call {
        words: &words,
        columns: (call.columns > 0).then_some(call.columns),
        limits: Limits::LONG,
    };
    let mut cutter = LineCutter::new(host);
    let mut line = |line: &[u8]| match call.form {
        HostAnswerForm::Json => match with_host(line, &host.name) {
            Some(line) => sink(HostPiece::Line(&line)),
            None => Ok(true),
        },
        form => {
            let is_colored = form == HostAnswerForm::Colored;
            sink(HostPiece::Text(&harmless_line(line, is_colored)))
        }
    };
    let ended = if call.form == HostAnswerForm::Exact {
        ssh::run(host, &ssh, &mut |piece| sink(HostPiece::Exact(piece)))?
    } else {
        let ended = ssh::run(host, &ssh, &mut |piece| cutter.add(piece, &mut line))?;
        if let Some(rest) = cutter.rest() {
            line(&rest)?;
        }
        ended
    };
    if call.form == HostAnswerForm::Json
        && !matches!(ended.code, 0 | 1)
        && let Some(error) = stated(host, &ended)
    {
        return Err(error);
    }
    Ok(Relayed {
        code: u8::try_from(ended.code).unwrap_or(3),
        errors: error_lines(&ended.errors),
    })
}

/// The first lines of what a command there wrote to its standard error, made harmless.
fn error_lines(errors: &str) -> Vec<String> {
    let lines = errors.lines().map(|line| cut(&one_line(line), 500));
    let lines = lines.filter(|line| !line.is_empty());
    lines.take(ERROR_LINES).collect()
}

/// The arguments of boswell there.
fn words(call: &HostCall) -> Vec<String> {
    let form: &[&str] = match call.form {
        HostAnswerForm::Json => &["--json"],
        HostAnswerForm::Text => &["--color=never"],
        HostAnswerForm::Colored => &["--color=always"],
        HostAnswerForm::Exact => &[],
    };
    // Before the words: behind them may be a `--`.
    let form = form.iter().map(|word| (*word).to_owned());
    form.chain(call.words.clone()).collect()
}

/// Makes a line harmless; colours stay if they are wanted.
fn harmless_line(line: &[u8], is_colored: bool) -> String {
    let text = String::from_utf8_lossy(line);
    if !is_colored || !text.contains('\x1b') {
        return escape(&text);
    }
    let mut out = String::new();
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(at);
        out.push_str(&escape(before));
        let length = color_length(sequence);
        let (color, behind) = sequence.split_at(length.max(2));
        match length {
            0 => out.push_str(&escape(color)),
            _ => out.push_str(color),
        }
        rest = behind;
    }
    out.push_str(&escape(rest));
    // A colour that is not ended would go on in the next line.
    out.push_str("\x1b[0m");
    out
}

/// The length of a sequence that changes colours, and nothing else.
fn color_length(sequence: &str) -> usize {
    let numbers = sequence.bytes().skip(2);
    let digits = numbers
        .take_while(|byte| byte.is_ascii_digit() || *byte == b';')
        .count();
    match sequence.as_bytes().get(digits + 2) {
        Some(b'm') if digits <= 32 => digits + 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_host_keeps_its_colours_and_nothing_else() {
        let hostile = b"\x1b[1mbold\x1b[0m \x1b[2J\x1b]0;title\x07 \xe2\x80\xae \x1b[31";
        assert_eq!(
            harmless_line(hostile, true),
            "\x1b[1mbold\x1b[0m \\x1b[2J\\x1b]0;title\\x07 \\u{202e} \\x1b[31\x1b[0m"
        );
        assert_eq!(harmless_line(b"\x1b[1mx", false), "\\x1b[1mx");
    }
}
