//! Markdown that models and people write, made harmless.
//!
//! A reader of the page must not run, load or follow what a session says: markup in it becomes text, pictures from elsewhere
//! become links, and links go only where browsers go safely.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Whether a link may be followed.
fn is_safe(link: &str) -> bool {
    let link = link.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

/// Markdown as Markdown, without markup that would run and pictures that would be loaded.
pub(super) fn markdown(text: &str) -> String {
    let mut cuts: Vec<(usize, &str, usize)> = Vec::new();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let html = text.get(range.clone()).unwrap_or_default();
                cuts.extend(html.match_indices('<').map(|(at, _)| (range.start + at, "&lt;", 1)));
            }
            Event::Start(Tag::Image { .. }) => cuts.push((range.start, "\\", 0)),
            Event::Start(Tag::Link { dest_url, .. }) if !is_safe(&dest_url) => cuts.push((range.start, "\\", 0)),
            _ => {}
        }
    }
    cuts.sort_by_key(|cut| cut.0);
    cuts.dedup_by_key(|cut| cut.0);
    let mut out = String::with_capacity(text.len() + cuts.len() * 4);
    let mut at = 0;
    for (start, instead, len) in cuts {
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(instead);
        at = start + len;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Markdown as HTML in which nothing of the text is markup.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    let mut page = Page { out: &mut out, links: Vec::new(), head: false };
    Parser::new_ext(text, options()).for_each(|event| page.event(event));
    out
}

struct Page<'o> {
    out: &'o mut String,
    /// For each open link whether it was written.
    links: Vec<bool>,
    /// Whether the row is the head of a table.
    head: bool,
}

impl Page<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => push_text(self.out, &text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.out.push_str("<code>");
                push_text(self.out, &code);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => push_text(self.out, &format!("[{name}]")),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => self.out.push_str("<pre><code>"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
            Tag::TableHead => {
                self.head = true;
                self.out.push_str("<thead><tr>");
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let safe = is_safe(&dest_url);
                self.links.push(safe);
                if safe {
                    self.out.push_str("<a rel=\"noopener noreferrer nofollow\" href=\"");
                    push_text(self.out, &dest_url);
                    self.out.push_str("\">");
                }
            }
            other => {
                if let Some(name) = self.element(&other.to_end()) {
                    self.out.push_str(&format!("<{name}>"));
                }
            }
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => self.out.push_str("</code></pre>\n"),
            TagEnd::TableHead => {
                self.head = false;
                self.out.push_str("</tr></thead>\n");
            }
            TagEnd::Link | TagEnd::Image => {
                if self.links.pop() == Some(true) {
                    self.out.push_str("</a>");
                }
            }
            other => {
                if let Some(name) = self.element(&other) {
                    self.out.push_str(&format!("</{name}>"));
                    if !matches!(name, "em" | "strong" | "del" | "td" | "th") {
                        self.out.push('\n');
                    }
                }
            }
        }
    }

    fn element(&self, tag: &TagEnd) -> Option<&'static str> {
        Some(match tag {
            TagEnd::Paragraph => "p",
            // The page has headings of its own.
            TagEnd::Heading(_) => "h4",
            TagEnd::BlockQuote(_) => "blockquote",
            TagEnd::List(true) => "ol",
            TagEnd::List(false) => "ul",
            TagEnd::Item => "li",
            TagEnd::Table => "table",
            TagEnd::TableRow => "tr",
            TagEnd::TableCell if self.head => "th",
            TagEnd::TableCell => "td",
            TagEnd::Emphasis => "em",
            TagEnd::Strong => "strong",
            TagEnd::Strikethrough => "del",
            _ => return None,
        })
    }
}

/// Text as it stands in HTML, also inside quoted attributes.
pub(super) fn push_text(out: &mut String, text: &str) {
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
    fn markdown_keeps_code_and_loses_markup() {
        let out = markdown(HOSTILE);
        assert!(
            out.contains("let a: Vec<String>;") && out.contains("`<b>`") && out.contains("[z](https://ok/)"),
            "{out}"
        );
        for bad in ["<script", "</script", "<img", "<iframe"] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(out.contains("\\![x]") && out.contains("\\[y]"), "{out}");
        assert!(!markdown(&out).contains("<script"));
    }

    #[test]
    fn html_holds_no_element_of_the_text() {
        let out = html(HOSTILE);
        for bad in ["<script", "<img", "<iframe", "javascript:"] {
            assert!(!out.contains(bad), "{bad} in {out}");
        }
        assert!(out.contains("Vec&lt;String&gt;") && out.contains("href=\"https://ok/\""), "{out}");
    }

    #[test]
    fn a_link_cannot_leave_its_attribute() {
        let out = html("[a](https://x/\"onmouseover=alert(1)) <https://x/'\"><b>");
        assert!(!out.contains("\"onmouseover") && !out.contains("<b>"), "{out}");
    }
}
