//! `docs/cli.md` names exactly the commands and options that exist.

use std::collections::BTreeSet;

use crate::bench::Bench;

const PAGE: &str = include_str!("../../../../docs/cli.md");

/// Returns the part of the page below a heading.
fn section(heading: &str) -> &'static str {
    let start = PAGE
        .find(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("docs/cli.md has no `{heading}`"));
    let rest = &PAGE[start + heading.len()..];
    let level = heading.split(' ').next().unwrap_or("#");
    let end = [format!("\n{level} "), "\n## ".to_owned()]
        .iter()
        .filter_map(|next| rest.find(next.as_str()))
        .min();
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns the long options at the start of lines of help, or of table rows of the page.
fn options<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let named = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect()
    };
    let mut found = BTreeSet::new();
    for line in lines {
        let line = line
            .trim_start()
            .trim_start_matches("| `")
            .trim_start_matches('`');
        let line = line
            .strip_prefix('-')
            .filter(|rest| !rest.starts_with('-'))
            .and_then(|rest| rest.get(3..))
            .unwrap_or(line);
        if let Some(rest) = line.strip_prefix("--") {
            found.insert(named(rest));
        }
    }
    found.remove("help");
    found.remove("version");
    found
}

fn of_help(bench: &Bench, args: &[&str]) -> BTreeSet<String> {
    let text = bench.run(args).ends(0).text();
    let text = text.split_once("Options:\n").map_or("", |(_, rest)| rest);
    options(text.split("Examples:").next().unwrap_or(text).lines())
}

fn of_page(heading: &str) -> BTreeSet<String> {
    options(
        section(heading)
            .lines()
            .filter(|line| line.starts_with("| `-")),
    )
}

#[test]
fn the_page_names_every_command_and_no_other() {
    let bench = Bench::new();
    let real: BTreeSet<String> = crate::help::commands(&bench).into_iter().collect();
    let named: BTreeSet<String> = PAGE
        .lines()
        .filter_map(|line| {
            line.strip_prefix("### `boswell ")?
                .split(['`', ' '])
                .next()
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(named, real);
}

#[test]
fn the_page_names_every_option_of_every_command_and_no_other() {
    let bench = Bench::new();
    let everywhere = of_help(&bench, &["--help"]);
    assert_eq!(of_page("## Everywhere"), everywhere);
    for command in crate::help::commands(&bench) {
        let heading = PAGE.lines().find(|line| {
            line.strip_prefix("### `boswell ")
                .and_then(|rest| rest.split(['`', ' ']).next())
                == Some(command.as_str())
        });
        let own: BTreeSet<String> = of_help(&bench, &[&command, "--help"])
            .difference(&everywhere)
            .cloned()
            .collect();
        assert_eq!(
            of_page(heading.unwrap_or_else(|| panic!("{command} is not on the page"))),
            own,
            "{command}"
        );
    }
}

#[test]
fn the_page_names_every_field_that_commands_print() {
    let bench = Bench::new();
    let home = boswell_testkit::TestHome::build(&bench.home(), 61);
    let mut runs: Vec<Vec<String>> = [
        &["list"] as &[&str],
        &["stores"],
        &["stores", "--pairs"],
        &["projects"],
        &["check"],
        &["memory", "all", "show"],
        &["memory", "all", "check"],
        &["keep", "status"],
        &["keep", "on"],
        &["index", "--native"],
        &["move", "/home/dev/proj/demo", "/home/dev/proj/elsewhere"],
    ]
    .iter()
    .map(|args| args.iter().map(|&arg| arg.to_owned()).collect())
    .collect();
    for planted in home
        .planted
        .iter()
        .filter(|planted| planted.path.is_file())
        .step_by(3)
    {
        let reference = format!("{}:{}", planted.dialect, planted.id);
        for command in ["show", "tree", "context", "files", "attachments", "resume"] {
            runs.push(vec![command.to_owned(), reference.clone()]);
        }
    }
    for args in runs {
        let ran = bench.run(args.iter().map(String::as_str).chain(["--json"]));
        for line in ran.lines() {
            let kind = line["type"].as_str().unwrap();
            let shape = shape(kind);
            // Settings of a single agent are listed next to the members that all agents have.
            for field in line
                .as_object()
                .unwrap()
                .keys()
                .filter(|_| kind != "context")
            {
                assert!(
                    shape.contains(&format!("`{field}`")),
                    "docs/cli.md does not name `{field}` of `{kind}` ({args:?})"
                );
            }
        }
    }
}

/// Returns the description of a shape on the page.
fn shape(kind: &str) -> String {
    let heading = format!("### `{kind}`\n");
    let Some((_, rest)) = section("## JSON shapes").split_once(&heading) else {
        panic!("docs/cli.md has no shape `{kind}`");
    };
    let tables = rest.split("\n### ").next().unwrap_or_default();
    format!("`v`, `type`\n{tables}")
}

#[test]
fn the_page_names_every_problem_that_check_can_report() {
    let source = include_str!("../../../model/src/problem.rs");
    let words: Vec<&str> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("ProblemKind::")?.split('"').nth(1))
        .collect();
    assert!(words.len() > 20, "{words:?}");
    let named: Vec<&str> = section("## Problems")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let (mut words, mut named) = (words, named);
    words.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, words);
}
