//! A validating JSON scanner: finds where a value ends and accepts exactly what `JSON.parse`
//! accepts.
//!
//! It builds no tree. It reports the end of a value, optionally the byte ranges of the outermost
//! object's members, and the first syntax error. A [`Guide`] decides how strings are skipped:
//! [`Bytewise`] reads every byte, the outline uses a quote bitmap.
//!
//! The scan is a loop with an explicit stack of one bit per open container, not a recursion, so
//! deeply nested input cannot overflow the stack.
//!
//! The one difference to `JSON.parse` is input that is not UTF-8. Every agent decodes such bytes to
//! U+FFFD before it parses, so they are accepted inside strings, and the span is flagged with
//! `bad_utf8`.

use memchr::memchr2;

use super::Member;

/// Where and why a value is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Index of the first byte that is not valid, or the length of the input if it is truncated.
    pub at: usize,
    /// Why the value is not valid.
    pub kind: SyntaxErrorKind,
}

/// The reason why a value is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The input ends inside the value.
    Truncated,
    /// A byte that is not allowed at this position.
    Unexpected,
    /// A raw control character inside a string.
    Control,
    /// A backslash that does not start a valid escape.
    Escape,
    /// A number such as `01`, `1.` or `-`.
    Number,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            SyntaxErrorKind::Truncated => "the value is incomplete",
            SyntaxErrorKind::Unexpected => "an unexpected character",
            SyntaxErrorKind::Control => "a raw control character inside a string",
            SyntaxErrorKind::Escape => "an invalid escape",
            SyntaxErrorKind::Number => "an invalid number",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

/// Scans the object that starts at `bytes[0]`, fills `members` with its direct members and returns
/// the index after the object.
pub fn scan_object(bytes: &[u8], members: &mut Vec<Member>) -> Result<usize, SyntaxError> {
    members.clear();
    if bytes.first() != Some(&b'{') {
        return Err(SyntaxError {
            at: 0,
            kind: SyntaxErrorKind::Unexpected,
        });
    }
    scan(bytes, 0, Some(members), &mut Bytewise)
}

/// Returns the index after the value that starts at `bytes[at]`, without white space before it.
pub fn value_end(bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
    scan(bytes, at, None, &mut Bytewise)
}

/// Returns the index after the value at `at`, and fills `members` with the direct members if the
/// value is an object.
#[inline(always)]
pub(super) fn scan<G: Guide>(
    bytes: &[u8],
    at: usize,
    members: Option<&mut Vec<Member>>,
    guide: &mut G,
) -> Result<usize, SyntaxError> {
    let (own, inner) = (Member::default(), Member::default());
    Scanner {
        bytes,
        at,
        open: Containers::default(),
        own,
        inner,
        members,
        guide,
    }
    .run()
}

/// Finds the ends of strings for the scanner, and is notified of containers and inner members.
pub(super) trait Guide {
    /// Returns the index after the string whose opening quote is at `at`. Called for every string,
    /// keys included, in file order.
    fn string_end(&mut self, bytes: &[u8], at: usize) -> Result<usize, SyntaxError>;

    /// Called when a container begins at `_at`.
    fn opened(&mut self, _at: usize) {}

    /// Called when the innermost open container has ended; `_end` is the index after it.
    fn closed(&mut self, _end: usize) {}

    /// Called when a member ends whose object is itself a member of the outermost object.
    fn inner(&mut self, _member: Member) {}
}

/// The stack of open containers, one bit each (1 = object, 0 = array).
///
/// A million levels of nesting cost 125 kB.
#[derive(Default)]
struct Containers {
    depth: usize,
    /// The innermost containers, up to 64, the innermost one in the lowest bit.
    top: u64,
    /// Full words of containers further out, the outermost first.
    below: Vec<u64>,
}

impl Containers {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
            self.top = 0;
        }
        self.top = (self.top << 1) | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or(0);
        }
    }

    fn in_object(&self) -> bool {
        self.top & 1 == 1
    }
}

/// The state of one scan.
struct Scanner<'b, 'm, G> {
    bytes: &'b [u8],
    at: usize,
    open: Containers,
    /// The member of the outermost object (depth 1) that is being scanned.
    own: Member,
    /// The member at depth 2 that is being scanned, if its container is an object.
    inner: Member,
    members: Option<&'m mut Vec<Member>>,
    guide: &'m mut G,
}

