//! Writes a text as self-contained Markdown that every reader interprets in the same way.

use super::inline::fenced;
use super::piece::{Headings, Kind, Piece, parse};
use super::shape::shape;
use super::writer::Writer;
use crate::text::escape;

/// The state at the end of a text that the next one needs: two lists with the same marker would
/// become one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::export) struct Tail(Option<char>);

/// Returns a text as Markdown, without active markup and without images that would be loaded.
/// `tail` is that of the text before.
pub(in crate::export) fn markdown(text: &str, tail: &mut Tail) -> String {
    let pieces = parse(text, Headings::BelowOurs);
    let is_mark = |piece: &Piece| matches!(piece, Piece::Open(kind) | Piece::Close(kind) if matches!(kind, Kind::Emphasis(_) | Kind::Strong | Kind::Strike));
    let bare: Vec<Piece> = merged(pieces.iter().filter(|piece| !is_mark(piece)));
    for pieces in [&pieces, &bare] {
        let (written, after) = write(pieces, *tail);
        // The output is parsed again. Only emphasis depends on the characters around it; if the
        // result differs, emphasis is omitted, and nothing else is tried.
        if shape(&parse(&written, Headings::AsTheyAre)) == shape(pieces) {
            *tail = after;
            return written;
        }
    }
    *tail = Tail::default();
    fenced("", &escape(text))
}

/// Merges adjacent words.
fn merged<'p>(pieces: impl Iterator<Item = &'p Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(words)) => before.push_str(words),
            _ => out.push(piece.clone()),
        }
    }
    out
}

fn write(pieces: &[Piece], tail: Tail) -> (String, Tail) {
    let mut writer = Writer::after_list(tail.0);
    let mut skip = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        skip = writer.piece(piece, pieces.get(at + 1..).unwrap_or_default());
    }
    let (written, last_list) = writer.finish();
    (written, Tail(last_list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        markdown(text, &mut Tail::default())
    }

    fn rendered(text: &str) -> String {
        let options = pulldown_cmark::Options::ENABLE_TABLES
            | pulldown_cmark::Options::ENABLE_STRIKETHROUGH
            | pulldown_cmark::Options::ENABLE_TASKLISTS;
        let mut out = String::new();
        pulldown_cmark::html::push_html(&mut out, pulldown_cmark::Parser::new_ext(text, options));
        out
    }

    #[test]
    fn ordinary_markdown_reads_as_before() {
        for text in [
            "会话 **重要**，见 `src/会话.rs`。\n\n- 一\n- 二\n  1. 三\n  2. 四\n\n~~~rust\nlet a: Vec<String> = vec![];\n\n    b\n~~~",
            "Done in snake_case, 50% of 1,000 & more: a < b > c.\n\n1. *first*\n2. __second__\n\n   more\n\n> quoted\n> > twice\n\n***\n",
            "| a | b |\n|:--|--:|\n| `x` | ~~y~~ |\n| 1 \\| 2 | [ok](https://ok.test/?a=1&b=2) |\n",
            "- [ ] open\n- [x] done\n\n* loose\n\n* list\n\n      code in it\n",
            "a\\\nb  \nc\n\n    indented code\n\ttabbed\n",
            "see <https://ok.test/a_b> and ``a ` b``, 2*3*4, C:\\path, ~/x, $HOME, {x}, [y]\n",
            "1) one\n2) two\n\n- other\n\n+ third\n",
        ] {
            assert_eq!(
                rendered(&written(text)),
                rendered(text),
                "{}",
                written(text)
            );
        }
    }

    #[test]
    fn text_without_marks_is_written_as_it_is() {
        for text in [
            "会话恢复：第一步，第二步。",
            "Fix the build in src/main.rs, line 12 (see above)!",
            "a\nb\n\nc",
        ] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn markdown_keeps_code_and_loses_markup() {
        let text = "Hi <script>alert(1)</script> and <img src=x onerror=alert(1)>\n\n<iframe src=//evil></iframe>\n\n![x](http://evil/t.png) [y](javascript:alert(1)) [z](https://ok/)\n\n```js\nlet a: Vec<String>;\n```\n`<b>`";
        let out = written(text);
        assert!(
            out.contains("let a: Vec<String>;")
                && out.contains("`<b>`")
                && out.contains("[z](https://ok/)"),
            "{out}"
        );
        for bad in ["<script", "</script", "<img", "<iframe"] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(out.contains("\\![x]") && out.contains("\\[y]"), "{out}");
        assert!(!written(&out).contains("<script"));
    }

    #[test]
    fn what_is_open_at_the_end_is_closed() {
        assert_eq!(written("~~~\ncode"), "```\ncode\n```");
        assert_eq!(written("- a\n  ~~~\n  ```"), "- a\n\n  ````\n  ```\n  ````");
        assert_eq!(written("<!-- open\n\nx"), "&lt;!-- open\n\nx");
        assert_eq!(written("# a\n## b"), "#### a\n\n##### b");
    }

    #[test]
    fn a_definition_is_used_or_shown_and_never_one() {
        assert_eq!(
            written("[x]: javascript:alert(1)"),
            "\\[x]: javascript:alert(1)"
        );
        assert_eq!(
            written("see [x]\n\n[x]: https://ok.test"),
            "see [x](https://ok.test)"
        );
        assert_eq!(
            written("see [x]\n\n[x]: javascript:1"),
            "see \\[x](javascript:1)"
        );
        assert_eq!(written("a\n\n[task]: fix\n\nb"), "a\n\n\\[task]: fix\n\nb");
    }

    #[test]
    fn lists_of_two_texts_stay_two_lists() {
        let mut tail = Tail::default();
        assert_eq!(markdown("1. a", &mut tail), "1. a");
        assert_eq!(markdown("1. b\n\nx\n\n- c", &mut tail), "1) b\n\nx\n\n- c");
        assert_eq!(markdown("- d", &mut tail), "* d");
        assert_eq!(markdown("e", &mut tail), "e");
        assert_eq!(tail, Tail::default());
    }

    #[test]
    fn depth_costs_no_more_than_it_shows() {
        for deep in [
            ">".repeat(100_000),
            "- ".repeat(100_000),
            "1. ".repeat(50_000),
            "> ".repeat(60),
            "- ".repeat(60),
        ] {
            let text = format!("{deep}x\n{}", "lazy\n".repeat(5_000));
            let out = written(&text);
            assert!(
                out.len() < 4 * text.len() + (1 << 19),
                "{} bytes",
                out.len()
            );
        }
        let marks = "*a _b ".repeat(2_000);
        assert!(written(&marks).len() < 3 * marks.len());
    }
}
