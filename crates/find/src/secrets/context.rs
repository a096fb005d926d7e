//! Secrets that are known by where they are: addresses, commands, headers, netrc files and blocks.

use std::ops::Range;

use super::assign::{bare, quoted};
use super::class::{ALNUM, Class, URL};
use super::value;

/// What a context is searched for by.
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

/// What contexts gave, and how far some were read.
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
        // A header is read to its end once, however often it says `cookie`.
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

/// Users that documentation logs in as; with them a password that is a plain word is an example.
const ANYBODY: [&[u8]; 14] = [
    b"",
    b"user",
    b"username",
    b"name",
    b"usr",
    b"u",
    b"me",
    b"foo",
    b"login",
    b"youruser",
    b"myuser",
    b"test",
    b"postgres",
    b"root",
];

fn is_example(user: &[u8], password: &[u8]) -> bool {
    let user = user.to_ascii_lowercase();
    let anybody = ANYBODY.contains(&user.as_slice()) || user == password.to_ascii_lowercase();
    if value::is_word(password) {
        return anybody;
    }
    value::is_reference(password) || password.iter().all(|byte| matches!(byte, b'.' | b'*'))
}

fn address(text: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
    let scheme = text
        .get(..range.start)?
        .iter()
        .rev()
        .take(24)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    if scheme.count() == 0 {
        return None;
    }
    let rest = text.get(range.end..)?;
    let stop = |byte: &u8| {
        byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`<>\\|".contains(byte)
    };
    let whole = rest.get(..rest.iter().take(512).take_while(|byte| !stop(byte)).count())?;
    let authority = whole.get(
        ..whole
            .iter()
            .position(|byte| b"/?#".contains(byte))
            .unwrap_or(whole.len()),
    )?;
    // A `/` in a password should be escaped, and often is not; behind a host there is a number.
    let port = |part: &[u8]| {
        part.iter().rev().take_while(|b| b.is_ascii_digit()).count() > 0 && part.contains(&b':')
    };
    let web =
        text.get(..range.start)?.ends_with(b"http") || text.get(..range.start)?.ends_with(b"https");
    let part = if authority.contains(&b'@') || web || port(authority) {
        authority
    } else {
        whole
    };
    let end = memchr::memrchr(b'@', part)?;
    let colon = memchr::memchr(b':', part.get(..end)?)?;
    let (user, password) = (part.get(..colon)?, part.get(colon + 1..end)?);
    let template = |bytes: &[u8]| bytes.iter().any(|byte| b"{}$()[]".contains(byte));
    // `$` and brackets are escaped in real addresses; here they are what a template fills.
    if password.len() < 2
        || template(user)
        || (template(password) && value::is_reference(password))
        || starts_template(password)
    {
        return None;
    }
    (!is_example(user, password)).then_some(range.end + colon + 1..range.end + end)
}

fn starts_template(password: &[u8]) -> bool {
    matches!(password, [b'$' | b'{' | b'(' | b'[', ..]) && !password.iter().any(u8::is_ascii_digit)
}

/// How far the options of a command are looked for.
const COMMAND: usize = 1024;

fn command(
    text: &[u8],
    range: &Range<usize>,
    options: &[(&str, Takes)],
    found: &mut Vec<(&'static str, Range<usize>)>,
) {
    let own = text.get(range.clone()).unwrap_or_default();
    let rest = text.get(range.end..).unwrap_or_default();
    let rest = rest.get(..rest.len().min(COMMAND)).unwrap_or_default();
    // The next command of the same name looks for its own options.
    let rest = rest
        .get(..memchr::memmem::find(rest, own).unwrap_or(rest.len()))
        .unwrap_or_default();
    let rest = rest.get(..line_end(rest)).unwrap_or_default();
    for (option, takes) in options {
        for at in memchr::memmem::find_iter(rest, option.as_bytes()) {
            let before = at.checked_sub(1).and_then(|before| rest.get(before));
            if before.is_some_and(|byte| byte.is_ascii_whitespace()) {
                let place = range.end + at + option.len();
                found.extend(argument(text, place, *takes).map(|it| ("password-in-command", it)));
            }
        }
    }
}

/// The end of the line, or of a line that goes on behind a backslash; escaped
/// line ends count as well.
fn line_end(rest: &[u8]) -> usize {
    let mut slashes = 0_usize;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'\\' => slashes += 1,
            b'\n' if slashes == 0 => return at,
            // One, two or four backslashes are a line end, escaped so often; three and more
            // are a continued line.
            b'n' if slashes.is_power_of_two() => return at - slashes,
            _ => slashes = 0,
        }
    }
    rest.len()
}

fn argument(text: &[u8], at: usize, takes: Takes) -> Option<Range<usize>> {
    let long = text
        .get(..at)?
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
        .count()
        > 2;
    let spaces = text
        .get(at..)?
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'='))
        .count();
    match takes {
        Takes::Glued if spaces > 0 => return None,
        Takes::Word if spaces == 0 => return None,
        Takes::Pair if long && spaces == 0 => return None,
        _ => {}
    }
    let range = quoted(text, at + spaces).unwrap_or_else(|| bare(text, at + spaces));
    let word = text.get(range.clone())?;
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    if takes != Takes::Pair {
        // An option or a file is not the password of this one.
        let plain = !word.is_empty()
            && !word.starts_with(b"-")
            && !value::is_reference(word)
            && !value::is_code(word);
        return plain.then_some(range);
    }
    let sign = word.iter().position(|byte| matches!(byte, b':' | b'='))?;
    let (user, password) = (word.get(..sign)?, word.get(sign + 1..)?);
    // `-u 1000:1000` are ids, `-u https://…` is an address.
    let other =
        password.is_empty() || password.starts_with(b"//") || (digits(user) && digits(password));
    (!other && !is_example(user, password)).then_some(range.start + sign + 1..range.end)
}

/// A word and where the next one begins; white space may be written as escapes.
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

/// Parts of a cookie that are not secret.
const ATTRIBUTES: [&str; 9] = [
    "path",
    "domain",
    "expires",
    "max-age",
    "samesite",
    "secure",
    "httponly",
    "priority",
    "partitioned",
];

/// Finds the cookies of a header and gives where it ends.
fn cookies(text: &[u8], at: usize, found: &mut Vec<(&'static str, Range<usize>)>) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    // `Cookie: a=b`, `"cookie": "a=b"`, `'Cookie', 'a=b'`.
    let open = rest
        .iter()
        .take(48)
        .take_while(|byte| b" \t\"'\\[]:,=(".contains(byte))
        .count();
    if !rest
        .get(..open)
        .unwrap_or_default()
        .iter()
        .any(|byte| matches!(byte, b':' | b',' | b'='))
    {
        return at;
    }
    let line = rest.get(open..).unwrap_or_default();
    let len = line
        .iter()
        .take(8192)
        .take_while(|byte| !b"\r\n\"'`\\<>{}()".contains(byte))
        .count();
    let mut from = at + open;
    for pair in line
        .get(..len)
        .unwrap_or_default()
        .split(|byte| *byte == b';')
    {
        let start = from;
        from += pair.len() + 1;
        let Some(sign) = memchr::memchr(b'=', pair) else {
            continue;
        };
        let (name, value) = (
            pair.get(..sign).unwrap_or_default(),
            pair.get(sign + 1..).unwrap_or_default(),
        );
        let value = value
            .split(|byte| *byte == b' ' || *byte == b',')
            .next()
            .unwrap_or_default();
        if is_cookie(name.trim_ascii(), value) {
            found.push(("cookie", start + sign + 1..start + sign + 1 + value.len()));
        }
    }
    at + open + len
}

fn is_cookie(name: &[u8], value: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let attribute = ATTRIBUTES.iter().any(|it| it.as_bytes() == lower);
    let named = name
        .iter()
        .all(|byte| ALNUM.has(*byte) || b"_-.!$".contains(byte))
        && !name.is_empty();
    let telling = [
        "sess",
        "sid",
        "auth",
        "token",
        "jwt",
        "login",
        "remember",
        "csrf",
        "xsrf",
        "secure",
        "host-",
        "clearance",
        "user",
    ]
    .iter()
    .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some());
    let long =
        value.len() >= 16 && value::bits(value) >= 3.0 && value.iter().any(u8::is_ascii_digit);
    named && !attribute && ((telling && value.len() >= 4) || long) && !value::is_reference(value)
}

fn authorization(text: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
    let rest = text.get(at..)?;
    let joined = rest
        .iter()
        .take(48)
        .take_while(|byte| b"\"'\\]: =>`,".contains(byte))
        .count();
    if !rest
        .get(..joined)?
        .iter()
        .any(|byte| matches!(byte, b':' | b'=' | b','))
    {
        return None;
    }
    let at = at + joined;
    let rest = text.get(at..)?;
    for scheme in [
        "Bearer", "Basic", "Token", "ApiKey", "Api-Key", "GenieKey", "SSWS", "Bot", "Key",
    ] {
        if rest
            .get(..scheme.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(scheme.as_bytes()))
        {
            let spaces = rest
                .iter()
                .skip(scheme.len())
                .take_while(|byte| matches!(byte, b' ' | b'='))
                .count();
            if spaces > 0 {
                return bearer(text, at + scheme.len() + spaces, true).map(|(_, range)| {
                    (
                        if scheme == "Basic" {
                            "basic-auth"
                        } else {
                            "bearer-token"
                        },
                        range,
                    )
                });
            }
        }
    }
    let (_, range) = bearer(text, at, true)?;
    let bytes = text.get(range.clone())?;
    (bytes.len() >= 16 && bytes.iter().any(u8::is_ascii_digit) && value::bits(bytes) >= 3.0)
        .then_some(("bearer-token", range))
}

/// A token behind `Bearer`; without the header's name only one that cannot be a word.
fn bearer(text: &[u8], at: usize, header: bool) -> Option<(&'static str, Range<usize>)> {
    let rest = text.get(at..)?;
    let token = |byte: &u8| {
        URL.has(*byte) || matches!(byte, b'.' | b'=' | b'+' | b'/' | b'~' | b':' | b'%')
    };
    let len = rest
        .iter()
        .take(8192)
        .take_while(|byte| token(byte))
        .count();
    let bytes = rest.get(..len)?;
    let odd = bytes.iter().any(u8::is_ascii_digit);
    let enough = if header {
        len >= 8 && (odd || len >= 16)
    } else {
        len >= 16 && odd && value::bits(bytes) >= 3.0
    };
    // Code such as `Bearer ${token}` or `Bearer token.value()` goes on with a bracket.
    let code = rest.get(len).is_some_and(|byte| b"({[$".contains(byte))
        || value::is_code(bytes)
        || value::is_reference(bytes);
    let len = bytes
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'.' | b':'))
        .count();
    let end = at + bytes.len() - len;
    (enough && !code).then_some(("bearer-token", at..end))
}

/// `user:password` in base64, behind `Basic`.
fn basic(text: &[u8], at: usize) -> Option<Range<usize>> {
    let class = Class::named("b64")?;
    let rest = text.get(at..)?;
    let len = rest
        .iter()
        .take(1024)
        .take_while(|byte| class.has(**byte))
        .count();
    let pair = decode(rest.get(..len)?);
    let readable = pair.iter().all(|byte| (0x20..0x7f).contains(byte));
    (len >= 8 && readable && pair.contains(&b':')).then_some(at..at + len)
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

/// A private key in PEM or PGP armour, also one that was cut off before its end.
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
    // What follows a block without an end may be prose: the key is what is longer than a word.
    if dashes < 5 {
        let mut lines = key.split(|b| b.is_ascii_whitespace() || b"\\\"'".contains(b));
        let last = lines.rfind(|line| line.len() >= 32)?;
        let past = last.as_ptr() as usize - key.as_ptr() as usize + last.len();
        key = key.get(..past)?;
    }
    let letters = key.iter().filter(|byte| ALNUM.has(**byte)).count();
    (letters >= 32 && !value::is_filler(key)).then_some(range.start..body + key.len())
}

/// Tokens of Discord: an id in base64, a time, and a code, joined by dots six letters apart.
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
