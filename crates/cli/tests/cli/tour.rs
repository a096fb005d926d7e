//! `docs/tour.md`: every command on a demo, with its output. Rewritten by a run with
//! `BOSWELL_BLESS=1`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use boswell_testkit::disk;

use crate::bench::bless;
use crate::demo::Demo;
use crate::help;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md");

/// Shows no line of an output that is long or differs between runs.
const NOTHING: usize = 0;

/// Placeholder for a log of another agent, whose path depends on the demo.
const LOG: &str = "rollout.jsonl";

/// The arguments, the exit code, how many lines of the output are shown, and words that the output
/// must contain.
const STEPS: &[(&[&str], i32, usize, &[&str])] = &[
    (&["list"], 0, 12, &["ID", "shop", "blog", "claude", "codex"]),
    (
        &["stores"],
        0,
        NOTHING,
        &["Claude Code: read context append", "codex", "own"],
    ),
    (
        &["projects"],
        0,
        NOTHING,
        &["projects/shop", "projects/blog"],
    ),
    (&["search", "二元"], 0, 3, &["分词"]),
    (
        &["prompts", "coupon"],
        0,
        NOTHING,
        &["The coupon SPRING10 takes 10.01 off"],
    ),
    (&["show", "5ac5"], 0, 8, &["SPRING10"]),
    (&["tree", "8045"], 0, 8, &["cause found"]),
    (&["context", "d542"], 0, 6, &["user"]),
    (&["files", "5ac5"], 0, 4, &["src/coupon.rs"]),
    (
        &["attachments", "5ac5"],
        0,
        NOTHING,
        &["has no attachments"],
    ),
    (
        &["memory", "all", "search", "cents"],
        0,
        NOTHING,
        &["Amounts are whole cents"],
    ),
    (&["stats", "5ac5"], 0, NOTHING, &["messages", "tool calls"]),
    (&["check"], 1, 10, &["torn_tail", "glued_records"]),
    (
        &["repair", "833e"],
        0,
        NOTHING,
        &["glued_records: put it on a line of its own", "--apply"],
    ),
    (&["secrets"], 1, 2, &["github-token", "ghp_…"]),
    (&["export", "5ac5", "--format", "md"], 0, 4, &["SPRING10"]),
    (
        &["resume", "5ac5", "--print"],
        0,
        1,
        &["claude --resume 5ac5e505"],
    ),
    (
        &["continue", "--print"],
        0,
        NOTHING,
        &["codex resume ad4b5f79"],
    ),
    (&["summarize", "5ac5"], 0, 2, &["SPRING10"]),
    (
        &[
            "new",
            "--project",
            "/proj/new",
            "--title",
            "A session of boswell's own",
        ],
        0,
        NOTHING,
        &["boswell:"],
    ),
    (
        &["append", "019a", "--user", "And in German?"],
        0,
        NOTHING,
        &[],
    ),
    (&["branch", "8045", "2eb268f0"], 0, NOTHING, &[]),
    (
        &["rewind", "5ac5", "4bfb659b-eb73-468d-a251-33b485a65470"],
        0,
        1,
        &[],
    ),
    (&["fork", "8045"], 0, NOTHING, &["pi:"]),
    (
        &["migrate", "8045"],
        0,
        NOTHING,
        &["is of version 3 already"],
    ),
    (
        &["rename", "833e", "Stuck deployment"],
        0,
        NOTHING,
        &["claude:833ea297"],
    ),
    (&["undo"], 0, NOTHING, &["undo: call it Stuck deployment"]),
    (
        &["ops"],
        0,
        NOTHING,
        &["taken back", "call it Stuck deployment"],
    ),
    (&["tag", "476e", "design"], 0, 1, &["oas:476e9250", "note"]),
    (&["untag", "476e", "design"], 0, 1, &["oas:476e9250"]),
    (
        &["label", "476e", "#2", "start"],
        0,
        NOTHING,
        &["oas:476e9250"],
    ),
    (&["status", "476e", "paused"], 0, 1, &["oas:476e9250"]),
    (&["close", "476e"], 0, 1, &["oas:476e9250"]),
    (
        &["checkout", "5ac5", "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de"],
        3,
        8,
        &[],
    ),
    (
        &["delete", "b8cc"],
        0,
        NOTHING,
        &["is in the vault; `boswell restore myagents:b8cc3c41"],
    ),
    (
        &["restore", "myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"],
        0,
        NOTHING,
        &["myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650 is back"],
    ),
    (
        &["archive", "b8cc"],
        0,
        NOTHING,
        &["would archive myagents:b8cc3c41", "--apply"],
    ),
    (
        &["import", LOG, "--dry-run"],
        0,
        NOTHING,
        &["would import codex:ad4b5f79-905d-7142-a365-c37251cd26cd (10 records)"],
    ),
    (
        &["clean", "--older-than", "30d"],
        0,
        NOTHING,
        &["0 sessions; `--apply`"],
    ),
    (&["index"], 0, NOTHING, &["sessions and memory files"]),
    (
        &["move", "/proj/old", "/proj/new"],
        0,
        NOTHING,
        &["has no session of /proj/old"],
    ),
    (
        &["keep", "status"],
        0,
        NOTHING,
        &[
            "keeping is off; `boswell keep on` begins",
            "0 of 3 sessions are kept",
        ],
    ),
    (&["watch", "--for", "100ms"], 0, NOTHING, &[]),
    (&["config"], 0, NOTHING, &["read_only", "built in"]),
    (&["doctor"], 0, NOTHING, &["version", "system"]),
    (
        &["demo", "another"],
        0,
        NOTHING,
        &["a home to try is in", "alias try="],
    ),
    (&["man", "list"], 0, NOTHING, &[".TH boswell-list 1"]),
    (
        &["completions", "bash"],
        0,
        NOTHING,
        &["complete -F _boswell_live"],
    ),
];

