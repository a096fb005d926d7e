//! The rendered text of a page, independent of its line breaks.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use super::{paragraphs, width};

/// Returns the events of the page. A line break within text counts as a space; a space next to
/// full-width punctuation or between two Chinese characters is ignored, because formatting may add
/// or remove it.
pub(super) fn rendered(page: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut text = String::new();
    let mut in_code = false;
    for event in paragraphs::parser(page) {
        match &event {
            Event::Text(part) if !in_code => text.push_str(part),
            Event::SoftBreak => text.push('\n'),
            _ => {
                if !text.is_empty() {
                    events.push(format!("text {}", folded(&std::mem::take(&mut text))));
                }
                match &event {
                    Event::Start(Tag::CodeBlock(
                        CodeBlockKind::Indented | CodeBlockKind::Fenced(_),
                    )) => in_code = true,
                    Event::End(TagEnd::CodeBlock) => in_code = false,
                    _ => {}
                }
                events.push(described(&event));
            }
        }
    }
    events
}

/// Returns an event as text. `Debug` shows whether the parser borrowed a string, so strings are
/// written out.
fn described(event: &Event<'_>) -> String {
    match event {
        Event::Code(text) => format!("code {text}"),
        Event::Html(text) => format!("html {text}"),
        Event::InlineHtml(text) => format!("inline html {}", folded(text)),
        Event::Text(text) => format!("code block {text}"),
        Event::FootnoteReference(name) => format!("footnote {name}"),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            format!(
                "link {link_type:?} {dest_url} {} {}",
                folded(title),
                folded(id)
            )
        }
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            format!(
                "image {link_type:?} {dest_url} {} {}",
                folded(title),
                folded(id)
            )
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
            format!("fenced {language}")
        }
        Event::Start(Tag::FootnoteDefinition(name)) => format!("footnote definition {name}"),
        other => format!("{other:?}"),
    }
}

/// Collapses runs of spaces and line breaks to one space, or to nothing next to wide characters.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::new();
    let mut characters = text.chars().peekable();
    while let Some(char) = characters.next() {
        if !matches!(char, ' ' | '\t' | '\n') {
            folded.push(char);
            continue;
        }
        while characters
            .next_if(|next| matches!(next, ' ' | '\t' | '\n'))
            .is_some()
        {}
        let last = folded
            .trim_end_matches(width::is_wide_closer)
            .chars()
            .next_back();
        let behind_stop = last.is_some_and(width::is_wide_stop);
        let between_wide = folded.chars().next_back().is_some_and(width::is_wide)
            && characters.peek().copied().is_some_and(width::is_wide);
        if !behind_stop && !between_wide {
            folded.push(' ');
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_lines_end_makes_no_difference() {
        assert_eq!(rendered("One\ntwo. Three\n"), rendered("One two.\nThree\n"));
        assert_eq!(rendered("一，二\n三\n"), rendered("一，\n二三\n"));
        assert_eq!(rendered("`a\nb`\n"), rendered("`a b`\n"));
    }

    #[test]
    fn words_blocks_and_hard_breaks_make_a_difference() {
        assert_ne!(rendered("One two\n"), rendered("One too\n"));
        assert_ne!(rendered("One - two\n"), rendered("One\n- two\n"));
        assert_ne!(rendered("One\ntwo\n"), rendered("One  \ntwo\n"));
        assert_ne!(rendered("```\na\nb\n```\n"), rendered("```\na b\n```\n"));
        assert_ne!(rendered("One two\n"), rendered("Onetwo\n"));
    }
}
