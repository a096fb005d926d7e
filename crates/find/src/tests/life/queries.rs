//! Filters, pages, expressions and hostile queries.

use boswell_model::{ErrorKind, Instant, SessionRef};

use super::super::support::TestSources;
use super::super::{Counting, Effort, Field, Order, Query, all, build, search};
use super::{opened, test_sources};
use crate::About;

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
    assert!(
        Query::parse(
            "since:7d x",
            Some((Instant::from_millis(0), &crate::TimeZone::utc()))
        )
        .is_ok()
    );
}
