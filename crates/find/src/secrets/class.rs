//! Sets of bytes that the rule tables name.

/// A set of bytes: one bit of [`SETS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u8);

/// Names of the sets; a set's place here is its bit.
const NAMES: [&str; 23] = [
    "alnum", "alpha", "digit", "hex", "upper", "lower", "base32", "word", "url", "ext", "dots",
    "b64", "b64tail", "b64url", "azure", "slack", "path", "at", "percent", "vault", "hexdash",
    "colon", "twitter",
];

pub(super) const ALNUM: Class = Class(0);
pub(super) const URL: Class = Class(8);
pub(super) const B64TAIL: Class = Class(12);

/// For every byte the sets that contain it.
static SETS: [u32; 256] = sets();

const fn sets() -> [u32; 256] {
    let mut sets = [0; 256];
    let mut at = 0;
    while at < 128 {
        sets[at] = sets_of(at as u8);
        at += 1;
    }
    sets
}

const fn sets_of(byte: u8) -> u32 {
    let alnum = byte.is_ascii_alphanumeric();
    let hex = byte.is_ascii_hexdigit();
    let word = alnum || byte == b'_';
    let url = word || byte == b'-';
    let b64 = alnum || matches!(byte, b'+' | b'/' | b'=');
    let members = [
        alnum,
        byte.is_ascii_alphabetic(),
        byte.is_ascii_digit(),
        hex,
        byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'),
        word,
        url,
        url || byte == b'=',
        url || matches!(byte, b'=' | b'.'),
        b64,
        b64 || url || byte == b'%',
        b64 || url,
        url || matches!(byte, b'~' | b'.'),
        alnum || matches!(byte, b'-' | b'.' | b'%'),
        url || byte == b'/',
        url || matches!(byte, b'/' | b'@'),
        alnum || byte == b'%',
        alnum || matches!(byte, b'.' | b';' | b'\n' | b'\r' | b' ' | b'\\'),
        hex || byte == b'-',
        hex || byte == b':',
        alnum || byte == b'-',
    ];
    let mut bits = 0;
    let mut at = 0;
    while at < members.len() {
        bits |= (members[at] as u32) << at;
        at += 1;
    }
    bits
}

impl Class {
    pub(super) fn named(name: &str) -> Option<Class> {
        NAMES
            .iter()
            .position(|it| *it == name)
            .and_then(|at| u8::try_from(at).ok())
            .map(Class)
    }

    pub(super) fn has(self, byte: u8) -> bool {
        SETS[usize::from(byte)] >> self.0 & 1 == 1
    }
}

/// Caches the ends of runs of a class: rules that start repeatedly inside one long run scan it
/// once, so that crafted text cannot make the search quadratic.
pub(super) struct Runs<'t> {
    pub(super) text: &'t [u8],
    known: [(usize, usize); NAMES.len()],
}

impl<'t> Runs<'t> {
    pub(super) fn of(text: &'t [u8]) -> Runs<'t> {
        Runs {
            text,
            known: [(0, 0); NAMES.len()],
        }
    }

    /// Returns the end of the run of a class that contains or starts at `at`.
    pub(super) fn end(&mut self, class: Class, at: usize) -> usize {
        let known = &mut self.known[usize::from(class.0)];
        if (known.0..known.1).contains(&at) {
            return known.1;
        }
        let rest = self.text.get(at..).unwrap_or_default();
        let end = at + rest.iter().take_while(|byte| class.has(**byte)).count();
        *known = (at, end);
        end
    }
}
