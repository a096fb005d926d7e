//! Random Markdown made of attacks and of ordinary markup.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{ATTACKS, stays_inside};
use crate::bench::Bench;

/// Fragments of Markdown, combined at random.
fn fragments() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec![
        "~~~",
        "```",
        "`",
        "``",
        "*",
        "**",
        "_",
        "__",
        "~",
        "~~",
        "[",
        "]",
        "(",
        ")",
        "![",
        "[x]",
        "]: ",
        "](",
        "<",
        ">",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<div>",
        "<script>",
        "javascript:alert(1)",
        "https://ok.test/a_b*c*~d",
        "data:text/html,x",
        "&lt;",
        "&#10;",
        "&",
        "#",
        "# ",
        "### User",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "23) ",
        "> ",
        "|",
        "| a | b |\n|---|:-:|\n",
        "---",
        "===",
        "***",
        "    ",
        "\t",
        "  \n",
        "\\\n",
        "\\",
        "!",
        ":",
        "::",
        "$",
        "$$",
        "^",
        "{",
        "}",
        "=",
        "==",
        "+",
        "%%",
        "[^1]",
        "[^1]: ",
        "[x]: ",
        "会话",
        "。",
        "word",
        "a",
        "1",
        " ",
        " ",
        " ",
        "\n",
        "\n",
        "\n\n",
        "👩\u{200d}💻",
        "\u{a0}",
        "\u{202e}",
        "'",
        "\"",
        "//",
        "www.",
    ]);
    prop_oneof![
        4 => prop::collection::vec(marks, 1..14).prop_map(|parts| parts.concat()),
        1 => prop::sample::select(ATTACKS.to_vec()).prop_map(str::to_owned),
        1 => (prop::sample::select(ATTACKS.to_vec()), prop::sample::select(ATTACKS.to_vec())).prop_map(|(a, b)| format!("{a}\n{b}")),
    ]
}

#[test]
fn pages_of_random_markdown_stay_inert_and_in_their_entries() {
    let bench = Bench::new();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let many = prop::collection::vec(fragments(), 60..90);
    runner
        .run(&many, |texts| {
            stays_inside(&bench, &texts);
            Ok(())
        })
        .unwrap();
}
