//! Finds secrets without a known form: values that are assigned to a name such as `password` or
//! `api_key`.
//!
//! Recognised are `KEY=value`, `"key": "value"`, `key => 'value'`, `--key value`,
//! `<key>value</key>`, `key is value` and their escaped forms inside JSON.

use std::ops::Range;

use super::class::Class;
use super::value::{self, Letters};

/// How strongly a name indicates a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// The name is only used for passwords.
    Password,
    /// A secret, an API key, or a token of a named kind.
    Key,
    /// A token of any kind, possibly that of a parser.
    Token,
}

/// Names of secrets; a prefix in the same word does not matter.
pub(super) const NAMES: &[(&str, Name)] = &[
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("passphrase", Name::Password),
    ("passcode", Name::Password),
    ("pwd", Name::Password),
    ("_pass", Name::Password),
    ("-pass", Name::Password),
    ("_pw", Name::Password),
    ("密码", Name::Password),
    ("口令", Name::Password),
    ("secret", Name::Key),
    ("api_key", Name::Key),
    ("apikey", Name::Key),
    ("api-key", Name::Key),
    ("access_key", Name::Key),
    ("accesskey", Name::Key),
    ("access-key", Name::Key),
    ("secret_key", Name::Key),
    ("secretkey", Name::Key),
    ("secret-key", Name::Key),
    ("private_key", Name::Key),
    ("privatekey", Name::Key),
    ("auth_key", Name::Key),
    ("authkey", Name::Key),
    ("encryption_key", Name::Key),
    ("encryptionkey", Name::Key),
    ("signing_key", Name::Key),
    ("signingkey", Name::Key),
    ("master_key", Name::Key),
    ("masterkey", Name::Key),
    ("account_key", Name::Key),
    ("accountkey", Name::Key),
    ("service_key", Name::Key),
    ("shared_key", Name::Key),
    ("app_key", Name::Key),
    ("appkey", Name::Key),
    ("license_key", Name::Key),
    ("access_token", Name::Key),
    ("accesstoken", Name::Key),
    ("access-token", Name::Key),
    ("auth_token", Name::Key),
    ("authtoken", Name::Key),
    ("auth-token", Name::Key),
    ("refresh_token", Name::Key),
    ("refreshtoken", Name::Key),
    ("api_token", Name::Key),
    ("apitoken", Name::Key),
    ("api-token", Name::Key),
    ("bot_token", Name::Key),
    ("session_token", Name::Key),
    ("private_token", Name::Key),
    ("private-token", Name::Key),
    ("密钥", Name::Key),
    ("credential", Name::Token),
    ("credentials", Name::Token),
    ("token", Name::Token),
];

/// A value that is assigned to a name, and how it was written.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) quoted: bool,
    /// Written as in a shell, `NAME=value`, or as an option, `--name value`.
    pub(super) shell: bool,
}

const LONGEST: usize = 512;

/// Words that follow the name of an option in prose.
const PROSE: [&str; 12] = [
    "option",
    "options",
    "argument",
    "arguments",
    "parameter",
    "parameters",
    "instead",
    "should",
    "cannot",
    "flags",
    "without",
    "before",
];

/// Returns the secret that is assigned to the name at `range`.
pub(super) fn secret(text: &[u8], range: &Range<usize>, name: Name) -> Option<Range<usize>> {
    let end = name_end(text, range.end);
    let value = value(text, range.start, end)?;
    let bytes = text.get(value.range.clone())?;
    // "The --password option": prose about an option, not its use.
    if text.get(end) == Some(&b' ') && PROSE.iter().any(|word| word.as_bytes() == bytes) {
        return None;
    }
    let real =
        is_secret(bytes, name, &value) && !value::is_reference(bytes) && !value::is_code(bytes);
    real.then_some(value.range)
}

/// Returns the end of a name with its suffix, a number or a purpose: `PASSWORD_2`, `API_KEY_PROD`.
fn name_end(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    for suffix in [
        "_prod",
        "_production",
        "_dev",
        "_test",
        "_staging",
        "_live",
        "_old",
        "_new",
    ] {
        if rest
            .get(..suffix.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(suffix.as_bytes()))
        {
            return end + suffix.len();
        }
    }
    let line = usize::from(rest.first() == Some(&b'_'));
    let digits = rest
        .iter()
        .skip(line)
        .take(3)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits > 0 { end + line + digits } else { end }
}

