//! Finds passwords that a command takes as an option.

use std::ops::Range;

use super::Takes;
use super::address::is_example;
use crate::secrets::assign::{bare, quoted};
use crate::secrets::value;

/// Number of bytes after a command in which its options are searched.
const COMMAND: usize = 1024;

pub(super) fn command(
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

/// Returns the end of the line; a backslash at the end continues it, and escaped line ends count as
/// well.
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

/// An option or a file is not the password of the option before it.
fn is_plain(word: &[u8]) -> bool {
    !word.is_empty()
        && !word.starts_with(b"-")
        && !value::is_reference(word)
        && !value::is_code(word)
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
        return is_plain(word).then_some(range);
    }
    let sign = word.iter().position(|byte| matches!(byte, b':' | b'='))?;
    let (user, password) = (word.get(..sign)?, word.get(sign + 1..)?);
    // `-u 1000:1000` are ids, `-u https://…` is an address.
    let other =
        password.is_empty() || password.starts_with(b"//") || (digits(user) && digits(password));
    (!other && !is_example(user, password)).then_some(range.start + sign + 1..range.end)
}
