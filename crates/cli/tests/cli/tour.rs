//! `docs/tour.md`: every command on a demo, with its output. A run with `BOSWELL_BLESS=1` writes
//! the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use boswell_testkit::disk;

use crate::bench::bless;
use crate::demo::Demo;
use crate::help;

mod daily_jobs;
mod printed;
mod steps;

use printed::{common, quoted, row, settled};
use steps::{CODE, LOG, SECTIONS, Step};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md");

/// Answers whose columns are as wide as the path of the demo.
const SHIFTED: &[&str] = &["config", "doctor", "stores", "projects", "prompts"];

const INTRODUCTION: &str = "# A tour

Every command, on the sample sessions that `boswell demo` creates.
A test runs all of them and writes this page.
`try` is the script that the demo prints.
`…` stands for what is long, or differs from run to run and from day to day.
";

#[test]
fn the_tour_runs_every_command_and_its_page_shows_what_they_answer() {
    // What differs between two demos is not shown.
    let demos = [Demo::new(), Demo::new()];
    let steps = SECTIONS.iter().flat_map(|(_, steps)| steps.iter());
    let typed: BTreeSet<&str> = steps.map(|step| step.args[0]).collect();
    for command in help::commands(&demos[0].bench) {
        assert!(
            typed.contains(command.as_str()),
            "the tour has no step for `{command}`"
        );
    }
    let mut page = String::from(INTRODUCTION);
    page += JOBS_BEGIN;
    page += &the_nine_daily_jobs();
    page += JOBS_END;
    for (title, steps) in SECTIONS {
        let _ = write!(page, "\n## {title}\n");
        steps.iter().for_each(|step| take(step, &demos, &mut page));
    }
    if bless() {
        disk::write(Path::new(PAGE), page.as_bytes());
        return;
    }
    assert_eq!(
        page,
        pinned(),
        "bless it with BOSWELL_BLESS=1 if this is right"
    );
}

/// Around the part that another test writes.
const JOBS_BEGIN: &str = "\n<!-- daily-jobs -->\n";
const JOBS_END: &str = "\n<!-- /daily-jobs -->\n";

fn pinned() -> String {
    String::from_utf8(disk::read(Path::new(PAGE))).unwrap()
}

/// The section of the page as it is.
fn the_nine_daily_jobs() -> String {
    let page = pinned();
    let rest = page.split_once(JOBS_BEGIN).map_or("", |(_, rest)| rest);
    let section = rest.split_once(JOBS_END).map_or("", |(section, _)| section);
    section.to_owned()
}

#[test]
fn the_nine_daily_jobs_fit_eighty_columns_and_every_hint_on_their_screens_works() {
    let Some(section) = daily_jobs::section() else {
        eprintln!("SKIPPED: there is no `script` to make a terminal");
        return;
    };
    if bless() {
        let page = pinned();
        let (start, _) = page.split_once(JOBS_BEGIN).unwrap();
        let (_, end) = page.split_once(JOBS_END).unwrap();
        let page = format!("{start}{JOBS_BEGIN}{section}{JOBS_END}{end}");
        disk::write(Path::new(PAGE), page.as_bytes());
        return;
    }
    assert_eq!(
        section,
        the_nine_daily_jobs(),
        "bless it with BOSWELL_BLESS=1 if this is right"
    );
}

/// Runs a step in both demos, and adds its command and its answer to the page.
fn take(step: &Step, demos: &[Demo; 2], page: &mut String) {
    let [answer, other] = demos.each_ref().map(|demo| answer(step, demo));
    let words: Vec<String> = step.args.iter().map(|word| quoted(word)).collect();
    let command = words.join(" ");
    let _ = write!(page, "\n{}\n\n```sh\n$ try {command}\n", step.about);
    assert_eq!(answer.len(), other.len(), "{command}");
    for (line, other) in answer.iter().zip(&other).take(step.shown) {
        let shifted = SHIFTED.contains(&step.args[0]);
        let _ = writeln!(page, "{}", common(line, other, shifted));
    }
    let more = answer.len() > step.shown;
    page.push_str(if more { "…\n```\n" } else { "```\n" });
}

/// Runs a step, and returns what appears on the screen.
fn answer(step: &Step, demo: &Demo) -> Vec<String> {
    let logs = boswell_testkit::corpus::files(&demo.root.join("home/.codex"));
    let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "jsonl");
    let log = logs.into_iter().find(is_log).unwrap();
    let code = demo.root.join("projects/shop").join(CODE);
    let real: Vec<&str> = step
        .args
        .iter()
        .map(|word| match *word {
            LOG => log.to_str().unwrap(),
            CODE => code.to_str().unwrap(),
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
    let lines = text.lines().chain(ran.stderr.lines());
    let settled = lines.map(|line| match step.args[0] {
        "list" => row(line),
        _ => settled(line, &demo.root),
    });
    settled.collect()
}
