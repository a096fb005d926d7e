//! Lines of an answer of a host: of bounded length, and checked before they are used.

use boswell_model::json::{Raw, RawKind, insert_member, write_string};
use boswell_model::{Error, ErrorKind, Result};

use super::setting::Host;
use super::ssh::Ended;
use crate::text::{cut, one_line};

/// Maximum length of a line.
const LONGEST: usize = 256 << 20;

/// Cuts pieces into lines.
#[derive(Debug)]
pub(super) struct LineCutter<'h> {
    host: &'h Host,
    waiting: Vec<u8>,
    longest: usize,
}

impl<'h> LineCutter<'h> {
    pub(super) fn new(host: &'h Host) -> LineCutter<'h> {
        LineCutter {
            host,
            waiting: Vec::new(),
            longest: LONGEST,
        }
    }

    /// Takes lines of at most this length.
    pub(super) fn up_to(self, longest: usize) -> LineCutter<'h> {
        LineCutter { longest, ..self }
    }

    /// Adds a piece, and passes on the lines that it ends.
    pub(super) fn add(
        &mut self,
        mut piece: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<bool>,
    ) -> Result<bool> {
        while let Some(at) = piece.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = piece.split_at(at);
            piece = rest.get(1..).unwrap_or_default();
            let goes_on = if self.waiting.is_empty() {
                sink(line)?
            } else {
                self.wait_for(line)?;
                sink(&std::mem::take(&mut self.waiting))?
            };
            if !goes_on {
                return Ok(false);
            }
        }
        self.wait_for(piece)?;
        Ok(true)
    }

    /// Returns what came after the last line end.
    pub(super) fn rest(self) -> Option<Vec<u8>> {
        Some(self.waiting).filter(|rest| !rest.is_empty())
    }

    fn wait_for(&mut self, piece: &[u8]) -> Result<()> {
        if self.waiting.len() + piece.len() > self.longest {
            let what = format!("{} sent a line that is too long", self.host.name);
            return Err(Error::new(ErrorKind::Unavailable, what));
        }
        self.waiting.extend_from_slice(piece);
        Ok(())
    }
}

/// Returns a line of JSON with the name of the host; `None` if it is not a line of an answer, or
/// names a host already: hosts of hosts are not asked.
pub(super) fn with_host(line: &[u8], host: &str) -> Option<Vec<u8>> {
    let object = Raw::parse(line.trim_ascii()).ok()?;
    let is_line = object.kind() == RawKind::Object && object.get("type")?.text().is_some();
    if !is_line || object.get("host").is_some() {
        return None;
    }
    let mut name = Vec::new();
    write_string(host.as_bytes(), &mut name);
    insert_member(object.bytes(), "host", &name).ok()
}

/// Returns the type of a line of JSON.
pub(super) fn is_of_type(line: &[u8], word: &str) -> bool {
    let Ok(object) = Raw::parse(line.trim_ascii()) else {
        return false;
    };
    object.get("type").is_some_and(|it| it.is(word))
}

/// Fails if boswell there did: with the error that it printed.
pub(super) fn succeeded(host: &Host, ended: &Ended, fine: &[i32]) -> Result<()> {
    if fine.contains(&ended.code) {
        return Ok(());
    }
    Err(error_there(host, ended))
}

/// Returns the error that boswell there stated.
pub(super) fn stated(host: &Host, ended: &Ended) -> Option<Error> {
    let mut lines = ended.errors.lines();
    lines.find_map(|line| stated_error(host, line))
}

fn error_there(host: &Host, ended: &Ended) -> Error {
    stated(host, ended).unwrap_or_else(|| {
        let what = format!("boswell on {} ended with code {}", host.name, ended.code);
        let error = Error::new(kind_of_code(ended.code), what);
        let mut lines = ended.errors.lines().map(one_line);
        match lines.find(|line| !line.is_empty()) {
            Some(line) => error.because(cut(&line, 300)),
            None => error,
        }
    })
}

/// The error of a line that boswell there printed on standard error.
fn stated_error(host: &Host, line: &str) -> Option<Error> {
    let object = Raw::parse(line.trim().as_bytes()).ok()?;
    if !object.get("type")?.is("error") {
        return None;
    }
    let text = |key: &str| {
        let text = object.get(key)?.text()?;
        Some(cut(&one_line(&text), 1000))
    };
    let kind = text("kind").unwrap_or_default();
    let message = format!("on {}: {}", host.name, text("message")?);
    let error = Error::new(kind_of_word(&kind), message);
    Some(match text("hint") {
        Some(hint) => error.advising(format!("on {}: {hint}", host.name)),
        None => error,
    })
}

fn kind_of_word(word: &str) -> ErrorKind {
    let kinds = [
        ErrorKind::NotFound,
        ErrorKind::Busy,
        ErrorKind::Conflict,
        ErrorKind::Invalid,
        ErrorKind::Unsupported,
        ErrorKind::Denied,
        ErrorKind::Damaged,
        ErrorKind::TooNew,
        ErrorKind::NoSpace,
    ];
    let known = kinds.into_iter().find(|kind| kind.word() == word);
    known.unwrap_or(ErrorKind::Unavailable)
}

fn kind_of_code(code: i32) -> ErrorKind {
    match code {
        2 => ErrorKind::Invalid,
        4 => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::of_destination("box").unwrap()
    }

    #[test]
    fn pieces_become_lines_and_a_long_line_is_refused() {
        let host = host();
        let mut cutter = LineCutter::new(&host).up_to(8);
        let mut lines = Vec::new();
        for piece in ["ab", "c\nd", "\n\nxy"] {
            let mut keep = |line: &[u8]| {
                lines.push(String::from_utf8_lossy(line).into_owned());
                Ok(true)
            };
            assert!(cutter.add(piece.as_bytes(), &mut keep).unwrap());
        }
        assert_eq!(lines, ["abc", "d", ""]);
        assert!(cutter.add(b"1234567", &mut |_| Ok(true)).is_err());
    }

    #[test]
    fn a_line_gets_the_name_of_its_host_once() {
        let line = with_host(br#"{"v":1,"type":"session"}"#, "box").unwrap();
        assert_eq!(line, br#"{"v":1,"type":"session","host":"box"}"#);
        assert_eq!(with_host(&line, "other"), None);
        assert_eq!(with_host(b"[1]", "box"), None);
        assert_eq!(with_host(b"hello", "box"), None);
    }

    #[test]
    fn an_error_there_is_an_error_here() {
        let ended = Ended {
            code: 2,
            errors: "noise\n{\"v\":1,\"type\":\"error\",\"kind\":\"not_found\",\
                     \"message\":\"no \\u001b[31msession\",\"hint\":\"list them\"}\n"
                .to_owned(),
        };
        let error = succeeded(&host(), &ended, &[0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "on box: no \\x1b[31msession");
    }
}
