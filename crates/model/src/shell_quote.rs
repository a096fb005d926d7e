//! Quotes words for POSIX shells, in commands that users copy and in commands that are stored and
//! run later.

use crate::invisible_chars::{is_hostile, without_hostile};

/// Quotes a word so that a POSIX shell reads it back, without characters that a terminal would not
/// display.
///
/// Only for commands that are printed. Commands that this program starts get their arguments as an
/// array.
pub fn shell_quote(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | ',' | '@' | '%' | '+')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.char_indices().any(|(at, c)| is_hostile(word, at, c)) {
        return shell_literal(word);
    }
    // $'…' writes a character as escaped bytes, so that no hostile character reaches the terminal.
    let escaped = word.replace('\\', "\\\\").replace('\'', "\\'");
    let shown = without_hostile(&escaped, |c, out| {
        let mut buffer = [0; 4];
        c.encode_utf8(&mut buffer)
            .bytes()
            .for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    });
    format!("$'{shown}'")
}

/// Quotes a word of a command that is stored and later run by a POSIX shell: always in single
/// quotes, with every byte unchanged.
///
/// [`shell_quote`] cannot be used there: dash, which is `sh` on many systems, does not support
/// `$'…'`.
pub fn shell_literal(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Quotes an option with its value as [`shell_quote`] does, so that a value that starts with `-` is
/// not parsed as an option.
pub fn shell_option(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!("{name}{between}{}", shell_quote(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_and_a_terminal() {
        assert_eq!(shell_quote("claude"), "claude");
        assert_eq!(shell_quote("a b"), "'a b'");
        assert_eq!(shell_quote("it's"), "'it'\\''s'");
        assert_eq!(shell_quote(""), "''");
        assert_eq!(shell_quote("~/x"), "'~/x'");
        assert_eq!(shell_quote("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(shell_quote("a\x1b[2J'\\"), "$'a\\x1b[2J\\'\\\\'");
        assert_eq!(shell_quote("a\nb\u{61C}"), "$'a\\x0ab\\xd8\\x9c'");
        assert_eq!(shell_option("--at", "#3"), "--at '#3'");
        assert_eq!(shell_option("--at", "--help"), "--at=--help");
        assert_eq!(shell_literal("/usr/bin/x"), "'/usr/bin/x'");
        assert_eq!(shell_literal("it's\x1b"), "'it'\\''s\x1b'");
        assert_eq!(shell_quote("👩\u{200D}💻"), "'👩\u{200D}💻'");
    }
}
