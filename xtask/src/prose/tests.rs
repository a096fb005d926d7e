//! What the form promises: pages render as before, comments keep their words, and a second
//! run changes nothing.

use proptest::prelude::*;

use super::*;

/// What another parser makes of a page, without regard to where lines end.
fn html(page: &str) -> String {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.front_matter_delimiter = Some("---".to_owned());
    options.render.r#unsafe = true;
    let html = comrak::markdown_to_html(page, &options);
    // Code blocks are compared as they are by `rendered`, and folded here.
    rendered::folded(&html)
}

fn assert_same_html(page: &str, name: &str) {
    let formatted = markdown::format(page);
    assert_eq!(
        html(&formatted),
        html(page),
        "{name} renders differently:\n{formatted}"
    );
}

fn assert_same_page(page: &str, name: &str) {
    let formatted = markdown::format(page);
    assert_eq!(
        rendered::rendered(&formatted),
        rendered::rendered(page),
        "{name} renders differently:\n{formatted}"
    );
    assert_eq!(
        markdown::format(&formatted),
        formatted,
        "{name} changes again"
    );
    assert!(
        markdown::breaches(&formatted).is_empty(),
        "{name} is reported although it was written"
    );
}

#[test]
fn every_page_renders_as_before_and_a_second_run_changes_nothing() {
    let pages: Vec<PathBuf> = files()
        .filter(|(_, form)| form.extension == "md")
        .map(|(file, _)| file)
        .collect();
    assert!(pages.len() > 20, "the pages were not found");
    for page in pages {
        let (text, name) = (read(&page).unwrap(), page.display().to_string());
        assert_same_page(&text, &name);
        assert_same_html(&text, &name);
    }
}

#[test]
fn every_comment_keeps_its_words_and_a_second_run_changes_nothing() {
    for (file, _) in files().filter(|(_, form)| form.extension == "rs") {
        let code = read(&file).unwrap();
        let formatted = comments::format(&code);
        assert_eq!(
            comments::format(&formatted),
            formatted,
            "{} changes again",
            file.display()
        );
        if formatted == code {
            continue;
        }
        let words = |code: &str| -> Vec<String> {
            let words = code
                .split_whitespace()
                .filter(|word| !matches!(*word, "//" | "///" | "//!"));
            words.map(str::to_owned).collect()
        };
        assert_eq!(words(&formatted), words(&code), "{}", file.display());
        let outside = |code: &str| {
            let mut bare = code.to_owned();
            for comment in scanner::comments(code).iter().rev() {
                let start = code[..comment.at.start].trim_end_matches([' ', '\t']).len();
                bare.replace_range(start..comment.at.end, "");
            }
            bare.lines()
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(outside(&formatted), outside(&code), "{}", file.display());
    }
}

#[test]
fn markdown_takes_its_form() {
    let page = "One. Two\nthree.\n\n* Item one. Item\n  two.\n\n> Quote one. Quote\n> two.\n\nHard  \nbreak. End\\\nhere.\n";
    let expected = "One.\nTwo three.\n\n* Item one.\n  Item two.\n\n> Quote one.\n> Quote two.\n\nHard  \nbreak.\nEnd\\\nhere.\n";
    assert_eq!(markdown::format(page), expected);
    assert_same_page(page, "the example");
    assert_same_html(page, "the example");
}

#[test]
fn a_breach_names_its_line_and_reason() {
    let wide = "word ".repeat(30);
    let found = markdown::breaches(&format!(
        "# Head\n\nFine.\nAlso fine.\nOne. Two.\n\n{}\n",
        wide.trim()
    ));
    let mut found: Vec<(usize, &str)> = found
        .iter()
        .map(|breach| (breach.line, breach.why.as_str()))
        .collect();
    found.sort_unstable();
    let expected = [
        (5, "not one sentence a line, broken at clauses"),
        (7, "149 columns wide, the limit is 100"),
    ];
    assert_eq!(found, expected);
}

/// Pieces of Markdown that go wrong when they meet the end of a line.
fn piece() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(vec![
        "word",
        "and",
        "a,",
        "end.",
        "End.",
        "so;",
        "e.g.",
        "1.",
        "12)",
        "-",
        "+",
        "*",
        "#",
        "##",
        ">",
        "|",
        "a|b",
        "=",
        "---",
        "===",
        "|-|",
        "```",
        "~~~",
        "`code. x`",
        "``a ` b``",
        "[link text](url)",
        "[ref]",
        "[a]:",
        "[^1]",
        "[^1]:",
        "![i](j k)",
        "**bold.**",
        "*it",
        "it*",
        "**bo",
        "ld**",
        "_x_",
        "~~gone~~",
        "<b>",
        "</b>",
        "<div>",
        "<!-- c -->",
        "<http://a.b>",
        "\\",
        "\\*",
        "&amp;",
        "(in",
        "out)",
        "–",
        "—",
        "…",
        "?",
        "“Yes.”",
        "中文，",
        "句子。",
        "中文",
        "，",
        "“好。”",
        "**粗体。**",
        "下一句",
        "[ ]",
        "$x$",
        "a_b_c",
        "verylongwordthatfillsalineverylongwordthatfillsalineverylongwordthatfillsaline",
    ]);
    plain.prop_map(str::to_owned)
}

/// Blocks that every parser reads alike: odd words only in the middle of a line.
fn tidy_page() -> impl Strategy<Value = String> {
    let prefix = prop::sample::select(vec![
        ("", ""),
        ("* ", "  "),
        ("> ", "> "),
        ("1. ", "   "),
        ("> * ", ">   "),
        ("- [ ] ", "  "),
    ]);
    let joint = prop::sample::select(vec![false, false, false, false, true]);
    let block = (prefix, prop::collection::vec((joint, piece()), 1..60)).prop_map(
        |((first, rest), words)| {
            let mut block = format!("{first}Word");
            for (broken, word) in words {
                block.push_str(&if broken {
                    format!("\n{rest}word {word}")
                } else {
                    format!(" {word}")
                });
            }
            block + " word.\n\n"
        },
    );
    prop::collection::vec(block, 1..4).prop_map(|blocks| blocks.concat())
}

fn page() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(vec![
        " ",
        " ",
        " ",
        " ",
        " ",
        "",
        "\n",
        "\n",
        "  \n",
        "\\\n",
        "\n\n",
        "\n* ",
        "\n  ",
        "\n> ",
        "\n\n    ",
        "\n1. ",
        "\n\n  ",
        "\n>\n> * ",
        "\n\n\t",
    ]);
    prop::collection::vec((joint, piece()), 1..60).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(joint, piece)| format!("{joint}{piece}"))
            .collect::<String>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_page_renders_as_before_and_a_second_run_changes_nothing(page in page()) {
        assert_same_page(&page, "the page");
    }

    #[test]
    fn another_parser_also_renders_any_page_as_before(page in tidy_page()) {
        assert_same_page(&page, "the page");
        assert_same_html(&page, "the page");
    }

    #[test]
    fn a_comment_of_any_words_keeps_them(words in prop::collection::vec(piece(), 1..60)) {
        let code = format!("fn a() {{\n    // {}\n}}\n", words.join(" "));
        let formatted = comments::format(&code);
        let bare = |code: &str| code.split_whitespace().filter(|word| *word != "//").collect::<String>();
        prop_assert_eq!(bare(&formatted), bare(&code));
        prop_assert_eq!(comments::format(&formatted), formatted);
    }
}
