//! `docs/tour.md`: every command on a demo, with what it answers. Written anew by a run with `BOSWELL_BLESS=1`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use boswell_testkit::disk;

use crate::bench::bless;
use crate::demo::Demo;
use crate::help;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md");

/// How much of an answer the page shows: none of one that differs from run to run or is long.
const NOTHING: usize = 0;

/// Stands for a log of another agent, which lies wherever the demo does.
const LOG: &str = "rollout.jsonl";

/// What is typed, the exit code, and how many lines of the answer are shown.
const STEPS: &[(&[&str], i32, usize)] = &[
    (&["list"], 0, 12),
    (&["stores"], 0, NOTHING),
    (&["projects"], 0, NOTHING),
    (&["search", "二元"], 0, 3),
    (&["prompts", "coupon"], 0, NOTHING),
    (&["show", "5ac5"], 0, 8),
    (&["tree", "8045"], 0, 8),
    (&["context", "d542"], 0, 6),
    (&["files", "5ac5"], 0, 4),
    (&["attachments", "5ac5"], 0, NOTHING),
    (&["memory", "all", "search", "cents"], 0, NOTHING),
    (&["stats", "5ac5"], 0, NOTHING),
    (&["check"], 1, 10),
    (&["repair", "833e"], 0, NOTHING),
    (&["secrets"], 1, 2),
    (&["export", "5ac5", "--format", "md"], 0, 4),
    (&["resume", "5ac5", "--print"], 0, 1),
    (&["continue", "--print"], 0, NOTHING),
    (&["summarize", "5ac5"], 0, 2),
    (&["new", "--project", "/proj/new", "--title", "A session of boswell's own"], 0, NOTHING),
    (&["append", "019a", "--user", "And in German?"], 0, NOTHING),
    (&["branch", "8045", "2eb268f0"], 0, NOTHING),
    (&["rewind", "5ac5", "4bfb659b-eb73-468d-a251-33b485a65470"], 0, 1),
    (&["fork", "8045"], 0, NOTHING),
    (&["migrate", "8045"], 0, NOTHING),
    (&["rename", "833e", "Stuck deployment"], 0, NOTHING),
    (&["undo"], 0, NOTHING),
    (&["ops"], 0, NOTHING),
    (&["tag", "476e", "design"], 0, 1),
    (&["untag", "476e", "design"], 0, 1),
    (&["label", "476e", "#2", "start"], 0, NOTHING),
    (&["status", "476e", "paused"], 0, 1),
    (&["close", "476e"], 0, 1),
    (&["checkout", "5ac5", "5a6594a4-5ea5-4583-a5d8-686cb4d0a9de"], 3, 8),
    (&["delete", "b8cc"], 0, NOTHING),
    (&["restore", "myagents:b8cc3c41-d97a-4e8c-a9bc-7d62f396c650"], 0, NOTHING),
    (&["archive", "b8cc"], 0, NOTHING),
    (&["import", LOG, "--dry-run"], 0, NOTHING),
    (&["clean", "--older-than", "30d"], 0, NOTHING),
    (&["index"], 0, NOTHING),
    (&["move", "/proj/old", "/proj/new"], 0, NOTHING),
    (&["keep", "status"], 0, NOTHING),
    (&["watch", "--for", "100ms"], 0, NOTHING),
    (&["config"], 0, NOTHING),
    (&["doctor"], 0, NOTHING),
    (&["demo", "another"], 0, NOTHING),
    (&["man", "list"], 0, NOTHING),
    (&["completions", "bash"], 0, NOTHING),
];

#[test]
fn the_tour_runs_every_command_and_its_page_shows_what_they_answer() {
    let demo = Demo::new();
    let typed: BTreeSet<&str> = STEPS.iter().map(|(args, _, _)| args[0]).collect();
    for command in help::commands(&demo.bench) {
        assert!(typed.contains(command.as_str()), "the tour has no step for `{command}`");
    }
    let mut page = String::from(
        "# A tour\n\nEvery command, on the home that `boswell demo` makes; a test runs them all and writes this page. `try` is the script that the \
         demo prints. Where nothing is shown, the answer is long or differs each time.\n",
    );
    let log = boswell_testkit::corpus::files(&demo.root.join("home/.codex"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let log = log.unwrap();
    for (args, code, shown) in STEPS {
        let log = log.to_str().unwrap();
        let real: Vec<&str> = args.iter().map(|word| if *word == LOG { log } else { *word }).collect();
        let text = demo.run(&real).ends(*code).text();
        let words: Vec<String> = args.iter().map(|word| quoted(word)).collect();
        let _ = write!(page, "\n```sh\n$ try {}\n", words.join(" "));
        for line in text.lines().take(*shown) {
            let line = if args[0] == "list" { row(line) } else { settled(line, &demo.root) };
            let _ = writeln!(page, "{}", line.trim_end());
        }
        page.push_str(if text.lines().count() > *shown { "…\n```\n" } else { "```\n" });
    }
    if bless() {
        disk::write(Path::new(PAGE), page.as_bytes());
        return;
    }
    let pinned = String::from_utf8(disk::read(Path::new(PAGE))).unwrap();
    assert_eq!(page, pinned, "bless it with BOSWELL_BLESS=1 if this is right");
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '\'', '#']) { format!("\"{word}\"") } else { word.to_owned() }
}

/// A line without what differs from run to run: where the demo lies.
fn settled(line: &str, root: &Path) -> String {
    let root = root.to_str().unwrap();
    let dashed: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    line.replace(root, "~/demo").replace(&dashed, "-home-me-demo")
}

/// A row of `list`: the same, without its age, and with the project that the width of the column cuts off.
fn row(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.get(3) == Some(&"ago") {
        words.remove(3);
    }
    if words.first() != Some(&"ID") && words.len() > 4 {
        words[2] = "…";
        words[4] = if words[4].ends_with("shop") { "~/demo/projects/shop" } else { "~/demo/projects/blog" };
    }
    let (columns, name) = words.split_at(words.len().min(5));
    format!("{}  {}", columns.join("  "), name.join(" "))
}
