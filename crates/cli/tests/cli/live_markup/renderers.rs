//! The two renderers, and the check for active elements of a rendered page.

/// Elements that text may become; none of them loads or runs anything.
pub(super) const ELEMENTS: [&str; 26] = [
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "em",
    "strong",
    "del",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "br",
    "hr",
    "input",
];

fn comrak(page: &str) -> String {
    let mut options = comrak::Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.superscript = true;
    extension.subscript = true;
    extension.footnotes = true;
    extension.inline_footnotes = true;
    extension.description_lists = true;
    extension.front_matter_delimiter = Some("---".to_owned());
    extension.multiline_block_quotes = true;
    extension.alerts = true;
    extension.math_dollars = true;
    extension.math_code = true;
    extension.wikilinks_title_after_pipe = true;
    extension.underline = true;
    extension.spoiler = true;
    extension.ofm_comments = true;
    extension.subtext = true;
    extension.highlight = true;
    extension.insert = true;
    extension.block_directive = true;
    options.parse.relaxed_autolinks = true;
    options.parse.relaxed_tasklist_matching = true;
    options.parse.tasklist_in_table = true;
    options.render.r#unsafe = true;
    comrak::markdown_to_html(page, &options)
}

fn pulldown(page: &str) -> String {
    let mut out = String::new();
    pulldown_cmark::html::push_html(
        &mut out,
        pulldown_cmark::Parser::new_ext(page, pulldown_cmark::Options::all()),
    );
    out
}

/// Returns both renderings of a page, by name.
pub(super) fn rendered(page: &str) -> [(&'static str, String); 2] {
    [("comrak", comrak(page)), ("pulldown-cmark", pulldown(page))]
}

/// Panics for every element that loads or runs something, or links to a forbidden address.
#[track_caller]
pub(super) fn inert(name: &str, html: &str, page: &str) {
    for tag in html.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else {
            panic!("{name}: an open tag <{tag}\n{page}")
        };
        let tag = tag.trim_start_matches('/').trim_end_matches('/').trim();
        let (element, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            ELEMENTS.contains(&element),
            "{name} makes <{tag}> of\n{page}"
        );
        if let Some(to) = attributes.split("href=\"").nth(1) {
            let to = to.to_ascii_lowercase();
            let safe = ["http://", "https://", "mailto:"]
                .iter()
                .any(|scheme| to.starts_with(scheme));
            assert!(element == "a" && safe, "{name} makes <{tag}> of\n{page}");
        } else if element == "input" {
            assert!(
                attributes.contains("type=\"checkbox\"") && attributes.contains("disabled"),
                "{name}: <{tag}>"
            );
        } else {
            let known = [
                "",
                "start=\"",
                "class=\"language-",
                "style=\"text-align: ",
                "align=\"",
            ];
            let known = known.iter().any(|known| {
                attributes == *known || (!known.is_empty() && attributes.starts_with(known))
            });
            assert!(
                known && !attributes.contains(" on"),
                "{name} makes <{tag}> of\n{page}"
            );
        }
    }
}

/// Returns the headings of the page itself, each with the content below it.
pub(super) fn headings(html: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = ["<h1>", "<h2>", "<h3>"]
        .iter()
        .filter_map(|tag| rest.find(tag))
        .min()
    {
        let (heading, after) = rest[at + 4..].split_once("</h").unwrap();
        let below = ["<h1>", "<h2>", "<h3>"]
            .iter()
            .filter_map(|tag| after.find(tag))
            .min()
            .unwrap_or(after.len());
        found.push((heading.trim().to_owned(), after[..below].to_owned()));
        rest = &after[below..];
    }
    found
}
