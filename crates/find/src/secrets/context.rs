//! Finds secrets by their context: addresses, commands, HTTP headers, netrc files and PEM blocks.

use std::ops::Range;

use super::assign::bare;
use super::class::{ALNUM, URL};
use super::value;

mod address;
mod command;
mod header;

use address::address;
use command::command;
use header::{authorization, basic, bearer, cookies};

/// A context in which secrets occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// `scheme://user:password@host`.
    Address,
    /// A command that takes a password as an option.
    Command(&'static [(&'static str, Takes)]),
    /// `machine host login name password secret`.
    Netrc,
    /// `host:port:database:user:password`.
    Pgpass,
    /// `Cookie:` and `Set-Cookie:`.
    Cookie,
    /// `Authorization:`.
    Authorization,
    /// `Bearer token` without its header's name.
    Bearer,
    /// `Basic base64` without its header's name.
    Basic,
    /// `-----BEGIN ... PRIVATE KEY-----`.
    Block,
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `user:password`.
    Pair,
    /// The password, as a word of its own.
    Word,
    /// The password, with no space between.
    Glued,
}

const CURL: &[(&str, Takes)] = &[
    ("-u", Takes::Pair),
    ("--user", Takes::Pair),
    ("-U", Takes::Pair),
    ("--proxy-user", Takes::Pair),
    ("-b", Takes::Pair),
    ("--cookie", Takes::Pair),
];
const HTTPIE: &[(&str, Takes)] = &[("-a", Takes::Pair), ("--auth", Takes::Pair)];
const MYSQL: &[(&str, Takes)] = &[("-p", Takes::Glued)];
const WORD: &[(&str, Takes)] = &[("-p", Takes::Word)];
const A_WORD: &[(&str, Takes)] = &[("-a", Takes::Word)];
const W_WORD: &[(&str, Takes)] = &[("-w", Takes::Word)];
const PASS: &[(&str, Takes)] = &[("pass:", Takes::Glued)];

/// What the text is searched for.
pub(super) const CONTEXTS: &[(&str, Context)] = &[
    ("://", Context::Address),
    ("curl", Context::Command(CURL)),
    ("httpie", Context::Command(HTTPIE)),
    ("mysql", Context::Command(MYSQL)),
    ("mysqldump", Context::Command(MYSQL)),
    ("mariadb", Context::Command(MYSQL)),
    ("sshpass", Context::Command(WORD)),
    ("sshpass", Context::Command(MYSQL)),
    ("docker login", Context::Command(WORD)),
    ("podman login", Context::Command(WORD)),
    ("helm registry login", Context::Command(WORD)),
    ("mongosh", Context::Command(WORD)),
    ("mongodump", Context::Command(WORD)),
    ("az login", Context::Command(WORD)),
    ("redis-cli", Context::Command(A_WORD)),
    ("ldapsearch", Context::Command(W_WORD)),
    ("openssl", Context::Command(PASS)),
    ("machine ", Context::Netrc),
    (":5432:", Context::Pgpass),
    ("cookie", Context::Cookie),
    ("authorization", Context::Authorization),
    ("bearer ", Context::Bearer),
    ("basic ", Context::Basic),
    ("-----begin ", Context::Block),
];

/// Secrets that were found in contexts, and how far headers were read.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) found: Vec<(&'static str, Range<usize>)>,
    cookies: usize,
}

/// Finds the secrets of a context whose words are at `range`.
pub(super) fn find(text: &[u8], context: Context, range: &Range<usize>, seen: &mut Seen) {
    let found = &mut seen.found;
    match context {
        Context::Address => found.extend(address(text, range).map(|it| ("password-in-url", it))),
        Context::Command(options) => command(text, range, options, found),
        Context::Netrc => found.extend(netrc(text, range.end).map(|it| ("netrc-password", it))),
        Context::Pgpass => found.extend(pgpass(text, range.end).map(|it| ("pgpass-password", it))),
        // A header is read to its end once, even if it contains `cookie` several times.
        Context::Cookie if range.start >= seen.cookies => {
            seen.cookies = cookies(text, range.end, found)
        }
        Context::Cookie => {}
        Context::Authorization => found.extend(authorization(text, range.end)),
        Context::Bearer => found.extend(bearer(text, range.end, false)),
        Context::Basic => found.extend(basic(text, range.end).map(|it| ("basic-auth", it))),
        Context::Block => found.extend(block(text, range).map(|it| ("private-key", it))),
    }
}

