//! Writes a text as HTML in which nothing of the text is markup.

use super::piece::{Headings, Kind, Piece, parse};

/// Returns a text as HTML.
pub(in crate::export) fn html(text: &str) -> String {
    let mut page = Page {
        out: String::with_capacity(text.len() * 5 / 4),
        head: false,
    };
    parse(text, Headings::BelowOurs)
        .iter()
        .for_each(|piece| page.piece(piece));
    page.out
}

struct Page {
    out: String,
    /// Whether the row is the header of a table.
    head: bool,
}

impl Page {
    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Open(kind) => self.open(kind),
            Piece::Close(kind) => self.close(kind),
            Piece::Text(words) => push_text(&mut self.out, words),
            Piece::Code(code) => self.element("<code>", code, "</code>"),
            Piece::CodeBlock { text, .. } => self.element("<pre><code>", text, "</code></pre>\n"),
            Piece::Break { hard: false } => self.out.push('\n'),
            Piece::Break { hard: true } => self.out.push_str("<br>\n"),
            Piece::Rule => self.out.push_str("<hr>\n"),
            Piece::Task(done) => self.out.push_str(if *done { "☑ " } else { "☐ " }),
            Piece::Picture => {}
        }
    }

    fn element(&mut self, begin: &str, text: &str, end: &str) {
        self.out.push_str(begin);
        push_text(&mut self.out, text);
        self.out.push_str(end);
    }

    fn open(&mut self, kind: &Kind) {
        match kind {
            Kind::List {
                first: Some(first), ..
            } => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
            Kind::Head => {
                self.head = true;
                self.out.push_str("<thead><tr>");
            }
            Kind::Link(to) => {
                self.element("<a rel=\"noopener noreferrer nofollow\" href=\"", to, "\">")
            }
            other => self.out.push_str(&format!("<{}>", self.name(other))),
        }
    }

    fn close(&mut self, kind: &Kind) {
        match kind {
            Kind::Head => {
                self.head = false;
                self.out.push_str("</tr></thead>\n");
            }
            other => {
                self.out.push_str(&format!("</{}>", self.name(other)));
                let in_line = matches!(
                    other,
                    Kind::Emphasis(_) | Kind::Strong | Kind::Strike | Kind::Link(_) | Kind::Cell
                );
                self.out.push_str(if in_line { "" } else { "\n" });
            }
        }
    }

    fn name(&self, kind: &Kind) -> &'static str {
        match kind {
            Kind::Paragraph => "p",
            // The page has its own headings above this level.
            Kind::Heading(_) => "h4",
            Kind::Quote => "blockquote",
            Kind::List { first: Some(_), .. } => "ol",
            Kind::List { first: None, .. } => "ul",
            Kind::Item => "li",
            Kind::Table(_) => "table",
            Kind::Head => "thead",
            Kind::Row => "tr",
            Kind::Cell if self.head => "th",
            Kind::Cell => "td",
            Kind::Emphasis(_) => "em",
            Kind::Strong => "strong",
            Kind::Strike => "del",
            Kind::Link(_) => "a",
        }
    }
}

/// Escapes text for HTML, also inside quoted attributes.
pub(in crate::export) fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "Hi <script>alert(1)</script> and <img src=x onerror=alert(1)>\n\n<iframe src=//evil></iframe>\n\n![x](http://evil/t.png) [y](javascript:alert(1)) [z](https://ok/)\n\n```js\nlet a: Vec<String>;\n```\n`<b>`";

    #[test]
    fn html_holds_no_element_of_the_text() {
        let out = html(HOSTILE);
        for bad in ["<script", "<img", "<iframe", "href=\"javascript:"] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(
            out.contains("Vec&lt;String&gt;") && out.contains("href=\"https://ok/\""),
            "{out}"
        );
    }

    #[test]
    fn a_link_cannot_leave_its_attribute() {
        let out = html("[a](https://x/\"onmouseover=alert(1)) <https://x/'\"><b>");
        assert!(
            !out.contains("\"onmouseover") && !out.contains("<b>"),
            "{out}"
        );
    }

    #[test]
    fn characters_that_entities_stand_for_are_shown_by_their_number() {
        let out = html("a&#x202e;b&#x61c;c&lrm;d&#27;e");
        assert_eq!(out, "<p>a\\u{202e}b\\u{61c}c\\u{200e}d\\x1be</p>\n");
    }
}