impl<G: Guide> Scanner<'_, '_, G> {
    #[inline(always)]
    fn run(mut self) -> Result<usize, SyntaxError> {
        loop {
            // A value starts here. A container that is not empty is opened and the loop continues
            // with its first child; every other value is complete after this `match`.
            match self.peek()? {
                b'"' => self.string()?,
                b'{' => {
                    self.open(true);
                    if self.visible()? != b'}' {
                        self.key()?;
                        continue;
                    }
                    self.close();
                }
                b'[' => {
                    self.open(false);
                    if self.visible()? != b']' {
                        continue;
                    }
                    self.close();
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => return Err(self.fault(SyntaxErrorKind::Unexpected)),
            }
            // A value ended. Leave every container that ends here as well, up to the next sibling.
            loop {
                if self.open.depth == 0 {
                    return Ok(self.at);
                }
                // Only depth 1 and 2 are recorded: `own` and `inner` have room for one member each.
                if self.open.depth <= 2 && self.open.in_object() {
                    self.note();
                }
                match (self.visible()?, self.open.in_object()) {
                    (b',', true) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (b'}', true) | (b']', false) => self.close(),
                    (b',', false) => {
                        self.at += 1;
                        // Skip white space so that the loop starts at the first byte of the next
                        // value.
                        self.visible()?;
                        break;
                    }
                    _ => return Err(self.fault(SyntaxErrorKind::Unexpected)),
                }
            }
        }
    }

    #[inline(always)]
    fn open(&mut self, object: bool) {
        self.guide.opened(self.at);
        self.at += 1;
        self.open.push(object);
    }

    #[inline(always)]
    fn close(&mut self) {
        self.at += 1;
        self.open.pop();
        self.guide.closed(self.at);
    }

    /// Reports the member whose value ended at `self.at`.
    #[inline(always)]
    fn note(&mut self) {
        let end = self.at;
        if self.open.depth == 2 {
            self.guide.inner(Member { end, ..self.inner });
        } else if let Some(members) = self.members.as_deref_mut() {
            members.push(Member { end, ..self.own });
        }
    }

    fn peek(&self) -> Result<u8, SyntaxError> {
        self.bytes.get(self.at).copied().ok_or(SyntaxError {
            at: self.bytes.len(),
            kind: SyntaxErrorKind::Truncated,
        })
    }

    fn fault(&self, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError { at: self.at, kind }
    }

    /// Skips white space and returns the next byte, without consuming it.
    #[inline(always)]
    fn visible(&mut self) -> Result<u8, SyntaxError> {
        match self.peek()? {
            byte if byte > b' ' => Ok(byte),
            _ => self.visible_after_space(),
        }
    }

    /// Out of line, because agents write compact JSON. Bytes up to 0x20 that are not JSON white
    /// space are returned as they are: the caller rejects them.
    #[cold]
    fn visible_after_space(&mut self) -> Result<u8, SyntaxError> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.peek()
    }

    /// Scans a key, its colon and the white space around both, and remembers where the value
    /// starts.
    #[inline(always)]
    fn key(&mut self) -> Result<(), SyntaxError> {
        if self.visible()? != b'"' {
            return Err(self.fault(SyntaxErrorKind::Unexpected));
        }
        let key_start = self.at;
        self.string()?;
        let key_end = self.at;
        if self.visible()? != b':' {
            return Err(self.fault(SyntaxErrorKind::Unexpected));
        }
        self.at += 1;
        self.visible()?;
        let member = Member {
            key_start,
            key_end,
            start: self.at,
            end: self.at,
        };
        match self.open.depth {
            1 => self.own = member,
            2 => self.inner = member,
            _ => {}
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        for (i, want) in word.iter().enumerate() {
            match self.bytes.get(self.at + i) {
                Some(found) if found == want => {}
                Some(_) => {
                    return Err(SyntaxError {
                        at: self.at + i,
                        kind: SyntaxErrorKind::Unexpected,
                    });
                }
                None => {
                    return Err(SyntaxError {
                        at: self.bytes.len(),
                        kind: SyntaxErrorKind::Truncated,
                    });
                }
            }
        }
        self.at += word.len();
        Ok(())
    }

    #[inline(always)]
    fn string(&mut self) -> Result<(), SyntaxError> {
        self.at = self.guide.string_end(self.bytes, self.at)?;
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek()? == b'-' {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => {
                self.digits();
            }
            _ => return Err(self.fault(SyntaxErrorKind::Number)),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), SyntaxError> {
        self.peek()?;
        if self.digits() == 0 {
            Err(self.fault(SyntaxErrorKind::Number))
        } else {
            Ok(())
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.at - start
    }
}

/// The [`Guide`] that reads every byte of a string.
struct Bytewise;

impl Guide for Bytewise {
    fn string_end(&mut self, bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
        let start = at + 1;
        let mut at = start;
        loop {
            let Some(step) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
                let fault = SyntaxError {
                    at: bytes.len(),
                    kind: SyntaxErrorKind::Truncated,
                };
                // A control character comes before the end of the input, so it is the first error.
                return Err(control(bytes, start, bytes.len()).unwrap_or(fault));
            };
            at += step;
            if bytes.get(at) == Some(&b'"') {
                return match control(bytes, start, at) {
                    Some(fault) => Err(fault),
                    None => Ok(at + 1),
                };
            }
            at = escape(bytes, at)?;
        }
    }
}

/// Checks the escape whose backslash is at `at`; returns the index after it.
fn escape(bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for i in at + 2..at + 6 {
                match bytes.get(i) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => {
                        return Err(SyntaxError {
                            at: i,
                            kind: SyntaxErrorKind::Escape,
                        });
                    }
                    None => {
                        return Err(SyntaxError {
                            at: bytes.len(),
                            kind: SyntaxErrorKind::Truncated,
                        });
                    }
                }
            }
            Ok(at + 6)
        }
        Some(_) => Err(SyntaxError {
            at,
            kind: SyntaxErrorKind::Escape,
        }),
        None => Err(SyntaxError {
            at: bytes.len(),
            kind: SyntaxErrorKind::Truncated,
        }),
    }
}

/// Returns an error for the first control character between `start` and `end`.
fn control(bytes: &[u8], start: usize, end: usize) -> Option<SyntaxError> {
    let text = bytes.get(start..end)?;
    // A fold without early exit compiles to SIMD compares; the search below runs only on invalid
    // input.
    if !text.iter().fold(false, |seen, b| seen | (*b < 0x20)) {
        return None;
    }
    text.iter().position(|b| *b < 0x20).map(|i| SyntaxError {
        at: start + i,
        kind: SyntaxErrorKind::Control,
    })
}

#[cfg(test)]
mod tests;
