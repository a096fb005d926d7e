//! How an index lives: grows, is damaged, merged, purged; and what hostile queries do to it.

use boswell_model::{ErrorKind, Instant, SessionRef};

use super::support::Shelf;
use super::{Counting, Effort, Field, Index, Order, Query, all, build, search, sessions};
use crate::{About, Form};

fn shelf() -> Shelf {
    let mut shelf = Shelf::default();
    for session in 0..30 {
        for line in 0..20 {
            shelf.say(
                &format!("s{session:02}"),
                &format!(
                    "common words of session{session} line {line} pad{}",
                    line * 7
                ),
            );
        }
    }
    shelf.say("s03", "here is the Deadlock of the worker");
    shelf.say("s07", "deadlocked again");
    shelf
}

fn opened() -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path());
    (folder, index)
}

#[test]
fn what_was_appended_is_found_by_reading_only_the_tail() {
    let mut shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    let before = shelf.logs["s11"].1.len();
    shelf.say("s11", "zyxquorum just now");
    let tail = (shelf.logs["s11"].1.len() - before) as u64;
    shelf.bytes_read();
    let results = search(&index, &all("zyxquorum"), &shelf.sources(), &shelf);
    assert_eq!(sessions(&results), ["s11"]);
    assert_eq!((shelf.bytes_read(), results.scanned), (tail, tail));
    let progress = build(&index, &shelf.sources(), &shelf);
    assert_eq!(
        (progress.sources, progress.bytes, progress.complete),
        (1, tail, true)
    );
    assert_eq!(shelf.bytes_read(), tail);
    let results = search(&index, &all("zyxquorum"), &shelf.sources(), &shelf);
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s11".to_owned()], 0)
    );
}

#[test]
fn a_line_that_no_newline_ends_yet_is_found_and_indexed_once_it_is_whole() {
    let mut shelf = shelf();
    let (_folder, index) = opened();
    shelf.say("s01", "half written zyxquorum");
    let log = &mut shelf.logs.get_mut("s01").unwrap().1;
    log.pop();
    build(&index, &shelf.sources(), &shelf);
    let results = search(&index, &all("zyxquorum"), &shelf.sources(), &shelf);
    assert_eq!(sessions(&results), ["s01"]);
    assert!(results.scanned > 0);
    shelf.logs.get_mut("s01").unwrap().1.push(b'\n');
    build(&index, &shelf.sources(), &shelf);
    let results = search(&index, &all("zyxquorum"), &shelf.sources(), &shelf);
    assert_eq!((results.hits.len(), results.scanned), (1, 0));
}

#[test]
fn a_rewritten_or_shorter_source_is_read_again_and_leaves_no_old_hit() {
    let mut shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    shelf.logs.insert("s03".into(), (1, Vec::new()));
    shelf.say("s03", "rewritten with livelock");
    assert_eq!(
        sessions(&search(&index, &all("deadlock"), &shelf.sources(), &shelf)),
        ["s07"]
    );
    assert_eq!(
        sessions(&search(&index, &all("livelock"), &shelf.sources(), &shelf)),
        ["s03"]
    );
    build(&index, &shelf.sources(), &shelf);
    let results = search(&index, &all("livelock"), &shelf.sources(), &shelf);
    assert_eq!(
        (sessions(&results), results.scanned),
        (vec!["s03".to_owned()], 0)
    );
    let log = &mut shelf.logs.get_mut("s07").unwrap().1;
    log.truncate(log.len() / 2);
    assert_eq!(
        sessions(&search(&index, &all("deadlock"), &shelf.sources(), &shelf)),
        [] as [&str; 0]
    );
}

