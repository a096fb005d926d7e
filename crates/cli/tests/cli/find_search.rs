//! `search`, `index` and `list` through the command line, on temporary stores.

use std::collections::BTreeSet;

use crate::find_bench::Bench;
use boswell_testkit::bench_corpus::{self, CJK, MIDDLE, PHRASE, RARE, RARE_TOOL};
use boswell_testkit::{corpus, disk};
use serde_json::Value;

fn sessions(hits: &[Value]) -> BTreeSet<String> {
    let id = |hit: &Value| {
        hit["session"]
            .as_str()
            .unwrap()
            .trim_start_matches("claude:")
            .to_owned()
    };
    hits.iter()
        .filter(|hit| hit["type"] == "hit")
        .map(id)
        .collect()
}

fn holding(bench: &Bench, text: &str) -> BTreeSet<String> {
    let logs = corpus::files(&bench.claude());
    let with = logs
        .iter()
        .filter(|log| String::from_utf8_lossy(&disk::read(log)).contains(text));
    with.map(|log| log.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn planted() -> Bench {
    let bench = Bench::new();
    bench_corpus::generate(&bench.home(), 150, 2.0, 1, false);
    bench
}

#[test]
fn every_marker_is_found_in_every_session_before_and_after_indexing() {
    let bench = planted();
    for round in 0..2 {
        for marker in [
            RARE,
            RARE_TOOL,
            MIDDLE,
            CJK,
            "会话",
            "恢",
            "ebsocket reconn",
        ] {
            let ran = bench.run(&[
                "search",
                "--json",
                "--limit",
                "100000",
                "--substring",
                marker,
            ]);
            let wanted = holding(&bench, marker);
            assert_eq!(sessions(&ran.lines), wanted, "{marker}, round {round}");
            assert_eq!(ran.code, if wanted.is_empty() { 1 } else { 0 }, "{marker}");
            let page = ran.lines.last().unwrap();
            assert_eq!(
                (page["type"].as_str(), page["complete"].as_bool()),
                (Some("page"), Some(true))
            );
        }
        let phrase = bench.run(&[
            "search",
            "--json",
            "--limit",
            "100000",
            &format!("\"{PHRASE}\""),
        ]);
        assert_eq!(sessions(&phrase.lines), holding(&bench, PHRASE));
        assert_eq!(bench.run(&["index", "--json"]).lines[0]["complete"], true);
    }
}

#[test]
fn a_line_appended_to_one_of_many_is_found_at_once_by_reading_that_tail() {
    let bench = planted();
    assert_eq!(bench.run(&["index"]).code, 0);
    let log = corpus::files(&bench.claude()).into_iter().nth(70).unwrap();
    let line = "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"parentUuid\":null,\"sessionId\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"brandnewword\"}}\n";
    disk::write(&log, &[&disk::read(&log)[..], line.as_bytes()].concat());
    let ran = bench.run(&["search", "--json", "brandnewword"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(sessions(&ran.lines).len(), 1);
    let scanned = ran.lines.last().unwrap()["scanned_bytes"].as_u64().unwrap();
    assert!(scanned <= line.len() as u64, "{scanned} bytes were read");
}

#[test]
fn a_rewritten_session_leaves_no_hit() {
    let bench = planted();
    bench.run(&["index"]);
    let log = holding(&bench, RARE).into_iter().next().unwrap();
    let path = corpus::files(&bench.claude())
        .into_iter()
        .find(|p| p.file_stem().unwrap().to_str() == Some(&log))
        .unwrap();
    let bytes = String::from_utf8_lossy(&disk::read(&path)).replace(RARE, "otherword");
    disk::write(&path, bytes.as_bytes());
    assert_eq!(
        sessions(&bench.run(&["search", "--json", RARE]).lines).len(),
        2
    );
    assert_eq!(
        sessions(&bench.run(&["search", "--json", "otherword"]).lines).len(),
        1
    );
}

#[test]
fn bad_requests_are_told_what_would_be_right() {
    let bench = planted();
    for (args, word) in [
        (&["search", "flavour:sweet"][..], "filter"),
        (&["search", "--regex", "("], "regular expression"),
        (&["search", "word", "since:soon"], "not a valid date"),
        (&["search", "word", "--since", "soon"], "not a valid time"),
        (&["search", "word", "--in", "dreams"], "prompts"),
        (&["search", "\"open"], "quote"),
        (&["search", "word", "--cursor", "nonsense"], "cursor"),
        (&["search", "role:king word"], "role"),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{args:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty());
    }
    let long = "x".repeat(10_000);
    assert_eq!(bench.run(&["search", &long]).code, 1);
}

#[test]
fn nothing_found_is_one_and_names_what_comes_near() {
    let bench = planted();
    bench.run(&["index"]);
    let ran = bench.run(&["search", "zyxquorm"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains(RARE), "{}", ran.stderr);
}

#[test]
fn read_only_answers_the_same_and_writes_nothing() {
    let bench = planted();
    let ran = bench.run(&["--read-only", "search", "--json", "--limit", "1000", MIDDLE]);
    assert_eq!(sessions(&ran.lines), holding(&bench, MIDDLE));
    assert!(!bench.own().exists());
    assert!(ran.stderr.contains("without catalog"), "{}", ran.stderr);
    assert_eq!(bench.run(&["-q", "--read-only", "list"]).stderr, "");
    assert!(!bench.own().exists());
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let bench = planted();
    bench.run(&["index"]);
    let all = bench
        .run(&["search", "--json", "--limit", "100000", MIDDLE])
        .lines;
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut args = vec!["search", "--json", "--limit", "3", MIDDLE];
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let mut lines = bench.run(&args).lines;
        let page = lines.pop().unwrap();
        seen.extend(lines);
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let entries = |hits: &[Value]| {
        hits.iter()
            .filter_map(|h| h["entry"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(entries(&seen), entries(&all));
}

#[test]
fn memory_is_searched_too() {
    let bench = planted();
    disk::write(
        &bench.claude().join("projects/-home-dev/memory/MEMORY.md"),
        b"# Notes\nalways use the plumbuswrench\n",
    );
    let ran = bench.run(&["search", "--json", "plumbuswrench"]);
    assert_eq!(
        (ran.lines[0]["field"].as_str(), ran.code),
        (Some("memory"), 0)
    );
    assert_eq!(
        bench
            .run(&["search", "plumbuswrench", "--in", "prompts"])
            .code,
        1
    );
}

#[test]
fn catalog_and_index_that_became_garbage_are_rebuilt() {
    let bench = planted();
    bench.run(&["index"]);
    for file in corpus::files(&bench.own()) {
        disk::write(&file, b"garbage, all of it, and quite a lot of it too");
    }
    let ran = bench.run(&["search", "--json", "--limit", "1000", MIDDLE]);
    assert_eq!(
        sessions(&ran.lines),
        holding(&bench, MIDDLE),
        "{}",
        ran.stderr
    );
    assert_eq!(bench.run(&["list", "--json"]).lines.len(), 151);
}

#[test]
fn two_processes_at_once_both_answer() {
    let bench = planted();
    let wanted = holding(&bench, MIDDLE);
    std::thread::scope(|scope| {
        let one = || bench.run(&["search", "--json", "--limit", "1000", MIDDLE]);
        let running: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        for ran in running {
            let ran = ran.join().unwrap();
            assert_eq!(
                (sessions(&ran.lines), ran.code),
                (wanted.clone(), 0),
                "{}",
                ran.stderr
            );
        }
    });
}

#[test]
fn a_list_from_the_catalog_says_what_a_list_without_it_says() {
    let bench = planted();
    let without = bench.run(&["list", "--json"]);
    assert!(!bench.own().exists(), "a list makes no folder");
    disk::make_dir(&bench.own());
    for _ in 0..2 {
        let with = bench.run(&["list", "--json"]);
        for a in without
            .lines
            .iter()
            .filter(|line| line["type"] == "session")
        {
            let b = with
                .lines
                .iter()
                .find(|line| line["ref"] == a["ref"])
                .unwrap();
            for key in [
                "name",
                "project",
                "created",
                "first_prompt",
                "bytes",
                "resume",
                "title",
                "path",
            ] {
                assert_eq!(a[key], b[key], "{key}");
            }
            // The ends of a large log may not contain its last activity; the whole log does.
            if !a["messages"].is_null() {
                assert_eq!(a, b);
            }
        }
        assert_eq!(with.lines.len(), without.lines.len());
    }
}

#[test]
fn a_home_that_cannot_be_written_costs_time_and_no_answer() {
    let bench = planted();
    disk::write(&bench.own(), b"a file where the folder should be");
    let ran = bench.run(&["search", "--json", "--limit", "1000", MIDDLE]);
    assert_eq!(
        (sessions(&ran.lines), ran.code),
        (holding(&bench, MIDDLE), 0),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("without catalog"), "{}", ran.stderr);
    assert_eq!(bench.run(&["list", "--json"]).lines.len(), 151);
    assert_eq!(bench.run(&["stats", "--json"]).lines[0]["sessions"], 150);
}

#[test]
fn damaged_pages_of_the_catalog_change_no_answer() {
    let bench = planted();
    let honest = bench.run(&["stats", "--json"]).stdout;
    let path = bench.own().join("catalog.db");
    let sound = disk::read(&path);
    assert!(sound.len() > 4 * 8192);
    for page in 1..sound.len() / 8192 {
        let mut bytes = sound.clone();
        bytes[page * 8192..(page + 1) * 8192].fill(0x5A);
        disk::write(&path, &bytes);
        let ran = bench.run(&["stats", "--json"]);
        assert_eq!(
            (ran.stdout.as_str(), ran.code),
            (honest.as_str(), 0),
            "page {page}: {}",
            ran.stderr
        );
    }
}

/// What a person sees of derived files: sessions of a list, sums, sessions of hits.
fn answers(bench: &Bench) -> (String, String, BTreeSet<String>) {
    let run = |args: &[&str]| {
        let ran = bench.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran
    };
    (
        run(&["list", "--json", "--limit", "1000"]).stdout,
        run(&["stats", "--json"]).stdout,
        sessions(&run(&["search", "--json", "--limit", "1000", MIDDLE]).lines),
    )
}

#[test]
fn damage_of_derived_files_changes_no_answer() {
    let bench = Bench::planted();
    bench.run(&["index"]);
    let honest = answers(&bench);
    assert!(!honest.2.is_empty());
    let files: Vec<_> = corpus::files(&bench.own())
        .into_iter()
        .filter(|path| path.is_file() && !path.ends_with("index/lock"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    let mut state = 0x9e37_79b9_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for path in files {
        let sound = disk::read(&path);
        for round in 0..8 {
            let (mut hurt, at) = (sound.clone(), next() % sound.len());
            let junk = (at + 1 + next() % 9_000).min(hurt.len());
            match round % 4 {
                0 | 1 => hurt[at] ^= 1 << (next() % 8),
                2 => hurt[at..junk].fill_with(|| next() as u8),
                _ => hurt.truncate(at),
            }
            disk::write(&path, &hurt);
            assert!(
                answers(&bench) == honest,
                "{path:?}, byte {at}, round {round}"
            );
            assert!(answers(&bench) == honest, "{path:?} was not rebuilt");
        }
    }
}

#[test]
fn titles_and_tags_outside_a_log_are_found() {
    let bench = planted();
    let log = corpus::files(&bench.claude()).into_iter().next().unwrap();
    let id = log.file_stem().unwrap().to_str().unwrap().to_owned();
    disk::write(
        &log.with_extension("").join("custom-title.json"),
        b"{\"customTitle\":\"the plumbus affair\"}",
    );
    let ran = bench.run(&["search", "--json", "plumbus"]);
    assert_eq!(
        (sessions(&ran.lines).into_iter().next(), ran.code),
        (Some(id.clone()), 0),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.lines[0]["field"], "titles");
    let tagged = bench.run(&["tag", &id, "wanted"]);
    assert_eq!(tagged.code, 0, "{}", tagged.stderr);
    let ran = bench.run(&["search", "--json", "tag:wanted", "--limit", "1000"]);
    assert_eq!(
        sessions(&ran.lines).into_iter().collect::<Vec<_>>(),
        [id],
        "{}",
        ran.stderr
    );
}
