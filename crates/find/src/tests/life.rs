//! How an index lives: grows, is damaged, merged, purged; and what hostile queries do to it.

use boswell_model::{ErrorKind, Instant, SessionRef};

use super::support::TestSources;
use super::{Counting, Effort, Field, Index, Order, Query, all, build, search, sessions};
use crate::{About, Form};

fn test_sources() -> TestSources {
    let mut test_sources = TestSources::default();
    for session in 0..30 {
        for line in 0..20 {
            test_sources.say(
                &format!("s{session:02}"),
                &format!(
                    "common words of session{session} line {line} pad{}",
                    line * 7
                ),
            );
        }
    }
    test_sources.say("s03", "here is the Deadlock of the worker");
    test_sources.say("s07", "deadlocked again");
    test_sources
}

fn opened() -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path());
    (folder, index)
}

#[test]
fn what_was_appended_is_found_by_reading_only_the_tail() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let before = test_sources.logs["s11"].1.len();
    test_sources.say("s11", "zyxquorum just now");
    let tail = (test_sources.logs["s11"].1.len() - before) as u64;
    test_sources.bytes_read();
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s11"]);
    assert_eq!((test_sources.bytes_read(), results.scanned), (tail, tail));
    let progress = build(&index, &test_sources.sources(), &test_sources);
    assert_eq!(
        (progress.sources, progress.bytes, progress.complete),
        (1, tail, true)
    );
    assert_eq!(test_sources.bytes_read(), tail);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s11".to_owned()], 0)
    );
}

#[test]
fn a_line_that_no_newline_ends_yet_is_found_and_indexed_once_it_is_whole() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    test_sources.say("s01", "half written zyxquorum");
    let log = &mut test_sources.logs.get_mut("s01").unwrap().1;
    log.pop();
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s01"]);
    assert!(results.scanned > 0);
    test_sources.logs.get_mut("s01").unwrap().1.push(b'\n');
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("zyxquorum"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!((results.hits.len(), results.scanned), (1, 0));
}

#[test]
fn a_rewritten_or_shorter_source_is_read_again_and_leaves_no_old_hit() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    test_sources.logs.insert("s03".into(), (1, Vec::new()));
    test_sources.say("s03", "rewritten with livelock");
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s07"]
    );
    assert_eq!(
        sessions(&search(
            &index,
            &all("livelock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s03"]
    );
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("livelock"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s03".to_owned()], 0)
    );
    let log = &mut test_sources.logs.get_mut("s07").unwrap().1;
    log.truncate(log.len() / 2);
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        [] as [&str; 0]
    );
}

#[test]
fn many_small_updates_are_merged_and_answer_as_one_large_one() {
    let whole = test_sources();
    let (_one, at_once) = opened();
    build(&at_once, &whole.sources(), &whole);
    let (_two, bit_by_bit) = opened();
    for source in whole.sources() {
        build(&bit_by_bit, &[source], &whole);
    }
    assert!(bit_by_bit.size().segments < 10, "{:?}", bit_by_bit.size());
    for text in [
        "deadlock",
        "common",
        "session1",
        "\"line 7\"",
        "pad133",
        "of* !session3",
    ] {
        let first = search(&at_once, &all(text), &whole.sources(), &whole);
        let second = search(&bit_by_bit, &all(text), &whole.sources(), &whole);
        assert_eq!(first.hits, second.hits, "{text}");
        assert!(!first.hits.is_empty() && second.scanned == 0, "{text}");
    }
}

#[test]
fn a_purged_session_leaves_no_hit_and_no_term() {
    let mut test_sources = test_sources();
    test_sources.say("s05", "unique secretword12345");
    test_sources.say("s05", "and the shared Deadlock");
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let holds = |word: &str| {
        let files = boswell_testkit::corpus::files(folder.path());
        files.iter().any(|file| {
            memchr::memmem::find(&boswell_testkit::disk::read(file), word.as_bytes()).is_some()
        })
    };
    assert!(holds("secretword12345") && holds("session5") && holds("s05"));
    let reference = SessionRef::new("plain", "s05");
    index.purge(&reference).unwrap();
    assert!(!holds("secretword12345") && !holds("session5\n") && !holds("s05"));
    assert!(holds("deadlock"));
    let others: Vec<_> = test_sources
        .sources()
        .into_iter()
        .filter(|source| source.reference != reference)
        .collect();
    let results = search(&index, &all("deadlock"), &others, &test_sources);
    assert_eq!((sessions(&results).len(), results.scanned), (2, 0));
    assert_eq!(
        search(&index, &all("secretword12345"), &others, &test_sources)
            .hits
            .len(),
        0
    );
}

