//! The pages of help: the commands of every day on the first, all of them in groups on the second.

use std::fmt::Write as _;

/// Commands by what they are for. The first page shows those of the first list of each group.
const GROUPS: &[(&str, &[&str], &[&str])] = &[
    (
        "Find",
        &["list", "search", "show", "prompts", "stats"],
        &[
            "pick",
            "web",
            "serve",
            "mcp",
            "statusline",
            "projects",
            "today",
            "outline",
            "blame",
            "tree",
            "context",
            "files",
            "attachments",
            "memory",
            "watch",
        ],
    ),
    (
        "Continue",
        &["resume", "continue", "fork"],
        &["convert", "copy", "handoff", "rewind", "branch", "checkout"],
    ),
    (
        "Care",
        &["check", "repair", "keep", "undo"],
        &[
            "ops", "delete", "restore", "archive", "clean", "move", "migrate", "index",
        ],
    ),
    ("Share", &["export", "secrets"], &["import"]),
    (
        "Organize",
        &["rename"],
        &["tag", "untag", "label", "status", "close", "summarize"],
    ),
    ("Write", &[], &["new", "append"]),
    (
        "About",
        &["demo"],
        &["stores", "config", "doctor", "man", "completions", "init"],
    ),
];

/// How much a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The commands of every day.
    First,
    /// All commands.
    All,
}

/// A page of help, made of what the parser knows.
pub(crate) fn page(mut program: clap::Command, which: Page) -> String {
    let text = match which {
        Page::First => program.render_help(),
        Page::All => program.render_long_help(),
    };
    let text = text.to_string();
    let Some((head, rest)) = text.split_once("Commands:\n") else {
        return text;
    };
    let rest = rest.split_once("\n\n").map_or("", |(_, rest)| rest);
    let mut page = head.to_owned();
    for (title, first, more) in GROUPS {
        let more: &[&str] = if which == Page::All { more } else { &[] };
        if first.is_empty() && more.is_empty() {
            continue;
        }
        let _ = writeln!(page, "{title}:");
        for name in first.iter().chain(more) {
            let command = program.find_subcommand(name);
            let about = command.and_then(|it| it.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, "  {name:<11}  {about}");
        }
        page.push('\n');
    }
    if which == Page::First {
        page.push_str(
            "All commands and options: `boswell --help`; one of them: `boswell COMMAND --help`\n\n",
        );
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_the_first_page_has_at_most_sixteen() {
        let mut named: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, first, more)| first.iter().chain(*more).copied())
            .collect();
        named.sort_unstable();
        let program = crate::parse::whole();
        let mut all: Vec<&str> = program
            .get_subcommands()
            .filter(|it| !it.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        all.sort_unstable();
        assert_eq!(named, all);
        let first: usize = GROUPS.iter().map(|(_, first, _)| first.len()).sum();
        assert!(first <= 16, "{first}");
    }
}
