//! Help is a promise: two examples for each command, and a first page that does not change unseen.

use crate::bench::Bench;

/// The commands that the first page of help names.
pub(crate) fn commands(bench: &Bench) -> Vec<String> {
    let text = bench.run(["--help"]).ends(0).text();
    let rest = text.split_once("Commands:\n").unwrap().1;
    rest.lines()
        .take_while(|line| !line.is_empty())
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
            let examples = text.split_once("Examples:\n").unwrap_or_else(|| panic!("{command} has no examples")).1;
            let shown = examples.lines().filter(|line| line.starts_with(&format!("  boswell {command}"))).count();
            assert!(shown >= 2, "{command} has {shown} examples");
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{command}");
        }
    }
}

#[test]
fn the_examples_of_help_are_understood_by_the_parser() {
    let bench = Bench::new();
    for command in commands(&bench) {
        let text = bench.run([&command, "--help"]).ends(0).text();
        let examples = text.split_once("Examples:\n").unwrap().1.to_owned();
        for line in examples.lines().filter_map(|line| line.strip_prefix("  boswell ")) {
            // The comment stands behind two spaces, pipes and redirections are the shell's.
            let typed = line.split("  ").next().unwrap_or(line).split(['|', '>']).next().unwrap_or(line);
            let ran = bench.run(typed.split_whitespace().filter(|word| *word != "--extract" && *word != "./pictures"));
            assert!(!ran.stderr.contains("Usage:"), "`boswell {line}` is not understood: {}", ran.stderr);
        }
    }
}

#[test]
fn the_first_page_of_help_is_this_one() {
    let bench = Bench::new();
    let golden = include_str!("../golden/help.txt");
    for args in [&["--help"] as &[&str], &["-h"]] {
        assert_eq!(bench.run(args).ends(0).text(), golden);
    }
    assert!(bench.run(["--version"]).ends(0).text().starts_with("boswell "));
}