#[test]
fn a_forgotten_session_is_forgotten_and_can_come_back() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    index.forget(&SessionRef::new("plain", "s03")).unwrap();
    assert_eq!(index.size().sources, 29);
    let results = search(
        &index,
        &all("deadlock"),
        &test_sources.sources(),
        &test_sources,
    );
    assert_eq!(sessions(&results), ["s03", "s07"]);
    assert!(
        results.scanned > 0,
        "it is scanned, since the caller still names it"
    );
    build(&index, &test_sources.sources(), &test_sources);
    assert_eq!(
        search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )
        .scanned,
        0
    );
}

#[test]
fn any_damage_to_any_file_leaves_answers_right_and_is_repaired() {
    let test_sources = test_sources();
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let wanted = search(
        &index,
        &all("deadlock"),
        &test_sources.sources(),
        &test_sources,
    )
    .hits;
    for file in boswell_testkit::corpus::files(folder.path()) {
        let whole = boswell_testkit::disk::read(&file);
        let mut hurts: Vec<Vec<u8>> = vec![Vec::new(), b"garbage".to_vec()];
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            hurts.push([&whole[..at], &[whole[at] ^ 0x55], &whole[at + 1..]].concat());
            hurts.push(whole[..at].to_vec());
        }
        for hurt in hurts {
            boswell_testkit::disk::write(&file, &hurt);
            let index = Index::open(folder.path());
            let results = search(
                &index,
                &all("deadlock"),
                &test_sources.sources(),
                &test_sources,
            );
            assert_eq!(results.hits, wanted);
            build(&index, &test_sources.sources(), &test_sources);
            let results = search(
                &index,
                &all("deadlock"),
                &test_sources.sources(),
                &test_sources,
            );
            assert_eq!(results.hits, wanted);
            assert_eq!(
                search(
                    &Index::open(folder.path()),
                    &all("deadlock"),
                    &test_sources.sources(),
                    &test_sources
                )
                .hits,
                wanted
            );
            boswell_testkit::disk::write(&file, &whole);
        }
    }
}

#[test]
fn a_second_writer_is_told_that_it_is_busy_and_readers_go_on() {
    let test_sources = test_sources();
    let (folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let other = Index::open(folder.path());
    let mut sources_of_test = test_sources.sources().into_iter();
    let mut told = None;
    index
        .update(&mut sources_of_test, &test_sources, &mut || {
            let outcome = other.update(
                &mut test_sources.sources().into_iter(),
                &test_sources,
                &mut || true,
            );
            told = Some(outcome.unwrap_err().kind());
            assert_eq!(
                search(
                    &other,
                    &all("deadlock"),
                    &test_sources.sources(),
                    &test_sources
                )
                .hits
                .len(),
                2
            );
            true
        })
        .unwrap();
    assert_eq!(told, Some(ErrorKind::Busy));
}

#[test]
fn an_update_that_is_cut_short_keeps_what_it_read() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    let mut left = 10;
    let mut go_on = || {
        left -= 1;
        left > 0
    };
    let progress = index
        .update(
            &mut test_sources.sources().into_iter(),
            &test_sources,
            &mut go_on,
        )
        .unwrap();
    assert!(!progress.complete && progress.sources == 9, "{progress:?}");
    assert_eq!(index.size().sources, 9);
    assert_eq!(
        sessions(&search(
            &index,
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources
        )),
        ["s03", "s07"]
    );
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    let effort = Effort {
        workers: 2,
        go_on: &|| false,
    };
    let results = index
        .search(
            &all("deadlock"),
            &test_sources.sources(),
            &test_sources,
            &effort,
        )
        .unwrap();
    assert!(!results.complete && !results.sessions.exact && results.hits.is_empty());
    let mut gone = test_sources.sources();
    gone.push(crate::Source::log(
        SessionRef::new("plain", "vanished"),
        0,
        100,
    ));
    let results = search(&index, &all("deadlock"), &gone, &test_sources);
    assert!(!results.complete && results.hits.len() == 2);
}

