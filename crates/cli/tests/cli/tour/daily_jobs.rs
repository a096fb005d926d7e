//! Nine jobs of every day on a terminal of 80 columns, as the page shows them, and every command
//! that their screens suggest, pasted as printed.

use std::fmt::Write as _;
use std::path::Path;

use unicode_width::UnicodeWidthStr;

use super::printed::{common, settled};
use crate::bench::{BOSWELL, Bench};
use crate::manners::on_terminal;

/// A job: what it is, and the commands that do it.
struct DailyJob {
    about: &'static str,
    commands: &'static [&'static str],
    /// Parts of the right answers.
    telling: &'static [&'static str],
}

const JOBS: [DailyJob; 9] = [
    DailyJob {
        about: "Find the conversation in which something was solved, and take it up again:",
        commands: &["search rounded up", "resume 1 --print"],
        telling: &["The discount was rounded up", "claude --resume 5ac5e505"],
    },
    DailyJob {
        about: "What was done in a week:",
        commands: &["prompts --since 2026-10-20 --until 2026-10-25"],
        telling: &["Add a test for the 100.05 basket.", "为什么不用空格分词？"],
    },
    DailyJob {
        about: "What it cost, by project and model:",
        commands: &["stats --by project,model"],
        telling: &["claude-opus-5", "shop", "total"],
    },
    DailyJob {
        about: "A session that does not resume as it should: what is wrong, and the repair:",
        commands: &["check 833e", "repair 833e"],
        telling: &["repair it with", "and 7 after the repair", "[y/N]"],
    },
    DailyJob {
        about: "Share a session without its secrets:",
        commands: &["export 833e --format html -o shared.html", "secrets 833e"],
        telling: &["removed 1 secret (1 kind); review before sharing"],
    },
    DailyJob {
        about: "Delete what is large or old, and bring it back:",
        commands: &["list --sort size --limit 2", "delete demoRss --apply"],
        telling: &["SIZE", "deleted omp:demoRss", "restore it with"],
    },
    DailyJob {
        about: "Keep sessions that their agent would delete:",
        commands: &["keep status", "keep on --apply", "keep status"],
        telling: &["keep is off", "copied ", "keep is on since"],
    },
    DailyJob {
        about: "Which session changed this file:",
        commands: &["search file:coupon.rs tool:Edit"],
        telling: &["Coupon rounding", "Edit"],
    },
    DailyJob {
        about: "Take a session of one agent along into a store that pi reads:",
        commands: &[
            "import LOG --title 'Coupon rounding, continued'",
            "list --sort created --limit 1",
        ],
        telling: &["boswell:", "Coupon rounding, continued"],
    },
];

/// A demo in the user's home, and the command that its script would start.
struct Desk {
    bench: Bench,
    call: String,
    path: String,
}