#[test]
fn many_small_updates_are_merged_and_answer_as_one_large_one() {
    let whole = shelf();
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
    let mut shelf = shelf();
    shelf.say("s05", "unique secretword12345");
    shelf.say("s05", "and the shared Deadlock");
    let (folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
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
    let others: Vec<_> = shelf
        .sources()
        .into_iter()
        .filter(|source| source.reference != reference)
        .collect();
    let results = search(&index, &all("deadlock"), &others, &shelf);
    assert_eq!((sessions(&results).len(), results.scanned), (2, 0));
    assert_eq!(
        search(&index, &all("secretword12345"), &others, &shelf)
            .hits
            .len(),
        0
    );
}

#[test]
fn a_forgotten_session_is_forgotten_and_can_come_back() {
    let shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    index.forget(&SessionRef::new("plain", "s03")).unwrap();
    assert_eq!(index.size().sources, 29);
    let results = search(&index, &all("deadlock"), &shelf.sources(), &shelf);
    assert_eq!(sessions(&results), ["s03", "s07"]);
    assert!(
        results.scanned > 0,
        "it is scanned, since the caller still names it"
    );
    build(&index, &shelf.sources(), &shelf);
    assert_eq!(
        search(&index, &all("deadlock"), &shelf.sources(), &shelf).scanned,
        0
    );
}

#[test]
fn any_damage_to_any_file_leaves_answers_right_and_is_repaired() {
    let shelf = shelf();
    let (folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    let wanted = search(&index, &all("deadlock"), &shelf.sources(), &shelf).hits;
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
            let results = search(&index, &all("deadlock"), &shelf.sources(), &shelf);
            assert_eq!(results.hits, wanted);
            build(&index, &shelf.sources(), &shelf);
            let results = search(&index, &all("deadlock"), &shelf.sources(), &shelf);
            assert_eq!(results.hits, wanted);
            assert_eq!(
                search(
                    &Index::open(folder.path()),
                    &all("deadlock"),
                    &shelf.sources(),
                    &shelf
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
    let shelf = shelf();
    let (folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    let other = Index::open(folder.path());
    let mut shelf_sources = shelf.sources().into_iter();
    let mut told = None;
    index
        .update(&mut shelf_sources, &shelf, &mut || {
            let outcome = other.update(&mut shelf.sources().into_iter(), &shelf, &mut || true);
            told = Some(outcome.unwrap_err().kind());
            assert_eq!(
                search(&other, &all("deadlock"), &shelf.sources(), &shelf)
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
    let shelf = shelf();
    let (_folder, index) = opened();
    let mut left = 10;
    let mut go_on = || {
        left -= 1;
        left > 0
    };
    let progress = index
        .update(&mut shelf.sources().into_iter(), &shelf, &mut go_on)
        .unwrap();
    assert!(!progress.complete && progress.sources == 9, "{progress:?}");
    assert_eq!(index.size().sources, 9);
    assert_eq!(
        sessions(&search(&index, &all("deadlock"), &shelf.sources(), &shelf)),
        ["s03", "s07"]
    );
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let shelf = shelf();
    let (_folder, index) = opened();
    let effort = Effort {
        workers: 2,
        go_on: &|| false,
    };
    let results = index
        .search(&all("deadlock"), &shelf.sources(), &shelf, &effort)
        .unwrap();
    assert!(!results.complete && !results.sessions.exact && results.hits.is_empty());
    let mut gone = shelf.sources();
    gone.push(crate::Source::log(
        SessionRef::new("plain", "vanished"),
        0,
        100,
    ));
    let results = search(&index, &all("deadlock"), &gone, &shelf);
    assert!(!results.complete && results.hits.len() == 2);
}

#[test]
fn expressions_with_and_without_a_literal_find_the_same_as_reading_everything() {
    let shelf = shelf();
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
        search(&index, &query, &shelf.sources(), &shelf)
    };
    let read: Vec<_> = patterns.map(|pattern| find(pattern).hits).into();
    build(&index, &shelf.sources(), &shelf);
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
    let mut shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
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
                &shelf.sources(),
                &shelf,
            )
            .hits;
            let mut pages = Vec::new();
            let mut query = base;
            loop {
                let page = search(&index, &query, &shelf.sources(), &shelf);
                pages.extend(page.hits);
                // A session that has nothing to do with the query grows between pages.
                shelf.say("s29", "more to read");
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
    let mut shelf = Shelf::default();
    shelf.say("a", "find me");
    shelf.logs.get_mut("a").unwrap().1.extend_from_slice(
        b"{\"type\":\"assistant\",\"uuid\":\"a-1\",\"timestamp\":\"2026-01-05T00:00:00Z\",\"message\":{\"model\":\"opus\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"find this too\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Edit\",\"input\":{\"file_path\":\"/src/find.rs\"}}]}}\n",
    );
    shelf.say("b", "find me elsewhere");
    let mut sources = shelf.sources();
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
            build(&index, &sources, &shelf);
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
            let results = search(&index, &all(text), &sources, &shelf);
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
                search(&index, &query, &sources, &shelf).hits.len(),
                wanted,
                "{field:?}"
            );
        }
    }
}

#[test]
fn memory_files_are_searched_as_plain_text() {
    let mut shelf = Shelf::default();
    shelf.logs.insert(
        "MEMORY.md".into(),
        (
            0,
            "# Notes\n\nAlways run the Linter first.\n"
                .as_bytes()
                .to_vec(),
        ),
    );
    let mut sources = shelf.sources();
    sources[0].form = Form::Text(Field::Memory);
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(&index, &all("\"linter first\""), &sources, &shelf);
        assert_eq!(results.hits.len(), 1);
        assert_eq!(
            (results.hits[0].field, results.complete),
            (Field::Memory, true)
        );
        assert!(build(&index, &sources, &shelf).complete);
    }
    assert_eq!(search(&index, &all("linter"), &sources, &shelf).scanned, 0);
}

#[test]
fn documents_are_searched_and_read_again_when_they_change() {
    let mut shelf = Shelf::default();
    let document = r#"{"id":"x","messages":[{"type":"user","uuid":"m1","message":{"content":"first Deadlock"}},{"type":"user","uuid":"m2","message":{"content":"second"}}]}"#;
    shelf
        .logs
        .insert("x".into(), (0, document.as_bytes().to_vec()));
    let sources = |shelf: &Shelf| {
        let mut sources = shelf.sources();
        sources[0].form = Form::Log(boswell_model::Framing::Rows("messages"));
        sources
    };
    let (_folder, index) = opened();
    for _ in 0..2 {
        let results = search(&index, &all("deadlock"), &sources(&shelf), &shelf);
        let entries: Vec<_> = results
            .hits
            .iter()
            .map(|hit| hit.entry.clone().unwrap())
            .collect();
        assert_eq!(entries, ["m1"]);
        assert!(build(&index, &sources(&shelf), &shelf).complete);
    }
    assert_eq!(
        search(&index, &all("deadlock"), &sources(&shelf), &shelf).scanned,
        0
    );
    let longer = document.replace("second", "second livelock");
    shelf.logs.insert("x".into(), (0, longer.into_bytes()));
    let results = search(&index, &all("livelock"), &sources(&shelf), &shelf);
    assert_eq!(results.hits[0].slot, Some(boswell_model::Slot(1)));
    assert!(build(&index, &sources(&shelf), &shelf).complete);
    let results = search(&index, &all("lock"), &sources(&shelf), &shelf);
    assert_eq!((results.hits.len(), results.scanned), (2, 0));
}

#[test]
fn nearest_words_are_offered_when_nothing_is_found() {
    let shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    let results = search(&index, &all("daedlock"), &shelf.sources(), &shelf);
    assert!(results.hits.is_empty() && results.complete);
    assert_eq!(results.nearest[0].near, ["deadlock"]);
    assert!(
        search(&index, &all("common"), &shelf.sources(), &shelf)
            .nearest
            .is_empty()
    );
}

#[test]
fn hostile_queries_end_with_an_answer() {
    let shelf = shelf();
    let (_folder, index) = opened();
    build(&index, &shelf.sources(), &shelf);
    let long = "x".repeat(10_000);
    let many: String = (0..2_000).map(|n| format!("w{n} ")).collect();
    let quotes = "\"a b\" ".repeat(1_500);
    for text in [
        "*", "**", "!", "!!", "!x", "-", "\u{0}", "🚀", "a", "\\", "'", "()", "\u{301}", &long,
        &many, &quotes,
    ] {
        let results = search(&index, &all(text), &shelf.sources(), &shelf);
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
            search(&index, &query, &shelf.sources(), &shelf).complete,
            "{pattern}"
        );
    }
    let none = Query {
        limit: 0,
        ..all("common")
    };
    let results = search(&index, &none, &shelf.sources(), &shelf);
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
            .search(&query, &shelf.sources(), &shelf, &effort)
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    assert!(Query::parse("since:7d x", Some(Instant::from_millis(0))).is_ok());
}
