//! The commands of both READMEs: the same in both, and each works on a demo.

use crate::demo::Demo;

const ENGLISH: &str = include_str!("../../../../README.md");
const CHINESE: &str = include_str!("../../../../README.zh-CN.md");
const QUICKSTART: &str = include_str!("../../../store/examples/quickstart.rs");

/// A session of the demo, in place of `ID`.
const SESSION: &str = "5ac5";

/// Lines of the code blocks in a language, without comments and blank lines.
fn code<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let mut lines = Vec::new();
    for block in page.split(&format!("```{language}\n")).skip(1) {
        let block = block.split_once("```").map_or(block, |(inside, _)| inside);
        let bare = |line: &'a str| {
            let end = line.find("  # ").or(line.find(" // "));
            line[..end.unwrap_or(line.len())].trim()
        };
        lines.extend(block.lines().map(bare).filter(|line| !line.is_empty()));
    }
    lines
}

#[test]
fn both_readmes_show_the_same_commands_and_the_same_example() {
    for language in ["sh", "rust"] {
        let english = code(ENGLISH, language);
        assert!(english.len() >= 9, "{english:?}");
        assert_eq!(english, code(CHINESE, language));
    }
}

#[test]
fn the_library_example_is_taken_from_a_program_that_compiles() {
    for line in code(ENGLISH, "rust") {
        assert!(QUICKSTART.contains(line), "quickstart.rs has no `{line}`");
    }
}

#[test]
fn every_command_of_the_readme_works_on_a_demo() {
    let demo = Demo::new();
    let mut count = 0;
    for line in code(ENGLISH, "sh") {
        let mut words = line.split_whitespace();
        if !matches!(words.next(), Some("boswell" | "try")) {
            continue;
        }
        let args: Vec<&str> = words
            .map(|word| if word == "ID" { SESSION } else { word })
            .collect();
        // `demo` makes its folder in the working folder, and takes no stores.
        if args[0] == "demo" {
            demo.bench.run(&args).ends(0);
            continue;
        }
        // `check` and `secrets` find something; `search` and `prompts` may find nothing.
        let expected: &[i32] = match args[0] {
            "check" | "secrets" => &[1],
            "search" | "prompts" => &[0, 1],
            // The plan, and no terminal to say yes on.
            "archive" => &[2],
            _ => &[0],
        };
        let ran = demo.run(&args);
        assert!(
            ran.code.is_some_and(|code| expected.contains(&code)),
            "`{line}`: {ran:?}"
        );
        assert!(!ran.stderr.contains("Usage:"), "`{line}`: {ran:?}");
        count += 1;
    }
    assert!(count >= 17, "{count} commands were run");
}