fn is_secret(bytes: &[u8], name: Name, value: &Value) -> bool {
    let letters = Letters::of(bytes);
    let (len, bits) = (bytes.len(), value::bits(bytes));
    if letters.spaces > 0 || letters.foreign > 0 {
        return false;
    }
    if !value.quoted && is_identifier(bytes, name, &letters, bits) {
        return false;
    }
    let mixed = letters.digits > 0 && letters.letters() > 0;
    let odd = mixed || letters.signs > 0;
    let words = letters.digits == 0 && letters.signs == 0;
    match name {
        Name::Password if value.quoted => {
            (len >= 3 && odd) || (len >= 6 && !value::names_itself(bytes))
        }
        Name::Password if value.shell => {
            (len >= 4 && odd) || (len >= 6 && !value::names_itself(bytes) && letters.lower > 0)
        }
        Name::Password => len >= 6 && odd && (mixed || len >= 8),
        Name::Key if words => {
            (value.quoted || value.shell) && is_key_of_letters(bytes, &letters, bits)
        }
        Name::Key if value.quoted || value.shell => len >= 6 && mixed && !is_label(bytes),
        Name::Key => len >= 8 && mixed && bits >= 2.5 && !is_label(bytes),
        Name::Token => len >= 16 && mixed && bits >= 3.0 && !is_label(bytes) && !is_id(bytes),
    }
}

/// Returns whether the value consists of words and a number joined by signs: `my-service-v2`,
/// `claude-3-opus`, `step_1_done`.
fn is_label(bytes: &[u8]) -> bool {
    let parts: Vec<&[u8]> = bytes
        .split(|b| matches!(b, b'-' | b'_' | b'.' | b'/' | b':' | b','))
        .collect();
    let plain = |part: &&[u8]| {
        part.iter().all(u8::is_ascii_lowercase) && !part.is_empty()
            || part.iter().all(u8::is_ascii_alphabetic)
            || part.len() <= 4
    };
    let odd = |part: &&[u8]| part.len() >= 12 && part.iter().any(u8::is_ascii_digit);
    parts.len() > 1
        && !parts.iter().any(odd)
        && parts.iter().filter(|part| plain(part)).count() * 2 > parts.len()
        && !is_id(bytes)
}

/// Returns whether the value is a UUID or a hash: an id of something, unless its name indicates a
/// secret.
fn is_id(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// A name that is passed on (`password=password1`) is an identifier; a password has signs or is
/// quoted.
fn is_identifier(bytes: &[u8], name: Name, letters: &Letters, bits: f64) -> bool {
    (letters.signs == 0 && value::names_itself(bytes) && bits < 3.8)
        || (name != Name::Password && value::is_camel_case(bytes))
}

/// A key without digits is distinguished from words by its length, its capitals and its entropy.
fn is_key_of_letters(bytes: &[u8], letters: &Letters, bits: f64) -> bool {
    bytes.len() >= 20
        && !value::is_camel_case(bytes)
        && letters.upper >= 3
        && letters.lower >= 3
        && bits >= 3.8
}

/// Parts of names that are given to secrets.
const TELLING: [&str; 9] = [
    "key", "token", "secret", "pass", "auth", "cred", "api", "pat", "pw",
];

fn is_telling(part: &[u8]) -> bool {
    let mut words = TELLING.iter();
    words.any(|word| memchr::memmem::find(part, word.as_bytes()).is_some())
}

/// Returns the value after the issuer's name at `range` that has one of the issuer's forms.
pub(super) fn of_vendor(
    text: &[u8],
    range: &Range<usize>,
    forms: &[(Class, usize, usize)],
) -> Option<Range<usize>> {
    let rest = text.get(range.end..)?;
    let same = rest
        .iter()
        .take(40)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        .count();
    let between = rest.get(..same)?.to_ascii_lowercase();
    let own = text.get(range.clone())?.to_ascii_lowercase();
    if !(between.is_empty() || is_telling(&between) || is_telling(&own)) {
        return None;
    }
    let value = value(text, range.start, range.end + same)?;
    let bytes = text.get(value.range.clone())?;
    let letters = Letters::of(bytes);
    let fits = |(class, least, most): &(Class, usize, usize)| {
        (*least..=*most).contains(&bytes.len()) && bytes.iter().all(|byte| class.has(*byte))
    };
    let real = letters.digits > 0 && letters.letters() > 0 && value::bits(bytes) >= 2.6;
    let plain = !value::is_reference(bytes) && !value::is_code(bytes) && !is_label(bytes);
    (real && plain && forms.iter().any(fits)).then_some(value.range)
}

/// Returns the value that is assigned to the name at `start..end`.
pub(super) fn value(text: &[u8], start: usize, end: usize) -> Option<Value> {
    let closed = skip(text, end, 24, |byte| {
        matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\' | b'*')
    });
    let spaced = skip(text, closed, 40, |byte| matches!(byte, b' ' | b'\t'));
    let (mut at, sign) = separator(text, start, closed, spaced)?;
    at = skip(text, at, 40, |byte| matches!(byte, b' ' | b'\t' | b'*'));
    let shell = (sign == b'=' && spaced == end && at == spaced + 1) || sign == b'-';
    if sign == b':' {
        at = behind_type(text, at).unwrap_or(at);
    }
    if sign == b'>' {
        let rest = text.get(at..)?;
        let len = rest
            .iter()
            .take(LONGEST)
            .position(|byte| *byte == b'<')
            .filter(|len| rest.get(len + 1) == Some(&b'/'))?;
        return Some(Value {
            range: at..at + len,
            quoted: true,
            shell: false,
        });
    }
    if let Some(range) = quoted(text, at) {
        return (!range.is_empty()).then_some(Value {
            range,
            quoted: true,
            shell,
        });
    }
    let range = bare(text, at);
    (!range.is_empty()).then_some(Value {
        range,
        quoted: false,
        shell,
    })
}

fn skip(text: &[u8], at: usize, most: usize, fits: fn(u8) -> bool) -> usize {
    at + text
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take(most)
        .take_while(|byte| fits(**byte))
        .count()
}

/// Returns the position after the separator of name and value, and the separator.
fn separator(text: &[u8], start: usize, closed: usize, spaced: usize) -> Option<(usize, u8)> {
    let rest = text.get(spaced..)?;
    for (sign, kind) in [
        (&b"==="[..], b'='),
        (b"==", b'='),
        (b"=>", b'='),
        (b"!==", b'='),
        (b"!=", b'='),
        (b":=", b'='),
        (b"=", b'='),
        (b":", b':'),
        ("：".as_bytes(), b':'),
        ("是".as_bytes(), b':'),
        ("为".as_bytes(), b':'),
        (b"is ", b':'),
    ] {
        if rest.starts_with(sign) && (sign != b"is " || spaced > closed) {
            return Some((spaced + sign.len(), kind));
        }
    }
    // The start of the whole word: `--db-password`, `<db_password>`.
    let word = text
        .get(..start)?
        .iter()
        .rev()
        .take(40)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let word = word.count();
    let from = start - word;
    let dashes = text.get(from..)?.starts_with(b"--");
    if dashes && spaced > closed {
        return Some((spaced, b'-'));
    }
    let tag = from.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'<');
    (tag && rest.first() == Some(&b'>')).then_some((spaced + 1, b'>'))
}