#[test]
fn expressions_with_and_without_a_literal_find_the_same_as_reading_everything() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    let patterns = [
        "[Dd]eadlock(ed)?",
        r"\bpad1\d+\b",
        "session2$|session3 line 1",
        "(?i)WORKER",
        r"\d\d\d",
        "^h.re is",
    ];
    let find = |pattern: &str| {
        let query = Query {
            limit: 10_000,
            ..Query::regex(pattern).unwrap()
        };
        search(&index, &query, &test_sources.sources(), &test_sources)
    };
    let read: Vec<_> = patterns.map(|pattern| find(pattern).hits).into();
    build(&index, &test_sources.sources(), &test_sources);
    for (pattern, wanted) in patterns.iter().zip(read) {
        let found = find(pattern);
        assert_eq!(
            (found.hits, found.scanned),
            (wanted.clone(), 0),
            "{pattern}"
        );
        assert!(
            !wanted.is_empty() || pattern.starts_with("session2$"),
            "{pattern}"
        );
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_repetition_while_the_log_grows() {
    let mut test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    for order in [Order::Relevance, Order::Newest] {
        for counting in [Counting::Exact, Counting::Quick] {
            let base = Query {
                order,
                counting,
                limit: 7,
                ..Query::parse("session1", None).unwrap()
            };
            let whole = search(
                &index,
                &Query {
                    limit: 10_000,
                    ..base.clone()
                },
                &test_sources.sources(),
                &test_sources,
            )
            .hits;
            let mut pages = Vec::new();
            let mut query = base;
            loop {
                let page = search(&index, &query, &test_sources.sources(), &test_sources);
                pages.extend(page.hits);
                // A session that has nothing to do with the query grows between pages.
                test_sources.say("s29", "more to read");
                match page.cursor {
                    Some(cursor) => query.cursor = Some(cursor),
                    None => break,
                }
            }
            assert_eq!(pages, whole);
        }
    }
}

#[test]
fn filters_and_fields_restrict_what_is_found() {
    let mut test_sources = TestSources::default();
    test_sources.say("a", "find me");
    test_sources.logs.get_mut("a").unwrap().1.extend_from_slice(
        b"{\"type\":\"assistant\",\"uuid\":\"a-1\",\"timestamp\":\"2026-01-05T00:00:00Z\",\"message\":{\"model\":\"opus\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"find this too\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Edit\",\"input\":{\"file_path\":\"/src/find.rs\"}}]}}\n",
    );
    test_sources.say("b", "find me elsewhere");
    let mut sources = test_sources.sources();
    for (source, agent) in sources.iter_mut().zip(["claude", "codex"]) {
        source.about = Some(Box::new(About {
            agent: agent.to_owned(),
            project: Some(format!("/home/dev/{agent}-app")),
            tags: vec![format!("Tag-{agent}")],
            models: vec![format!("{agent}-large")],
            title: (agent == "codex").then(|| "How to Find things".to_owned()),
        }));
    }
    let (_folder, index) = opened();
    for indexed in [false, true] {
        if indexed {
            build(&index, &sources, &test_sources);
        }
        for (text, wanted) in [
            ("find", 4),
            ("find agent:claude", 2),
            ("find project:codex", 2),
            ("find tag:tag-claude", 2),
            ("find model:large", 4),
            ("find role:user", 2),
            ("find role:assistant", 1),
            ("find tool:edit", 1),
            ("find file:src/find", 1),
            ("tool:Edit", 1),
            ("find until:2026-02-01", 1),
            ("find since:2026-02-01", 3),
            ("find !elsewhere", 3),
            ("find me", 2),
            ("find nothing", 0),
        ] {
            let results = search(&index, &all(text), &sources, &test_sources);
            assert_eq!(results.hits.len(), wanted, "{text}");
            assert!(results.complete);
        }
        for (field, wanted) in [
            (Field::Prompt, 2),
            (Field::Thinking, 1),
            (Field::Call, 1),
            (Field::Title, 1),
            (Field::Result, 0),
        ] {
            let query = Query {
                fields: vec![field],
                ..all("find")
            };
            assert_eq!(
                search(&index, &query, &sources, &test_sources).hits.len(),
                wanted,
                "{field:?}"
            );
        }
    }
}

#[test]
fn memory_files_are_searched_as_plain_text() {
    let mut test_sources = TestSources::default();
    test_sources.logs.insert(
        "MEMORY.md".into(),
        (
            0,
            "# Notes\n\nAlways run the Linter first.\n"
                .as_bytes()
                .to_vec(),
        ),
    );
    let mut sources = test_sources.sources();
    sources[0].form = Form::Text(Field::Memory);
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(&index, &all("\"linter first\""), &sources, &test_sources);
        assert_eq!(results.hits.len(), 1);
        assert_eq!(
            (results.hits[0].field, results.complete),
            (Field::Memory, true)
        );
        assert!(build(&index, &sources, &test_sources).complete);
    }
    assert_eq!(
        search(&index, &all("linter"), &sources, &test_sources).scanned,
        0
    );
}

