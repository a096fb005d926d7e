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
