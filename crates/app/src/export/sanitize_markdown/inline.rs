//! Writes words, code and link targets as Markdown.

use std::fmt::Write as _;

use crate::text::one_line;

/// Code languages that renderers do not show as code but draw, run or send elsewhere.
const LIVE: [&str; 12] = [
    "mermaid",
    "math",
    "geojson",
    "topojson",
    "stl",
    "plantuml",
    "puml",
    "kroki",
    "vega",
    "vega-lite",
    "echarts",
    "abc",
];

/// Returns a short text of a session as words on one line.
pub(in crate::export) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_words(
        &mut out,
        &one_line(text),
        InlineCursor {
            line_start: true,
            ..InlineCursor::default()
        },
    );
    out
}

/// Returns a short text of a session as code on one line.
pub(in crate::export) fn code(text: &str) -> String {
    code_span(&one_line(text))
}

/// Returns a text in a fence that it does not contain itself.
pub(in crate::export) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.trim_end_matches('\n')
    )
}

/// Returns inline code, with more backticks than it contains in a row.
pub(super) fn code_span(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let marks = "`".repeat(longest_run(text) + 1);
    // Every reader removes one blank at both ends.
    let blanks = text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    let pad = if blanks || text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{marks}{pad}{text}{pad}{marks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns the language of a code block: one plain word, or nothing.
pub(super) fn language(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or("");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
    // Pandoc treats `{=html}` as markup, and attributes always need braces.
    let usable = word.chars().all(is_plain) && !LIVE.contains(&word.to_ascii_lowercase().as_str());
    if usable {
        word.to_owned()
    } else {
        String::new()
    }
}

/// Returns the target of a link if it is allowed, with every special character of Markdown
/// percent-encoded.
pub(super) fn target(link: &str) -> Option<String> {
    let link = link.trim();
    let scheme = link.to_ascii_lowercase();
    if !["https://", "http://", "mailto:"]
        .iter()
        .any(|it| scheme.starts_with(it))
    {
        return None;
    }
    let mut out = String::with_capacity(link.len());
    for c in link.chars() {
        if c.is_alphanumeric() || "-._~:/?#@!$',;=%+*&".contains(c) {
            out.push(c);
        } else {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().for_each(|byte| {
                let _ = write!(out, "%{byte:02X}");
            });
        }
    }
    Some(out)
}

/// The position of words in the output.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InlineCursor {
    /// Only markers of quotes and lists precede them on the line.
    pub(super) line_start: bool,
    /// Inside the text of a link.
    pub(super) in_link: bool,
    /// A link follows directly.
    pub(super) before_link: bool,
}

/// Writes words so that no Markdown reader, with any extensions, interprets them as markup.
pub(super) fn push_words(out: &mut String, words: &str, place: InlineCursor) {
    let words = if place.line_start {
        words.trim_start_matches([' ', '\t'])
    } else {
        words
    };
    for (at, c) in words.char_indices() {
        let around = Around {
            before: words.get(..at).unwrap_or(""),
            after: words.get(at + c.len_utf8()..).unwrap_or(""),
        };
        if c == '<' {
            // By name: not every Markdown reader supports `\<`.
            out.push_str("&lt;");
        } else if c == '}' && around.after.trim().is_empty() {
            // At the end of a heading some readers parse attributes, even after `\{` and before
            // `\}`.
            out.push_str("&#125;");
        } else {
            if is_mark(c, around, place) {
                out.push('\\');
            }
            out.push(c);
        }
    }
}

/// The words before and after a character.
#[derive(Clone, Copy)]
struct Around<'w> {
    before: &'w str,
    after: &'w str,
}

/// Whether a character must be escaped to be literal. Extensions count too: math, footnotes, wiki
/// links, attributes, marks, insertions, superscripts, comments, tables.
fn is_mark(c: char, Around { before, after }: Around<'_>, place: InlineCursor) -> bool {
    let first = place.line_start && before.is_empty();
    let is_doubled = before.ends_with(c) || after.starts_with(c);
    match c {
        '\\' | '`' | '*' | '[' | '~' | '|' | '$' | '^' | '{' => true,
        '_' => {
            !before.ends_with(char::is_alphanumeric) || !after.starts_with(char::is_alphanumeric)
        }
        ']' => place.in_link,
        '&' => is_entity(after),
        '!' => after.is_empty() && place.before_link,
        '#' | '>' | '-' => first,
        '+' | '=' | '%' => first || is_doubled,
        ':' => first || (after.starts_with("//") && !is_safe_scheme(before)),
        '.' | ')' => {
            place.line_start
                && (1..=9).contains(&before.len())
                && before.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

/// Whether the words end with a scheme that may become a link: some readers link every `scheme://`.
fn is_safe_scheme(words: &str) -> bool {
    let before = words.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let scheme = words.get(before.len()..).unwrap_or("");
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Whether an `&` starts an entity: a name or number up to a semicolon.
fn is_entity(rest: &str) -> bool {
    let name = rest.split(';').next().unwrap_or("");
    name.len() < rest.len()
        && name.len() <= 40
        && !name.is_empty()
        && name
            .strip_prefix('#')
            .unwrap_or(name)
            .chars()
            .all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_markup_are_escaped_and_others_are_not() {
        for (given, written) in [
            (
                "会话 snake_case a-b 1+1=2 50% C# x:y",
                "会话 snake_case a-b 1+1=2 50% C# x:y",
            ),
            (
                "*a* _b_ `c` ~/d [e](f)",
                "\\*a\\* \\_b\\_ \\`c\\` \\~/d \\[e](f)",
            ),
            ("<b> & &lt; &amp &#60;", "&lt;b> & \\&lt; &amp \\&#60;"),
            ("# x", "\\# x"),
            ("12. x", "12\\. x"),
            ("- x - y", "\\- x - y"),
            ("{a} {b}", "\\{a} \\{b&#125;"),
            (
                "a javascript://x https://ok xhttp://y 见https://ok",
                "a javascript\\://x https://ok xhttp\\://y 见https://ok",
            ),
            (
                "==a== ++b++ %%c%% $d$ |e|",
                "\\=\\=a\\=\\= \\+\\+b\\+\\+ \\%\\%c\\%\\% \\$d\\$ \\|e\\|",
            ),
        ] {
            assert_eq!(plain(given), written);
        }
    }

    #[test]
    fn code_cannot_leave_its_marks() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("", "~~~\n```\n"), "````\n~~~\n```\n````");
        assert_eq!(language("{=html}"), "");
        assert_eq!(language("rust,ignore x"), "");
        assert_eq!(language("C++ title"), "C++");
        assert_eq!(language("Mermaid"), "");
    }

    #[test]
    fn links_lead_only_where_browsers_go_safely() {
        assert_eq!(
            target("https://x/a_(b) 会\u{202e}").as_deref(),
            Some("https://x/a_%28b%29%20会%E2%80%AE")
        );
        for bad in [
            "javascript:alert(1)",
            "JaVaScript:x",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc",
            "//x",
            "a.md",
        ] {
            assert_eq!(target(bad), None, "{bad}");
        }
    }
}