impl Desk {
    fn new() -> Desk {
        let bench = Bench::new();
        let root = bench.home().join("demo");
        let made = bench
            .run(["demo", root.to_str().unwrap(), "--json"])
            .ends(0);
        let made = made.of_type("demo").remove(0);
        let options = made["options"].as_array().unwrap().iter();
        let options: Vec<&str> = options.map(|it| it.as_str().unwrap()).collect();
        // The agents that hints start.
        for agent in ["claude", "codex", "pi", "omp", "xcsh"] {
            let stub = bench.plant(&format!("bin/{agent}"), b"#!/bin/sh\necho STARTED \"$@\"\n");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Desk {
            call: format!("boswell --called-as try {}", options.join(" ")),
            path: format!("{}:/usr/bin:/bin", bench.home().join("bin").display()),
            bench,
        }
    }

    fn root(&self) -> std::path::PathBuf {
        self.bench.home().join("demo")
    }

    /// Types a command on a terminal on which another one was typed before; `None` where there is
    /// no terminal to be had.
    fn types(&self, before: Option<&str>, command: &str) -> Option<String> {
        let claude = self.root().join("home/.claude");
        let logs = boswell_testkit::corpus::files(&claude);
        let log = logs.iter().find(|path| path.ends_with(LOG)).unwrap();
        let command = command.replace("LOG", log.to_str().unwrap());
        let env = [
            ("COLUMNS", "80"),
            ("TZ", "UTC"),
            ("PATH", self.path.as_str()),
        ];
        let call = &self.call;
        let before = before.filter(|before| is_list(before));
        let before = before.map_or_else(String::new, |it| format!("{call} {it} >/dev/null; "));
        on_terminal(&self.bench, &format!("{before}{call} {command}"), &env)
    }
}

impl Desk {
    /// Types a command, and then every command that its screen suggests; returns the screen and how
    /// many those were.
    fn does(&self, before: Option<&str>, command: &str) -> Option<(String, usize)> {
        let screen = self.types(before, command)?;
        assert!(!screen.contains("error: "), "{command}: {screen}");
        // What was only planned cannot be undone.
        let hints: Vec<String> = hints(&screen)
            .into_iter()
            .filter(|it| it != "undo")
            .collect();
        for hint in &hints {
            let answer = self.types(Some(command), hint)?;
            assert!(!answer.contains("error: "), "`try {hint}`: {answer}");
            assert!(!answer.trim().is_empty(), "`try {hint}` answers nothing");
        }
        Some((screen, hints.len()))
    }
}

/// The log of the session that is taken along.
const LOG: &str = "5ac5e505-ca12-40e3-a6c1-82bfd1662e80.jsonl";

/// Whether a command prints a list, whose rows the next command can name by their numbers.
fn is_list(command: &str) -> bool {
    command.starts_with("list") || command.starts_with("search")
}

/// The commands that a screen suggests.
fn hints(screen: &str) -> Vec<String> {
    let quoted = screen.split('`').skip(1).step_by(2);
    let commands = quoted.filter_map(|it| it.strip_prefix("try "));
    commands.map(str::to_owned).collect()
}

/// A screen as the page shows it: without what differs between runs and days.
fn plain_lines(screen: &str, root: &Path) -> Vec<String> {
    let heading = screen.lines().find(|line| line.contains("ACTIVE"));
    let active = heading.and_then(|line| cells(line).position(|it| it == "ACTIVE"));
    screen
        .lines()
        .map(|line| plain(line, active, root))
        .collect()
}

fn plain(line: &str, active: Option<usize>, root: &Path) -> String {
    let mut line = settled(line, root).replace(BOSWELL, "boswell");
    // When a session was active depends on today, and so do the widths of its table.
    if let Some(active) = active {
        let cells = cells(&line).enumerate().map(|(place, cell)| {
            let is_age = place == active && cell != "ACTIVE";
            if is_age { "…" } else { cell }
        });
        line = cells.collect::<Vec<_>>().join("  ");
    }
    for (before, after) in [(" · ", " ms"), ("since ", "")] {
        line = without_number(&line, before, after);
    }
    line.trim_end().to_owned()
}

/// The cells of a row of a table.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
}

/// Replaces the word between two texts, if it begins with a digit.
fn without_number(line: &str, before: &str, after: &str) -> String {
    let Some((start, rest)) = line.split_once(before) else {
        return line.to_owned();
    };
    let end = match after {
        "" => rest.find("  ").unwrap_or(rest.len()),
        after => match rest.find(after) {
            Some(end) => end,
            None => return line.to_owned(),
        },
    };
    match rest.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{start}{before}…{}", &rest[end..]),
        false => line.to_owned(),
    }
}

/// Writes the section of the page; `None` where there is no terminal to be had.
pub(super) fn section() -> Option<String> {
    // What differs between two desks is not shown.
    let desks = [Desk::new(), Desk::new()];
    let mut page = String::from(
        "\n## Nine jobs of every day\n\nOn a terminal of 80 columns; rows of the last list have numbers.\n",
    );
    let mut pasted = 0;
    for job in &JOBS {
        let _ = write!(page, "\n{}\n\n```sh\n", job.about);
        let mut screens = String::new();
        let mut before = None;
        for command in job.commands {
            let typed = command.replace("LOG", "~/.claude/…/5ac5e505-….jsonl");
            let _ = writeln!(page, "$ try {typed}");
            let mut shown = Vec::new();
            for desk in &desks {
                let (screen, hints) = desk.does(before, command)?;
                shown.push(plain_lines(&screen, &desk.root()));
                screens += &screen;
                pasted += hints;
            }
            before = Some(*command);
            for (line, other) in shown[0].iter().zip(&shown[1]) {
                let _ = writeln!(page, "{}", common(line, other, false));
                fits(command, line);
            }
        }
        page.push_str("```\n");
        for words in job.telling {
            assert!(
                screens.contains(words),
                "{words:?} is not printed: {screens}"
            );
        }
    }
    assert!(pasted >= 12, "only {pasted} hints were pasted");
    Some(page)
}

/// Tables and transcripts fit. A line that is to be copied is never broken, and a terminal wraps
/// sentences.
fn fits(command: &str, line: &str) {
    let tables = ["list", "search", "prompts", "stats", "show"];
    let is_table = tables.iter().any(|table| command.starts_with(table));
    let is_copied = line.contains('`');
    assert!(
        !is_table || is_copied || line.width() <= 80,
        "{} columns: {line}",
        line.width()
    );
}
