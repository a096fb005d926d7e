//! Finds where a JSON value ends, and refuses exactly what ECMAScript's `JSON.parse` refuses.
//!
//! The one exception is bytes that are not UTF-8: every agent decodes them to U+FFFD before it
//! parses, so they are content here, and the span that holds them carries a flag.

use memchr::memchr2;

use super::Member;

/// Where and why a value is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Index of the first byte that does not fit.
    pub at: usize,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

/// Why a value is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The input ends inside the value.
    Truncated,
    /// A byte that cannot stand here.
    Unexpected,
    /// A raw control character inside a string.
    Control,
    /// A backslash that starts no escape.
    Escape,
    /// A number such as `01`, `1.` or `-`.
    Number,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            SyntaxErrorKind::Truncated => "the value breaks off",
            SyntaxErrorKind::Unexpected => "a character that cannot stand here",
            SyntaxErrorKind::Control => "a raw control character inside a string",
            SyntaxErrorKind::Escape => "a backslash that starts no escape",
            SyntaxErrorKind::Number => "a number that is none",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

/// Scans the object that starts at `bytes[0]`, leaves its own members in `members` and
/// returns where it ends.
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

/// Finds the end of the value that starts at `bytes[at]` (no white space before it).
pub fn value_end(bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
    scan(bytes, at, None, &mut Bytewise)
}

/// Finds the end of the value at `at`, and the members of that object if they are asked for.
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

/// Knows where strings end, and may take note of containers.
pub(super) trait Guide {
    /// The index after the string whose opening quote is at `at`. Asked for every string, in order.
    fn string_end(&mut self, bytes: &[u8], at: usize) -> Result<usize, SyntaxError>;

    /// A container begins.
    fn opened(&mut self, _at: usize) {}

    /// The container that was opened last and is still open ends before `_end`.
    fn closed(&mut self, _end: usize) {}

    /// A member of an object ends that is itself a member of the outermost one.
    fn inner(&mut self, _member: Member) {}
}

/// Which containers are open: one bit each (1 = object), so that depth costs an eighth of a byte.
#[derive(Default)]
struct Containers {
    depth: usize,
    top: u64,
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

struct Scanner<'b, 'm, G> {
    bytes: &'b [u8],
    at: usize,
    open: Containers,
    /// The member of the outermost object that is being read.
    own: Member,
    /// The same of an object that is itself such a member.
    inner: Member,
    members: Option<&'m mut Vec<Member>>,
    guide: &'m mut G,
}

impl<G: Guide> Scanner<'_, '_, G> {
    #[inline(always)]
    fn run(mut self) -> Result<usize, SyntaxError> {
        loop {
            // A value starts here. Containers open and go on with their first child;
            // the rest ends at once.
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
            // A value ended: close all that closes here.
            loop {
                if self.open.depth == 0 {
                    return Ok(self.at);
                }
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

    /// The next byte that is no white space.
    #[inline(always)]
    fn visible(&mut self) -> Result<u8, SyntaxError> {
        match self.peek()? {
            byte if byte > b' ' => Ok(byte),
            _ => self.visible_after_space(),
        }
    }

    #[cold]
    fn visible_after_space(&mut self) -> Result<u8, SyntaxError> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.peek()
    }

    /// A key, its colon, and the white space around them.
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

/// Looks at every byte of a string.
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

fn control(bytes: &[u8], start: usize, end: usize) -> Option<SyntaxError> {
    let text = bytes.get(start..end)?;
    // Written as a fold so that it compiles to wide compares; the search below runs
    // only on broken input.
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