/// Returns a word and the start of the next one; white space may be written as escapes.
fn next_word(text: &[u8], at: usize) -> (Range<usize>, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let mut start = 0;
    while let Some(byte) = rest.get(start).filter(|_| start < 64) {
        let escape = *byte == b'\\'
            || (matches!(byte, b'n' | b'r' | b't')
                && start > 0
                && rest.get(start - 1) == Some(&b'\\'));
        if !byte.is_ascii_whitespace() && !escape {
            break;
        }
        start += 1;
    }
    let len = rest
        .iter()
        .skip(start)
        .take(256)
        .take_while(|b| !b.is_ascii_whitespace() && !b"\"'`\\{}".contains(b))
        .count();
    (at + start..at + start + len, at + start + len)
}

fn netrc(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (_, mut at) = next_word(text, at);
    let mut login = false;
    let mut secret = None;
    for _ in 0..3 {
        let (word, behind) = next_word(text, at);
        let (value, next) = next_word(text, behind);
        match text.get(word)? {
            b"login" => login = true,
            b"password" => secret = Some(value),
            b"account" => {}
            _ => break,
        }
        at = next;
    }
    secret.filter(|range| {
        login
            && !text
                .get(range.clone())
                .is_none_or(|it| it.is_empty() || value::is_reference(it))
    })
}

fn pgpass(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let mut colons = rest
        .iter()
        .take(256)
        .enumerate()
        .take_while(|(_, b)| !b.is_ascii_whitespace() && !b"\"'\\/".contains(b));
    let mut part = || {
        colons
            .by_ref()
            .find(|(_, byte)| **byte == b':')
            .map(|(at, _)| at)
    };
    let (_, user) = (part()?, part()?);
    let range = bare(text, at + user + 1);
    let password = text.get(range.clone())?;
    (password.len() >= 2 && !value::is_reference(password)).then_some(range)
}

/// Decodes base64, either alphabet, as far as it goes.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut have) = (0_u32, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(six);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have & 0xff) as u8);
        }
    }
    out
}

/// Text after a block without an end may be prose: the key ends with the last run of at least 32
/// bytes without white space.
fn without_prose(key: &[u8]) -> Option<&[u8]> {
    let mut lines = key.split(|b| b.is_ascii_whitespace() || b"\\\"'".contains(b));
    let last = lines.rfind(|line| line.len() >= 32)?;
    let past = last.as_ptr() as usize - key.as_ptr() as usize + last.len();
    key.get(..past)
}

/// Returns a private key in PEM or PGP armour, even if its end is missing.
fn block(text: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(range.end..)?;
    let head = rest.get(..memchr::memmem::find(rest.get(..rest.len().min(80))?, b"-----")?)?;
    if !head.ends_with(b"PRIVATE KEY") && !head.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    let body = range.end + head.len() + 5;
    let inside = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || byte.is_ascii_whitespace()
            || b"+/=,:.()\\\"'_-".contains(byte)
    };
    let mut end = body;
    let bytes = text.get(body..)?;
    let mut dashes = 0;
    for byte in bytes.iter().take(1 << 16).take_while(|byte| inside(byte)) {
        dashes = if *byte == b'-' { dashes + 1 } else { 0 };
        end += 1;
        if dashes == 5 {
            end -= 5;
            break;
        }
    }
    let mut key = text.get(body..end)?;
    if dashes < 5 {
        key = without_prose(key)?;
    }
    let letters = key.iter().filter(|byte| ALNUM.has(**byte)).count();
    (letters >= 32 && !value::is_filler(key)).then_some(range.start..body + key.len())
}

/// Finds tokens of Discord: an id in base64, a time and a code, joined by dots six characters
/// apart.
pub(super) fn discord(text: &[u8], found: &mut Vec<(&'static str, Range<usize>)>) {
    for dot in memchr::memchr_iter(b'.', text) {
        if text.get(dot + 7) != Some(&b'.') {
            continue;
        }
        let before = text
            .get(..dot)
            .unwrap_or_default()
            .iter()
            .rev()
            .take(28)
            .take_while(|byte| URL.has(**byte))
            .count();
        let time = text
            .get(dot + 1..dot + 7)
            .is_some_and(|it| it.iter().all(|byte| URL.has(*byte)));
        let code = text
            .get(dot + 8..)
            .unwrap_or_default()
            .iter()
            .take(64)
            .take_while(|byte| URL.has(**byte))
            .count();
        if before < 22 || !time || code < 25 {
            continue;
        }
        // Something may precede the id without a gap, so every length is tried.
        let id = (22..=before).rev().find(|len| {
            let id = decode(text.get(dot - len..dot).unwrap_or_default());
            id.len() >= 16 && id.iter().all(u8::is_ascii_digit)
        });
        found.extend(id.map(|len| ("discord-token", dot - len..dot + 8 + code)));
    }
}
