//! `docs/tour.md`: every command on a demo, with its output. A run with `BOSWELL_BLESS=1` writes
//! the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use boswell_testkit::disk;

use crate::bench::bless;
use crate::demo::Demo;
use crate::help;

mod printed;

use printed::{quoted, row, settled};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md");

/// Shows no line of an output that is long or differs between runs.
const NOTHING: usize = 0;

/// All of a short answer.
const ALL: usize = 40;

/// The log of another agent, in place of the file in the demo's folder.
const LOG: &str = "rollout.jsonl";

/// A command of the tour.
struct Step {
    /// The sentence before it.
    about: &'static str,
    args: &'static [&'static str],
    code: i32,
    /// How many lines of the answer are shown.
    shown: usize,
    /// Parts of the right answer: each must be printed.
    telling: &'static [&'static str],
}

const fn step(
    about: &'static str,
    args: &'static [&'static str],
    (code, shown): (i32, usize),
    telling: &'static [&'static str],
) -> Step {
    Step {
        about,
        args,
        code,
        shown,
        telling,
    }
}

const FIND: &[Step] = &[
    step(
        "All sessions, most recently active first:",
        &["list"],
        (0, 12),
        &["ID", "shop", "blog", "claude", "codex"],
    ),
    step(
        "Text in any session of any agent:",
        &["search", "二元"],
        (0, ALL),
        &["分词"],
    ),
    step(
        "Your prompts to all agents:",
        &["prompts", "coupon"],
        (0, NOTHING),
        &["The coupon SPRING10 takes 10.01 off"],
    ),
    step(
        "Memory files of agents:",
        &["memory", "all", "search", "cents"],
        (0, 1),
        &["Amounts are whole cents"],
    ),
    step(
        "Project folders with their sessions:",
        &["projects"],
        (0, NOTHING),
        &["projects/shop", "projects/blog"],
    ),
    step(
        "The stores that were found, and what each supports:",
        &["stores"],
        (0, NOTHING),
        &["Claude Code: read context append", "codex", "own"],
    ),
];

const READ: &[Step] = &[
    step(
        "The transcript of a session:",
        &["show", "5ac5"],
        (0, 26),
        &["SPRING10"],
    ),
    step(
        "Its branches; ● is on the current branch, ◉ is the current leaf:",
        &["tree", "8045"],
        (0, ALL),
        &["cause found"],
    ),
    step(
        "The messages that the model would be sent next:",
        &["context", "d542"],
        (0, 6),
        &["user"],
    ),
    step(
        "The files that it read or changed:",
        &["files", "5ac5"],
        (0, 4),
        &["src/coupon.rs"],
    ),
    step(
        "Its images and other attachments:",
        &["attachments", "5ac5"],
        (0, NOTHING),
        &["has no attachments"],
    ),
    step(
        "Messages, tokens and cost:",
        &["stats", "5ac5"],
        (0, 12),
        &["messages", "tool calls"],
    ),
    step(
        "New entries as agents write them:",
        &["watch", "--for", "100ms"],
        (0, NOTHING),
        &[],
    ),
];

const RESUME: &[Step] = &[
    step(
        "Choose a session on the screen, which needs a terminal:",
        &["pick"],
        (2, NOTHING),
        &[],
    ),
    step(
        "The agent's own command for a session; without `--print` it is started:",
        &["resume", "5ac5", "--print"],
        (0, 1),
        &["claude --resume 5ac5e505"],
    ),
    step(
        "The same for the last session:",
        &["continue", "--print"],
        (0, NOTHING),
        &["codex resume ad4b5f79"],
    ),
];

const REPAIR: &[Step] = &[
    step(
        "A full disk cut off one log of the demo:",
        &["check"],
        (1, 10),
        &["torn_tail", "glued_records"],
    ),
    step(
        "The plan of the repair; `--apply` carries it out, and `undo` reverts it:",
        &["repair", "833e"],
        (2, 8),
        &["glued_records: put it on a line of its own", "--apply"],
    ),
    step(
        "Which sessions have a copy in the vault, and which will be deleted by their agent:",
        &["keep", "status"],
        (0, 1),
        &[
            "keep is off; turn it on with `try keep on`",
            "0 of 3 sessions are up to date",
        ],
    ),
];