#[test]
fn documents_are_searched_and_read_again_when_they_change() {
    let mut test_sources = TestSources::default();
    let document = r#"{"id":"x","messages":[{"type":"user","uuid":"m1","message":{"content":"first Deadlock"}},{"type":"user","uuid":"m2","message":{"content":"second"}}]}"#;
    test_sources
        .logs
        .insert("x".into(), (0, document.as_bytes().to_vec()));
    let sources = |test_sources: &TestSources| {
        let mut sources = test_sources.sources();
        sources[0].form = Form::Log(boswell_model::Framing::Rows("messages"));
        sources
    };
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(
            &index,
            &all("deadlock"),
            &sources(&test_sources),
            &test_sources,
        );
        let entries: Vec<_> = results
            .hits
            .iter()
            .map(|hit| hit.entry.clone().unwrap())
            .collect();
        assert_eq!(entries, ["m1"]);
        assert!(build(&index, &sources(&test_sources), &test_sources).complete);
    }
    assert_eq!(
        search(
            &index,
            &all("deadlock"),
            &sources(&test_sources),
            &test_sources
        )
        .scanned,
        0
    );
    let longer = document.replace("second", "second livelock");
    test_sources
        .logs
        .insert("x".into(), (0, longer.into_bytes()));
    let results = search(
        &index,
        &all("livelock"),
        &sources(&test_sources),
        &test_sources,
    );
    assert_eq!(results.hits[0].slot, Some(boswell_model::Slot(1)));
    assert!(build(&index, &sources(&test_sources), &test_sources).complete);
    let results = search(&index, &all("lock"), &sources(&test_sources), &test_sources);
    assert_eq!((results.hits.len(), results.scanned), (2, 0));
}

#[test]
fn nearest_words_are_offered_when_nothing_is_found() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let results = search(
        &index,
        &all("daedlock"),
        &test_sources.sources(),
        &test_sources,
    );
    assert!(results.hits.is_empty() && results.complete);
    assert_eq!(results.nearest[0].near, ["deadlock"]);
    assert!(
        search(
            &index,
            &all("common"),
            &test_sources.sources(),
            &test_sources
        )
        .nearest
        .is_empty()
    );
}

#[test]
fn hostile_queries_end_with_an_answer() {
    let test_sources = test_sources();
    let (_folder, index) = opened();
    build(&index, &test_sources.sources(), &test_sources);
    let long = "x".repeat(10_000);
    let many: String = (0..2_000).map(|n| format!("w{n} ")).collect();
    let quotes = "\"a b\" ".repeat(1_500);
    for text in [
        "*", "**", "!", "!!", "!x", "-", "\u{0}", "🚀", "a", "\\", "'", "()", "\u{301}", &long,
        &many, &quotes,
    ] {
        let results = search(&index, &all(text), &test_sources.sources(), &test_sources);
        assert!(
            results.complete,
            "{}",
            text.get(..5.min(text.len())).unwrap_or(text)
        );
    }
    for pattern in [
        "", ".*", "(a*)*b", "[\\s\\S]", "\\x00", "^$", "(?s).", "\u{301}",
    ] {
        let query = Query {
            limit: 5,
            ..Query::regex(pattern).unwrap()
        };
        assert!(
            search(&index, &query, &test_sources.sources(), &test_sources).complete,
            "{pattern}"
        );
    }
    let none = Query {
        limit: 0,
        ..all("common")
    };
    let results = search(&index, &none, &test_sources.sources(), &test_sources);
    assert_eq!(
        (
            results.hits.len(),
            results.sessions.number,
            results.sessions.exact
        ),
        (0, 30, true)
    );
    let query = Query {
        cursor: Some("nonsense".into()),
        ..all("common")
    };
    let effort = Effort {
        workers: 1,
        go_on: &|| true,
    };
    assert_eq!(
        index
            .search(&query, &test_sources.sources(), &test_sources, &effort)
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    assert!(Query::parse("since:7d x", Some(Instant::from_millis(0))).is_ok());
}
