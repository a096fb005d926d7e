//! Help: every command has two examples, and changes of the first page are noticed.

use crate::bench::{Bench, bless};

/// The expected first page of help. Rewritten by a run with `BOSWELL_BLESS=1`.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help.txt");

/// Returns the commands on the page of all of them.
pub(crate) fn commands(bench: &Bench) -> Vec<String> {
    let text = bench.run(["--help"]).ends(0).text();
    let groups = text.split("\nOptions:\n").next().unwrap();
    let groups = groups.split("\nGlobal options:\n").next().unwrap();
    groups
        .lines()
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_help_with_two_examples() {
    let bench = Bench::new();
    let commands = commands(&bench);
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        for flag in ["--help", "-h"] {
            let ran = bench.run([&command, flag]).ends(0);
            assert_eq!(ran.stderr, "");
            let text = ran.text();
            let examples = text
                .split_once("Examples:\n")
                .unwrap_or_else(|| panic!("{command} has no examples"))
                .1;
            let shown: Vec<&str> = examples
                .lines()
                .filter(|line| line.starts_with("  ") && line.contains("boswell "))
                .collect();
            assert!(shown.len() >= 2, "{command} has {} examples", shown.len());
            assert!(
                shown
                    .iter()
                    .any(|line| line.contains(&format!("boswell {command}"))),
                "{command}: {shown:?}"
            );
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{command}"
            );
        }
    }
}

#[test]
fn the_examples_of_help_are_understood_by_the_parser() {
    let bench = Bench::new();
    for command in commands(&bench) {
        let text = bench.run([&command, "--help"]).ends(0).text();
        let examples = text.split_once("Examples:\n").unwrap().1.to_owned();
        for line in examples
            .lines()
            .filter_map(|line| line.split_once("boswell ").map(|(_, rest)| rest))
        {
            // A comment follows after two spaces; pipes and redirections belong to the shell.
            let typed = line
                .split("  ")
                .next()
                .unwrap_or(line)
                .split(['|', '>', '<', '&'])
                .next()
                .unwrap_or(line);
            let mut words = words(typed);
            if matches!(words[0].as_str(), "serve" | "web") {
                // Else it would not end.
                words.extend(["--for".to_owned(), "10ms".to_owned()]);
            }
            let ran = bench.run(
                words
                    .iter()
                    .filter(|word| !matches!(word.as_str(), "--extract" | "./pictures")),
            );
            assert!(
                !ran.stderr.contains("Usage:"),
                "`boswell {line}` is not understood: {}",
                ran.stderr
            );
        }
    }
}

/// Splits a command line like a shell in which only quotes are special.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.trim().chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_first_page_of_help_is_the_pinned_one() {
    let bench = Bench::new();
    let text = bench.run(["--help"]).ends(0).text();
    if bless() {
        boswell_testkit::disk::write(std::path::Path::new(GOLDEN), text.as_bytes());
        return;
    }
    let pinned =
        String::from_utf8(boswell_testkit::disk::read(std::path::Path::new(GOLDEN))).unwrap();
    assert_eq!(
        text, pinned,
        "bless it with BOSWELL_BLESS=1 if this is right"
    );
}

#[test]
fn help_and_version_are_answers_and_show_nothing_of_the_environment() {
    let bench = Bench::new();
    for args in [
        &["--help"] as &[&str],
        &["-h"],
        &["list", "--help"],
        &["--version"],
    ] {
        let ran = bench.run(args).ends(0);
        assert_eq!(ran.stderr, "");
        assert!(
            !ran.text().contains(bench.root().to_str().unwrap()),
            "{ran:?}"
        );
    }
    assert!(
        bench
            .run(["--version"])
            .ends(0)
            .text()
            .starts_with("boswell ")
    );
}