const CHANGE: &[Step] = &[
    step(
        "A title, written in the agent's own format:",
        &["rename", "833e", "Stuck deployment"],
        (0, ALL),
        &["claude:833ea297"],
    ),
    step(
        "Undo it:",
        &["undo"],
        (0, ALL),
        &["undo: call it Stuck deployment"],
    ),
    step(
        "All changes, and which can be undone:",
        &["ops"],
        (0, NOTHING),
        &["undone", "call it Stuck deployment"],
    ),
    step(
        "A tag; the format of open-agent-sdk has none, so it becomes a note:",
        &["tag", "476e", "design"],
        (0, 1),
        &["oas:476e9250", "note"],
    ),
    step(
        "Remove it again:",
        &["untag", "476e", "design"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A name for an entry:",
        &["label", "476e", "#2", "start"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A status:",
        &["status", "476e", "paused"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "The status `completed`:",
        &["close", "476e"],
        (0, 1),
        &["oas:476e9250"],
    ),
    step(
        "A generated title and summary:",
        &["summarize", "5ac5"],
        (0, 2),
        &["SPRING10"],
    ),
    step(
        "Delete a session:",
        &["delete", "--apply", "b8cc"],
        (0, ALL),
        &["deleted myagents:b8cc3c41", "try restore myagents:b8cc3c41"],
    ),
    step(
        "Restore it from the vault:",
        &["restore", "myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
        (0, ALL),
        &["restored myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
    ),
    step(
        "The plan to archive it; archived sessions stay readable:",
        &["archive", "b8cc"],
        (2, NOTHING),
        &["would archive myagents:b8cc3c41", "--apply"],
    ),
    step(
        "The plan to delete old sessions:",
        &["clean", "--older-than", "30d"],
        (0, NOTHING),
        &["0 sessions"],
    ),
    step(
        "The plan after a project folder was moved:",
        &["move", "/proj/old", "/proj/new"],
        (0, NOTHING),
        &["has no session of /proj/old"],
    ),
    step(
        "Files as they were at an entry; this one was changed since, so nothing is restored:",
        &[
            "checkout",
            "--apply",
            "5ac5",
            "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de",
        ],
        (3, 8),
        &[],
    ),
];

const SHARE: &[Step] = &[
    step(
        "Keys and passwords in sessions, masked:",
        &["secrets"],
        (1, 2),
        &["github-token", "ghp_…"],
    ),
    step(
        "A session as Markdown, with secrets removed:",
        &["export", "5ac5", "--format", "md"],
        (0, 4),
        &["SPRING10"],
    ),
    step(
        "A session of any agent in boswell's own store:",
        &["import", LOG, "--dry-run"],
        (0, ALL),
        &["would import codex:ad4b5f79-905d-7142-a365-c37251cd26cd (10 records)"],
    ),
];

const STORE: &[Step] = &[
    step(
        "A new session; prints its ref:",
        &[
            "new",
            "--project",
            "/proj/new",
            "--title",
            "A session of boswell's own",
        ],
        (0, NOTHING),
        &["boswell:"],
    ),
    step(
        "A durable entry; prints its id once it is on disk:",
        &["append", "019a", "--user", "And in German?"],
        (0, NOTHING),
        &[],
    ),
    step(
        "Continue from an earlier entry:",
        &["branch", "8045", "2eb268f0"],
        (0, NOTHING),
        &[],
    ),
    step(
        "Go back to before a prompt, and print it:",
        &["rewind", "5ac5", "4bfb659b-eb73-468d-a251-33b485a65470"],
        (0, 1),
        &[],
    ),
    step(
        "Copy a branch into a new session:",
        &["fork", "8045"],
        (0, NOTHING),
        &["pi:"],
    ),
    step(
        "Upgrade a session to the newest version of its format; this one is new:",
        &["migrate", "8045"],
        (0, NOTHING),
        &["is of version 3 already"],
    ),
];

const ABOUT: &[Step] = &[
    step(
        "Update the catalog and the search index:",
        &["index"],
        (0, NOTHING),
        &["sessions and memory files"],
    ),
    step(
        "Settings and their origin:",
        &["config"],
        (0, NOTHING),
        &["read_only", "built in"],
    ),
    step(
        "A report for bug reports:",
        &["doctor"],
        (0, NOTHING),
        &["version", "system"],
    ),
    step(
        "Another demo:",
        &["demo", "another"],
        (0, NOTHING),
        &["sample sessions are in", "alias try="],
    ),
    step(
        "The manual page of a command:",
        &["man", "list"],
        (0, NOTHING),
        &[".TH boswell-list 1"],
    ),
    step(
        "A key of a shell that opens the screen:",
        &["init", "zsh"],
        (0, NOTHING),
        &["bindkey '^G'"],
    ),
    step(
        "Completions for a shell:",
        &["completions", "bash"],
        (0, NOTHING),
        &["complete -F _boswell_live"],
    ),
];

const SECTIONS: &[(&str, &[Step])] = &[
    ("Find sessions", FIND),
    ("Read a session", READ),
    ("Resume", RESUME),
    ("Check, repair and back up", REPAIR),
    ("Use boswell as a store", STORE),
    ("Change, delete and undo", CHANGE),
    ("Share", SHARE),
    ("Boswell itself", ABOUT),
];

const INTRODUCTION: &str = "# A tour

Every command, on the sample sessions that `boswell demo` creates.
A test runs all of them and writes this page.
`try` is the script that the demo prints.
`…` stands for output that is long or differs from run to run.
";

#[test]
fn the_tour_runs_every_command_and_its_page_shows_what_they_answer() {
    let demo = Demo::new();
    let steps = SECTIONS.iter().flat_map(|(_, steps)| steps.iter());
    let typed: BTreeSet<&str> = steps.map(|step| step.args[0]).collect();
    for command in help::commands(&demo.bench) {
        assert!(
            typed.contains(command.as_str()),
            "the tour has no step for `{command}`"
        );
    }
    let mut page = String::from(INTRODUCTION);
    for (title, steps) in SECTIONS {
        let _ = write!(page, "\n## {title}\n");
        steps.iter().for_each(|step| take(step, &demo, &mut page));
    }
    if bless() {
        disk::write(Path::new(PAGE), page.as_bytes());
        return;
    }
    let pinned = String::from_utf8(disk::read(Path::new(PAGE))).unwrap();
    assert_eq!(
        page, pinned,
        "bless it with BOSWELL_BLESS=1 if this is right"
    );
}

/// Runs a step, and adds its command and its answer to the page.
fn take(step: &Step, demo: &Demo, page: &mut String) {
    let logs = boswell_testkit::corpus::files(&demo.root.join("home/.codex"));
    let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "jsonl");
    let log = logs.into_iter().find(is_log).unwrap();
    let real: Vec<&str> = step
        .args
        .iter()
        .map(|word| match *word {
            LOG => log.to_str().unwrap(),
            word => word,
        })
        .collect();
    let ran = demo.run(&real).ends(step.code);
    let text = ran.text();
    for words in step.telling {
        assert!(
            text.contains(words) || ran.stderr.contains(words),
            "{words:?} is not printed: {ran:?}"
        );
    }
    let words: Vec<String> = step.args.iter().map(|word| quoted(word)).collect();
    let command = words.join(" ");
    let _ = write!(page, "\n{}\n\n```sh\n$ try {command}\n", step.about);
    for line in text.lines().take(step.shown) {
        let line = if step.args[0] == "list" {
            row(line)
        } else {
            settled(line, &demo.root)
        };
        let _ = writeln!(page, "{}", line.trim_end());
    }
    // What is printed on stderr is not shown, but must not be mistaken for silence.
    let more = text.lines().count() > step.shown || text.is_empty() && !ran.stderr.is_empty();
    page.push_str(if more { "…\n```\n" } else { "```\n" });
}
