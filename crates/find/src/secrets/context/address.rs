//! Passwords in addresses: `scheme://user:password@host`.

use std::ops::Range;

use crate::secrets::value;

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

pub(super) fn is_example(user: &[u8], password: &[u8]) -> bool {
    let user = user.to_ascii_lowercase();
    let anybody = ANYBODY.contains(&user.as_slice()) || user == password.to_ascii_lowercase();
    if value::is_word(password) {
        return anybody;
    }
    value::is_reference(password) || password.iter().all(|byte| matches!(byte, b'.' | b'*'))
}

/// The part before the path. Where that has neither user nor port, it is the whole: a `/` in a
/// password should be escaped, and often is not.
fn authority(whole: &[u8], web: bool) -> Option<&[u8]> {
    let slash = whole.iter().position(|byte| b"/?#".contains(byte));
    let authority = whole.get(..slash.unwrap_or(whole.len()))?;
    let has_port = authority.last().is_some_and(u8::is_ascii_digit) && authority.contains(&b':');
    let found = authority.contains(&b'@') || web || has_port;
    Some(if found { authority } else { whole })
}

pub(super) fn address(text: &[u8], range: &Range<usize>) -> Option<Range<usize>> {
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
    let before = text.get(..range.start)?;
    let web = before.ends_with(b"http") || before.ends_with(b"https");
    let part = authority(whole, web)?;
    let end = memchr::memrchr(b'@', part)?;
    let colon = memchr::memchr(b':', part.get(..end)?)?;
    let (user, password) = (part.get(..colon)?, part.get(colon + 1..end)?);
    let template = |bytes: &[u8]| bytes.iter().any(|byte| b"{}$()[]".contains(byte));
    // `$` and brackets are escaped in real addresses; here they are template placeholders.
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