#[test]
fn the_tour_runs_every_command_and_its_page_shows_what_they_answer() {
    let demo = Demo::new();
    let typed: BTreeSet<&str> = STEPS.iter().map(|(args, ..)| args[0]).collect();
    for command in help::commands(&demo.bench) {
        assert!(
            typed.contains(command.as_str()),
            "the tour has no step for `{command}`"
        );
    }
    let mut page = String::from(
        "# A tour\n\nEvery command, on the home that `boswell demo` makes; a test runs them all and writes this page. `try` is the script that the \
         demo prints. Where nothing is shown, the answer is long or differs each time.\n",
    );
    let log = boswell_testkit::corpus::files(&demo.root.join("home/.codex"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let log = log.unwrap();
    for (args, code, shown, telling) in STEPS {
        let log = log.to_str().unwrap();
        let real: Vec<&str> = args
            .iter()
            .map(|word| if *word == LOG { log } else { *word })
            .collect();
        let ran = demo.run(&real).ends(*code);
        let text = ran.text();
        for words in *telling {
            assert!(
                text.contains(words) || ran.stderr.contains(words),
                "{words:?} is not told: {ran:?}"
            );
        }
        let words: Vec<String> = args.iter().map(|word| quoted(word)).collect();
        let _ = write!(page, "\n```sh\n$ try {}\n", words.join(" "));
        for line in text.lines().take(*shown) {
            let line = if args[0] == "list" {
                row(line)
            } else {
                settled(line, &demo.root)
            };
            let _ = writeln!(page, "{}", line.trim_end());
        }
        page.push_str(if text.lines().count() > *shown {
            "…\n```\n"
        } else {
            "```\n"
        });
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

fn quoted(word: &str) -> String {
    if word.contains([' ', '\'', '#']) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// Returns a line without the folder of the demo, which differs between runs.
fn settled(line: &str, root: &Path) -> String {
    let root = root.to_str().unwrap();
    let dashed: String = root
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    line.replace(root, "~/demo")
        .replace(&dashed, "-home-me-demo")
}

/// Returns a row of `list` in the same way, without its age, and with the truncated project
/// normalised.
fn row(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.get(3) == Some(&"ago") {
        words.remove(3);
    }
    if words.first() != Some(&"ID") && words.len() > 4 {
        words[2] = "…";
        words[4] = if words[4].ends_with("shop") {
            "~/demo/projects/shop"
        } else {
            "~/demo/projects/blog"
        };
    }
    let (columns, name) = words.split_at(words.len().min(5));
    format!("{}  {}", columns.join("  "), name.join(" "))
}
