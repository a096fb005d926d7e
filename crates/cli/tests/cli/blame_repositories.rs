//! `blame FILE` on generated repositories whose authors are known line by line.
//!
//! A seed decides everything: sessions of four agents that take turns, hands that edit between
//! them, failures, renames, formatting and commits. `BOSWELL_BLAME_SEEDS` names other seeds, as
//! `7` or `0..500`; with one seed a failure also prints what happened in that repository.

mod claude;
mod codex;
mod file;
mod gemini;
mod hostile;
mod logs;
mod pi;
mod steps;
mod truth;
mod world;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use self::file::TrackedFile;
use self::world::World;
use crate::bench::{Bench, finish};

/// The seeds of an ordinary run.
const SEEDS: Range<u64> = 0..60;
/// How many wrong lines a failure shows.
const SHOWN: usize = 40;

#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line, so the seeds come from the environment"
)]
fn seeds() -> Range<u64> {
    let Ok(named) = std::env::var("BOSWELL_BLAME_SEEDS") else {
        return SEEDS;
    };
    let number = |text: &str| -> u64 { text.parse().unwrap() };
    match named.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&named)..number(&named) + 1,
    }
}

#[derive(Debug, Default)]
struct Score {
    lines: usize,
    right: usize,
    /// Lines of a hand that a session is said to have written.
    claimed: usize,
    /// Lines of a session with the wrong prompt.
    other_prompt: usize,
    /// Lines with one possible author.
    certain: usize,
    wrong: Vec<String>,
}

#[test]
fn the_author_of_a_line_is_known_and_no_line_of_a_hand_is_claimed() {
    let mut score = Score::default();
    let seeds = seeds();
    let is_one = seeds.end == seeds.start + 1;
    for seed in seeds {
        let bench = Bench::new();
        let mut world = World::new(&bench.cwd(), seed);
        let steps = world.rng.between(12, 30);
        world.live(steps);
        world
            .sessions
            .iter()
            .for_each(|log| log.write(&bench.home()));
        if is_one {
            println!("{}", world.journal.join("\n"));
        }
        for file in &world.files {
            compare(&bench, &world, file, seed, &mut score);
        }
    }
    let share = |part: usize| part as f64 / score.lines as f64;
    let mut report = format!(
        "{} of {} lines are right, {} of a hand are claimed, {} have another prompt, {} have one possible author\n",
        score.right, score.lines, score.claimed, score.other_prompt, score.certain
    );
    for line in score.wrong.iter().take(SHOWN) {
        let _ = writeln!(report, "{line}");
    }
    println!("{report}");
    assert!(
        share(score.certain) > 0.8,
        "the truth is too vague: {report}"
    );
    assert_eq!(score.claimed, 0, "{report}");
    assert!(share(score.right) >= 0.99, "{report}");
    assert!(share(score.other_prompt) <= 0.01, "{report}");
}

#[test]
fn the_generated_logs_are_those_of_their_agents() {
    let bench = Bench::new();
    for seed in 0..4 {
        let mut world = World::new(&bench.cwd().join(seed.to_string()), seed);
        world.live(20);
        for log in world.sessions.iter().filter(|log| !log.prompts.is_empty()) {
            log.write(&bench.home());
            let shown = bench.run(["show", &log.reference(), "--json"]).ends(0);
            let entries = shown.of_type("entry");
            let prompts = entries.iter().filter(|it| it["role"] == "user");
            let prompts: Vec<&str> = prompts.map(|it| text(&it["text"])).collect();
            let asked = |text: &&str| log.prompts.iter().any(|prompt| prompt == text);
            let found = prompts.iter().filter(|text| asked(text)).count();
            assert_eq!(
                found,
                log.prompts.len(),
                "seed {seed}, {}: {shown:?}",
                log.reference()
            );
            let changed = bench.run(["files", &log.reference(), "--json"]);
            assert!(matches!(changed.code, Some(0 | 1)), "{changed:?}");
        }
    }
}

/// Compares what `blame` says about a file with the truth.
fn compare(bench: &Bench, world: &World, file: &TrackedFile, seed: u64, score: &mut Score) {
    let mut command = bench.command(["blame", &file.path, "--json"]);
    command.current_dir(&world.root);
    let ran = finish(command);
    assert!(matches!(ran.code, Some(0 | 1)), "seed {seed}: {ran:?}");
    let said = ran.of_type("blame");
    let [said] = said.as_slice() else {
        panic!("seed {seed}: {ran:?}")
    };
    let lines = said["lines"].as_array().unwrap();
    assert_eq!(lines.len(), file.lines.len(), "seed {seed}, {}", file.path);
    let texts: HashMap<(&str, &str), &str> = said["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                (text(&it["session"]), text(&it["entry"])),
                text(&it["text"]),
            )
        })
        .collect();
    for (at, (line, said)) in file.lines.iter().zip(lines).enumerate() {
        assert_eq!(said["text"], line.text, "seed {seed}, {}", file.path);
        assert_eq!(said["line"], at + 1);
        score.lines += 1;
        score.certain += usize::from(line.authors.len() == 1);
        let session = said["session"].as_str();
        let author = |it: &Option<(usize, usize)>| {
            it.map(|(session, _)| world.sessions[session].reference())
        };
        let mut authors = line.authors.iter();
        if authors.any(|it| author(it).as_deref() == session) {
            score.right += 1;
            let prompt = (text(&said["session"]), text(&said["prompt"]));
            let prompt = texts.get(&prompt).copied();
            let asked = |it: &Option<(usize, usize)>| {
                it.is_some_and(|(of, turn)| {
                    prompt == Some(world.sessions[of].prompts[turn].as_str())
                })
            };
            score.other_prompt += usize::from(session.is_some() && !line.authors.iter().any(asked));
            continue;
        }
        score.claimed += usize::from(line.authors == [None]);
        let authors: Vec<Option<String>> = line.authors.iter().map(author).collect();
        score.wrong.push(format!(
            "seed {seed}, {}:{} {:?} is by {authors:?} (prompts {:?}), said {}",
            file.path,
            at + 1,
            line.text,
            line.authors,
            said["session"]
        ));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
