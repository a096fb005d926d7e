//! Finds cookies and tokens in HTTP headers.

use std::ops::Range;

use super::decode;
use crate::secrets::class::{ALNUM, Class, URL};
use crate::secrets::value;

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

/// Finds the cookies of a header and returns its end.
pub(super) fn cookies(
    text: &[u8],
    at: usize,
    found: &mut Vec<(&'static str, Range<usize>)>,
) -> usize {
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
        if let Some(value) = cookie(pair) {
            found.push(("cookie", from + value.start..from + value.end));
        }
        from += pair.len() + 1;
    }
    at + open + len
}

/// The value of a pair `name=value` that is a cookie.
fn cookie(pair: &[u8]) -> Option<Range<usize>> {
    let sign = memchr::memchr(b'=', pair)?;
    let (name, value) = (pair.get(..sign)?, pair.get(sign + 1..)?);
    let mut words = value.split(|byte| *byte == b' ' || *byte == b',');
    let value = words.next()?;
    is_cookie(name.trim_ascii(), value).then_some(sign + 1..sign + 1 + value.len())
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

pub(super) fn authorization(text: &[u8], at: usize) -> Option<(&'static str, Range<usize>)> {
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
pub(super) fn bearer(text: &[u8], at: usize, header: bool) -> Option<(&'static str, Range<usize>)> {
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
pub(super) fn basic(text: &[u8], at: usize) -> Option<Range<usize>> {
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