/// Returns the position of the value in `name: type = "value"`.
fn behind_type(text: &[u8], at: usize) -> Option<usize> {
    let kind = skip(text, at, 40, |b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'&' | b'<' | b'>' | b'[' | b']' | b'\'' | b':' | b'|' | b'?' | b' '
            )
    });
    let sign = text.get(kind) == Some(&b'=') && kind > at;
    let behind = skip(text, kind + 1, 4, |byte| byte == b' ');
    (sign && quoted(text, behind).is_some()).then_some(behind)
}

/// Returns the text between quotes that open at `at`, at any depth of escaping.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Range<usize>> {
    let letter = usize::from(matches!(
        text.get(at..at + 2),
        Some([b'r' | b'b' | b'f' | b'u' | b'@' | b'$' | b'L', b'"' | b'\''])
    ));
    let slashes = skip(text, at + letter, 16, |byte| byte == b'\\');
    let depth = slashes - at - letter;
    let quote = *text
        .get(slashes)
        .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    let from = slashes + 1;
    let rest = text.get(from..)?;
    let mut run = 0;
    for (len, byte) in rest.iter().take(LONGEST).enumerate() {
        match byte {
            b'\\' => run += 1,
            b'\n' => return None,
            it if *it == quote && run <= depth => return Some(from..from + len - run),
            // An escaped line end: the quote was not closed on its line.
            b'n' if run > 0 && run <= depth.max(1) && run.is_power_of_two() && depth > 0 => {
                return None;
            }
            _ => run = 0,
        }
    }
    None
}

/// Returns a value without quotes, up to the first byte that ends a word in a shell, in JSON or in
/// prose.
pub(super) fn bare(text: &[u8], at: usize) -> Range<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let ends = |byte: u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || b"\"'`,;)]}<>|&".contains(&byte)
            || !byte.is_ascii()
    };
    let mut len = 0;
    while let Some(byte) = rest.get(len).filter(|byte| len < LONGEST && !ends(**byte)) {
        let escape = *byte == b'\\'
            && matches!(
                rest.get(len + 1),
                None | Some(b'n' | b'r' | b't' | b'u' | b'"' | b'\'' | b'\\' | b'/')
            );
        // A template placeholder ends with its own brackets.
        let template = matches!(byte, b'{' | b'(') && len == 0
            || byte == &b'$' && matches!(rest.get(len + 1), Some(b'{' | b'('));
        if template {
            return at..at;
        }
        if escape {
            break;
        }
        len += 1;
    }
    // A word without an end is not a value but file contents, possibly crafted to cost time.
    if len == LONGEST {
        return at..at;
    }
    // The end of a sentence is not part of the value.
    while len > 0 && matches!(rest.get(len - 1), Some(b'.' | b':' | b'?')) {
        len -= 1;
    }
    at..at + len
}
